"""Summarisers: what writes the text that replaces a region."""
