"""What the kept turns rely on and only the region tells them."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from needing import HEAD, call, needed, result, say
from shared import OWN, SOURCES, rows_of, tokenizer_folder

from trajcompress import compress_dataset
from trajcompress.compaction.trim import trim_summary_text
from trajcompress.facts import MAX_FACTS, around, facts_kept, facts_needed, facts_note, in_brief, words_around
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.summarize.prompt import build_prompt
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import ToolCall


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    "fact",
    [
        *("src/app/main.py", "/srv/data/x.bin", "../lib/util.c", "settings.toml", "raw_decode", "JSONDecodeError"),
        *("parser.scan_once", "--no-cache", "HAT083", "ORD-123", "TCK-48213", "3f2b1c9e-aa10-4a77-9d1e-0123456789ab"),
        *("https://example.org/a/b?id=7", "maya@example.org", "4812", "3.14159", "v2.10.3", "2024-05-15", "12,500"),
        *("45%", "20 km", "14:30", "TypeError", "9c1185a5c5e9fc54612808977ee8f548b2258d31"),
    ],
)
def test_what_only_the_region_tells_and_the_rest_uses_is_needed(fact):
    region = [result(f"first\nthe thing is {fact}, as found")]
    assert needed(region, [say("assistant", f"So I take {fact}.")]) == (fact,)
    assert needed(region, [call("use", it=f"{fact}\n")]) == (fact,)
    assert needed(region, [say("assistant", "So I take it.")]) == ()
    assert needed([result("nothing here")], [say("assistant", f"So I take {fact}.")]) == ()


@pytest.mark.parametrize("used", ["repos/o/r/comments/2778466000/replies", "https://a.org/comments/2778466000?x=1"])
def test_an_id_that_is_part_of_a_path_later_is_needed(used):
    region = [result('{"id": 2778466000, "body": "Rename it."}')]
    assert needed(region, [call("bash", command=f"gh api {used}")]) == ("2778466000",)
    assert needed([result("see a/b/42/c")], [call("bash", command="ls a/x/42/y")]) == ()


def test_what_the_head_says_too_is_not_needed():
    tail = [say("assistant", "I open src/app/main.py for ORD-123.")]
    head = (*HEAD, say("user", "The order is ORD-123."))
    assert needed([result("ORD-123 src/app/main.py")], tail, head) == ("src/app/main.py",)


def test_what_a_result_in_the_tail_brings_first_is_not_needed():
    region = [result("ORD-123 and ORD-456")]
    used = [call("find", id="ORD-123"), result("ORD-123, ORD-456"), call("cancel", id="ORD-456")]
    assert needed(region, used) == ("ORD-123",)


def test_what_a_user_says_counts_where_tools_speak_for_themselves():
    tail = [say("user", "Cancel ORD-123 please.")]
    assert needed([result("ORD-123")], tail) == ("ORD-123",)
    shell = [say("user", "ls: ORD-123"), say("assistant", "rm ORD-123")]  # may be what a command printed
    assert facts_needed(HEAD, [say("user", "$ ls\nORD-123")], shell) == ()


def test_arguments_escaped_in_json_are_read_as_text():
    region = [call("write", text="x\ndef find_all_items():\ny")]
    assert needed(region, [call("run", code="a\nfind_all_items()")]) == ("find_all_items",)
    escaped = ToolCall("c", "find", json.dumps({"name": "金融街"}))
    assert needed([result("在金融街附近")], [say("assistant", calls=(escaped,))]) == ("金融街",)


def test_a_path_of_windows_holds_no_line_breaks():
    listed = [result("Directory: C:\\Users\\me\\Flow Forge\\node_modules\\turbo")]
    assert needed(listed, [say("assistant", "I look at ode_modules.")]) == ()
    assert needed(listed, [call("ls", path="C:\\Users\\me\\Flow Forge\\node_modules\\turbo")]) != ()


@pytest.mark.parametrize("quoted", ["「订单状态」", "『注文の状態』", "“Jin Mao Tower”", '"Jin Mao Tower"'])
def test_quoted_strings_of_any_script(quoted):
    assert needed([result(f"found {quoted[1:-1]} there")], [say("assistant", f"At {quoted} now")]) == (quoted[1:-1],)


def test_names_of_tools_keys_and_common_things_are_no_facts():
    region = [
        call("get_user_details", user_id="u", command="str_replace"),
        result("get_user_details user_id str_replace and/or JavaScript utf-8 np.zeros __init__ 1000 is_done"),
    ]
    tail = [
        say(
            "assistant",
            'get_user_details user_id str_replace and/or JavaScript utf-8 np.zeros __init__ {"is_done": 1}',
        ),
        call("get_user_details", user_id="1000"),
    ]
    assert needed(region, tail) == ()


@pytest.mark.parametrize("behind", ["\t", "→", " | ", "| "])  # cat, Claude Code, Roo Code, opencode
def test_line_numbers_of_a_listing_are_no_facts(behind):
    listing = "\n".join(f"{number:6}{behind}pass" for number in range(300, 400))
    tail = [call("view", view_range=[341, 360]), say("assistant", "Line 372 is odd.")]
    assert needed([result(listing)], tail) == ()
    assert needed([result(listing + "\ndecoder.py:341: def f")], tail) == ("341",)


def test_a_part_of_a_name_or_a_figure_is_no_mention():
    assert facts_kept(["raw_decode", "123", "1.2", "b.py"], "raw_decoder x-123 1,123 1.2.3 ab.py") == ()
    kept = facts_kept(["raw_decode", "123", "1.2", "b.py", "订单"], "x.raw_decode(); $123, (1.2) a/b.py 新订单号")
    assert kept == ("raw_decode", "123", "1.2", "b.py", "订单")
    assert facts_kept(["Raw"], "raw") == ()


def test_near_duplicates_are_one():
    region = [result("./src/app/main.py and main.py and self.scan_once or scan_once")]
    tail = [
        say("assistant", "See main.py"),
        call("open", path="./src/app/main.py", at=["self.scan_once", "scan_once"]),
    ]
    assert needed(region, tail) == ("src/app/main.py", "scan_once")


def test_what_is_used_more_comes_first_and_the_list_is_bounded():
    names = [f"item_{number}_id" for number in range(MAX_FACTS + 20)]
    region = [result(" ".join(names))]
    tail = [say("assistant", " and ".join(names)), call("use", it=names[30])]
    assert needed(region, tail)[:2] == (names[30], names[0])
    assert len(needed(region, tail)) == MAX_FACTS
    assert needed(region, tail, limit=1) == (names[30],)
    assert max(map(len, needed([result("/a" * 400)], [call("x", y="/a" * 400)])), default=0) < 200


def test_no_fact_holds_markup():
    hostile = (
        '<|im_start|> "<tool_call> now here" `[INST] do this` <｜Assistant｜> "a | b c" "[CONTEXT SUMMARY]: old one"'
    )
    found = needed([result(hostile)], [say("assistant", hostile)])
    assert not [fact for fact in found if set(fact) & set("<>|｜[]")]


def test_the_note_holds_the_first_facts_that_fit():
    lines = ["the id a_1", "b_2 is taken", "the id a_1", "d_4"]
    head = "Also needed later:\n- the id a_1\n- b_2 is taken"
    assert facts_note(lines, 100, words) == f"{head}\n- d_4"  # each once
    assert facts_note(lines, words(head), words) == head
    assert facts_note(lines, 3, words) == facts_note([], 100, words) == ""


@pytest.mark.parametrize(
    "text",
    ["a" * 5_000_000, "a/" * 1_000_000, '"' * 200_000, "a_" * 500_000, "1," * 500_000, "\ud800 id_\udfff7 " * 100_000,
     "https://" * 100_000, "a." * 500_000, "订单" * 500_000, '{"a":' * 100_000, "\\u" * 300_000, "x_1 " * 500_000],
    ids=["word", "slashes", "quotes", "underscores", "commas", "surrogates", "urls", "dots", "cjk", "json",
         "escapes", "same"],
)  # fmt: skip
def test_hostile_text_is_read_in_no_time_and_breaks_nothing(text):
    turns = [say("assistant", text, calls=(ToolCall(None, "f", text),)), result(text)]
    found = facts_needed(turns[:0], turns, turns)
    assert all(fact.isprintable() and fact in text for fact in found)


PIECES = st.sampled_from(
    [
        *("src/app/main.py", "main.py", "./main.py", "a/b.py", "raw_decode", "self.raw_decode", "x.raw_decode"),
        *(
            "ORD-123",
            "ORD-12",
            "123",
            "1,123",
            "12.5%",
            "14:30",
            '"New York"',
            "「东京塔」",
            "https://a.bc/d?e=f",
            "x",
        ),
        *("\n", " ", "\t341\t", "341", '{"key_1": "v_1"}', "key_1", "<|x|>", "--dry-run", "\ud800", "\\n", ".", "-"),
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=10).map(" ".join)
TURNS = st.one_of(
    st.builds(say, st.sampled_from(["system", "user", "assistant", "tool"]), TEXTS),
    st.builds(lambda text: say("assistant", "", calls=(ToolCall(None, "f", text),)), TEXTS),
    st.builds(lambda value: call("f", key_1=value), TEXTS),
)
MANY = st.lists(TURNS, max_size=5)


def read(turns) -> str:
    """Everything that turns say, with the escapes of JSON undone, as a reader would read it."""
    texts = [text for turn in turns for text in (turn.text, *(_values(one.arguments) for one in turn.calls))]
    plain = {"n": "\n", "r": "\n", "t": "\t", '"': '"', "/": "/"}
    escape = re.compile(r'\\(?:([nrt"/])|u([0-9a-fA-F]{4}))')
    return escape.sub(lambda found: plain[found[1]] if found[1] else chr(int(found[2], 16)), "\n".join(texts))


def _values(arguments: str) -> str:
    try:
        data = json.loads(arguments)
    except ValueError:
        return arguments
    return "\n".join(map(str, data.values())) if isinstance(data, dict) else arguments


@settings(max_examples=150)
@given(head=MANY, region=MANY, tail=MANY)
@example(head=[], region=[say("tool", "123")], tail=[say("assistant", "", calls=(ToolCall(None, "f", "1,123"),))])
@example(head=[], region=[say("tool", "4567")], tail=[say("assistant", "it was 4567,8")])
@example(head=[], region=[say("tool", "\\r0012")], tail=[say("assistant", "it was 0012")])
def test_facts_are_told_by_the_region_used_by_the_tail_and_unknown_to_the_head(head, region, tail):
    found = facts_needed(head, region, tail)
    assert facts_kept(found, read(region)) == found
    assert facts_kept(found, read(tail)) == found
    assert facts_kept(found, read(head)) == ()
    assert facts_needed(head, region, tail) == found
    assert len(set(found)) == len(found)
    assert not [fact for fact in found if facts_kept([fact], " ".join(other for other in found if other != fact))]


@settings(max_examples=100)
@given(region=MANY, tail=MANY, budget=st.integers(0, 200))
def test_a_summary_with_facts_is_within_its_budget_and_holds_them_if_they_fit(region, tail, budget):
    facts = facts_needed((), region, tail)
    request = SummaryRequest("t", (), tuple(region), budget, words, facts=facts)
    text = extract(request)
    assert extract(request) == text
    assert text.startswith(SUMMARY_PREFIX)
    assert text == SUMMARY_PREFIX or words(text) <= budget
    if budget >= 100:
        assert facts_kept(facts, text) == facts


def test_a_long_region_gives_a_summary_that_holds_the_facts_where_they_stand_or_at_the_end():
    region = []
    for number in range(200):
        region += [
            call("lookup", key=f"KEY-{number:03}"),
            result(json.dumps({"note": "lorem ipsum dolor " * 8, "code": f"V{number}Z{number * 7}"})),
        ]
    tail = [say("assistant", "I take " + ", ".join(f"V{number}Z{number * 7}" for number in range(3, 33)))]
    facts = facts_needed(HEAD, region, tail)
    assert len(facts) == 30
    for room in (300, 200):
        text = extract(SummaryRequest("t", HEAD, tuple(region), room, words, facts=facts))
        assert facts_kept(facts, text) == facts
        assert re.search(r"^- … (\d+) more steps: \1 × lookup$", text, re.MULTILINE)
        assert words(text) <= room
        steps, _, at_the_end = text.partition("\nNeeded later:\n")
        assert all(line.startswith("- ") and "V" in line for line in at_the_end.splitlines())
        assert all(f"lookup KEY-{fact[1:].partition('Z')[0]:0>3} → code={fact}" in steps for fact in facts[-5:])


def test_the_prompt_lists_the_facts_as_data_and_says_nothing_of_them_without():
    region = (result("ORD-123 a/b.py"),)
    with_facts = build_prompt(SummaryRequest("t", HEAD, region, 500, len, facts=("ORD-123", "{{goal}}")))
    without = build_prompt(SummaryRequest("t", HEAD, region, 500, len))
    fence = next(line for line in with_facts.user.splitlines() if line.startswith("====="))
    assert f"{fence}\nORD-123\n{{{{goal}}}}\n{fence}\n\nWrite the record" in with_facts.user
    assert "must survive verbatim" in with_facts.user
    assert "must survive verbatim" not in without.user
    assert "\n\n\n" not in with_facts.user + without.user


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_nearly_all_facts_survive_in_real_trajectories(source, tmp_path):
    """In summaries alone, where there is no line of a cleared observation to tell them."""
    files = [str(OWN / f"{name}.jsonl") for name in ("text-protocols", "code-agent-openai")]
    if source == "shared":
        files = [
            str(rows_of(source) / f"{name}.jsonl") for name in ("tau-bench-airline", "swe-smith", "swe-agent-demos")
        ]
    tokenizer = str(tokenizer_folder("qwen3" if source == "shared" else "chatml"))
    totals = compress_dataset(
        files, tmp_path / "out", tokenizer=tokenizer, target_max_tokens=8000, prune="off", fit="lenient"
    ).totals
    assert totals.facts_needed > 100
    assert totals.facts_kept >= 0.97 * totals.facts_needed


def test_a_line_of_a_listing_does_not_tell_its_number():
    shown = [result("Line 511: def cut(text):\nLine 512:     return text\nLine 513: }")]
    assert needed(shown, [say("assistant", calls=(ToolCall("c", "read", '{"from": 513}'),))]) == ()
    failed = [result("build.sh: line 513: cmake: command not found")]
    assert needed(failed, [say("assistant", calls=(ToolCall("c", "read", '{"from": 513}'),))]) == ("513",)
    both = result("Of them 513 are bad\nLine 512: {\nLine 513: }")
    assert words_around(["513"], [both]) == {"513": "Of them 513 are bad"}


def test_a_name_that_stands_alone_on_a_line_is_told_with_one_that_says_more():
    code = "import {\n  NavLink,\n} from 'x';\nconst home = <NavLink to='/' />;\nexport {\n  NavLink,\n};"
    assert words_around(["NavLink"], (), [code]) == {"NavLink": "const home = <NavLink to='/' />;"}
    alone = "import {\n  NavLink,\n}"
    assert words_around(["NavLink"], (), [alone]) == {"NavLink": "NavLink,"}


def test_of_an_earlier_summary_the_words_of_a_fact_are_told_without_the_mark_before_them():
    facts = ["src/parser/lexer.py"]
    before = f"{SUMMARY_PREFIX} The error is in src/parser/lexer.py.\n- The tests pass."
    assert words_around(facts, (), [before]) == {facts[0]: "The error is in src/parser/lexer.py."}
    made = trim_summary_text(f"{before} {'word ' * 40}", 34, facts, lambda text: len(text.split()), in_part=False)
    assert made is not None
    assert made.count(SUMMARY_PREFIX) == 1


def test_a_figure_that_stands_for_itself_is_told_with_what_stands_beside_it_on_its_line():
    cited = "References\n1. Deng, X., Gu, Y. (2021). Mind2Web: towards an agent. NeurIPS.\n1500\ntotal: 42"
    told = words_around(["2021", "1500", "42"], (), [cited])
    assert "Gu, Y. (2021). Mind2Web" in told["2021"]
    assert (told["1500"], told["42"]) == ("1500", "total: 42")
    long = f"{'Word ' * 60}. (2019). {'Term ' * 60}"
    around = words_around(["2019"], (), [long])["2019"]
    assert len(around) < 140
    assert set(around.split()) == {"Word", ".", "(2019).", "Term"}


def test_in_few_words_a_value_stands_with_its_key_and_whole():
    quote = '"beta": 1.04, "dividendYield": 0.51, "fiftyTwoWeekRange": "169.21 - 260.1", "lastFiscalYear": 2024'
    assert in_brief({"0.51": quote})["0.51"] == '"dividendYield": 0.51'
    assert in_brief({"169.21": quote})["169.21"] == '"fiftyTwoWeekRange": "169.21 - 260.1"'
    assert in_brief({"2024": quote})["2024"] == '"lastFiscalYear": 2024'
    code = "238 original_signature = self._get_string_between("
    assert in_brief({"_get_string_between": code})["_get_string_between"] == code
    prose = "No record shows that the three friends, who had founded it in a garage, went public in 1980 or later."
    assert in_brief({"1980": prose})["1980"] == prose.removesuffix(" or later.")


def test_a_fact_stands_in_its_sentence_from_where_that_begins():
    page = (
        "He fought in Texas. There is no evidence that either one was at the Battle of Buena Vista in 1847. So it is."
    )
    told = words_around(["Battle of Buena Vista"], [result(page)])["Battle of Buena Vista"]
    assert told == "There is no evidence that either one was at the Battle of Buena Vista in 1847."
    assert words_around(
        ["x_17"], [result("They say that x_17 is what they use in all of the houses but not here.")]
    ) == {"x_17": "They say that x_17 is what they use in all of the houses but not here."}
    lines = f"{'word ' * 200}\n- price of x_17: 12 dollars\n{'word ' * 200}"
    assert around("x_17", lines) == "price of x_17: 12 dollars"


def test_facts_of_one_line_are_told_together_where_they_are_told_in_short():
    line = "ID: V0TUKexdlb4 | Desc: Ora King Salmon with herbs, from the coast | Size: 4000 on each of its four sides"
    told = in_brief({"V0TUKexdlb4": line, "Ora King Salmon": line, "_other": "x = _other"})
    assert told["V0TUKexdlb4"] == told["Ora King Salmon"] == "ID: V0TUKexdlb4 | Desc: Ora King Salmon"
    assert in_brief({"4000": line})["4000"] == "ID: V0TUKexdlb4 … Size: 4000"
