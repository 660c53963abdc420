"""The same input gives the same bytes, in whatever process."""

import os
import subprocess
import sys
from pathlib import Path

from runs import small_tokenizer

DATA = Path(__file__).resolve().parents[2] / "data"


def test_two_processes_write_the_same_bytes(tmp_path):
    written = []
    for seed in ("1", "2"):  # sets of text iterate in another order
        output = tmp_path / seed
        command = [sys.executable, "-m", "trajcompress", "compress", str(DATA / "questions-sharegpt.json"), "-q"]
        environ = {**os.environ, "PYTHONHASHSEED": seed, "HF_HUB_OFFLINE": "1"}
        small = ["--tokenizer", small_tokenizer(), "--target-max-tokens", "5000"]
        subprocess.run([*command, "-o", str(output), *small, "--limit", "40"], check=True, env=environ)
        files = [*sorted((output / "data").iterdir()), output / "metrics.parquet", output / "summary.json"]
        written.append([file.read_bytes() for file in files])
    assert written[0] == written[1]
