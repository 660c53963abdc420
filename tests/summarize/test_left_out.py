"""What is said of steps that a summary leaves out."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from summed_up import ask, call, result

from trajcompress.summarize.extractive import extract
from trajcompress.summarize.extractive.left_out import REQUEST, Left, left_of, read_left, write_left

FILES = st.sampled_from(["", "a.py", "b.py", "c.toml", "d (copy).py", "e,f.md", "…"])
STEPS = st.builds(left_of, st.sampled_from(["grep", "edit", "uv run", "edit\0view", ""]), FILES, failed=st.booleans())
LEFT = st.lists(st.one_of(STEPS, st.just(Left(REQUEST))), min_size=1, max_size=30).map(Counter)


@given(LEFT, st.booleans())
def test_what_is_left_out_reads_the_same_after_an_update_that_tells_nothing_new_of_it(left, files):
    line = write_left(left, files=files)
    again = read_left(line)
    assert again.total() == left.total()
    assert write_left(Counter(dict(reversed(again.items()))), files=files) == line


def test_numbers_that_somebody_made_up_take_no_time():
    left = read_left(f"… 999999 more steps: {', '.join(f'999999 × tool{n} (a.py; 999999 failed)' for n in range(9))}")
    assert left[Left("tool3", "a.py", failed=True)] == 999_999
    assert len(left) == 9
    assert read_left("… 3 more steps: 3 × edit (a.py, a.py)").total() == 3


def test_steps_that_are_left_out_name_their_files_where_there_is_room():
    region = []
    for n in range(40):
        path = f"src/part_{n % 2}.py"
        region += [call(n, "read_file", path=path), result(n, f"def part_{n}():\n    return {n}\n" * 3)]
    texts = [extract(ask(region, budget=budget)) for budget in range(60, 400, 20)]
    assert any(" × read_file (part_0.py, part_1.py)" in text for text in texts)
    assert not any("(part_0.py, part_1.py, …)" in text for text in texts)
