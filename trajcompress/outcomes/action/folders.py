"""In which folder a command ran, where that is another than most of a row's commands ran in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from trajcompress.outcomes.compact import parse
from trajcompress.processes.late_patterns import holds_any

_KEYS = ("workdir", "cwd", "working_directory", "working_dir", "workingDirectory")  # of Codex CLI and others
_NAMES = tuple(f'"{key}"' for key in _KEYS)
_READ_CHARS = 200_000
_SHOWN = 2  # of the folders of a path


def folders_apart(calls: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Return the folders of those calls that ran in another than most, by their arguments as they are written.

    One within that of most is named by its path from there.

    Args:
        calls: the name of the tool, and its arguments as they are written.

    >>> runs = [("shell", f'{{"command": "ls {n}", "workdir": "/w"}}') for n in range(3)]
    >>> folders_apart([*runs, ("shell", '{"command": "make", "workdir": "/w/src/a"}')])
    {'{"command": "make", "workdir": "/w/src/a"}': 'src/a'}
    """
    given = {written: folder for _, written in calls if (folder := _folder(written))}
    if len(folders := Counter(given.values())) <= 1:
        return {}
    usual = folders.most_common(1)[0][0]
    return {written: _named(folder, usual) for written, folder in given.items() if folder != usual}


def _folder(written: str) -> str:
    if len(written) > _READ_CHARS or not holds_any(written, _NAMES):
        return ""
    data = parse(written)
    held = (data.get(key) for key in _KEYS) if isinstance(data, dict) else ()
    folder = next((each for each in held if isinstance(each, str) and each.strip()), "")
    return folder.strip().rstrip("/\\") or folder.strip()


def _named(folder: str, usual: str) -> str:
    if folder.startswith(f"{usual}/"):
        return folder[len(usual) + 1 :]
    parts = folder.split("/")
    return folder if len(parts) <= _SHOWN + 1 else f"…/{'/'.join(parts[-_SHOWN:])}"
