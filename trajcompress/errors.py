"""What can go wrong, as exceptions.

```
TrajcompressError                   exit code
├── UsageError                      2   wrong flags, settings, input or output
│   ├── SettingsError                   a key, a type or a config file
│   ├── InputError                      nothing to read, or a source that cannot be read
│   ├── OutputError                     a folder that cannot be written, or is not ours to write
│   ├── TokenizerError                  a tokenizer that cannot be loaded
│   └── HubUnreachableError             the Hugging Face hub does not answer
├── RowError                        -   this row is rejected, the run goes on
├── UncountableTextError            -   no tokenizer can encode this text (lone surrogates)
├── SummaryError                    -   no summary for this row, its original is kept
│   └── SummarizerUnusableError     1   no row can be summarised (key, quota, model, outage): the run stops early;
│                                       2   where no call was ever answered
├── AwaitsBatchError                -   this summary comes with a batch, in a later round
├── BatchPendingError               75  batches are under way at the endpoint: come back later
├── TooManyFailedError              1   more rows failed or were rejected than allowed: the run stops early
├── WorkerDiedError                 1   a process that rows are worked on in is gone: the run stops early
└── EngineMismatchError             -   the fast engine miscounted: the run counts again with the reference
```

Messages are one line: what is wrong, where (file, row, key), and what to do about it.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path


class TrajcompressError(Exception):
    """Base of every error that this package raises on purpose."""

    exit_code = 1

    def reword(self, reworded: Callable[[str], str]) -> None:
        """Have the message say it in other words, such as those of whoever called."""
        self.args = (reworded(str(self)),)


class UsageError(TrajcompressError):
    """The command, its settings, its input or its output are wrong; nothing was run."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown, of the wrong type or out of range, or its file cannot be read."""


class InputError(UsageError):
    """An input does not exist, holds nothing that can be read, or is of an unknown kind."""


class OutputError(UsageError):
    """The output folder cannot be used."""


class TokenizerError(UsageError):
    """The tokenizer cannot be loaded."""


class HubUnreachableError(UsageError):
    """The Hugging Face hub gives no answer."""


class _ReasonedError(TrajcompressError):
    """An error with a ``reason``, a short stable word, and the detail as message."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail

    def reword(self, reworded: Callable[[str], str]) -> None:
        super().reword(reworded)
        self.detail = reworded(self.detail)


class RowError(_ReasonedError):
    """A row holds no trajectory."""


class UncountableTextError(TrajcompressError):
    """A text holds code points that have no UTF-8 form, so no tokenizer can encode it."""


class SummaryError(_ReasonedError):
    """A summary could not be had; where the answer of a model is none, its reason is one of ``NO_SUMMARY``."""


NO_SUMMARY: Mapping[str, str] = {
    "empty_answer": "the model wrote nothing that could be a summary",
    "refused_answer": "the model refused",
    "call_answer": "the model wrote a call or code, no summary",
    "dialogue_answer": "the model went on with the conversation",
    "echoed_answer": "the model repeated what it was given",
    "repeated_answer": "the model wrote the same over and over",
    "garbled_answer": "the model wrote no words",
    "error_answer": "an error stands in place of the answer",
}
"""Reasons why an answer of a model is no summary, in words; the row has failed by it."""


class SummarizerUnusableError(SummaryError):
    """The endpoint refuses every call (key, payment, permission, quota, model) or is down: stop the run early.

    ``has_answered`` says whether it has answered before; where it never did, the settings may be wrong.
    """

    def __init__(self, reason: str, detail: str = "", *, has_answered: bool = False) -> None:
        super().__init__(reason, detail)
        self.has_answered = has_answered
        self.exit_code = TrajcompressError.exit_code if has_answered else UsageError.exit_code


class AwaitsBatchError(TrajcompressError):
    """The reply to a request is to be had with the next batch, so the row is worked on again then."""


class BatchPendingError(TrajcompressError):
    """Batches are under way, and nobody waits for them: the same command goes on once they have ended."""

    exit_code = 75  # EX_TEMPFAIL of sysexits.h


class TooManyFailedError(TrajcompressError):
    """More rows failed or were rejected than ``--max-failed`` allows."""


class WorkerDiedError(TrajcompressError):
    """A process that rows are worked on in has died: what it was doing is lost, what is committed is not."""


class EngineMismatchError(TrajcompressError):
    """The fast engine and the reference tokenizer disagree on a text."""


OF_THE_RUN = TrajcompressError, MemoryError, OSError
"""Errors that are no row's own: they were raised on purpose, or come of the machine."""

_TOLD_CHARS = 200  # of a message, which may quote a row

INTERNAL = "internal_error"
"""The reason of a row that met a mistake of this package: that row pays for it, not the run."""


def told(mistake: Exception) -> str:
    """Say in one line what went wrong, and where in this package, for whoever mends it."""
    root = Path(__file__).parent
    frames = [frame for frame in traceback.extract_tb(mistake.__traceback__) if root in Path(frame.filename).parents]
    place = f" ({Path(frames[-1].filename).relative_to(root).as_posix()}:{frames[-1].lineno})" if frames else ""
    message = " ".join(str(mistake)[:_TOLD_CHARS].split())
    return f"{type(mistake).__name__}: {message}{'…' * (len(str(mistake)) > _TOLD_CHARS)}{place}"
