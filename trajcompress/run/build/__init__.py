"""The components of a run, built from its settings."""
