"""What mistral-common carries: the models of its tokenizers; and of the third, the tokenizer.json that Mistral made.

transformers would order the merges by the ids of tokens; in Mistral's own file they are ordered by their scores.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers


def carried(start: str, end: str) -> Path:
    """Return a file that mistral-common carries."""
    import mistral_common

    (found,) = (Path(mistral_common.__file__).parent / "data").glob(f"{start}*{end}")
    return found


@cache
def mistral_v3() -> Path:
    """Return the folder of the third tokenizer as tokenizer.json; it is gone when the tests end."""
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_file=str(carried("mistral_instruct", ".v3")))
    pieces = {model.id_to_piece(number): number for number in range(len(model))}
    merges = [
        (model.get_score(number), pieces[piece[:at]], pieces[piece[at:]], piece[:at], piece[at:])
        for piece, number in pieces.items()
        if not model.is_control(number) and not model.is_byte(number)
        for at in range(1, len(piece))
        if piece[:at] in pieces and piece[at:] in pieces
    ]
    merges.sort(key=lambda merge: (-merge[0], *merge[1:3]))
    made = Tokenizer(models.BPE(pieces, [merge[3:] for merge in merges], fuse_unk=True, byte_fallback=True))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    control = [piece for piece, number in pieces.items() if model.is_control(number) or model.is_unknown(number)]
    made.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in control])
    folder = Path(tempfile.mkdtemp(prefix="mistral-"))
    atexit.register(shutil.rmtree, folder)
    made.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>"}
    config |= {"unk_token": "<unk>", "clean_up_tokenization_spaces": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
