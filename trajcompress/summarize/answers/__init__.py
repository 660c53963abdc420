"""Whether an answer of a model is a summary, and what of it."""
