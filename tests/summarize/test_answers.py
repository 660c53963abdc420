"""Answers that are no summary never become one, and summaries do, whatever they tell of or quote."""

from __future__ import annotations

import asyncio
import functools

import pytest
from answers import READ, labelled, request
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_rows import real_rows

from trajcompress.errors import NO_SUMMARY
from trajcompress.summarize.answer import Answer
from trajcompress.summarize.answers.judge import judge, judge_text
from trajcompress.summarize.answers.phrases import load_phrases
from trajcompress.summarize.base import SummaryRequest, Usage
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.summarize.prompt import build_prompt
from trajcompress.summarize.retry import Retry
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX

NONE, TRUE = labelled("none"), [text for _, text in labelled("true")]
RECORD = "## Goal\n- mend src/parser.py\n## Errors\n- ValueError: case 3 of 7"


def reason_of(text: str, asked: SummaryRequest | None = None) -> str | None:
    verdict = judge_text(text, asked or request())
    return verdict.reason if isinstance(verdict, Retry) else None


def body_of(text: str, asked: SummaryRequest | None = None) -> str:
    verdict = judge_text(text, asked or request())
    assert isinstance(verdict, str), verdict
    return verdict.removeprefix(SUMMARY_PREFIX).strip()


def test_the_tables_are_large():
    assert len(NONE) >= 150
    assert len(TRUE) >= 150
    assert {reason for reason, _ in NONE} == set(NO_SUMMARY)


@pytest.mark.parametrize(("reason", "text"), NONE)
def test_what_is_no_summary_is_told_by_its_reason_and_asked_for_once_more(reason, text):
    verdict = judge_text(text, request())
    assert isinstance(verdict, Retry)
    assert verdict.reason == reason
    assert "\n" not in verdict.detail


def test_what_stands_around_it_makes_it_no_summary():
    for _, text in NONE:
        for around in (f"<think>hm</think>\n{text}\n", f"[CONTEXT SUMMARY]: {text}", f"Sure!\n\n{text}"):
            assert reason_of(around), around


@pytest.mark.parametrize("text", TRUE)
def test_a_summary_is_one_whatever_it_tells_of_and_stays_as_it_is(text):
    assert body_of(text) == text


def test_a_summary_under_a_heading_is_one():
    for text in TRUE:
        assert reason_of(f"## Results and values\n{text}") is None, text


LEAD_INS = [
    "Sure! Here is the summary:",
    "**Here's a concise summary of the conversation:**",
    "Certainly! Below is the record you asked for.",
    "I have summarized the conversation:",
    "Okay.\nHere is the condensed record of the turns:",
    "好的，以下是对话的摘要：",
    "¡Claro! Aquí tienes el resumen de la conversación:",
    "Bien sûr ! Voici le résumé de la conversation :",
    "Gerne! Hier ist die Zusammenfassung des Gesprächs:",
    "Claro! Aqui está o resumo da conversa:",
    "Конечно! Вот краткое резюме разговора:",
    "はい、承知しました。以下が会話の要約です：",
    "네, 다음은 대화 요약입니다:",
    "Certo! Ecco il riassunto della conversazione:",
    "بالطبع! إليك ملخص المحادثة:",
    "ज़रूर! यहाँ बातचीत का सारांश है:",
    "Elbette! İşte konuşmanın özeti:",
    "Natuurlijk! Hier is de samenvatting van het gesprek:",
    "Oczywiście! Oto podsumowanie rozmowy:",
    "### Response:",
    "Assistant:",
]
OFFERS = [
    "Let me know if you need anything else!",
    "I hope this helps! Feel free to ask if you have any other questions.",
    "---\nWould you like me to shorten it?",
    "如果您还有其他问题，请随时告诉我。",
    "Si necesitas algo más, avísame.",
    "N'hésitez pas si vous avez des questions !",
    "Lassen Sie mich wissen, wenn Sie noch etwas brauchen!",
    "Se precisar de mais alguma coisa, avise-me!",
    "Если у вас есть вопросы, дайте мне знать!",
    "他にご不明な点があればお知らせください。",
    "더 필요한 것이 있으면 말씀해 주세요!",
    "Fammi sapere se hai bisogno di altro!",
    "إذا كنت بحاجة إلى شيء آخر، أخبرني.",
    "यदि आपको और कुछ चाहिए तो बताएं।",
    "Başka bir sorunuz varsa bana bildirin!",
    "Laat het me weten als je nog vragen hebt!",
    "Daj mi znać, jeśli potrzebujesz czegoś jeszcze!",
]


