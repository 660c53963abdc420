"""Publishing a complete run as a dataset repository on the Hugging Face hub.

What is published is the dataset, its card, the totals and the metrics: not the raw text of rejected rows, nor what
only this machine needs. The metrics are published without what they may tell of the machine.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.storage.parquet import open_parquet
from trajcompress.errors import InputError, OutputError
from trajcompress.metrics.files import read_totals
from trajcompress.run.folder.manifest import DATA, REMEDY, UNCHECKED, first_damage, is_data
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.past.past_run import open_run
from trajcompress.summarize.retry import one_line
from trajcompress.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa
    from huggingface_hub import HfApi

_PIECE_BYTES = 2**20
_OURS = {"README.md", "metrics.parquet", "summary.json"}
_REMEDIES = {
    401: "the token is refused; set HF_TOKEN to another, with write permission",
    403: "the token may not write there; set HF_TOKEN to one with write permission",
    404: "there is no such owner, or the token may not see it",
    429: "too many requests; wait some minutes",
}


def check_push(repo: str) -> None:
    """Raise OutputError, before anything is done, where the name, the token or the way to the hub is no good."""
    from huggingface_hub import HfApi, get_token

    check_name(repo)
    if get_token() is None:
        raise OutputError(f"{repo}: no token to push with; set HF_TOKEN, or run `hf auth login`")
    with _clear_errors(repo):
        HfApi().whoami()


def check_run(folder: Location) -> list[str]:
    """Return what is to be known of a run before it is published.

    Raises:
        InputError: the folder holds no run that is complete, or its files are damaged.
    """
    run = open_run(folder)
    state = run.run_json["state"]
    if state != "complete":
        why = "its inputs changed while they were read" if state == "input_changed" else f"the run is {state}"
        raise InputError(f"{folder}: {why}, and only a complete run is published; bring it to its end first")
    if damage := first_damage(folder, run.files or ()):
        raise InputError(f"{damage}; {REMEDY}")
    notes = [f"{folder}: {UNCHECKED}"] if run.files is None else []
    if lost := read_totals(run.folder.metrics).not_handled:
        notes.append(f"failed or rejected: {counted(lost, 'row')}; see metrics.parquet in {folder}")
    return notes


def check_name(repo: str) -> None:
    """Raise OutputError where this is no name of a repository."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # documented all the same

    try:
        validate_repo_id(repo)
    except HFValidationError:
        raise OutputError(
            f"{repo}: no name of a repository; write OWNER/NAME, of letters, digits, -, _ and ."
        ) from None


