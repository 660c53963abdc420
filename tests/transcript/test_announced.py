"""Actions that the prompt of a row defines itself: found where it has them, and never in a chat's template."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.text_protocols.announced import Announced, names_call
from trajcompress.transcript.text_protocols.prompts import has_it_played, sets_up

PROMPT = """You look after the nightly build. Write RUN <command> to execute something, [[search: words]] to look
a file up, |read N for mail, `make_move e2e4` for chess, 実行：for the server, and <do name="..."> for tickets.
Answer with "Verdict: good" when asked. The answer may begin with ## Summary."""


def read(system, *turns):
    messages = [{"role": "system", "content": system}] if system else []
    for number, text in enumerate(turns):
        messages.append({"role": "assistant" if number % 2 else "user", "content": text})
    return read_trajectory({"messages": messages}, "row", FormatOptions()).turns


def observed(system, *turns):
    return [turn.text for turn in read(system, *turns) if turn.answers]


@pytest.mark.parametrize(
    ("turn", "name"),
    [
        ("RUN tail -20 /builds/log.txt", "RUN"),
        ("The log says why.\nRUN tail -20 /builds/log.txt", "RUN"),
        ("[[search: fence boundary]]", "search"),
        ("|read 3", "read"),
        ("make_move e7e5", "make_move"),
        ("実行：df -h /", "実行"),
        ('<do name="unlock" id="rlind"/>', "do"),
    ],
)
def test_an_action_is_found_where_the_prompt_has_it(turn, name):
    marked = Announced(PROMPT).action(turn)
    assert marked is not None
    assert marked.name == name
    assert turn[marked.start :].startswith(turn.splitlines()[-1][:3])


@pytest.mark.parametrize(
    "turn",
    [
        "## Summary\nIt is green.",
        "Verdict: good",
        "It runs again.",
        "STOP here",
        "",
        "```\nRUN x\n```",
    ],
)
def test_what_a_prompt_asks_answers_to_look_like_is_no_action(turn):
    assert Announced(PROMPT).action(turn) is None


FARM = "You keep a build farm. Write RUN <command> to execute it there. REPORT <text> ends the work."


def test_what_answers_such_lines_are_observations_and_a_person_stays_one():
    turns = (
        "nightly 4411 is red, please look",
        "RUN tail -3 /builds/4411.log",
        "cc1: all warnings being treated as errors",
        "RUN git log -1",
        "9c1e0d2 Petra remove unused prototypes",
        "REPORT Petra's commit removed a prototype that is used.",
        "please put it back, on a branch",
        "RUN git switch -c fix",
        "(no output)",
    )
    assert observed(FARM, *turns) == [turns[2], turns[4], turns[8]]


def test_a_chat_whose_prompt_gives_a_template_has_none():
    system = "You assign codes. Format:\nCode: <code>\nText: <official text>"
    items = ("broken left wrist", "BP 168/102, known hypertension", "glucose 9.8 mmol/l, HbA1c 7.4 %")
    answers = ("Code: S62\nText: Fracture of wrist", "Code: I10\nText: Hypertension", "Code: E11\nText: Diabetes")
    turns = [each for pair in zip(items, answers, strict=True) for each in pair]
    assert not observed(system, *turns)


def test_forms_that_are_filled_in_are_none_though_the_assistant_also_speaks():
    system = 'You read invoices. Answer in JSON: {"number": "...", "total": 0}'
    invoices = ("INV-4411  total 12.00 EUR", "INV-4412\nTOTAL ..... 99.10", "INV-4413 | 3 x 4.00 | 12.00")
    answers = ('{"number": "INV-4411", "total": 12}', '{"number": "INV-4412"}', '{"number": "INV-4413", "total": 12}')
    pairs = [each for pair in zip(invoices, answers, strict=True) for each in pair]
    assert not observed(system, "Hello!", "Hello, send me the invoices.", *pairs)


def test_tags_that_a_prompt_wants_filled_in_are_none():
    turns = [
        "rain jacket, L",
        "<brand>Nord</brand><size>L</size>",
        "[item 4471] socks 39-42",
        "<brand></brand><size>39-42</size>",
    ]
    assert not observed(
        "Fill in: <brand></brand><size></size>", *turns, "<li>hat</li>", "<brand></brand><size></size>"
    )


@pytest.mark.parametrize(
    "prompt",
    [
        "I want you to act as a linux terminal. I will type commands and you reply with what it shows.",
        "Pretend to be a SQL console of a small shop.",
        "You are a text adventure game. Describe what happens.",
        "I will type commands. Only answer with their output.",
    ],
)
def test_who_has_the_assistant_play_an_environment_is_a_person(prompt):
    assert has_it_played(prompt)
    turns = (prompt, "```\n/home\n```", "ls -la", "```\ntotal 0\n```", "cat notes.txt", "```\nmilk\n```")
    assert not observed("", *turns)


@pytest.mark.parametrize(
    "prompt",
    [
        "You are a database engineer with access to psql.",
        "Play the text adventure. Answer with one command.",
        "You will act as an agent that operates a Linux terminal for me.",
        "You are a Bash Shell Code Generator helping me answer a question.",
        "你是一名玩家，系统会返回结果。",
    ],
)
def test_an_agent_of_an_environment_plays_none(prompt):
    assert not has_it_played(prompt)


