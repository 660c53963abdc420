"""Calls in the frames of a few protocols are actions, and what only looks like one is none."""

from __future__ import annotations

import json

import pytest
from trajectories import openai

from trajcompress.transcript.text_protocols.actions import find_actions

LISTED = '"thoughts🤔" I look.\n"actions🚀" [{"API_name": "sam", "API_params": {"boxes": [[0, 1]]}}]\n"value👉" Wait.'


@pytest.mark.parametrize(
    ("text", "name", "given"),
    [
        (
            '<think>It is there.</think>\n<answer>do(action="Tap", element=[480, 86])</answer>',
            "do",
            ("action", "Tap"),
        ),
        (LISTED, "sam", ("boxes", [[0, 1]])),
        (
            f" ─ Executing parsed code: {'─' * 60} \n  x = 1   \n  f(x)   \n {'─' * 80} ",
            "python",
            ("code", "x = 1\nf(x)"),
        ),
        ('Birch it is. !collectBlocks("birch_log", 3)', "collectBlocks", None),
        ("Let me see. !inventory", "inventory", None),
        ('{"thought": "a", "action": {"tool": "get", "args": {"id": 7}}}', "get", ("id", 7)),
        ('# Element: the \'My Orders\' link\ndo(action="Click", element="12")', "do", ("element", "12")),
        ('I go.<|action_start|><|plugin|>\n{"name": "find", "arguments": {"n": 1}}<|action_end|>', "find", ("n", 1)),
        ("INFO     [Agent]   🦾 [ACTION 1/2] input_text: index: 5, text: tides: Brest", "input_text", ("index", "5")),
        ("INFO     [Agent]   🦾 [ACTION 2/2] go_back:", "go_back", None),
        (
            'INFO     [agent] 🛠️  Action 1/1: {"go_to_url": {"url": "https://a.test"}}',
            "go_to_url",
            ("url", "https://a.test"),
        ),
        ('✿FUNCTION✿: tide\n✿ARGS✿: {"port": "Brest"}\n✿RESULT✿:', "tide", ("port", "Brest")),
        ("[Tide Table(port='Brest'), berth.check(length_m=9.6)]", "Tide Table", ("port", "Brest")),
        ('I list.\n[{"type": "function", "function": {"name": "ls", "arguments": "{\\"a\\": 1}"}}]', "ls", ("a", 1)),
        ("<reason>I look.</reason>\n<text_search>Lindesnes</text_search>", "text_search", None),
        ("There is no risk in a card. Action: 1", "", None),
        ("I look for it.\nsearch[a novel of 1968]", "search", None),
        ("I run both.\nexecute[echo $(hostname) | awk '{print $1}']", "execute", None),
        ('[THOUGHT] Now.\n[ACTION] {"action": "Math.Sqrt", "action_variables": {"input": "4"}}', "Math.Sqrt", None),
        ("Thought: I list.\nCommand: ls -la<END>", "", ("command", "ls -la")),
        ("Thought: I list.\nCode:\n```py\nprint(ls())\n```<end_action>", "py", ("code", "print(ls())")),
        ("The only exit is east. command: go east", "", None),
        ('{"tool_call": {"name": "get", "arguments": {"id": 7}}}', "get", ("id", 7)),
        (
            '{"thought": "a", "action": {"name": "kubectl", "command": "kubectl get po"}}',
            "kubectl",
            ("command", "kubectl get po"),
        ),
        ('{"thought": "I tap.", "action_type": "click", "index": 4}', "click", ("index", 4)),
        (
            "{'action_type': 'OPEN_APP', 'name': 'Camera', 'reasoning': 'Now.'}",
            "OPEN_APP",
            ("name", "Camera"),
        ),
        ("I ask. <|begin_of_query|> who sold it<|end_of_query|>", "query", None),
        ("Yes.Follow up: Who is the champion?", "Follow up", None),
        (
            '{"analysis": "none", "completed": "False", "instruction": "Load it."}',
            "instruct",
            ("instruction", "Load it."),
        ),
    ],
)
def test_it_is_read_as_a_call(text, name, given):
    called = find_actions(text).calls[0]
    assert called.name == name
    if given:
        assert json.loads(called.arguments)[given[0]] == given[1]


@pytest.mark.parametrize(
    "text",
    [
        "<answer>Paris</answer>",
        "<answer>f(x) = 2</answer>",
        '"actions🚀" []\n"value👉" Two ships.',
        "How nice!",
        '{"name": "Camera"}',
        "It is done.\nFollow up: I shall write again.\n\nKind regards",
        "Oh wow!now that is good",
        '{"colour": {"tool": 3}}',
        "It returns a list of names, so its type is\nlist[str]",
        "Thought: none.\nCommand: <END>",
        "As was shown before\nby others [3]",
    ],
)
def test_what_only_looks_like_one_is_none(text):
    assert find_actions(text) is None


def test_an_answer_beside_thoughts_hands_over():
    acts = [("assistant", json.dumps({"thought": "I look.", "action": {"name": "get", "id": n}})) for n in range(3)]
    told = [("user", f'Result of running "get":\nmap[id:{n} stdout:ready]') for n in range(3)]
    turns = [turn for pair in zip(acts, told, strict=True) for turn in pair]
    answer = json.dumps({"thought": "All are ready.", "answer": "They are."})
    row = openai(("user", "Are they ready?"), *turns, ("assistant", answer), ("user", "ok, delete the first then"))
    assert [index for index, turn in enumerate(row.turns) if turn.answers] == [2, 4, 6]


@pytest.mark.parametrize("depth", [50, 900, 9_000])
def test_what_is_nested_deep_is_read_no_deeper(depth):
    text = '{"call": ' * depth + '{"name": "x", "arguments": {}}' + "}" * depth
    assert find_actions(text) is None


def test_two_results_in_a_row_are_both_observations():
    asks = "I do both.\n```save CHANGELOG.md\n- done\n```"
    turns = [("assistant", asks), ("user", "<system>\nSaved to `CHANGELOG.md`\n</system>")] * 3
    row = openai(
        ("user", "Note it."), *turns, ("user", "<system>\nAppended to `a.md`\n</system>"), ("user", "yes go on")
    )
    assert [index for index, turn in enumerate(row.turns) if turn.answers] == [2, 4, 6, 7]


def test_replies_in_some_lines_under_one_label_are_no_persons():
    room = "Critic evaluation: Score=0.{n}0, because it is good.\nGame response:\n>{said}\nReward: 0.{n}0\nRoom: hall"
    moves = {
        "open mailbox": "Opening the mailbox reveals: A leaflet.",
        "take leaflet": "Taken.",
        "read leaflet": "Welcome to the leaflet, I am glad that you are here.",
        "go north": "You are north of the mailbox.",
        "open window": "With great effort, you open the window.",
    }
    turns = [
        turn
        for n, (move, said) in enumerate(moves.items())
        for turn in (("assistant", move), ("user", room.format(n=n, said=said)))
    ]
    row = openai(("user", "Starting episode...\nYou are in a field."), *turns)
    assert [index for index, turn in enumerate(row.turns) if turn.answers] == [2, 4, 6, 8, 10]
