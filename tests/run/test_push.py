"""``--push-to-hub``, with the real client against a stand-in for the hub's API."""

from __future__ import annotations

import io
import json

import commands
import pytest
import runs
from hub import OWNER, TOKEN, Hub, Repo

from trajcompress.errors import OutputError
from trajcompress.run.past.push import check_push, public_names, push
from trajcompress.wording import in_bytes

REPO = f"{OWNER}/short"

# The client's own, where it sends a file to Git LFS storage.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def hub(monkeypatch, tmp_path):
    from huggingface_hub import constants

    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    with Hub(readers=("hf_reader",)) as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        yield hub


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


def finished(place, rows=12, *more, out="out"):
    """Make a complete run over ``rows`` rows, some of which are broken."""
    runs.finish(place, place.offline(runs.write_inputs(place.folder, rows), out, "--overwrite", *more))
    return place.folder / out


def send(folder, repo=REPO, *, private=True):
    return push(folder, repo, private=private, progress=False)


def read_parquet(content: bytes):
    import pyarrow.parquet as pq

    return pq.read_table(io.BytesIO(content)).to_pylist()


def test_what_is_published(hub, place):
    folder = finished(place)
    assert send(folder) == f"{hub.endpoint}/datasets/{REPO}"
    repo = hub.repos[REPO]
    data = {f"data/{path.name}": path.read_bytes() for path in (folder / "data").iterdir()}
    assert len(data) > 1
    assert repo.files.keys() == {*data, "README.md", "summary.json", "metrics.parquet"}
    assert data.items() <= repo.files.items()
    for name in ("README.md", "summary.json"):
        assert repo.files[name] == (folder / name).read_bytes()
    assert repo.private
    assert len(repo.commits) == 1


def test_a_foreign_file_among_the_data_is_not_published(hub, place):
    folder = finished(place)
    ours = {f"data/{path.name}" for path in (folder / "data").iterdir()}
    for name in ("notes.txt", "private.parquet", "a-00099.parquet"):
        (folder / "data" / name).write_text("mine")
    send(folder)
    assert {name for name in hub.repos[REPO].files if name.startswith("data/")} == ours


def test_nothing_tells_of_the_machine(hub, place):
    folder = finished(place)
    send(folder)
    ours = commands.read_metrics(folder)
    public = read_parquet(hub.repos[REPO].files["metrics.parquet"])
    assert {row["source_file"] for row in public} == {"a.jsonl", "b.jsonl.gz"}
    assert {row["source_file"] for row in ours} == {str(place.folder / name) for name in ("a.jsonl", "b.jsonl.gz")}
    assert any(row["error"] for row in ours)
    assert [{**row, "source_file": "", "error": None} for row in ours] == [
        {**row, "source_file": ""} for row in public
    ]
    assert not any(str(place.folder).encode() in content for content in hub.repos[REPO].files.values())


def test_pushing_again_uploads_nothing_twice_and_removes_what_is_gone(hub, place):
    from huggingface_hub.utils import logging

    logging.set_verbosity_error()
    send(finished(place, 40))
    before, uploads = dict(hub.repos[REPO].files), hub.uploads
    send(place.folder / "out")
    assert (hub.repos[REPO].files, hub.uploads) == (before, uploads)
    send(finished(place, 12))
    assert hub.repos[REPO].files.keys() < before.keys()


def test_a_repository_with_other_data_is_left_alone(hub, place):
    theirs = {"README.md": b"", "data/train.parquet": b"theirs"}
    hub.repos[REPO] = Repo(private=True, files=dict(theirs))
    with pytest.raises(OutputError, match=r"holds other data \(data/train.parquet\)"):
        send(finished(place))
    assert hub.repos[REPO].files == theirs


def test_a_public_repository_takes_nothing_that_was_not_said_to_be_public(hub, place):
    folder = finished(place)
    send(folder, private=False)
    assert not hub.repos[REPO].private
    hub.repos[REPO].files.clear()
    with pytest.raises(OutputError, match="is a public repository; --public pushes to it"):
        send(folder)
    assert not hub.repos[REPO].files
    send(folder, private=False)
    assert hub.repos[REPO].files


