"""Segments: an over-long trajectory as several rows, each with a running summary of all before its stretch."""