@pytest.mark.parametrize("lead_in", LEAD_INS)
@pytest.mark.parametrize("offer", OFFERS[:3])
def test_a_lead_in_is_cut_off(lead_in, offer):
    assert body_of(f"{lead_in}\n\n{RECORD}\n\n{offer}") == RECORD


@pytest.mark.parametrize("offer", OFFERS)
def test_a_closing_offer_is_cut_off(offer):
    assert body_of(f"{RECORD}\n\n{offer}") == RECORD
    assert body_of(f"The agent mended src/parser.py.\n{offer}") == "The agent mended src/parser.py."
    assert offer[:3] == "---" or body_of(f"It was mended. {offer}") == "It was mended."


@pytest.mark.parametrize(
    "wrapped",
    [
        f"<summary>\n{RECORD}\n</summary>",
        f"<analysis>It was long.</analysis>\n<summary>\n{RECORD}\n</summary>",
        '{"summary": "## Goal\\n- mend src/parser.py\\n## Errors\\n- ValueError: case 3 of 7"}',
        '```json\n{"summary": "## Goal\\n- mend src/parser.py\\n## Errors\\n- ValueError: case 3 of 7"}\n```',
        f"```markdown\n{RECORD}\n```",
        f"{RECORD}<|im_end|>",
        f"{RECORD}\n<|eot_id|></s>",
        f"<|im_start|>assistant\n{RECORD}<|im_end|>",
        f"[THINK]What to say?[/THINK]{RECORD}",
        f"◁think▷What to say?◁/think▷{RECORD}",
        f"Here is the summary:\n```\n{RECORD}\n```",
        f"\u202e{RECORD}\u202c\u009b",
        RECORD.replace("mend", "me\U000e0041\U000e0042nd"),
        f"=====TURNS-0123456789abcdef=====\n{RECORD}\n=====TURNS-0123456789abcdef=====",
    ],
)
def test_what_stands_around_a_summary_is_cut_off(wrapped):
    assert body_of(wrapped) == RECORD


def test_a_lead_in_that_says_something_stays():
    for text in ("Here is where it fails: line 40.\nIt was mended.", "Below 200 rows it is quick:\n- 12 ms"):
        assert body_of(text) == text


PROSE = " ".join(f"The agent read module {n} and found that value {n * 7} of case {n} was off." for n in range(40))


def test_a_copy_of_what_was_read_is_told():
    asked = request(f"{PROSE} It went on.", "something else", target=2000)
    assert reason_of(PROSE, asked) == "echoed_answer"
    assert reason_of(PROSE[100:900].replace(" ", "\n", 9), asked) == "echoed_answer"
    assert reason_of("## Goal\n- mend it\n" + PROSE, asked) == "echoed_answer"
    half = "".join(f"- point {n} of what came of it, in words of its own\n" for n in range(60))
    assert reason_of(half + PROSE[:1500], asked) is None
    quotes = "\n".join(f"- {PROSE[at : at + 90]}" for at in range(0, 2000, 170))
    assert reason_of(quotes, asked) is None


def test_what_is_carried_over_from_the_summary_so_far_is_no_copy():
    assert reason_of(PROSE, request("other turns " * 50, target=2000, previous=PROSE)) is None


def test_the_prompt_itself_is_told():
    asked = request(PROSE, target=2000)
    prompt = build_prompt(asked)
    assert reason_of(prompt.system, asked) == "echoed_answer"
    assert reason_of(prompt.user, asked) == "echoed_answer"
    assert reason_of(f"- one point\n{prompt.user[-900:]}", asked) == "echoed_answer"


def test_speakers_that_were_read_are_quoted():
    read = "Human: is it mended?\nAssistant: it is."
    assert reason_of(f"The log ends so:\n\n{read}", request(read)) is None
    assert reason_of("The log ends so.\n\nHuman: and now?\nAssistant: now more.", request(read)) == "dialogue_answer"


def test_a_refusal_with_what_was_read_in_it_is_a_summary_in_the_first_person():
    text = "I can't provide a response for src/parser.py, since line 40 raises; src/module_3.py is next."
    assert reason_of(text) is None
    assert reason_of(text, request("something else")) == "refused_answer"


