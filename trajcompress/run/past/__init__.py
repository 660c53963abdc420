"""Runs that were made before, opened for reading."""
