"""Pages of WebShop (Yao et al., 2022), whose parts are separated by a model's own token: what they offer. Pure."""

from __future__ import annotations

from trajcompress.outcomes.text import one_line
from trajcompress.processes.late_patterns import late_re

_SEPARATOR, _LEAST_PARTS = "[SEP]", 3
_BUTTONS = frozenset(
    ("Back to Search", "< Prev", "Next >", "Search", "Description", "Features", "Reviews", "Attributes", "Buy Now")
)
_TASK = "Instruction:"
_PRODUCT = late_re(r"[A-Z0-9]{10}")
_PAGE = late_re(r"Page \d{1,4} \(")


def shop_page(body: str) -> list[str]:
    """Say what such a page offers: products with their prices, or the one that is shown; nothing of any other text.

    The task, which each page repeats, buttons and options are left out.
    """
    if body.count(_SEPARATOR) < _LEAST_PARTS:
        return []
    parts = [one_line(part).strip('" ') for part in body.partition("\n\n")[0].split(_SEPARATOR)]
    task = next((at for at, part in enumerate(parts[:_LEAST_PARTS]) if part.endswith(_TASK)), None)
    done = "" if task is None else parts[task].removesuffix(_TASK).strip()
    parts = parts if task is None else parts[task + 2 :]
    parts = [part for part in parts if part not in _BUTTONS and not _PAGE.match(part)]
    found = [at for at, part in enumerate(parts) if _PRODUCT.fullmatch(part)]
    offers = [" ".join(parts[at : at + 3]) for at in found]
    price = next((at for at, part in enumerate(parts) if at and part.startswith("Price:")), None)
    shown = [f"{parts[price - 1]}, {parts[price]}"] if price is not None and not found else []
    return [piece for piece in (done, *offers, *shown) if piece]
