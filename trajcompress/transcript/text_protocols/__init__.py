"""Agents whose actions and observations are plain text: how either is known."""
