"""The core: one trajectory over its budget, made to fit. Pure."""
