"""``python -m trajcompress``."""

from trajcompress.cli import main

main()
