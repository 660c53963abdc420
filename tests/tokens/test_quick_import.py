from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers.utils import import_utils

from trajcompress.tokens.quick_import import quick_exports

PIECES = ("__all__", " = [", '"A"', "'B'", ", ", "]", "\n", "\r", "\x0c", "\u2028", "x", "    ", "# __all__")
SHOW = """
import json, sys
{load}
def told(module):
    lacking = {{name: sorted(backends) for name, backends in module._object_missing_backend.items()}}
    return [module._class_to_module, lacking, sorted(module.__all__), sorted(module._modules)]
import transformers, transformers.models
print(json.dumps([told(transformers), told(sys.modules["transformers.models"])], sort_keys=True))
"""


LATER = """
import sys
sys.path.insert(0, sys.argv[1])
from trajcompress.tokens.quick_import import torch_when_used
with torch_when_used():
    import torch
    if len(sys.argv) > 2:  # used in the block
        import torch.part
        print(torch.part.WHOLE)
print("imported", end=" ") if "torch" in sys.modules else print("not yet", end=" ")
print(torch.version, end=" ")
from torch import version
import torch as again
print(version is torch.version and again is sys.modules["torch"])
"""


@pytest.mark.parametrize(("used", "said"), [([], "not yet 9 True"), (["x"], "9 whole\nimported 9 True")])
def test_torch_is_imported_when_it_is_first_used(tmp_path, used, said):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("version = '9'\n")
    (tmp_path / "torch" / "part.py").write_text("import torch\nWHOLE = torch.version + ' whole'\n")
    command = [sys.executable, "-c", LATER, str(tmp_path), *used]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip() == said


def outcome(function, text: str):
    try:
        return function(text)
    except (IndexError, ValueError) as error:
        return type(error)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_the_exports_of_a_text_are_those_that_transformers_finds(text):
    plain = getattr(import_utils.fetch__all__, "__wrapped__", import_utils.fetch__all__)
    assert outcome(quick_exports(plain), text) == outcome(plain, text)


def test_transformers_knows_all_that_it_knows_without_this():
    def told(load: str) -> list:
        command = [sys.executable, "-c", SHOW.format(load=load)]
        return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    quick = told("from trajcompress.tokens.quick_import import import_transformers; import_transformers()")
    assert quick == told("import transformers")
    assert len(quick[0][0]) > 1000
