"""``docs/storage.md``: every command line, run against a real S3 server on this machine."""

from __future__ import annotations

import json

from commands import run_here
from documented import ROOT, blocks, commands_in

PAGE = ROOT / "docs" / "storage.md"


def row(number):
    return {
        "messages": [{"role": "user", "content": f"What is {number}?"}, {"role": "assistant", "content": "That."}]
    }


def test_every_command_runs(s3, tmp_path):
    s3.client.create_bucket(Bucket="bucket")
    rows = "".join(json.dumps(row(number)) + "\n" for number in range(3))
    s3.client.put_object(Bucket="bucket", Key="runs/rows.jsonl", Body=rows.encode())
    lines = [arguments for block in blocks(PAGE, "sh") for arguments in commands_in(block.text)]
    for arguments in lines:
        ran = run_here(*arguments, cwd=tmp_path)
        assert ran.code == 0, ran
    assert len(lines) == 6
    assert (tmp_path / "page.html").exists()
