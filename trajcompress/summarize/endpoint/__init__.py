"""Summaries from an OpenAI-compatible endpoint: calls, limits, retries, outages."""
