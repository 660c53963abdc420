"""What was committed is compared with what was written before anything is built on it."""

from __future__ import annotations

import shutil

import commands
import damaging as do
import pytest
import runs

from trajcompress.dataset.durable import temporary
from trajcompress.run.folder.manifest import (
    WrittenFile,
    damage_of,
    describe_file,
    first_damage,
    is_complete_temporary,
)


@pytest.fixture(scope="module", params=["jsonl", "parquet"])
def whole(request, tmp_path_factory):
    """A finished run without calls, and its command."""
    place = runs.Place(tmp_path_factory.mktemp("whole"), runs.small_tokenizer())
    command = [*place.offline(runs.write_inputs(place.folder, 16), "whole"), "--output-format", request.param]
    runs.finish(place, command)
    return place, command, request.param


def again(whole, folder, *more):
    place, command, _ = whole
    return commands.run_here(*[folder if word == "whole" else word for word in command], *more, cwd=place.folder)


@pytest.mark.parametrize(
    "damage",
    [
        lambda kind: do.cut(f"data/a-00001.{kind}"),
        lambda kind: do.flip(f"data/b-00000.{kind}"),
        lambda kind: do.swap(f"data/a-00000.{kind}", f"data/a-00001.{kind}"),
        lambda _: do.cut(do.of_part(0, ".state/metrics")),
        lambda _: do.cut(do.of_part(1)),
    ],
    ids=["cut", "flipped", "swapped", "metrics", "manifest"],
)
def test_damage_to_a_finished_run_is_named_and_its_rows_are_done_again(whole, damage):
    place, _, kind = whole
    folder = do.attacked(place.folder / "whole", damage(kind))
    ran = again(whole, folder)
    assert (ran.code, "are done again" in ran.stderr) == (0, True)
    assert any(words in ran.stderr for words in ("it is damaged", "is no manifest"))
    assert runs.outcome(folder) == runs.outcome(place.folder / "whole")
    assert "complete already" in again(whole, folder).stderr


def test_without_its_state_damage_is_named_and_nothing_is_done(whole):
    place, _, kind = whole
    folder = do.attacked(place.folder / "whole", do.all_of(do.delete(".state"), do.cut(f"data/a-00001.{kind}")))
    before = do.files_and_folders(folder)
    do.assert_refused(again(whole, folder), f"a-00001.{kind}: has", "put it back", "--overwrite")
    do.assert_refused(commands.run_here("audit", folder, cwd=folder.parent), f"a-00001.{kind}: has", "put it back")
    do.assert_refused(commands.run_here("report", folder, cwd=folder.parent), f"a-00001.{kind}: has", "put it back")
    assert do.files_and_folders(folder) == before


def test_a_folder_of_an_earlier_version_is_read_with_a_note(whole):
    place, _, _ = whole
    folder = do.attacked(place.folder / "whole", do.forget_manifest)
    for ran in (
        commands.run_here("audit", folder, cwd=folder.parent),
        commands.run_here("report", folder, cwd=folder.parent),
        again(whole, folder),
    ):
        assert (ran.code, ran.stderr.count("an earlier version wrote it")) == (0, 1)


def test_what_an_earlier_version_began_is_not_gone_on_with(whole):
    place, _, _ = whole
    damage = do.all_of(do.forget_manifest, do.in_run_json('"complete"', '"interrupted"'))
    folder = do.attacked(place.folder / "whole", damage)
    do.assert_refused(again(whole, folder), "an earlier version began this run", "--overwrite")


def test_starting_again_deletes_what_the_run_has_written_and_nothing_else(whole):
    place, _, kind = whole
    folder = do.attacked(place.folder / "whole", do.write(f"data/mine.{kind}", "mine"))
    before = do.files_and_folders(folder)
    do.assert_refused(again(whole, folder, "--overwrite"), f"mine.{kind}", "move it away")
    assert do.files_and_folders(folder) == before
    (folder / f"data/mine.{kind}").rename(folder / "mine")
    assert again(whole, folder, "--overwrite").code == 0
    assert (folder / "mine").read_text() == "mine"


def test_a_part_that_a_kill_has_left_without_its_name_gets_it(whole):
    place, _, kind = whole
    unnamed = f"data/b-00000.{kind}"
    folder = do.attacked(
        place.folder / "whole", lambda folder: (folder / unnamed).rename(temporary(folder / unnamed))
    )
    ran = again(whole, folder)
    assert (ran.code, "done again" in ran.stderr) == (0, False)
    assert runs.outcome(folder) == runs.outcome(place.folder / "whole")


def test_a_page_harms_no_file_beside_it(whole):
    place, _, _ = whole
    (place.folder / "page.html.tmp").write_text("mine")
    ran = commands.run_here("report", "whole", "-o", "page.html", cwd=place.folder)
    do.assert_refused(ran, "page.html.tmp: exists and is no page")
    assert (place.folder / "page.html.tmp").read_text() == "mine"
    (place.folder / "page.html.tmp").unlink()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_bytes(b"1\n2\n"), "has 4 bytes and 2 whole rows of 3, but 6 were written"),
        (lambda path: path.write_bytes(b"1\n2\n3"), "has 5 bytes and 2 whole rows of 3, but 6 were written"),
        (lambda path: path.write_bytes(b"1\n3\n2\n"), "holds other bytes than were written"),
        (lambda path: path.write_bytes(b""), "has 0 bytes and 0 whole rows of 3"),
        (lambda path: path.unlink(), "is gone"),
        (lambda path: (path.unlink(), path.mkdir()), "is no file any more"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_words(tmp_path, change, words):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"1\n2\n3\n")
    file = describe_file(path, path.name, 3)
    assert damage_of(tmp_path / file.name, file, digest=True) is None
    shutil.copy(path, temporary(path))
    assert is_complete_temporary(tmp_path, file)
    change(path)
    assert words in damage_of(tmp_path / file.name, file, digest=True)
    assert first_damage(tmp_path, [file], digest_of=[file.name]).startswith(f"{path}: ")


def test_sizes_alone_are_looked_at_where_nothing_else_is_asked_for(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"1\n2\n")
    file = WrittenFile(path.name, 2, 4, "0" * 64)
    assert first_damage(tmp_path, [file]) is None
    assert first_damage(tmp_path, [file], digest_of=[file.name])
