from __future__ import annotations

import gzip
import json
import shutil

import commands
import pytest
import runs

from trajcompress.errors import InputError
from trajcompress.metrics.files import read_metrics
from trajcompress.run.past.pairs import find_pairs, find_row
from trajcompress.run.past.past_run import open_run


def compress(*inputs, output, **settings):
    given = {
        "tokenizer__name": runs.small_tokenizer(),
        "compression__target_max_tokens": 2000,
        "compression__summary_target_tokens": 300,
        "processing__max_failed": "90%",
        "processing__part_size": runs.PART_SIZE,
    }
    runs.run_here(*inputs, output=output, **given | settings)
    return output


def places(folder):
    return [(row.source_file, row.source_row) for row in read_metrics(folder / "metrics.parquet")]


def input_rows(path):
    data = path.read_bytes()
    lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    return [line.decode() for line in lines if line.strip()]


@pytest.fixture(scope="module")
def two_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    inputs = runs.write_inputs(folder, rows=24)
    return inputs, compress(*inputs, output=folder / "out", output__format="jsonl")


@pytest.mark.parametrize("output_format", ["jsonl", "parquet"])
def test_every_row_is_found_before_and_after(tmp_path, output_format):
    inputs = runs.write_inputs(tmp_path, rows=24)
    out = compress(*inputs, output=tmp_path / "out", output__format=output_format)
    texts = [text for path in inputs for text in input_rows(path)]
    pairs = list(find_pairs(out, places(out)))
    assert len(pairs) == len(texts)
    assert len(list((out / "data").iterdir())) > 4
    outcomes = {pair.metrics.outcome for pair in pairs}
    assert outcomes == {"compressed", "skipped_under_target", "rejected"}
    for pair, text in zip(pairs, texts, strict=True):
        assert pair.why is None
        if pair.metrics.outcome == "rejected":
            assert (pair.before, pair.after, pair.raw) == (None, (), text)
            continue
        row = json.loads(text)
        assert pair.raw is None
        assert pair.before.row == row
        (after,) = pair.after
        assert pair.before.id == after.id == row["id"] == pair.metrics.trajectory_id
        changed = [turn.raw for turn in after.turns] != [turn.raw for turn in pair.before.turns]
        assert changed == pair.metrics.was_compressed
        assert len(after.turns) == pair.metrics.compressed_turns


def test_some_rows_come_once_each_in_the_order_of_the_run(two_files):
    _, out = two_files
    every = places(out)
    wanted = [every[17], every[2], every[2], every[9]]
    found = [(pair.metrics.source_file, pair.metrics.source_row) for pair in find_pairs(out, wanted)]
    assert found == [every[2], every[9], every[17]]


def test_a_row_that_the_run_does_not_have_is_an_error(two_files):
    inputs, out = two_files
    with pytest.raises(InputError, match="no row 99 of "):
        find_pairs(out, [(str(inputs[0]), 99)])


def test_a_row_is_found_by_id_by_number_and_by_file(two_files):
    inputs, out = two_files
    every = places(out)
    assert find_row(out, "row-5") == every[7]  # two lines hold no row
    assert find_row(out, "7") == every[7]
    assert find_row(out, "a.jsonl:7") == find_row(out, f"{inputs[0]}:7") == find_row(out, "a:7") == every[7]


@pytest.mark.parametrize("wanted", ["27", "-1", "", "a.jsonl:99", "zzz", "a:x", "9" * 40, "a:" + "9" * 30])
def test_what_is_not_there_is_an_error(two_files, wanted):
    with pytest.raises(InputError, match="no row"):
        find_row(two_files[1], wanted)


def test_the_nearest_ids_are_named(two_files):
    with pytest.raises(InputError, match="the nearest ids: row-1"):
        find_row(two_files[1], "rwo-1")
    with pytest.raises(InputError, match="the nearest ids: row-0, row-1, "):
        find_row(two_files[1], "ROW-")


def test_an_id_of_several_rows_lists_them(tmp_path):
    rows = [commands.conversation(0, steps=1) for _ in range(7)]
    out = compress(commands.write_rows(tmp_path / "same.jsonl", rows), output=tmp_path / "out")
    with pytest.raises(InputError, match=r"'row-0': 7 rows .*same.jsonl:0, .*same.jsonl:4 and 2 more"):
        find_row(out, "row-0")


