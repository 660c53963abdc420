"""A row before and after as one HTML page: no scripts, no requests, all text escaped."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, StrictUndefined

from trajcompress.results.show.model import View
from trajcompress.results.show.safe import printable


def page(view: View) -> str:
    """Return the page."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["safe_text"] = printable  # a plain string, so it is still escaped
    template = environment.from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    return template.render(view=view)
