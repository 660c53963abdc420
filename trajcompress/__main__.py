"""``python -m trajcompress``."""

from trajcompress.cli import command

command()
