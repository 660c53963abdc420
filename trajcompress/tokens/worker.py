"""What a worker process of :class:`trajcompress.tokens.pool.PooledEngine` runs.

Lines of JSON in and out: first the tokenizer's definition, then a list of texts for each list of counts. It ends
where its input does, so it cannot outlive the process that started it.
"""

from __future__ import annotations

import json
import sys

from tokenizers import Tokenizer


def main() -> None:
    """Answer until there is nothing more to read."""
    lines = sys.stdin.buffer
    backend = Tokenizer.from_str(json.loads(lines.readline()))
    for line in lines:
        encodings = backend.encode_batch_fast(json.loads(line), add_special_tokens=False)
        sys.stdout.buffer.write(json.dumps([len(encoding) for encoding in encodings]).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
