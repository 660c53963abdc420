"""Versions of the package, run as processes that differ in nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_OURS = ("TRAJCOMPRESS_", "OPENAI_", "PYTHONPATH")
_SETTLED = {"HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "NO_COLOR": "1", "COLUMNS": "120"}


@dataclass(frozen=True, slots=True)
class Ran:
    """How a process ended."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Version:
    """An installed version: the interpreter that finds it, and the checkout that it is taken from, if any."""

    name: str  # "old" or "new", which is its API key, too
    python: Path
    checkout: Path | None

    @classmethod
    def named(cls, name: str, place: str) -> Version:
        """Return the version of an interpreter, or of a checkout, which the current interpreter runs.

        Raises:
            SystemExit: it is neither, or what is imported lies elsewhere.
        """
        path = Path(place).absolute()  # not resolved: the interpreter of a virtual environment is a link
        if path.is_file():
            return cls(name, path, None)
        version = cls(name, Path(sys.executable), path)
        if not (path / "trajcompress").is_dir() or not version.package().is_relative_to(path.resolve()):
            raise SystemExit(f"--{name} {place}: neither an interpreter nor a checkout that is imported from")
        return version

    def package(self) -> Path:
        """Return the folder of the package that runs.

        Raises:
            SystemExit: there is none.
        """
        ran = self._run(["-c", "import trajcompress; print(trajcompress.__file__)"], Path("/"))
        if ran.code:
            raise SystemExit(f"--{self.name}: {ran.stderr.strip()}")
        return Path(ran.stdout.strip()).resolve().parent

    def run(self, arguments: Sequence[str], cwd: Path) -> Ran:
        """Run the command in a folder, to its end."""
        return self._run(["-m", "trajcompress", *arguments], cwd)

    def _run(self, arguments: Sequence[str], cwd: Path) -> Ran:
        env = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        env |= _SETTLED | {"OPENAI_API_KEY": self.name}
        if self.checkout:
            env["PYTHONPATH"] = str(self.checkout)
        done = subprocess.run(
            [str(self.python), *arguments],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
        return Ran(done.returncode, done.stdout, done.stderr)
