"""Who speaks at the end of an observation: what its row tells of it, before and after it was cleared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from protocol_rows import protocol_rows

from trajcompress.compaction.text import ResultLines, prune, prune_steps
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.observations import said_beside
from trajcompress.transcript.trajectory import Region, Turn

ROWS = {row.name: list(row.messages) for row in protocol_rows() if row.name.startswith(("asides/", "next-task/"))}
LONG = "\n".join(f"row {n:03d} 0.{n * 7919 % 1000:03d}" for n in range(60))


def read(messages: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    return read_trajectory({"messages": list(messages)}, "row", FormatOptions()).turns


def cleared(turns: tuple[Turn, ...], until: int) -> tuple[Turn, ...]:
    return prune(turns, prune_steps(ResultLines(turns, Region(0, until)))).turns


@pytest.mark.parametrize("name", sorted(ROWS))
@pytest.mark.parametrize("left", [0, 4])
def test_who_speaks_is_read_alike_of_a_row_that_was_cleared(name, left):
    messages = [dict(message) for message in ROWS[name]]
    for message in messages:
        head, more, rest = message["content"].partition("\n")
        if message["content"].startswith(("Observation", "Execution result", "Output:", "Code from")) and more:
            message["content"] = f"{head}\n{LONG}\n{rest}"
    turns = read(messages)
    short = cleared(turns, len(turns) - left)
    again = read([turn.raw for turn in short])
    assert [said_beside(turn) for turn in short] == [said_beside(turn) for turn in turns]
    assert [said_beside(turn) for turn in again] == [said_beside(turn) for turn in turns]


def row(
    *ends: str, request: str = "Why does the page not load? I have no access to the server."
) -> list[dict[str, str]]:
    messages = [{"role": "user", "content": request}]
    for number, end in enumerate(ends):
        messages += [
            {"role": "assistant", "content": f"Action: run[probe {number}]"},
            {"role": "user", "content": f"Observation: probe {number}\n{number} 0.31 200\n{number} 0.29 200{end}"},
        ]
    return [*messages, {"role": "assistant", "content": "Final Answer: the proxy."}]


@pytest.mark.parametrize(
    "said",
    [
        "I think it is the proxy, my colleague changed it last night.",
        "careful, don't restart anything that is not yours",
        "oh and we moved the database to db2 yesterday",
    ],
)
@pytest.mark.parametrize("apart", ["\n", "\n\n"])
def test_who_speaks_of_themselves_behind_output_is_a_person(said, apart):
    heard = [said_beside(turn) for turn in read(row("", apart + said, "")) if turn.answers]
    assert heard == ["", said, ""]


def test_what_an_error_says_under_its_label_is_nobodys():
    refused = "ERROR:\nNo replacement was performed, what I was given did not appear verbatim in a.py."
    messages = row("", "", "")
    messages[4]["content"] = f"EXECUTION RESULT of [edit]:\n{refused}"
    assert [said_beside(turn) for turn in read(messages) if turn.answers] == ["", "", ""]


def test_two_paragraphs_of_a_person_are_theirs_both():
    said = "The 200 is what the proxy says when the server is down.\n\nThat was my fault, so please look behind it."
    assert said_beside(read(row("", f"\n\n{said}"))[4]) == said


@pytest.mark.parametrize(
    "end",
    [
        "\n\nTry 'probe --help' for more information.",
        "\nYou may need to restart the server to use updated settings.",
        "\n\nDo you want to continue? [Y/n]",
        "\n\nFound a bug in the probe: report it to the maintainers of this package.",
    ],
)
def test_what_tools_advise_is_nobodys(end):
    assert [said_beside(turn) for turn in read(row("", end, "")) if turn.answers] == ["", "", ""]


def test_what_is_said_behind_each_output_is_the_harness():
    ends = [f"\n\nI still need your next action, you have used {n} of my 9 calls." for n in range(4)]
    assert not any(said_beside(turn) for turn in read(row(*ends)))


def test_what_is_said_at_length_word_for_word_again_is_the_harness():
    asked = (
        "Look back at what you did, and decide whether there is a tool that you can make for the rest of the task. "
    )
    asked += "Please do so even where I gave you one for it."
    assert not any(said_beside(turn) for turn in read(row("", "", f"\n{asked}", "", "", "", f"\n{asked}", "", "")))


@pytest.mark.parametrize(
    ("request_text", "said"),
    [
        (
            "Warum lädt die Seite nicht? Ich habe keinen Zugriff auf den Server.",
            "das ist der alte Server, nimm bitte den neuen",
        ),
        ("Почему страница не грузится? Доступа к серверу у меня нет.", "Это старый сервер, смотри новый."),
        (
            "このページはなぜ開かないのですか。サーバーには入れません。",
            "そのサーバーは古いので新しい方を見てください",
        ),
        ("¿Por qué no carga la página? No tengo acceso al servidor.", "ese es el servidor viejo, mira el nuevo"),
    ],
)
def test_who_speaks_the_tongue_of_the_task_behind_output_of_none_is_a_person(request_text, said):
    turns = read(row("", f"\n{said}", "", request=request_text))
    assert [said_beside(turn) for turn in turns if turn.answers] == ["", said, ""]


def test_a_page_in_the_tongue_of_the_task_is_nobodys():
    page = (
        "\n\nDer Server ist alt, und wir haben ihn im Mai durch einen neuen ersetzt.\n\nNimm bitte den neuen Server."
    )
    turns = read(
        row(page, page.replace("Mai", "Juni"), request="Warum lädt die Seite nicht? Ich habe den Server nicht.")
    )
    assert not any(said_beside(turn) for turn in turns)


@pytest.mark.cpu_seconds(30)  # looking through all that was said before, for each turn, would take minutes
@pytest.mark.parametrize(
    "end",
    ["Task: number {0} of all", "I think it is {0}, so look at my file again", "das ist nicht der {0}, nimm ihn"],
)
def test_a_row_of_very_many_turns_is_read_in_linear_time(end):
    messages = [{"role": "user", "content": "Task: find it\nGive me one action."}]
    for number in range(6_000):
        messages += [
            {"role": "assistant", "content": f"Action: run[{number}]"},
            {
                "role": "user",
                "content": f"Observation: {number}\nline {number}\n\n{end.format(number)} {'x y ' * 50}",
            },
            {"role": "assistant", "content": "What now?"},
            {"role": "user", "content": f"please go on with part {number} {'of the words that I wrote ' * 40}"},
        ]
    assert len(read(messages)) == len(messages)
