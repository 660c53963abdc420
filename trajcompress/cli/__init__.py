"""The command line: one file per command, each only parses, calls and prints."""
