"""Files that were changed: how they are called in the end, what a harness saves, and what is new in one of them."""

from __future__ import annotations

import pytest
from observing import recorded
from summed_up import ask, call, result, say, section

from trajcompress.summarize.extractive import extract


@pytest.mark.parametrize(
    ("command", "came", "left"),
    [
        ("mkdir lib; move a.json lib/package.json", "", "- lib/package.json"),
        ("mv ./a.json lib/", "", "- lib/a.json"),
        ("mkdir -p lib && git mv -f a.json lib", "", "- lib/a.json"),
        ('Move-Item -Force a.json "lib\\b.json"', "", "- lib/b.json"),
        ("mv a.json b.json", "mv: cannot stat 'a.json': No such file or directory", "- a.json"),
        ("mv c.json b.json", "", "- a.json"),
        ("grep 'mv a.json b.json' x.sh", "", "- a.json"),
    ],
)
def test_a_changed_file_that_is_moved_is_named_as_it_is_called_then(command, came, left):
    made = [call(1, "write", path="a.json", content="{}"), result(1, "The file a.json has been written.")]
    text = extract(ask([*made, call(2, "bash", command=command), result(2, came)]))
    assert section(text, "Files changed") == left


def test_a_block_that_is_saved_under_the_name_in_its_first_line_changes_that_file_though_it_fails():
    block = "I draw it:\n\n```python\n# filename: chart.py\nimport plot\nplot.draw()\n```"
    failed = "exitcode: 1 (execution failed)\nCode output: Traceback\nImportError: no plot"
    text = recorded("Draw a chart.", block, failed, "I see, there is no plot.", "Go on.")
    assert section(text, "Files changed") == "- chart.py"


def test_of_a_file_that_the_kept_beginning_of_a_row_wrote_only_what_is_new_is_told():
    lines = [f"step_{number} = load({number})" for number in range(12)]
    wrote = (call(0, "write_file", path="a.py", content="\n".join(lines)), result(0, "written"))
    lines[7] = "step_7 = load(7, strict=True)"
    again = (call(1, "write_file", path="a.py", content="\n".join(lines)), result(1, "written"))
    told = extract(ask(again, head=(say("user", "Write it."), *wrote)))
    assert section(told, "Steps") == "- write_file a.py «… step_7 = load(7, strict=True)» → written\n"


def test_a_command_in_another_folder_than_most_says_so_and_files_are_named_by_it():
    runs = [("ls", "/w"), ("cat Makefile", "/w"), ("make > out.txt", "/w/src/quay"), ("pwd > here.txt", "/srv/a/b")]
    steps = [(call(n, "shell", command=run, workdir=place), result(n, "")) for n, (run, place) in enumerate(runs)]
    text = extract(ask([turn for step in steps for turn in step]))
    assert "make > out.txt (in src/quay) →" in text
    assert "pwd > here.txt (in …/a/b) →" in text
    assert "cat Makefile →" in text
    assert section(text, "Files changed") == "- src/quay/out.txt\n- …/a/b/here.txt"


def test_files_changed_are_told_by_their_names_where_there_is_no_room_for_their_folders():
    folder = "/home/maya/projects/vehicles/src/loading/api"
    names = [f"{folder}/part_{number}.py" for number in range(9)]
    edits = [call(n, "str_replace", path=path, old_str="a", new_str="b") for n, path in enumerate(names)]
    region = [turn for n, edit in enumerate(edits) for turn in (edit, result(n, "The file has been edited."))]
    assert (
        section(extract(ask(region, budget=2_000)), "Files changed") == "".join(f"- {path}\n" for path in names)[:-1]
    )
    short = section(extract(ask(region, budget=170)), "Files changed").splitlines()
    assert len(short) == len(names)
    assert short[-1] == "- …/part_8.py"
