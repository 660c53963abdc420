"""Summaries through the Batch API of an endpoint: half the price, hours instead of minutes."""
