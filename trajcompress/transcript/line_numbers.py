"""How listings number the lines of a file."""

from __future__ import annotations

NUMBER = r"\d{1,7}(?: ?\||[:\t→])"
"""The number of a line, as `cat -n`, `grep -n`, Claude Code (``7→``) and Roo Code (``7 | ``) give it."""
