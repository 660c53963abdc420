"""Summarisers of one's own: called within limits, without secrets, judged, kept, and stood in for."""

from __future__ import annotations

import pickle
import threading
from importlib import reload
from pathlib import Path

import own_summarizers as own
import pytest
from commands import TARGET, conversation

from trajcompress import Compressor, SettingsError, SummarizerUnusableError, compress_dataset
from trajcompress.settings.summarizer_choice import SummarizerChoice
from trajcompress.summarize.custom.identity import version_of
from trajcompress.summarize.custom.load import load_summarizer


@pytest.fixture
def options(make_tokenizer):
    own.calls.clear()
    return {"tokenizer": make_tokenizer(), "target_max_tokens": TARGET, "summary_target_tokens": 300}


def compress(options, summarizer, row=None, **more):
    with Compressor(**options, summarizer=summarizer, **more) as compressor:
        return compressor.compress(row or conversation(0))


@pytest.mark.parametrize(
    ("summarizer", "name"),
    [
        (own.record, "own_summarizers:record"),
        (own.record_async, "own_summarizers:record_async"),
        (own.record_later, "own_summarizers:record_later"),
        ("own_summarizers:record", "own_summarizers:record"),
        (own.Recorder, "recorder"),
        (own.Recorder(), "recorder"),
        ("own_summarizers:Recorder", "recorder"),
    ],
)
def test_functions_classes_and_objects(options, summarizer, name):
    done = compress(options, summarizer)
    assert (done.metrics.outcome, done.metrics.summarizer) == ("compressed", name)
    assert (done.metrics.summarization_api_calls, done.metrics.cost_usd) == (1, None)
    assert done.metrics.compressed_tokens <= TARGET
    assert "So far: nothing" in str(done.row)


def test_what_it_is_given(options):
    row = conversation(0)
    compress(options, own.record, row, focus="the tests")
    (given,) = own.calls
    assert "[1] " in given.turns
    assert row["messages"][1]["content"][:20] in given.goal
    assert given.previous is None
    assert given.note is None
    assert given.focus == "the tests"
    assert given.target_tokens == 300
    assert given.count_tokens("a b c") > 0


