"""Summaries that were paid for, kept by content."""