def test_an_id_that_is_also_a_row_number_is_ambiguous_unless_it_is_that_row(tmp_path):
    rows = [commands.conversation(0, steps=1) | {"id": name} for name in ("0", "2", "1")]
    out = compress(commands.write_rows(tmp_path / "ids.jsonl", rows), output=tmp_path / "out")
    assert find_row(out, "0") == places(out)[0]
    with pytest.raises(InputError, match="2 rows"):
        find_row(out, "2")


def test_ids_that_steer_a_terminal_do_not_in_messages(tmp_path):
    row = commands.conversation(0, steps=1) | {"id": "row\x1b[31m"}
    out = compress(commands.write_rows(tmp_path / "in.jsonl", [row]), output=tmp_path / "out")
    with pytest.raises(InputError) as error:
        find_row(out, "row")
    assert "\x1b" not in str(error.value)


def test_an_input_that_is_gone_or_changed_is_said_and_unchanged_rows_are_still_there(tmp_path):
    path = commands.write_rows(tmp_path / "in.jsonl", [commands.conversation(0), commands.conversation(1, steps=1)])
    out = compress(path, output=tmp_path / "out")
    path.write_text(path.read_text().replace("careful", "careless"))
    long, short = find_pairs(out, places(out))
    assert long.before is None
    assert "has changed since the run" in long.why
    assert long.after
    assert short.after == (short.before,)
    assert short.why is None
    path.unlink()
    long, _ = find_pairs(out, places(out))
    assert "is not there any more" in long.why


def test_data_that_is_gone_is_said(tmp_path):
    path = commands.write_rows(tmp_path / "in.jsonl", [commands.conversation(0)])
    out = compress(path, output=tmp_path / "out")
    shutil.rmtree(out / "data")
    (pair,) = find_pairs(out, places(out))
    assert pair.before is not None
    assert pair.after == ()
    assert "in-00000.parquet" in pair.why


def test_inputs_are_found_from_another_folder(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    commands.write_rows(tmp_path / "project" / "in.jsonl", [commands.conversation(0)])
    monkeypatch.chdir(tmp_path / "project")
    compress("in.jsonl", output="out")
    monkeypatch.chdir(tmp_path)
    (pair,) = find_pairs(tmp_path / "project" / "out", [("in.jsonl", 0)])
    assert pair.before is not None


def test_rows_that_are_left_out_have_no_after(tmp_path):
    rows = [commands.conversation(0), commands.conversation(1, steps=1), commands.conversation(2, steps=3)]
    path = commands.write_rows(tmp_path / "in.jsonl", rows)
    out = compress(path, output=tmp_path / "out", input__min_tokens=450)
    left_out = [pair for pair in find_pairs(out, places(out)) if not pair.after]
    assert [pair.metrics.reason for pair in left_out] == ["below_min_tokens"]
    assert [(pair.before.row, pair.raw) for pair in left_out] == [(rows[1], None)]
    out = compress(
        path, output=tmp_path / "fits", processing__save_over_limit=False, protected_turns__last_n_turns=50
    )
    over, *fits = find_pairs(out, places(out))
    assert over.after == ()
    assert json.loads(over.raw) == rows[0] == over.before.row
    assert [after.id for pair in fits for after in pair.after] == ["row-1", "row-2"]


def test_the_longest_column_of_messages_before_is_the_one_that_is_read_after(tmp_path):
    row = commands.conversation(0)
    row["prompt"] = row["messages"][:-1]
    out = compress(commands.write_rows(tmp_path / "in.jsonl", [row]), output=tmp_path / "out")
    (pair,) = find_pairs(out, places(out))
    (after,) = pair.after
    assert len(after.turns) < len(pair.before.turns) - 1


def test_a_run_that_did_not_end_is_read_as_far_as_it_is_committed(tmp_path):
    path = commands.write_rows(tmp_path / "in.jsonl", [commands.conversation(0)])
    out = compress(path, output=tmp_path / "out")
    (out / "metrics.parquet").unlink()
    (out / "run.json").write_text((out / "run.json").read_text().replace('"complete"', '"interrupted"'))
    run = open_run(out)
    assert run.so_far
    assert "the run was interrupted; this is of the 1 row committed so far, and the same command goes on" in (
        run.so_far.note
    )
    (pair,) = find_pairs(out, [(str(path), 0)])
    assert pair.before
    assert pair.after
    shutil.rmtree(out / ".state" / "parts")
    with pytest.raises(InputError, match=r"the run was interrupted, and nothing of it is committed yet"):
        open_run(out)


def test_what_is_no_run_folder_is_said(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        open_run(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"holds no run.json"):
        open_run(tmp_path)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(InputError, match="cannot be read"):
        open_run(tmp_path)
