"""The definition of a small tokenizer, for all that write one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_TRAINED_ON = Path(__file__).parent / "data" / "trained_on.txt"  # any text; counts in tests are by this one


@cache
def small_definition() -> str:
    """Return the ``tokenizer.json`` of a byte-level BPE tokenizer that loads at once."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([_TRAINED_ON.read_text()], trainer)
    return backend.to_str()
