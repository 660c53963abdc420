"""Runs side by side: their figures, over all rows and over those they share, and the rows that differ most."""
