"""The notebook in ``docs/``: every cell runs, in order, as in a checkout."""

from __future__ import annotations

import json

import pytest
from documented import ROOT, make_workspace, run_in
from notebooks import run_notebook

NOTEBOOK = ROOT / "docs" / "python.ipynb"


def test_every_cell_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / ".datasets")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    monkeypatch.chdir(make_workspace(workspace, NOTEBOOK))
    said = []

    def shell(line):
        ran = run_in(workspace, "bash", "-euo", "pipefail", "-c", line)
        assert ran.returncode == 0, ran.stderr
        said.append(ran.stdout)

    names = run_notebook(NOTEBOOK, shell)
    plan, compared = said
    assert "target 4,000" in plan
    assert "out-8000" in compared
    assert names["outcomes"] == list(names["metrics"].outcome)
    assert "compressed" in names["outcomes"]
    assert "[CONTEXT SUMMARY]" in capsys.readouterr().out
    assert names["own"].metrics.outcome == "compressed"
    assert names["own"].metrics.summarizer == "__main__:first_lines"


def test_it_holds_no_output_that_could_be_out_of_date():
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")


def test_a_cell_that_fails_is_named(tmp_path):
    broken = tmp_path / "broken.ipynb"
    cells = [{"cell_type": "code", "source": ["x = 1\n", "x"]}, {"cell_type": "code", "source": ["nope\n"]}]
    broken.write_text(json.dumps({"nbformat": 4, "cells": cells}))
    with pytest.raises(NameError) as raised:
        run_notebook(broken, print)
    assert raised.traceback[-1].frame.code.raw.co_filename == "broken.ipynb, code cell 2"
