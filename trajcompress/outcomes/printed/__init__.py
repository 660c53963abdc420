"""What a result in plain text shows, in a few of its own lines."""
