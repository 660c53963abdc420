"""Auditing what runs have left: figures of their metrics, gates on the figures, and formats to show both."""
