"""Which rows a run takes, which of them it leaves out of the dataset, and when it has had enough."""

from __future__ import annotations

import itertools
import json
import subprocess

import commands
import pytest
import runs
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import LoopbackServer
from loopback_replies import failed

from trajcompress.dataset.cutting import cut_into_parts
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import InputError
from trajcompress.run.loop.reading import Reading
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.selection import build_selection
from trajcompress.run.rows.row import Parsed
from trajcompress.settings import resolve

SMALL = {"compression__target_max_tokens": 2000, "compression__summary_target_tokens": 300}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Three files of 25, 40 and 35 rows, two of them of one name, with a line that cannot be read."""
    root = tmp_path_factory.mktemp("files")
    paths = []
    for name, count in (("a/x.jsonl", 25), ("b/x.jsonl", 40), ("y.jsonl", 35)):
        path = root / name
        path.parent.mkdir(exist_ok=True)
        lines = [json.dumps({"id": f"{name} {number}"}) for number in range(count)]
        lines[7] = "broken"
        path.write_text("\n\n".join(lines))
        paths.append(path)
    return paths


def chosen(paths, part_size=2**20, **given):
    """Rows that are taken, as the file and the place in it."""
    options = {f"input.{key}": value for key, value in given.items()}
    resolved = resolve(options, None, environ={}, dotenv=None).settings
    sources = find_sources([str(path) for path in paths])
    selection = build_selection(resolved, sources)
    ledger = Ledger(cut_into_parts(sources, part_size), {}, selection)
    items = Reading(resolved, selection).all_of(ledger, lambda _: None)
    return [(item.source.path, item.index) for item in items if isinstance(item, Parsed)]


def test_everything_by_default_in_order(files):
    assert chosen(files) == [
        (path, index) for path, count in zip(files, (25, 40, 35), strict=True) for index in range(count)
    ]


def test_a_limit(files):
    everything = chosen(files)
    for limit in (1, 25, 26, 99, 100, 1000):
        assert chosen(files, limit=limit) == everything[:limit]


@pytest.mark.parametrize("sample", [{"sample_percent": 30}, {"sample_count": 17}])
def test_a_sample_is_the_same_whatever_the_order_and_another_for_another_seed(files, sample):
    everything, first = chosen(files), chosen(files, **sample)
    assert chosen(files, **sample) == first
    assert set(first) < set(everything)
    assert first == [place for place in everything if place in set(first)]
    assert chosen(files, **sample, seed=43) != first


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_share_depends_on_no_other_file(files, order):
    together = chosen([files[index] for index in order], sample_percent=40)
    alone = [place for index in order for place in chosen([files[index]], sample_percent=40)]
    assert together == alone


def test_a_sample_does_not_depend_on_where_the_folder_stands(files, tmp_path):
    copy = tmp_path / "y.jsonl"
    copy.write_bytes(files[2].read_bytes())
    assert [index for _, index in chosen([copy], sample_percent=50)] == [
        index for _, index in chosen(files[2:], sample_percent=50)
    ]


def test_a_larger_share_holds_the_smaller_one(files):
    shares = [set(chosen(files, sample_percent=percent)) for percent in (5, 20, 60, 100)]
    assert all(small <= large for small, large in itertools.pairwise(shares))
    assert len(shares[-1]) == 100
    assert 40 < len(shares[2]) < 80


@given(count=st.integers(1, 110), seed=st.integers(0, 2**40))
@settings(deadline=None, max_examples=40)
def test_a_count_is_exact_though_files_have_the_same_name(files, count, seed):
    assert len(chosen(files, sample_count=count, seed=seed)) == min(count, 100)


def test_a_count_of_standard_input_is_refused():
    with pytest.raises(InputError, match="--sample-percent"):
        chosen(["-"], sample_count=3)


@given(count=st.integers(1, 7), sample=st.sampled_from([{}, {"sample_percent": 35.5}, {"sample_count": 41}]))
@settings(deadline=None, max_examples=30)
def test_shards_part_the_rows_exactly(files, count, sample):
    shards = [chosen(files, shard=f"{number}/{count}", **sample) for number in range(1, count + 1)]
    assert sorted(itertools.chain(*shards)) == sorted(chosen(files, **sample))
    if not sample:
        assert max(map(len, shards)) - min(map(len, shards)) <= 1


@given(
    given_=st.sampled_from(
        [
            {},
            {"limit": 30},
            {"sample_percent": 40},
            {"sample_count": 33, "shard": "2/3"},
            {"limit": 9, "shard": "1/2"},
        ]
    ),
    part_size=st.integers(1, 1500),
)
@settings(deadline=None, max_examples=40)
def test_what_is_taken_does_not_depend_on_where_parts_end(files, given_, part_size):
    assert chosen(files, part_size, **given_) == chosen(files, **given_)


@pytest.mark.parametrize(
    "more",
    [
        ("--limit", "21"),
        ("--sample-percent", "45"),
        ("--sample-count", "19"),
        ("--shard", "2/3"),
        ("--sample-percent", "60", "--limit", "11", "--min-tokens", "900"),
        ("--no-save-over-limit",),
    ],
    ids=" ".join,
)
def test_a_selection_resumes(tmp_path, make_tokenizer, more):
    place = runs.Place(tmp_path, make_tokenizer())
    inputs = runs.write_inputs(tmp_path, 30)
    answers = 0

    def breaks_off(_):
        nonlocal answers
        answers += 1
        return failed(402, "pay first") if answers == 6 else None

    with LoopbackServer(breaks_off) as server:
        command = place.calling(server.base_url, inputs, "out", "--max-in-flight", "4", *more)
        assert commands.run_here(*command, cwd=tmp_path).code == 1
        assert commands.run_here(*command, cwd=tmp_path).code == 0
        runs.assert_same_as_whole(place, command)


def compress(tmp_path, *inputs, **more):
    output = tmp_path / "out"
    settings_ = {**SMALL, "tokenizer__name": runs.small_tokenizer(), "output__format": "jsonl", **more}
    return runs.run_here(*inputs, output=output, **settings_), commands.read_metrics(output)


def test_rows_over_the_limit_are_rejected_on_request(tmp_path):
    rows = [commands.conversation(0), commands.conversation(1, steps=2), commands.conversation(2)]
    rows[2]["messages"] = [{"role": "user", "content": "Say it."}, {"role": "assistant", "content": "word " * 9000}]
    source = commands.write_rows(tmp_path / "a.jsonl", rows)
    result, metrics = compress(tmp_path, source, processing__save_over_limit=False)
    assert [row["in_dataset"] for row in metrics] == [True, True, False]
    assert (metrics[2]["outcome"], metrics[2]["still_over_limit"], metrics[2]["reason"]) == (
        "unchanged",
        True,
        "single_turn",
    )
    (reject,) = commands.read_rejected(tmp_path / "out")
    assert (reject["line"], reject["reason"]) == (3, "over_limit")
    assert json.loads(reject["raw"]) == rows[2]
    assert len(commands.read_lines(tmp_path / "out")) == 2
    assert result.totals.outcomes["rejected"] == 0


def test_short_rows_are_left_out_on_request(tmp_path):
    rows = [commands.conversation(number, steps=steps) for number, steps in enumerate((1, 12, 2, 6))]
    source = commands.write_rows(tmp_path / "a.jsonl", rows)
    with source.open("a") as file:
        file.write('{"messages": [{"role": "user", "content": "\\ud800"}]}\n')  # nobody can say how long
    _, metrics = compress(tmp_path, source, input__min_tokens=900)
    assert [row["in_dataset"] for row in metrics] == [False, True, False, True, True]
    assert [row["reason"] for row in metrics] == [
        "below_min_tokens",
        None,
        "below_min_tokens",
        None,
        "uncountable_text",
    ]
    assert [row["id"] for row in commands.read_rows(tmp_path / "out")[:2]] == ["row-1", "row-3"]
    assert commands.read_rejected(tmp_path / "out") == []


def test_no_summary_is_paid_for_a_row_that_will_be_left_out(tmp_path):
    rows = [commands.conversation(number, steps=steps) for number, steps in enumerate((12, 30))]
    source = commands.write_rows(tmp_path / "a.jsonl", rows)
    with LoopbackServer() as server:
        model = {"summarization__model": "m", "summarization__base_url": server.base_url}
        _, metrics = compress(tmp_path, source, input__min_tokens=5000, **model)
    assert [row["original_tokens"] > 2000 for row in metrics] == [True, True]
    assert [(row["reason"], row["in_dataset"], row["still_over_limit"]) for row in metrics] == [
        ("below_min_tokens", False, False),
        (None, True, False),
    ]
    assert len(server.seen) == 1


def test_too_many_failures_stop_the_run_early_and_a_higher_limit_goes_on(tmp_path, make_tokenizer):
    place = runs.Place(tmp_path, make_tokenizer())
    good = [json.dumps(commands.conversation(number, steps=1)) for number in range(60)]
    lines = [line for number, line in enumerate(good) for line in ([line, "broken"] if number % 5 == 4 else [line])]
    source = tmp_path / "a.jsonl"
    source.write_text("\n".join(lines))
    command = place.offline([source], "out", "--max-in-flight", "4", "--output-format", "jsonl")
    command[command.index("90%")] = "3"
    stopped = commands.run_here(*command, cwd=tmp_path)
    assert stopped.code == 1
    assert "stopped early: 4 rows failed or were rejected" in stopped.stderr
    assert runs.committed_rows(tmp_path / "out") < 30
    command[command.index("3")] = "12"
    assert commands.run_here(*command, cwd=tmp_path).code == 0
    assert len(commands.read_lines(tmp_path / "out")) == 60
    assert len(commands.read_rejected(tmp_path / "out")) == 12


@pytest.mark.parametrize(
    ("allowed", "code"),
    [((), 1), (("--max-failed", "12"), 0), (("--max-failed", "10%"), 1), (("--max-failed", "20%"), 0)],
)
def test_failures_at_the_end(tmp_path, make_tokenizer, allowed, code):
    place = runs.Place(tmp_path, make_tokenizer())
    source = tmp_path / "a.jsonl"
    source.write_text("\n".join(["broken", *[json.dumps(commands.conversation(0, steps=1))] * 4] * 12))
    command = place.offline([source], "out")
    at = command.index("--max-failed")
    command[at : at + 2] = allowed
    assert commands.run_here(*command, cwd=tmp_path).code == code
    assert len(commands.read_metrics(tmp_path / "out")) == 60


def test_a_limit_does_not_wait_for_a_row_that_it_would_not_take(tmp_path, make_tokenizer):
    place = runs.Place(tmp_path, make_tokenizer())
    process = runs.start(*place.offline(["-"], "out", "--limit", "2"), cwd=tmp_path, stdin=subprocess.PIPE)
    for number in range(2):
        process.stdin.write(json.dumps(commands.conversation(number)) + "\n")
    process.stdin.flush()
    assert process.wait(timeout=60) == 0
    process.communicate()
