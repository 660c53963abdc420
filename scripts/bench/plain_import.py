"""The real command with ``transformers`` imported plainly, as a process of its own.

    python scripts/bench/plain_import.py compress data/ --output out/

What the command costs less without this is what ``trajcompress.tokens.quick_import`` brings.
"""

from __future__ import annotations

import transformers  # noqa: F401 - before the command imports it in its own way

import trajcompress.cli

if __name__ == "__main__":
    trajcompress.cli.main()
