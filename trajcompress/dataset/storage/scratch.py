"""Where this machine keeps what is not in a store yet: a folder of this user, below that for temporary files."""

from __future__ import annotations

import getpass
import os
import stat
import tempfile
from pathlib import Path
from urllib.parse import quote

from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import OutputError


def scratch_of(path: StorePath) -> Path:
    """Return the place on this machine that stands for one in a store; the same after a kill.

    Raises:
        OutputError: somebody else has made the folder around it.
    """
    parts = path.url.replace("://", "/").split("/")
    return _root().joinpath(*(quote(part, safe=" ").replace("..", "%2E%2E") or "%" for part in parts))


def _root() -> Path:
    root = Path(tempfile.gettempdir()) / f"trajcompress-{getpass.getuser()}"
    root.mkdir(mode=0o700, exist_ok=True)
    status = root.lstat()
    if not stat.S_ISDIR(status.st_mode) or (os.name != "nt" and status.st_uid != os.getuid()):
        raise OutputError(f"{root}: is not ours; move it away, or set TMPDIR to another folder")
    return root
