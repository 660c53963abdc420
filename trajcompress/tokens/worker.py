"""What a worker process of :class:`trajcompress.tokens.pool.PooledEngine` runs.

A line of JSON comes in with the tokenizer's definition. Then, for each line of counts that goes out, a line comes in
with the number of bytes that follow it and of characters in each text, and the texts as one. It ends where its input
does, so it cannot outlive the process that started it.
"""

from __future__ import annotations

import json
import sys
from itertools import accumulate, pairwise

from tokenizers import Tokenizer

from trajcompress.processes.command import open_answers


def main() -> None:
    """Answer until there is nothing more to read."""
    stream, answers = sys.stdin.buffer, open_answers()
    backend = Tokenizer.from_str(json.loads(stream.readline()))
    while line := stream.readline():
        size, *lengths = json.loads(line)
        whole = stream.read(size).decode()
        texts = [whole[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]
        encodings = backend.encode_batch_fast(texts, add_special_tokens=False)
        answers.write(json.dumps([len(encoding) for encoding in encodings]).encode() + b"\n")
        answers.flush()
