"""Asking a store: again where it fails for the moment; what its library raises becomes OSError, without secrets."""

from __future__ import annotations

import asyncio
import errno
import os
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from trajcompress.dataset.storage.stores import STORES
from trajcompress.processes.late_patterns import late_re

T = TypeVar("T")

_SECRETS = late_re(r"(SECRET|TOKEN|PASSWORD|ACCOUNT_KEY|CONNECTION_STRING|ACCESS_KEY)")
_QUERY = late_re(r"\?[^\s'\"]*=[^\s'\"]*")
_REFUSED = late_re(r"\b40[13]\b|Forbidden|AuthenticationFailed")
_WITHOUT_CREDENTIALS = {"NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError", "ProfileNotFound"}
_CUT = {
    *("ClientPayloadError", "IncompleteRead", "ResponseStreamingError", "ServerDisconnectedError"),
    *("RemoteProtocolError", "ConnectionClosedError", "IncompleteReadError"),
}
_NOT_OF_THE_MOMENT = (ValueError, TypeError, LookupError, AttributeError, NotImplementedError)
_REFUSALS = {errno.EINVAL, errno.EPERM, errno.ENAMETOOLONG, errno.ENOSYS}
_PAUSES_S = (0.5, 1, 2, 4, 8)
_LONGEST = 200
_SHORTEST_SECRET = 8


async def answered(url: str, question: Callable[..., Awaitable[T]], *given: Any, **options: Any) -> T:
    """Ask a store, again where it fails for the moment, with growing pauses.

    Raises:
        OSError: it refuses, has no such object, or failed each time; ``filename`` is the address.
    """
    for pause in (*_PAUSES_S[: STORES[_scheme(url)].attempts - 1], None):
        try:
            return await question(*given, **options)
        except Exception as error:  # each library has its own
            known = os_error(error, url)
            if known.errno != errno.EIO or pause is None:
                raise known from error
        await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - so that many do not ask again at once
    raise AssertionError  # the last one returns or raises


def os_error(error: BaseException, url: str) -> OSError:
    """Return the OSError for what was raised."""
    store = STORES[_scheme(url)]
    chain = _chain(error)
    names = {type(each).__name__ for each in chain}
    codes = " ".join(filter(None, (_code(each) for each in chain)))
    number, words = errno.EIO, f"the store failed again and again ({_words(chain)}); try again later"
    if "NoSuchBucket" in codes or "ContainerNotFound" in codes:
        number, words = errno.ENOENT, f"there is no such {store.bucket}; check the name"
    elif isinstance(error, FileExistsError):
        number, words = errno.EEXIST, "is there already"
    elif names & _WITHOUT_CREDENTIALS or "Must provide either a connection_string" in str(error):
        number, words = errno.EACCES, f"no credentials were found; set {store.credentials}"
    elif names & {"GatedRepoError", "RepositoryNotFoundError"}:
        number, words = errno.EACCES, f"there is no such {store.bucket}, or it needs {store.credentials}"
    elif isinstance(error, FileNotFoundError):
        number, words = errno.ENOENT, "there is no such object; check the name"
    elif isinstance(error, PermissionError) or _REFUSED.search(codes):
        number = errno.EACCES
        words = f"the store refuses it ({_words(chain)}); check {store.credentials}, and permissions"
    elif "OfflineModeIsEnabled" in names:
        number, words = errno.ENETUNREACH, "HF_HUB_OFFLINE is set, which keeps the hub from being asked"
    elif isinstance(error, _NOT_OF_THE_MOMENT) or getattr(error, "errno", None) in _REFUSALS:
        number, words = errno.EINVAL, f"the store cannot be asked so ({_words(chain)})"
    return OSError(number, words, url)  # which is of the class that the number means


def _chain(error: BaseException) -> list[BaseException]:
    chain = [error]
    while (cause := chain[-1].__cause__) is not None and len(chain) < 5:  # noqa: PLR2004 - deeper ones tell nothing
        chain.append(cause)
    return chain


def _code(error: BaseException) -> str | None:
    """Return what a store's answer gives as its code, or its status."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", "")
        return f"{response.get('Error', {}).get('Code', '')} {status}"
    code = getattr(error, "error_code", None) or getattr(error, "code", None)
    status = getattr(response, "status_code", None) or getattr(error, "status_code", None)
    text = "Forbidden" if str(error).startswith("Forbidden") else ""  # gcsfs
    return " ".join(str(each) for each in (code, status, text) if each)


def _words(chain: Sequence[BaseException]) -> str:
    """Return what the store says in one line, without what may be secret in it."""
    if any(type(each).__name__ in _CUT for each in chain):
        return "the connection was cut"
    text = str(getattr(chain[0], "strerror", None) or chain[0]) or type(chain[0]).__name__
    for each in chain:
        response = getattr(each, "response", None)
        if isinstance(response, dict) and (said := response.get("Error")):
            text = f"{said.get('Code', '')}: {said.get('Message', '')}"
    text = _QUERY.sub("?…", " ".join(text.split()))
    for name, value in os.environ.items():
        if _SECRETS.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, "…")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _scheme(url: str) -> str:
    return url.partition("://")[0]
