"""The files of ``configs/``, which a wheel carries within the package."""

from __future__ import annotations

from pathlib import Path


def shipped_file(name: str) -> Path:
    """Return where a file of ``configs/`` is: in the package where it is installed, else beside it."""
    package = Path(__file__).parents[1]
    installed = package / "configs"
    return (installed if installed.is_dir() else package.parent / "configs") / name