@pytest.mark.parametrize(
    ("answer", "reason", "once"),
    [
        (Answer("", "tool_calls", None, 1, 1, calls=True), "call_answer", True),
        (Answer("I'm sorry.", "stop", "I can't help with that.", 1, 1), "refused_answer", False),
        (Answer("## Goal", "content_filter", None, 1, 1), "refused_answer", False),
        (Answer("the same again and " * 400, "length", None, 1, 1), "repeated_answer", True),
        (Answer("## Goal\n- half a sent", "length", None, 1, 1), "truncated_answer", False),
        (Answer("", "stop", None, 1, 1), "empty_answer", False),
        (Answer("<think>hm, and then", "stop", None, 1, 1), "empty_answer", False),
    ],
)
def test_what_the_server_says_of_an_answer_counts(answer, reason, once):
    verdict = judge(answer, request())
    assert isinstance(verdict, Retry)
    assert (verdict.reason, verdict.once) == (reason, once)


def test_every_language_has_every_kind_of_phrase():
    phrases = load_phrases()
    languages = ("en", "zh", "es", "fr", "de", "pt", "ru", "ja", "ko", "it", "ar", "hi", "tr", "nl", "pl")
    assert set(phrases) >= set(languages)
    kinds = {"sorry", "refusal", "ack", "here", "noun", "ask", "offer", "none"}
    assert all(set(each) == kinds and all(each.values()) for each in phrases.values())


def test_what_the_built_in_summariser_writes_of_real_rows_is_a_summary():
    refused, done = {}, 0
    for row in real_rows():
        turns = row.turns[2:-2]
        if len(turns) < 4:
            continue
        asked = SummaryRequest("r", row.turns[:2], turns, 600, lambda text: len(text) // 4)
        summary = asyncio.run(ExtractiveSummarizer().summarize(asked, Usage())).text
        done += 1
        # It quotes people word for word, and the row's own marks are broken later.
        if (reason := reason_of(summary, asked)) and reason not in {"marked_answer", "echoed_answer"}:
            refused[f"{row.id}"] = (reason, summary[:300])
    assert not refused
    assert done > 50


pieces = st.sampled_from([
    "Sure! ", "Here is the summary:", "\n", "Let me know if you need more.", "I can't help with that. ", "None", "- ",
    "Human: ", "Assistant: ", "```", "json", '{"summary": "', '"}', "<summary>", "</summary>", "## Goal", "a.py 40 ",
    "<think>", "</think>", "[CONTEXT SUMMARY]: ", "<|im_end|>", "<tool_call>", "</tool_call>", "以下是摘要：", "--- ",
])  # fmt: skip


@settings(max_examples=300)
@given(text=st.lists(pieces, max_size=14).map("".join) | st.text())
def test_what_was_accepted_once_is_accepted_again_as_it_is(text):
    verdict = judge_text(text, request())
    if isinstance(verdict, str):
        assert judge_text(verdict, request()) == verdict
        assert verdict.count(SUMMARY_PREFIX) == 1


SIZE = 200_000
HOSTILE = [
    "I'm sorry, but ", "sorry ", "Sure! ", "Sure!\n", "Here is the ", "ok, ", "None\n", "- None\n",
    "Human: a\n", "```", "\n\nHuman:", "f(", "f(a)\n", "{", '{"a":', "[", "[[[[", "<tool_call>",
    "<function=a>", "</function>", "<summary>", "</summary>", "<analysis>", "```python\n", "# ", "**",
    "(", '"', ".", "...", ". ", "! ", "\u2026", "。", "\ufffd", "\u202e", "\U000e0041", "A", "a b", " ",
    "\n", "\t", "=====TURNS-", "=====TURNS-0123456789abcdef=====\n", "\\", "Let me know. ", "ä½ ", "é",
    "한", "以下", "ich kann nicht ", "no puedo ", "ik kan niet ", "bu ", "以下は", "bitte ", "的", "ا", "न",
    "Action: a\n", "Thought: ", "import a\n", "a = ", "a.b.c ", "1,", "<html>", "502 ", "nginx/1 ",
    "://", "---\n", "[/INST]", "<|im_end|>", "<|im_start|>", "<think>", "[THINK]", "Assistant: ",
    "Sure! Here is the summary: ",
]  # fmt: skip


@functools.cache
def hostile_request() -> SummaryRequest:
    return SummaryRequest("r", (), request("a" * SIZE, "I'm sorry " * 9000, *READ).region, 10**6, len)


@pytest.mark.cpu_seconds(30)  # quadratic time would take hours
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_answers_are_judged_in_linear_time(piece):
    for text in (piece * (SIZE // len(piece)), f"- one {piece * (SIZE // len(piece))} end"):
        judge_text(text, hostile_request())