def test_prompts_tell_of_what_answers():
    assert sets_up("Write a cell as ```python …```; the user message that follows holds its output.")
    assert sets_up("One command a line. The mailbox answers in the next message.")
    assert not sets_up("You are a friendly teacher of Spanish.")


@pytest.mark.parametrize(
    "prompt",
    [
        "Das Lagersystem antwortet mit dem Bestand.",
        "La grúa responde con su posición.",
        "每次输入一条命令，模拟器会返回结果。",
        "The plate reader replies with what it measured.",
        "To run a debugger command, answer with <gdb>command</gdb>.",
        "Your messages go to a milling machine.",
        "Each line you write is sent to the device.",
        "What the instrument returns, or NONE, comes next.",
    ],
)
def test_prompts_tell_of_what_answers_in_any_words(prompt):
    assert sets_up(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "The user replies with a sentence; correct it.",
        "You are a support bot. The new customer responds angrily.",
        "I'll send you product names, you return a table.",
        "Make these tests pass, I paste what pytest says.",
    ],
)
def test_people_who_answer_are_no_environment(prompt):
    assert not sets_up(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "Du bist ein Linux-Terminal. Ich tippe Befehle.",
        "我们来玩文字冒险。你是主持人。",
        "Eres una consola de Python.",
        "あなたはゲームマスターです。",
    ],
)
def test_an_environment_is_played_in_other_languages(prompt):
    assert has_it_played(prompt)


def test_a_reply_that_begins_with_the_call_it_answers_names_it():
    assert names_call("Result of search_code('x'):\nFound 6", "search_code")
    assert names_call("SEARCH RESULT 1/3: bread", "SEARCH")
    assert not names_call("I can look it up for you", "look")


def test_fenced_code_of_a_language_that_the_prompt_names_is_an_action():
    system = "Jesteś agentem bazy danych. Zapytania pisz w bloku ```psql. Wynik dostaniesz w następnej wiadomości."
    query = "Sprawdzam tabelę.\n```psql\nSELECT nr FROM przesylki;\n```"
    turns = (
        "ile przesyłek?",
        query,
        " nr\n----\n 12\n(1 wiersz)",
        query,
        "BŁĄD: brak tabeli",
        "Jest jedna przesyłka.",
    )
    read_as = read(system, *turns, "dziękuję!")
    assert [bool(turn.answers) for turn in read_as] == [False, False, False, True, False, True, False, False]


def test_labels_that_a_chat_answers_with_are_no_actions():
    turns = ("Lovely sound.", "LABEL[positive]", "Awful cable.", "LABEL[negative]", "It broke.", "LABEL[negative]")
    assert not observed("Answer with LABEL[positive] or LABEL[negative].", *turns)


def test_actions_as_json_under_their_names():
    call = '{"memory": "empty", "action": [{"go_to_url": {"url": "https://a.example"}}, {"click": {"index": 3}}]}'
    turns = read(
        "Answer in JSON.", "cheapest train", call, "Action result: Navigated", call, "Action result: Clicked"
    )
    assert [call.name for call in turns[2].calls] == ["go_to_url", "click"]
    assert sum(bool(turn.answers) for turn in turns) == 2


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_read(prompt, text):
    marked = Announced(prompt).action(text)
    assert marked is None or 0 <= marked.start <= len(text)


def test_lines_of_several_names_act_where_replies_take_them_up_and_the_last_is_none():
    system = "Responde con una línea: LEER clave, ESCRIBIR clave valor, LISTAR prefijo, LISTO."
    row = ["Pon el modo mantenimiento.", "LISTAR modo", "modo.actual modo.anterior", "LEER modo.actual", "normal"]
    row += ["ESCRIBIR modo.actual mantenimiento", "bien", "LISTO antes estaba en normal"]
    assert observed(system, *row) == [row[2], row[4], row[6]]
    calendar = "Write ADD, MOVE or CANCEL lines for the app, which shows them."
    row = ["dentist tuesday 9", "ADD Tue 09:00 dentist", "actually 10", "MOVE Tue 10:00 dentist", "lunch with Mo"]
    assert not observed(calendar, *row, "ADD Wed 12:30 lunch with Mo", "cancel dentist", "CANCEL Tue 10:00 dentist")


def test_a_command_is_shown_in_quotes_with_a_place_for_what_it_is_given():
    system = 'To look at a box write "open box N", to read a document "read N-M".'
    row = ["When was the mill sold?", "open box 12", "Box 12: 1 ledger, 3 deed", "read 12-3", "deed 12-3: 9 Nov"]
    assert observed(system, *row, "In November.") == [row[2], row[4]]
    pasted = 'On branch login\nYou have unmerged paths.\n  (fix conflicts and run "git commit")'
    row = ["Keep main's version, then:\n\ngit commit", "[login 2c9d1fa] Merge", "git push", " ! [rejected] login"]
    assert not observed("", pasted, *row, "Somebody pushed meanwhile.")