@pytest.mark.parametrize(
    ("token", "repo", "words"),
    [
        ("", REPO, "no token to push with; set HF_TOKEN"),
        ("hf_wrong", REPO, "the token is refused; set HF_TOKEN to another"),
        (TOKEN, "a/b/c", "no name of a repository; write OWNER/NAME"),
    ],
)
def test_what_is_wrong_is_said_before_the_run(hub, monkeypatch, token, repo, words):
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(OutputError, match=words) as raised:
        check_push(repo)
    assert str(raised.value).startswith(f"{repo}: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("token", "repo"), [("hf_reader", REPO), (TOKEN, "somebody/else")])
def test_no_permission_is_said_in_one_line(hub, place, monkeypatch, token, repo):
    monkeypatch.setenv("HF_TOKEN", token)
    check_push(repo)
    with pytest.raises(OutputError, match="the token may not write there") as raised:
        send(finished(place), repo)
    assert "\n" not in str(raised.value)


def test_offline_and_unreachable_are_told_apart(hub, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(OutputError, match="the hub cannot be reached"):
        check_push(REPO)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(OutputError, match="HF_HUB_OFFLINE is set; unset it"):
        check_push(REPO)


def test_the_command_pushes_a_run_and_one_that_is_finished_already(hub, place):
    rows = commands.write_rows(place.folder / "a.jsonl", [commands.conversation(0)])
    command = [*place.offline([rows], "out"), "--push-to-hub", REPO, "--json"]
    for _ in range(2):
        ran = commands.run_here(*command, cwd=place.folder)
        assert ran.code == 0, ran.stderr
        assert ran.json["state"] == "complete"
        assert ran.stderr.endswith(f"pushed to {hub.endpoint}/datasets/{REPO}\n")
    assert "data/a-00000.parquet" in hub.repos[REPO].files


def test_a_dry_run_lists_what_a_push_publishes_and_asks_nothing_of_the_hub(hub, place, monkeypatch):
    folder = finished(place)
    monkeypatch.delenv("HF_TOKEN")
    ran = commands.run_here("push", folder, REPO, "--dry-run", cwd=place.folder)
    assert (ran.code, hub.repos) == (0, {})
    assert "failed or rejected: 2 rows" in ran.stderr
    listed, _, card = ran.stdout.partition("\n\n")
    assert card == (folder / "README.md").read_text()
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    ran = commands.run_here("push", folder, REPO, cwd=place.folder)
    assert (ran.code, ran.stdout) == (0, "")
    assert ran.stderr.endswith(f"pushed to {hub.endpoint}/datasets/{REPO}\n")
    published = {name: in_bytes(len(content)) for name, content in hub.repos[REPO].files.items()}
    lines = [line.split(maxsplit=1) for line in listed.splitlines() if line.startswith("  ")]
    assert {name: size for name, size in lines} == published  # noqa: C416 - pairs to a mapping
    assert f"{len(published)} files" in listed
    assert hub.repos[REPO].private


@pytest.mark.parametrize(
    ("state", "words"),
    [("interrupted", "the run is interrupted"), ("input_changed", "its inputs changed while they were read")],
)
def test_the_command_refuses_what_is_not_complete(hub, place, state, words):
    folder = finished(place)
    run_json = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**run_json, "state": state}))
    for more in ([], ["--dry-run"]):
        ran = commands.run_here("push", folder, REPO, *more, cwd=place.folder)
        assert (ran.code, ran.stdout) == (2, "")
        assert words in ran.stderr
        assert ran.stderr.count("\n") == 1
    assert not hub.repos


def test_the_command_refuses_damaged_data_and_bad_names(hub, place):
    folder = finished(place)
    assert commands.run_here("push", folder, "a/b/c", "--dry-run", cwd=place.folder).code == 2
    next((folder / "data").iterdir()).write_bytes(b"cut")
    ran = commands.run_here("push", folder, REPO, "--dry-run", cwd=place.folder)
    assert (ran.code, hub.repos) == (2, {})
    assert "put it back" in ran.stderr


def test_a_run_that_did_not_end_well_is_not_pushed(hub, place):
    rows = place.folder / "a.jsonl"
    rows.write_text(json.dumps(commands.conversation(0, 2)) + "\n[]\n")
    command = [*place.offline([rows], "out"), "--push-to-hub", REPO]
    ran = commands.run_here(*command, "--max-failed", "0", cwd=place.folder)
    assert ran.code == 1
    assert f"{REPO}: not pushed" in ran.stderr
    assert not hub.repos
    assert commands.run_here(*command, "--max-failed", "1", cwd=place.folder).code == 0
    assert REPO in hub.repos


@pytest.mark.parametrize(
    ("names", "public"),
    [
        (["data/a.jsonl", "-"], ["data/a.jsonl", "-"]),
        (["/home/ann/x/a.jsonl", "/home/ann/y/a.jsonl"], ["x/a.jsonl", "y/a.jsonl"]),
        (["/home/ann/a.jsonl", "b.jsonl"], ["a.jsonl", "b.jsonl"]),
        (["../ann/a.jsonl"], ["a.jsonl"]),
    ],
)
def test_names_of_sources_lose_the_folders_they_share(names, public):
    assert list(public_names(names).values()) == public
