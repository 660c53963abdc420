"""Formats of other tools, an adapter a module: it knows its rows by their shape, and makes them OpenAI messages."""
