"""Where inputs and outputs lie: on this machine, or in an object store."""
