"""The import of ``openai`` without types of what is never asked for here, which take two thirds of it."""

from __future__ import annotations

from trajcompress.processes.late_modules import late


def import_openai() -> None:
    """Import it; types of its responses API are loaded once somebody looks one up."""
    with late("openai.types", "openai.types.responses"):
        import openai  # noqa: F401
