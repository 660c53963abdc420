from __future__ import annotations

import json
from pathlib import Path

import pytest

from trajcompress.dataset.hub import hub_source
from trajcompress.dataset.sources import find_inputs, find_sources, with_unique_stems
from trajcompress.errors import InputError


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("{}")


def names(*inputs: str) -> list[str]:
    return [source.name for source in find_sources(inputs)]


@pytest.mark.parametrize(
    ("name", "stem", "kind"),
    [
        ("a.jsonl", "a", "jsonl"),
        ("a.ndjson", "a", "jsonl"),
        ("a.b.json", "a.b", "json"),
        ("A.JSONL.GZ", "A", "jsonl"),
        ("a.json.zst", "a", "json"),
        ("a.parquet", "a", "parquet"),
        ("a.parquet.gz", "a", "parquet"),
        ("a.jsonl.bz2", "a", "jsonl"),
        ("a.json.XZ", "a", "json"),
        ("two words (1).jsonl", "two_words_1_", "jsonl"),
        ("数据.jsonl", "数据", "jsonl"),
        ("..jsonl", "data", "jsonl"),
    ],
)
def test_the_kind_and_the_stem_come_from_the_name(name, stem, kind):
    touch(name)
    (source,) = find_sources([name])
    assert (source.name, source.stem, source.kind, source.path, source.size) == (name, stem, kind, Path(name), 2)


def test_folders_are_searched_recursively_in_order():
    touch("in/b.jsonl", "in/a.json", "in/sub/c.parquet", "in/README.md", "in/.hidden.jsonl", "in/.git/d.jsonl")
    touch("in/dataset_infos.json")
    assert names("in") == names("in/") == names("./in") == ["in/a.json", "in/b.jsonl", "in/sub/c.parquet"]


def test_files_without_a_row_are_told(tmp_path):
    touch("in/a.jsonl")
    Path("in/a.jsonl").write_text("{}\n")
    Path("in/empty.json").write_text("")
    Path("in/ws.json").write_text(" \n\t\n")
    (left,) = find_inputs(["in"]).left_out
    assert str(left) == "left out of in: 2 empty files"


def test_what_is_left_out_is_told():
    touch("in/a.jsonl", "in/.b.jsonl", "in/.git/c.jsonl", "in/d.txt", "in/e.csv", "in/f.txt", "in/README", "in/sub/x")
    Path("in/again").symlink_to(".")
    (left,) = find_inputs(["in"]).left_out
    assert str(left) == (
        "left out of in: 1 hidden folder, 1 hidden file, 1 further name of what is read already, "
        "5 files with other suffixes (.txt, .csv)"
    )
    assert left.as_dict() == {
        "place": "in",
        "hidden_folders": 1,
        "hidden_files": 1,
        "seen_already": 1,
        "other_suffixes": {".txt": 2, "": 2, ".csv": 1},
    }
    assert find_inputs(["in/a.jsonl"]).left_out == []


def test_globs():
    touch("in/a.jsonl", "in/sub/b.jsonl", "in/sub/c.md")
    assert names("in/*.jsonl") == ["in/a.jsonl"]
    assert names("in/**/*.jsonl") == ["in/a.jsonl", "in/sub/b.jsonl"]
    assert names("in/*") == ["in/a.jsonl", "in/sub/b.jsonl"]


def test_a_file_whose_name_looks_like_a_glob():
    touch("a[1].jsonl", "a1.jsonl")
    assert names("a[1].jsonl") == ["a[1].jsonl"]


def test_what_is_reached_twice_is_read_once():
    touch("in/a.jsonl", "in/b.jsonl")
    Path("in/c.jsonl").symlink_to("a.jsonl")
    assert names("in/b.jsonl", "in", "in/*.jsonl", "-", "-") == ["in/b.jsonl", "in/a.jsonl", "-"]


def test_links_that_lead_in_circles():
    touch("in/sub/a.jsonl", "elsewhere/b.jsonl")
    Path("in/sub/up").symlink_to("..")
    Path("in/there").symlink_to("../elsewhere")
    assert names("in") == ["in/sub/a.jsonl", "in/there/b.jsonl"]


def test_stems_are_unique_and_stay_so():
    touch("x/a.jsonl", "y/A.parquet", "z/a.json", "z/a-2.json")
    sources = find_sources(["x", "y", "z"])
    stems = [source.stem for source in sources]
    assert stems == ["a", "A-2", "a-2-2", "a-3"]
    assert with_unique_stems(sources) == sources


def test_standard_input():
    (source,) = find_sources(["-"])
    assert (source.name, source.stem, source.kind, source.path) == ("-", "stdin", "jsonl", None)


def test_a_hub_dataset():
    source = hub_source("org/some data", "train")
    assert (source.name, source.stem, source.kind) == ("hub:org/some data[train]", "org-some-data-train", "hub")
    with pytest.raises(InputError, match="--split"):
        hub_source("org/name", "")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("in/trian.jsonl", "in/trian.jsonl: no such file or folder; did you mean in/train.jsonl?"),
        ("inn/train.jsonl", "there is no inn; did you mean in?"),
        ("zzz.jsonl", "check the path"),
        ("in/old.jsonl", "in/old.jsonl: a link to gone.jsonl, which is not there"),
        ("org/name", "there is no org; check the path"),
        ("in/*.parquet", "in/*.parquet: matches nothing"),
        ("in/*.md", "no readable file"),
        (
            "in/empty",
            "no readable file in this folder; known are .jsonl, .ndjson, .json, .traj, .parquet (each also .gz,",
        ),
        ("in/empty", "it holds 1 file with another suffix (.md)"),
        ("in/notes.md", "unknown kind of file; known are .jsonl"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_a_remedy(given, says):
    touch("in/train.jsonl", "in/notes.md", "in/empty/notes.md")
    Path("in/old.jsonl").symlink_to("gone.jsonl")
    with pytest.raises(InputError) as caught:
        find_sources(["in/train.jsonl", given])
    assert given in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_input_at_all():
    with pytest.raises(InputError, match="no input"):
        find_sources([])


def test_a_link_to_nowhere():
    touch("in/a.jsonl")
    Path("in/b.jsonl").symlink_to("gone.jsonl")
    with pytest.raises(InputError, match=r"in/b\.jsonl: No such file"):
        find_sources(["in"])


@pytest.mark.parametrize(
    "state", ["", "[]", "{}", '{"_data_files": [{}]}', '{"_data_files": [{"filename": "gone.arrow"}]}']
)
def test_a_saved_dataset_that_is_not_whole(state):
    touch("in/dataset_info.json")
    Path("in/state.json").write_text(state)
    with pytest.raises(InputError, match=r"save it again|save the dataset again"):
        find_sources(["in"])


def test_a_saved_dataset_with_row_indices_of_old():
    touch("in/dataset_info.json")
    Path("in/state.json").write_text(
        json.dumps({"_data_files": [], "_indices_data_files": [{"filename": "i.arrow"}]})
    )
    with pytest.raises(InputError, match="old datasets version"):
        find_sources(["in"])
