"""The scripts for Slurm, as they stand on their page, submitted to what only starts processes."""

from __future__ import annotations

import json
import os
import shutil
import stat

import commands
import pytest
from documented import ROOT, blocks, run_in
from forked import COMMAND

PAGE = ROOT / "docs" / "clusters.md"
SBATCH = """\
#!/usr/bin/env python3
import os, re, subprocess, sys

*options, script = sys.argv[1:]
text = open(script).read()
given = dict(word.lstrip("-").split("=", 1) for word in options if "=" in word)
if "dependency" in given:
    assert open(given["dependency"].partition(":")[2]).read() == "ended", "what it depends on has failed"
array = given.get("array") or next(iter(re.findall(r"#SBATCH --array=(\\S+)", text)), None)
first, _, last = (array or "0").partition("-")
codes = [
    subprocess.run(["bash", script], env={**os.environ, **({"SLURM_ARRAY_TASK_ID": str(task)} if array else {})},
                   stdout=sys.stderr).returncode
    for task in range(int(first), int(last or first) + 1)
]
open("4711", "w").write("failed" if any(codes) else "ended")
print("4711" if "--parsable" in options else "Submitted batch job 4711")
"""


@pytest.fixture
def here(tmp_path, make_tokenizer):
    """Make a folder with rows, ``sbatch``, and the scripts of the page."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "trajcompress").symlink_to(COMMAND)
    (bin_ / "sbatch").write_text(SBATCH)
    (bin_ / "sbatch").chmod(stat.S_IRWXU)
    rows = [json.dumps(commands.conversation(number, steps=14)) for number in range(12)]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows))
    run_bash(tmp_path, next(block.text for block in blocks(PAGE, "sh") if "fit.sbatch" in block.text))
    return tmp_path, make_tokenizer()


def run_bash(folder, text, **variables):
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = run_in(folder, "env", f"PATH={path}", "bash", "-euo", "pipefail", "-c", text, **variables)
    assert done.returncode == 0, done.stderr
    return done


def test_an_array_of_shards_and_its_merge_are_one_run(here):
    folder, tokenizer = here
    submit = next(block.text for block in blocks(PAGE, "sh") if "sbatch --parsable" in block.text)
    lines = [line for line in submit.splitlines() if not line.startswith("export")]
    # the last option of a name counts, so that the rows are as small as a test's
    options = f"--tokenizer {tokenizer} --target-max-tokens 2000 --summary-target-tokens 300 --num-workers 1 "
    options += "--output-format jsonl"
    variables = {"INPUT": "rows.jsonl", "OUTPUT": "fitted", "OPTIONS": options}
    run_bash(folder, "\n".join(lines), **variables)
    assert {path.name for path in (folder / "fitted").iterdir()} == {"all", *(f"shard-{n}" for n in range(1, 5))}
    whole = commands.run_here("compress", "rows.jsonl", "-o", "whole", *options.split(), cwd=folder)
    assert whole.code == 0, whole.stderr
    rows = commands.read_rows(folder / "whole")
    assert len(rows) == 12
    assert commands.read_rows(folder / "fitted/all") == rows
    shutil.rmtree(folder / "fitted/all")
    shutil.rmtree(folder / "fitted/shard-3")
    resubmitted = "sbatch --array=3 fit.sbatch\nsbatch merge.sbatch"
    assert "sbatch --array=3 fit.sbatch" in PAGE.read_text()
    run_bash(folder, resubmitted, **variables)
    assert commands.read_rows(folder / "fitted/all") == rows
