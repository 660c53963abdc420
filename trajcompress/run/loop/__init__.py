"""Many rows at once, in input order."""
