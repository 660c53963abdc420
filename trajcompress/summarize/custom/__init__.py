"""Summarisers of one's own: found by name, called as functions, and held to what ours are held to."""
