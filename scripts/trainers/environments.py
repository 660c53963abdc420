"""A virtual environment for each trainer, with the versions whose data code was looked at."""

from __future__ import annotations

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

TORCH = "torch==2.13.0"
FOR_IMAGES = (TORCH, "torchvision==0.28.0", "pillow")
"""What the processors of models with images ask for besides."""


@dataclass(frozen=True)
class Environment:
    """What is installed with what it depends on, and what without: its requirements name GPU packages."""

    with_dependencies: tuple[str, ...]
    alone: tuple[str, ...] = ()


ENVIRONMENTS = {
    "trl": Environment((TORCH, "trl==1.16.0", "transformers==5.23.0", "datasets==5.2.0", "peft", "accelerate")),
    "llama-factory": Environment(
        (TORCH, "transformers==5.6.0", "datasets==4.0.0", "trl==0.24.0", "peft==0.18.1", "accelerate==1.11.0")
        + ("fire", "omegaconf", "av", "modelscope", "tyro<0.9", "torchdata==0.11.*"),
        ("llamafactory==0.9.5",),
    ),
    "axolotl": Environment(
        (TORCH, "transformers==5.16.1", "datasets==4.8.4", "trl==1.9.0", "peft==0.20.0", "accelerate==1.13.0")
        + ("addict", "fire", "numba", "fastcore", "langdetect", "schedulefree", "mistral-common==1.11.5")
        + ("posthog==6.7.*", "colorama"),
        ("axolotl==0.19.0", "axolotl-contribs-lgpl==0.0.7", "axolotl-contribs-mit==0.0.6"),
    ),
    "verl": Environment(
        (TORCH, "transformers==5.10.*", "tensordict==0.10.0", "hydra-core", "codetiming", "torchdata", "dill")
        + ("pylatexenc", "ray", "datasets", "pandas", "pyarrow", "pillow"),
        ("verl==0.9.1",),
    ),
    "mistral-common": Environment(("mistral-common==1.13.1", "sentencepiece", "pyarrow")),
}
MARK = "complete"
"""A file in an environment that was installed to its end."""


def python_of(name: str, folder: Path, index: str | None = None) -> Path:
    """The Python of a trainer's environment, which is made where it is not there."""
    place = (folder / name).absolute()
    python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if (place / MARK).exists():
        return python
    wanted = ENVIRONMENTS[name]
    print(f"installing {name} in {place}", file=sys.stderr, flush=True)
    venv.create(place, with_pip=True)
    pip = _pip(python, index)
    subprocess.run([*pip, *wanted.with_dependencies], check=True)
    if wanted.alone:
        subprocess.run([*pip, "--no-deps", *wanted.alone], check=True)
    (place / MARK).touch()
    return python


def add_images(python: Path, index: str | None = None) -> None:
    """Install what rows with images take into an environment, where it is not there."""
    tried = [str(python), "-c", "import torchvision, PIL"]
    if subprocess.run(tried, stderr=subprocess.DEVNULL, check=False).returncode:
        print(f"installing {' '.join(FOR_IMAGES)} for {python}", file=sys.stderr, flush=True)
        subprocess.run([*_pip(python, index), *FOR_IMAGES], check=True)


def _pip(python: Path, index: str | None) -> list[str]:
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return [*pip, "--extra-index-url", index] if index else pip