def push(folder: Location, repo: str, *, private: bool, progress: bool) -> str:
    """Publish a complete run in one commit, and return the address of the repository.

    ``repo`` is ``owner/name``, or ``name`` for one's own. One that does not exist is made; one that holds an earlier
    push of a run is brought to this one; where it should be ``private``, one that is public is refused.

    Raises:
        OutputError: the repository cannot be written, is public, or holds other data.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]  # documented all the same

    if not progress:
        disable_progress_bars()
    api = HfApi()
    with _published(folder) as files, _clear_errors(repo):
        url = api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        stale = _stale(api, url.repo_id, files, private=private)
        api.create_commit(
            url.repo_id,
            [
                *(CommitOperationAdd(name, path) for name, path in files.items()),
                *(CommitOperationDelete(name) for name in stale),
            ],
            commit_message="Add a dataset compressed by trajcompress",
            repo_type="dataset",
        )
    return str(url)


class Publication(Struct, frozen=True):
    """What a push would publish: files by their names in the repository, each with its bytes, and the card."""

    sizes: Mapping[str, int]
    card: str


def prepare(folder: Location) -> Publication:
    """Return what a push of a complete run would publish; nothing is asked of the hub.

    Raises:
        OutputError: a file cannot be read.
    """
    try:
        with _published(folder) as files:
            sizes = {name: path.stat().st_size for name, path in files.items()}
            return Publication(sizes, files[RunFolder(folder).card.name].read_text(encoding="utf-8"))
    except OSError as error:
        raise OutputError(f"{error.filename or folder}: cannot be read: {error.strerror or error}") from error


@contextmanager
def _published(folder: Location) -> Iterator[dict[str, Path]]:
    """Yield the files of a run that are published, by their names in the repository."""
    run = RunFolder(folder)
    with tempfile.TemporaryDirectory() as scratch:
        metrics = Path(scratch) / run.metrics.name
        tables = [metrics]
        write_public_metrics(run.metrics, metrics)
        if run.segments.exists():
            tables.append(Path(scratch) / run.segments.name)
            write_public_metrics(run.segments, tables[-1])
        files = {f"{DATA}{path.name}": _here(path, scratch) for path in sorted(run.own.files(), key=str)}
        yield files | {path.name: _here(path, scratch) for path in (run.card, run.summary, *tables)}


def _here(path: Location, scratch: str) -> Path:
    """Return a file as one of this machine: what lies in a store is fetched."""
    if isinstance(path, Path):
        return path
    target = Path(scratch) / path.name
    with path.open("rb") as source, target.open("wb") as file:
        shutil.copyfileobj(source, file, _PIECE_BYTES)
    return target


def _stale(api: HfApi, repo: str, files: Iterable[str], *, private: bool) -> list[str]:
    """Return what an earlier push has left in the repository and this one has not; refuse other data."""
    info = api.dataset_info(repo)
    if private and not info.private:
        raise OutputError(f"{repo}: is a public repository; --public pushes to it, another name to a private one")
    there = {sibling.rfilename for sibling in info.siblings or []}
    stale = sorted(name for name in there.difference(files) if is_data(name))
    if stale and not there >= _OURS:
        raise OutputError(f"{repo}: holds other data ({stale[0]}); choose a new or an empty repository")
    return stale


def write_public_metrics(source: Location, target: Path) -> None:
    """Copy metrics, with names of input files cut down to what they do not share, and without words of errors."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    names = pc.unique(pq.read_table(source, columns=["source_file"])["source_file"]).to_pylist()
    public = public_names(names)
    with open_parquet(source) as file, pq.ParquetWriter(target, file.schema_arrow, compression="zstd") as writer:
        for batch in file.iter_batches():
            writer.write_batch(_without_machine(batch, public))


def public_names(names: Iterable[str]) -> dict[str, str]:
    """Return for each name of a source one that tells nothing of folders outside of the one they all lie in."""
    public = {name: name for name in names}
    outside = [name for name in public if PurePath(name).is_absolute() or ".." in PurePath(name).parts]
    if outside:
        top = os.path.commonpath([Path(name).absolute().parent for name in outside])
        public |= {name: PurePath(os.path.relpath(name, top)).as_posix() for name in outside}
    return public


def _without_machine(batch: pa.RecordBatch, names: dict[str, str]) -> pa.RecordBatch:
    import pyarrow as pa

    columns: dict[str, Any] = dict(zip(batch.schema.names, batch.columns, strict=True))
    columns["source_file"] = pa.array([names[name] for name in columns["source_file"].to_pylist()], pa.string())
    if "error" in columns:
        columns["error"] = pa.nulls(batch.num_rows, pa.string())
    return pa.RecordBatch.from_pydict(columns, schema=batch.schema)


@contextmanager
def _clear_errors(repo: str) -> Iterator[None]:
    """Raise OutputError, in one line, for what kept a push from happening."""
    import httpx2
    from huggingface_hub.errors import OfflineModeIsEnabled

    try:
        yield
    except OfflineModeIsEnabled:
        raise OutputError(f"{repo}: nothing is pushed while HF_HUB_OFFLINE is set; unset it") from None
    except (httpx2.HTTPError, RuntimeError, ValueError) as error:  # the last two are how uploads of files fail
        raise OutputError(f"{repo}: not pushed: {_why(error)}") from error


def _why(error: BaseException) -> str:
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError

    cause = (error.__cause__ if isinstance(error, RuntimeError) else None) or error  # what the client wraps
    words = one_line(str(cause)) or type(cause).__name__
    if isinstance(cause, HfHubHTTPError):
        status = cause.response.status_code
        words = one_line(cause.server_message or "") or words
        return f"{_REMEDIES.get(status, 'the hub has a fault; try again later')} (HTTP {status}: {words})"
    if isinstance(cause, httpx2.HTTPError):
        return f"the hub cannot be reached; try again later ({words})"
    return words
