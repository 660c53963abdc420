"""The stores that are known, and the library that speaks to each."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trajcompress.errors import UsageError

if TYPE_CHECKING:
    from fsspec.asyn import AsyncFileSystem

_CONNECT_S = 20
_READ_S = 60  # without a byte


class Store(Struct, frozen=True):
    """A kind of store.

    ``bucket`` is what it calls its first level. ``extra`` is what to install for it. ``credentials`` are the
    variables that its library reads. ``version`` finds, in what the store tells of an object, what changes with its
    content. ``attempts`` is how often it is asked, beyond what its library does by itself.
    """

    open: Callable[[], AsyncFileSystem]
    bucket: str
    extra: str
    credentials: str
    version: Callable[[Mapping[str, Any]], object]
    attempts: int


def _open_s3() -> AsyncFileSystem:
    from s3fs import S3FileSystem

    config: dict[str, Any] = {"connect_timeout": _CONNECT_S, "read_timeout": _READ_S}
    if "AWS_MAX_ATTEMPTS" not in os.environ:
        config["retries"] = {"total_max_attempts": 1}  # else two layers below ask again, each for each of the other
    store = S3FileSystem(use_listings_cache=False, config_kwargs=config)
    store.retries = 1
    return store


def _open_gs() -> AsyncFileSystem:
    from gcsfs import GCSFileSystem

    logging.getLogger("gcsfs").setLevel(logging.CRITICAL)  # it logs what it raises
    return GCSFileSystem(use_listings_cache=False)


def _open_az() -> AsyncFileSystem:
    from adlfs import AzureBlobFileSystem

    named = ("ACCOUNT_KEY", "SAS_TOKEN", "CONNECTION_STRING", "ANON")
    anon = None if any(f"AZURE_STORAGE_{each}" in os.environ for each in named) else False
    return AzureBlobFileSystem(
        use_listings_cache=False, anon=anon, connection_timeout=_CONNECT_S, read_timeout=_READ_S
    )


def _open_hf() -> AsyncFileSystem:
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
    from huggingface_hub import HfFileSystem

    return AsyncFileSystemWrapper(HfFileSystem())


STORES: Mapping[str, Store] = {
    "s3": Store(
        _open_s3,
        "bucket",
        "s3",
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
        lambda info: info.get("ETag"),
        6,
    ),
    "gs": Store(
        _open_gs,
        "bucket",
        "gcs",
        "GOOGLE_APPLICATION_CREDENTIALS",
        lambda info: info.get("md5Hash") or info.get("crc32c") or info.get("etag"),
        2,
    ),
    "az": Store(
        _open_az,
        "container",
        "azure",
        "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        lambda info: info.get("etag"),
        3,
    ),
    "hf": Store(
        _open_hf,
        "repository",
        "",
        "HF_TOKEN",
        lambda info: (info.get("lfs") or {}).get("sha256") or info.get("blob_id"),
        3,
    ),
}


@cache
def filesystem(scheme: str) -> AsyncFileSystem:
    """Return what speaks to the stores of a scheme.

    Raises:
        UsageError: its library is not installed.
    """
    store = STORES[scheme]
    try:
        return store.open()
    except ImportError as error:
        raise UsageError(
            f"{scheme}://…: needs {error.name or 'its library'}; pip install 'trajcompress-cli[{store.extra}]'"
        ) from error
