"""Results in JSON: what failed, which values are told, and which of them later turns use."""