def test_what_was_summarised_before_is_told(options):
    row = compress(options, own.record).row
    own.calls.clear()
    compress(options | {"target_max_tokens": TARGET // 2}, own.record, row)
    assert own.calls[0].previous.startswith("So far: nothing")


def test_secrets_stay_here_and_out_of_summaries(options):
    secret = "sk-" + "a1B2c3D4" * 6
    row = conversation(0)
    row["messages"][4]["content"] += f" the key is {secret}"

    def leaks(given):
        leaks.given = given
        return f"{own.record(given)} and sk-{'Z9y8X7w6' * 6}"

    done = compress(options, leaks, row)
    assert done.metrics.outcome == "compressed"
    assert secret not in str(leaks.given)
    summary = next(turn["content"] for turn in done.row["messages"] if "So far" in turn["content"])
    assert "Z9y8X7w6" not in summary
    assert secret in str(compress(options, leaks, row, redact="off") and leaks.given)


@pytest.mark.parametrize(
    ("summarizer", "reason", "words"),
    [
        (own.raises, "summarizer_error", "raised ValueError: no luck with [REDACTED"),
        (own.returns_none, "summarizer_error", "it returned NoneType, no text"),
        (own.exits, "summarizer_error", "SystemExit(3)"),
        (own.stops, "summarizer_error", "StopIteration"),
        (own.cancels, "summarizer_error", "it was cancelled"),
        (own.far_too_long, "overlong_answer", "300 are allowed"),
        (own.gives_up_row, "too_hard", "this row is too hard"),
        (lambda _: "", "empty_answer", ""),
        (lambda given: given.turns[:600], "echoed_answer", ""),
        (own.hangs, "trajectory_timeout", "within 0.3 s"),
        (own.hangs_async, "trajectory_timeout", "within 0.3 s"),
    ],
)
def test_a_row_keeps_its_original_or_gets_the_fallback(options, summarizer, reason, words):
    row = conversation(0)
    timeout = {"per_trajectory_timeout": 0.3} if "hang" in summarizer.__name__ else {}
    done = compress(options, summarizer, row, **timeout)
    assert (done.row, done.metrics.outcome, done.metrics.reason) == (row, "failed", reason)
    assert words in done.metrics.error
    assert "a1B2c3D4" not in done.metrics.error


def test_the_fallback_of_a_row(options):
    done = compress(options, own.raises, on_failure="extractive")
    assert (done.metrics.outcome, done.metrics.summarizer) == ("compressed", "extractive")


def test_one_more_try_with_a_note(options):
    def second_time(given):
        return own.record(given) if given.note else "I cannot help with that."

    done = compress(options, second_time)
    assert (done.metrics.outcome, done.metrics.summarization_api_calls, done.metrics.non_summaries) == (
        "compressed",
        2,
        1,
    )


def test_one_that_always_fails_is_given_up(options):
    with Compressor(**options, summarizer=own.raises, max_failures_in_a_row=2) as compressor:
        assert compressor.compress(conversation(0)).metrics.outcome == "failed"
        with pytest.raises(SummarizerUnusableError, match="2 calls in a row, the last one with: ValueError"):
            compressor.compress(conversation(1))


def test_calls_that_wait_for_their_turn_are_not_made_once_it_is_given_up(options):
    calls = []

    async def fails(given):
        calls.append(given)
        raise ValueError

    limits = {"max_failures_in_a_row": 3, "max_concurrent_requests": 2}
    with (
        Compressor(**options, summarizer=fails, **limits) as compressor,
        pytest.raises(SummarizerUnusableError, match="in a row"),
    ):
        list(compressor.compress_many(map(conversation, range(20)), concurrency=20))
    assert 3 <= len(calls) <= 4


def test_one_that_was_given_up_is_used_again_once_it_works(options):
    is_down = True

    def writer(given):
        if is_down:
            raise ValueError("down")
        return own.record(given)

    with Compressor(**options, summarizer=writer, max_failures_in_a_row=1) as compressor:
        for calls in (1, 2):
            with pytest.raises(SummarizerUnusableError, match=f"{calls} calls in a row"):
                compressor.compress(conversation(0))
        is_down = False
        done = list(compressor.compress_many([conversation(0), conversation(1)]))
    assert [each.metrics.outcome for each in done] == ["compressed"] * 2


@pytest.mark.parametrize(("summarizer", "words"), [(own.gives_up, "buy one"), (own.CannotBeMade, "no such model")])
def test_one_that_can_not_work_ends_everything(options, summarizer, words):
    with pytest.raises(SummarizerUnusableError, match=words):
        compress(options, summarizer)


def test_limits_hold_for_it(options):
    most, now, lock = 0, 0, threading.Lock()

    def watched(given):
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        text = own.slow(given)
        with lock:
            now -= 1
        return text

    with Compressor(**options, summarizer=watched, max_concurrent_requests=2) as compressor:
        done = list(compressor.compress_many(map(conversation, range(6)), concurrency=6))
    assert {each.metrics.outcome for each in done} == {"compressed"}
    assert most == 2


def test_long_regions_are_read_in_pieces(options):
    row = conversation(0, 80)
    done = compress(options, own.record, row, summarizer_context=7000)
    assert done.metrics.summarization_api_calls > 1
    assert max(given.count_tokens(given.turns) for given in own.calls) < 7000


def test_summaries_are_kept_by_name_and_version(options, tmp_path):
    cache = str(tmp_path / "cache")

    class Versioned:
        name = "versioned"
        version = "1"

        def summarize(self, given):
            return own.record(given)

    for version, calls in (("1", 1), ("1", 0), ("2", 1)):
        own.calls.clear()
        summarizer = Versioned()
        summarizer.version = version
        done = compress(options, summarizer, cache=cache)
        assert (len(own.calls), done.metrics.outcome) == (calls, "compressed")


def test_a_class_is_made_for_the_first_call_and_closed(options):
    own.Recorder.made = own.Recorder.closed = 0
    with Compressor(**options, summarizer=own.Recorder) as compressor:
        assert compressor.compress(conversation(0, 2)).metrics.outcome == "skipped_under_target"
        assert own.Recorder.made == 0
        for number in range(2):
            compressor.compress(conversation(number))
    assert (own.Recorder.made, own.Recorder.closed) == (1, 1)


def test_an_object_is_left_open_to_whoever_made_it(options):
    own.Recorder.closed = 0
    compress(options, own.Recorder())
    assert own.Recorder.closed == 0


@pytest.mark.parametrize(
    ("summarizer", "words"),
    [
        ("nope", "summarizer nope: there is none; .* module:function"),
        (
            "mysum.summarize",
            r"summarizer mysum.summarize: there is none; known are .*\. One of your own is given as module:function",
        ),
        ("extractiv", "did you mean extractive"),
        ("nope:f", "nope cannot be imported: ModuleNotFoundError"),
        ("own_summarizers:recrod", "has no recrod; did you mean own_summarizers:record"),
        ("own_summarizers:not_callable", "is no function, and has no method summarize"),
        ("own_summarizers:takes_nothing", "should take one argument, a SummaryInput, and return text"),
        (own.Unversioned(), "has no version"),
        (own.Impostor, "calls itself extractive, which is one of ours"),
        (5, "argument summarizer: .* should be the name of a summariser"),
        ("a b", "argument summarizer: .* should be the name of a summariser"),
        (dict, "is no function, and has no method summarize"),
        ("openai", "summarization.summarizer openai needs summarization.model"),
    ],
)
def test_what_is_no_summariser(options, summarizer, words):
    with pytest.raises(SettingsError, match=words):
        Compressor(**options, summarizer=summarizer)


def test_ours_have_names_as_well(options):
    assert compress(options, "extractive", model="never-called").metrics.summarizer == "extractive"
    with pytest.raises(SettingsError, match="fallback_model"):
        Compressor(**options, summarizer=own.record, model="a", fallback_model="b")


def test_a_version_is_that_of_the_code_and_stays(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "edited_summarizer.py"
    module.write_text("def f(given):\n    return 'a'\n")
    first = load_summarizer(SummarizerChoice("edited_summarizer:f"))
    assert first.version == load_summarizer(SummarizerChoice("edited_summarizer:f")).version
    module.write_text("def f(given):\n    return 'something else'\n")
    import edited_summarizer

    reload(edited_summarizer)
    assert load_summarizer(SummarizerChoice("edited_summarizer:f")).version != first.version
    assert version_of(object()) != version_of(object()), "of what nobody knows, nothing old is reused"


def test_another_process_finds_one_by_name_or_has_it_sent():
    named = pickle.loads(pickle.dumps(SummarizerChoice.parse(own.record)))  # noqa: S301 - our own
    assert (named.spec, named.given) == ("own_summarizers:record", None)
    sent = pickle.loads(pickle.dumps(SummarizerChoice.parse(own.Recorder())))  # noqa: S301 - our own
    assert isinstance(sent.given, own.Recorder)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(SummarizerChoice.parse(lambda given: given.turns))


def test_no_batches_of_one_of_ones_own(options, tmp_path):
    with pytest.raises(SettingsError, match="batch=True is for a model's calls"):
        compress_dataset([conversation(0)], tmp_path / "out", **options, summarizer=own.record, batch=True)


def test_a_package_offers_one(options, tmp_path, monkeypatch):
    (tmp_path / "acme_summaries.py").write_text(
        "from own_summarizers import record\ndef terse(given):\n    return record(given)\n"
    )
    described = tmp_path / "acme_summaries-3.1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-summaries\nVersion: 3.1\n")
    (described / "entry_points.txt").write_text("[trajcompress.summarizers]\nterse = acme_summaries:terse\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert compress(options, "terse").metrics.summarizer == "terse"
    assert load_summarizer(SummarizerChoice("terse")).identity == "terse acme-summaries 3.1"
    with pytest.raises(SettingsError, match="did you mean terse"):
        Compressor(**options, summarizer="tersee")


def test_where_the_summariser_raised_is_told(options):
    done = compress(options, own.raises, conversation(0))
    assert f"({Path(own.__file__).name}:{own.raises.__code__.co_firstlineno + 1})" in done.metrics.error
