"""What LLaMA-Factory makes of a row: it renders templates of its own, not the tokenizer's."""
