"""The real command with chat templates as transformers compiles them, as a process of its own.

    python scripts/bench/plain_templates.py compress data/ --output out/

What the command costs less without this is what ``trajcompress.tokens.quick_template`` brings.
"""

from __future__ import annotations

from typing import Any

import trajcompress.cli
from trajcompress.tokens import rendering


def _compiled(template: str) -> Any:
    from transformers.utils.chat_template_utils import _compile_jinja_template

    return _compile_jinja_template(template)


def _left_alone(template: str) -> None:
    pass


if __name__ == "__main__":
    vars(rendering).update(quick_compiled=_compiled, quicken=_left_alone)
    trajcompress.cli.main()
