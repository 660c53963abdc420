"""Counting: the tokenizer, the engines behind it, and chat templates."""
