"""The file of an HTML page of ours: it takes the place of an earlier page, and of no other file."""

from __future__ import annotations

from trajcompress.dataset.durable import temporary, write_durably
from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import OutputError

_GENERATOR = b'<meta name="generator" content="trajcompress'
"""What the templates of all pages have near their beginning."""
_HEAD_BYTES = 1000


def check_page_file(path: Location, option: str) -> None:
    """Raise OutputError where no page can be written there; ``option`` is what names another place."""
    try:
        for each in (path, temporary(path.resolve())):
            if each.exists() and not _is_page(each):
                raise OutputError(f"{each}: exists and is no page of trajcompress; choose another {option}")
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror or error}; choose another {option}") from error
    if not isinstance(path, StorePath) and not path.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {path.parent}; make it first, or choose another {option}")


def write_page(page: str, path: Location, option: str) -> None:
    """Write a page; raise OutputError where that cannot be done."""
    try:
        write_durably(path.resolve(), page.encode())  # a link stays one
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}; choose another {option}") from error


def _is_page(path: Location) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    return not head or _GENERATOR in head
