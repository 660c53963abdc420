"""A processor and a model of Qwen3-VL's kind, as small as they get: ``python -m images.processor TOKENIZER FOLDER``.

To run where TRL is installed, which has the chat template. The tokenizer is one of Qwen3's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import transformers
import trl

TEXT = {
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "rope_scaling": {"rope_type": "default", "mrope_section": [1, 1, 2], "mrope_interleaved": True},
}
VISION = {
    "depth": 1,
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_heads": 2,
    "out_hidden_size": 16,
    "deepstack_visual_indexes": [0],
    "num_position_embeddings": 16,
}
MARKS = {"image": "image_pad", "video": "video_pad", "vision_start": "vision_start", "vision_end": "vision_end"}
HALF = [0.5, 0.5, 0.5]


def main() -> None:
    """Write both into one folder, as a model is published."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(asked.tokenizer))
    tokenizer.pad_token = "<|endoftext|>"  # noqa: S105  no password
    template = Path(trl.__file__).parent / "chat_templates" / "qwen3_vl.jinja"
    tokenizer.chat_template = template.read_text(encoding="utf-8")
    processor = transformers.Qwen3VLProcessor(
        image_processor=transformers.Qwen2VLImageProcessor(patch_size=16, image_mean=HALF, image_std=HALF),
        tokenizer=tokenizer,
        video_processor=transformers.Qwen3VLVideoProcessor(),
        chat_template=tokenizer.chat_template,
    )
    ids = {f"{name}_token_id": tokenizer.convert_tokens_to_ids(f"<|{mark}|>") for name, mark in MARKS.items()}
    config = transformers.Qwen3VLConfig(
        text_config=TEXT | {"vocab_size": len(tokenizer)}, vision_config=VISION, **ids
    )
    for made in (processor, tokenizer, transformers.Qwen3VLForConditionalGeneration(config)):
        made.save_pretrained(asked.folder)


if __name__ == "__main__":
    main()
