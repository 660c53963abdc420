"""Importing ``transformers`` in half the time, with the same outcome.

It reads the files of all its models to learn what each exports, line by line, and does so twice: once for itself and
once for ``transformers.models``. What a folder exports is worked out once here, and only the end of a file is read
line by line. Another version, which does it in another way, is imported as it is.

It saves 19 % of the CPU of the main job on ``data/``, 10 % on a busy machine; ``scripts/bench_run.py --check import``
measures that. It may go when it saves less, or when transformers reads its files once.

Where torch is installed, what configures a model imports it, and choosing a tokenizer's class imports that.
Tokenizers need none of it, so torch is imported when it is first used: more than a second of CPU less.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

_SCANNER = "transformers.utils.import_utils"


def import_transformers() -> ModuleType:
    """Return the module ``transformers``."""
    finder = _ScannerFinder()
    sys.meta_path.insert(0, finder)
    try:
        import transformers
    finally:
        sys.meta_path.remove(finder)
    return sys.modules[transformers.__name__]  # the module puts another in its place


@contextmanager
def torch_when_used() -> Iterator[None]:
    """Whoever imports torch in the block gets a stand-in, which imports it once something of it is looked up."""
    name = "torch"
    if name in sys.modules or (spec := find_spec(name)) is None:
        yield
        return
    stand_in = _StandIn(name)
    stand_in.__spec__ = spec
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        stand_in.step_aside()


class _StandIn(ModuleType):
    """Looks like an empty module; any attribute is that of the module of its name."""

    def step_aside(self) -> None:
        """Leave the name to the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]

    def __getattr__(self, attribute: str) -> Any:
        self.step_aside()
        return getattr(import_module(self.__name__), attribute)


def quick_exports(plain: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Return what finds the ``__all__`` of a module's text just as ``plain`` does: the last one counts."""

    @wraps(plain)
    def exports(text: str) -> list[str]:
        return plain(text[text.rfind("\n__all__") + 1 :])  # what goes before does not matter

    return exports


class _ScannerFinder(MetaPathFinder):
    """Finds the module that reads the files, and quickens it once it is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname == _SCANNER else None
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_quicken(module: Any) -> None:
            load(module)
            if hasattr(module, "fetch__all__") and hasattr(module, "create_import_structure_from_path"):
                _quicken(module)

        spec.loader.exec_module = load_and_quicken  # type: ignore[method-assign]  # of this one loader
        return spec


def _quicken(scanner: Any) -> None:
    read = getattr(
        scanner.create_import_structure_from_path, "__wrapped__", scanner.create_import_structure_from_path
    )
    read_once = cache(read)  # its own cache keeps a hundred folders; there are several hundred

    def read_folder(path: str | Path) -> Any:
        return read_once(str(path.parent if (path := Path(path)).is_file() else path))

    scanner.create_import_structure_from_path = read_folder
    scanner.fetch__all__ = quick_exports(scanner.fetch__all__)
