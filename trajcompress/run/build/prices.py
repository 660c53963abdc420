"""Prices of a model's tokens: from the settings, else from a table that comes with the package."""

from __future__ import annotations

from functools import cache

from pydantic import TypeAdapter, ValidationError

from trajcompress.errors import SettingsError
from trajcompress.settings import Settings
from trajcompress.settings.files import read_yaml, shipped_file
from trajcompress.settings.values import FloatOrZero
from trajcompress.summarize.endpoint.priced import Price


def price_of(settings: Settings) -> Price | None:
    """Return what the settings say, else what the table says of the model that they name; None for unknown.

    Raises:
        SettingsError: only one of two prices is given, or the table cannot be read.
    """
    chosen = settings.summarization
    if chosen.price_in is not None and chosen.price_out is not None:
        return Price(chosen.price_in, chosen.price_out, chosen.price_cached)
    if chosen.price_in is not None or chosen.price_out is not None:
        raise SettingsError(
            "summarization.price_in and price_out are of use together: give both --price-in and --price-out"
        )
    return listed_price(chosen.model) if chosen.model and chosen.called == chosen.model else None


def listed_price(model: str) -> Price | None:
    """Return the price of a model in the table ``configs/prices.yaml``, which goes by whole names."""
    return _table().get(model)


@cache
def _table() -> dict[str, Price]:
    path = shipped_file("prices.yaml")
    content = read_yaml(path)
    try:
        pairs = _PAIRS.validate_python(content)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise SettingsError(f"{path}: {where}: should be two prices, [in, out], in USD per million tokens") from error
    return {name: Price(*pair) for name, pair in pairs.items()}


_PAIRS = TypeAdapter(dict[str, tuple[FloatOrZero, FloatOrZero]])
