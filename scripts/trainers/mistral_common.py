"""Rows as mistral-common validates and encodes them for fine-tuning: ``python -m trainers.mistral_common FILE...``.

``--option version=v3`` (to v13). It brings tokenizers up to v7, with which rows of later versions are encoded, once
their own validator took them; ``--option encoder=FILE`` names another, such as a ``tekken.json``. It has no labels:
all that is encoded counts as trained.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from mistral_common.protocol.instruct.normalize import get_normalizer
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy, TokenizerVersion
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

from trainers.lines import arguments, options, read_file, told, write_lines

READ = ("role", "content", "tool_calls", "tool_call_id", "name", "weight", "prefix")


def main() -> None:
    """Validate and encode row by row."""
    asked = arguments(__doc__).parse_args()
    version = TokenizerVersion(options(asked).get("version", "v3"))
    validator = get_validator(version, ValidationMode.finetuning)
    own = MistralTokenizer.v3() if version < TokenizerVersion.v7 else MistralTokenizer.v7()
    given = options(asked).get("encoder")
    encoder = MistralTokenizer.from_file(given) if given else own
    normalizer = get_normalizer(encoder.version, None)

    def load(file: Path) -> Sequence[dict[str, Any] | None]:
        rows = read_file(file)
        given = rows.to_pylist() if file.suffix == ".parquet" else [json.loads(line) for line in rows]
        return [_encoded(row, validator, normalizer, encoder.instruct_tokenizer) for row in given]

    write_lines(asked, load)


def _encoded(row: dict[str, Any], validator: Any, normalizer: Any, encoder: Any) -> dict[str, Any]:
    try:
        messages = [json.loads(message) if isinstance(message, str) else message for message in row["messages"]]
        messages = [{key: message[key] for key in READ if message.get(key) is not None} for message in messages]
        tools = row.get("tools") or None
        tools = json.loads(tools) if isinstance(tools, str) else tools
        tools = [json.loads(tool) if isinstance(tool, str) else tool for tool in tools or []] or None
        request = validator.validate_request(ChatCompletionRequest.from_openai(messages=messages, tools=tools))
        tokens = encoder.encode_instruct(normalizer.from_chat_completion_request(request)).tokens
    except Exception as raised:  # noqa: BLE001  whatever it raises is its answer
        return {"error": told(raised)}
    text = _between_control_tokens(encoder.tokenizer, tokens)
    return {"tokens": len(tokens), "trained_tokens": len(tokens), "rendered": text, "trained": text}


def _between_control_tokens(tokenizer: Any, tokens: list[int]) -> str:
    """Return the text, of which the control tokens are line ends; kept, SentencePiece would give pieces, not text."""
    runs = groupby(tokens, key=tokenizer.is_special)
    texts = (tokenizer.decode(list(run), SpecialTokenPolicy.IGNORE) for control, run in runs if not control)
    return "\n".join(texts)


if __name__ == "__main__":
    main()
