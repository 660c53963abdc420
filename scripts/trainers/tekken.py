"""A ``tekken.json`` of a later version than mistral-common brings: ``python -m trainers.tekken v13 FOLDER``.

The tokenizers of v11 and v13 are on the hub alone. This one has the vocabulary that mistral-common brings, and the
control tokens by all names that it knows, so rows are encoded as by them, if in other tokens.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import mistral_common
from mistral_common.tokens.tokenizers.base import SpecialTokens, TokenizerVersion


def main() -> None:
    """Write the file into a new folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", choices=[version.value for version in TokenizerVersion])
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    brought = max((Path(mistral_common.__file__).parent / "data").glob("tekken_*.json"))
    made = json.loads(brought.read_text(encoding="utf-8"))
    made["config"]["version"] = asked.version
    made["special_tokens"] = [
        {"rank": rank, "token_str": token.value, "is_control": True} for rank, token in enumerate(SpecialTokens)
    ]
    made.pop("image", None)
    asked.folder.mkdir(parents=True, exist_ok=True)
    (asked.folder / "tekken.json").write_text(json.dumps(made), encoding="utf-8")
    # By which transformers opens the folder, for what else it is asked.
    config = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>"}
    (asked.folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    main()
