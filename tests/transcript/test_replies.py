"""Replies beside the actions before them: what tells that no person wrote them, or that one did."""

from __future__ import annotations

import pytest
from observing import observed

from trajcompress.transcript.text_protocols.feedback import asks_again, is_feedback
from trajcompress.transcript.text_protocols.replies import acknowledges, are_forms, is_played_by, mirrors, quotes

MODERATION = "For every comment answer with exactly:\nAction: <keep|remove>\nReason: <short>"


def test_a_form_that_all_answers_have_is_a_chats_template_though_it_has_an_action():
    row = ["first!!!", "Action: keep\nReason: harmless", "buy followers at cheap.example"]
    row += ["Action: remove\nReason: spam", "nice video, greetings from Peru", "Action: keep\nReason: friendly"]
    assert observed(MODERATION, *row) == []


def test_calls_that_a_chat_fills_in_are_answered_by_nobody():
    row = ["wake me at six", '[alarm(time="06:00")]', "will it rain in Oslo", '[weather(city="Oslo")]']
    row += ["something by Nina Simone", '[play(artist="Nina Simone")]']
    assert observed('Return the intent as [intent(slot="value")].', *row) == []


def test_replies_that_begin_alike_or_speak_of_actions_tell_that_these_are_no_forms():
    said = ["Action: go to cabinet 1", "Action: open cabinet 1"]
    assert are_forms(said, [(said[0], "nice one"), (said[1], "thanks all")])
    assert not are_forms(said, [(said[0], "You arrive at cabinet 1"), (said[1], "cabinet 1 is open")])
    assert not are_forms(said, [(each, "Screen: a list") for each in (*said, *said)])
    assert not are_forms([*said, "It is done."], [(said[0], "nice one")])
    assert are_forms(["{}", "{}"], [("{}", "a word")])


def test_who_plays_with_the_assistant_is_no_environment():
    row = ["lets play, i'm white. e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O"]
    assert observed("You are a chess player. Give your move in algebraic notation only.", *row, "Be7") == []


def test_moves_are_mirrored_by_replies_as_short_as_they_are():
    assert mirrors([("e5", "Nf3"), ("Nc6", "Bb5"), ("a6", "Ba4")])
    assert not mirrors([("PSU VOLT 3.3", "NONE"), ("DMM MEAS?", "+1.84E-02")])
    assert not mirrors([("go", "You stand in a hall with a door.")])


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ('I don\'t know the verb "trade".', '{"verb": "trade"}'),
        ("attempt to call a nil value (global 'status'), did you mean 'nearby'?", "print(status(14))"),
        ("«Arranz» no es un teléfono. ¿Quiso decir 600 112 348?", "enviar_sms(Arranz)"),
    ],
)
def test_who_could_not_do_it_quotes_it(reply, action):
    assert quotes(reply, action)


@pytest.mark.parametrize(
    "reply",
    [
        'please use "nearby" instead of "status"',
        'why "trade"?\nI said to wait',
        'I call it "home", what is it?',
        "don't 'status' it",
    ],
)
def test_who_asks_for_something_may_quote_as_well(reply):
    assert not quotes(reply, "print(status(14)) trade")


SKILLS = "Write one call per turn: find(x), grasp(x), say(text)."


def test_a_reply_that_quotes_an_action_is_an_observation_though_it_says_i():
    row = [
        "Bring me a bowl.",
        "find(bowl)",
        "1 bowl at shelf/2",
        "grasp(mug)",
        'I know of no "mug", my list is short',
    ]
    assert observed(SKILLS, *row, "find(cup)", "2 cups at shelf/1") == [2, 4, 6]


def test_a_thought_is_acknowledged():
    prompt = "Interact with a household. Use think: to think, else one action per turn."
    row = ["You are in a room. Put a mug on the desk.", "think: I look for a mug.", "OK.", "go to shelf 1"]
    row += ["On the shelf 1, you see a mug 1.", "take mug 1 from shelf 1", "You pick up the mug 1 from the shelf 1."]
    assert observed(prompt, *row) == [2, 4, 6]
    assert not acknowledges("OK, but use the other desk.", "think: I look for a mug.")
    assert not acknowledges("OK.", "Shall I go on?")


@pytest.mark.parametrize(
    "text",
    [
        "I only understood you as far as wanting to go south.",
        'I don\'t know the word "wide".',
        "You can't see how to do that from here. Would you please be more specific?",
        "I beg your pardon?",
    ],
)
def test_parsers_of_games_speak_as_i(text):
    assert is_feedback(text)


def test_people_do_not_understand_either():
    assert not is_feedback("I don't understand why you opened that file.")
    assert not is_feedback("I did not mean the first one.")


REVIEW = """Thank you for your work on this issue. Please follow the steps below to review your changes.
1. Run the reproduction script again.
2. Run the submit command again to confirm."""


def test_what_has_to_be_gone_through_before_a_second_submission_is_an_observation():
    row = ["Repair a.py.", "<function=bash>\n<parameter=command>ls</parameter>\n</function>", "OBSERVATION:\na.py"]
    submit = "<function=submit>\n</function>"
    assert observed("", *row, submit, REVIEW, submit) == [2, 4]
    assert observed("", *row, submit, "Thank you! Please repair b.py, too.", submit) == [2]
    assert not asks_again(REVIEW, "bash")


def test_a_whole_trace_that_is_shown_to_somebody_is_answered_by_them():
    trace = "Thought: I search.\nAction: Search[Oslo]\nObservation: a city\nThought: Done.\nAction: Finish[a city]"
    assert observed("", "Show me a trace of ReAct.", trace, "Now one where the search fails", trace) == []


def test_who_asks_about_a_failure_shows_what_is_printed_then():
    row = ["my page says\nTypeError: x is not a function", "```js\ny()\n```", "ReferenceError: y is not defined"]
    row += [
        "```js\nz()\n```",
        "ReferenceError: z is not defined",
        "```js\n// done\n```",
        "Document checked: 0 errors",
    ]
    assert observed("", *row, "It works.") == []


def test_what_is_all_in_quotes_is_said_by_somebody_who_is_played():
    system = "You are a doctor. ASK <question> is answered by the simulated patient, EXAM <organ> by the simulator."
    row = ["Case 31.", "EXAM abdomen", "Abdomen tender on the right", "ASK Where does it hurt?"]
    row += ['"Around my belly button. Is it bad?"', "EXAM heart", "Heart regular, no murmur", "Appendicitis."]
    assert observed(system, *row) == [2, 4, 6]
    assert not is_played_by('"Pain" is what I said, "not bad"')


def test_one_whom_an_environment_plays_has_a_label():
    system = "You are a doctor. Commands: ASK <question>, EXAM <organ>. The simulator plays the patient."
    row = ["Case 17.", "ASK When did it start?", "Patient: Two hours ago, I was at the gym.", "EXAM heart"]
    row += ["A scratching sound at the heart", "ASK Is it worse in bed?", "Patient: Yes. Is it my heart?"]
    row += ["EXAM lung", "The lung is clear"]
    assert observed(system, *row, "Thank you.") == [2, 4, 6, 8]
    asked = [text.replace("Patient:", "User:") for text in row]
    assert observed(system, *asked, "Thank you.") == [4, 8]


@pytest.mark.cpu_seconds(15)  # to count the labels for each of them took minutes
def test_of_answers_that_are_judged_under_many_labels_the_time_is_linear():
    row = ["What is asked?", "Action: search[x]", "Observation: a page"]
    for number in range(15_000):
        row += [f"Action: finish[{number}]", f"Judge{number} says: hello there"]
    assert observed("A judge looks at it. Action: finish[answer]", *row) == [2]


def test_an_answer_that_is_told_again_was_taken():
    row = ["Where was he born?", "Action: search[him]", "Observation: in Oulu", "Action: finish[Oulu]", "Oulu"]
    assert observed("", *row) == [2, 4]
    row = ["Book it.", "Action: find[seat]", "Observation: 14A", "Action: ask[14A, shall I book it (yes/no)?]", "yes"]
    assert observed("", *row, "Action: book[14A]") == [2]


def test_edits_inside_a_tag_are_judged():
    prompt = "Draft, then edit: <solution>SEARCH/REPLACE blocks</solution>"
    edit = "<solution>\n```python\n### a.py\n<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n```\n</solution>"
    refused = "The edits could not be applied. SEARCH block 1 was not found in the file."
    assert observed(prompt, "Repair it.", edit, refused, edit, "All 7 tests passed.") == [2, 4]


def test_a_game_in_chinese_tells_what_you_did():
    prompt = "文字冒险。你输入指令，程序描述结果。"
    row = [
        prompt,
        "拿 卡片",
        "你拿起了卡片。上面写着“B3”。",
        "开门",
        "门锁着。旁边有一个读卡器。",
        "刷 卡片",
        "绿灯亮了，门打开。",
    ]
    assert observed("", *row, "西", "你走出了实验室。游戏结束。") == [2, 4, 6, 8]
    assert observed("", *row, "西", "你应该先看地图。") == [2, 4, 6]


def test_who_laughs_plays_the_environment():
    row = ["i am the dungeon. each turn tell me your one action as ACTION: xyz", "ACTION: open the door"]
    row += ["The lock bursts, a guard wakes.", "ACTION: hide", "The guard walks past.", "ACTION: throw the rat"]
    assert observed("", *row, "lol ok that works. He screams", "ACTION: take the torch") == []
    assert observed("", *row, "He screams and runs", "ACTION: take the torch") == [2, 4, 6]


def test_the_token_of_an_observation_is_its_wrapper():
    row = [
        "帮我查询股票10111的价格",
        "track\n```python\ntool_call(symbol='10111')\n```",
        '<|observation|>\n{"price": 12412}',
    ]
    assert observed("", *row, "当前股票价格为12412。") == [2]


def test_questions_are_asked_of_whoever_answers_as_the_prompt_foretells():
    prompt = "你是一个游戏玩家，主持人会给出一个故事，主持人只会回答“是”、“不是”或者“没有关系”。"
    row = [prompt, "他的身体有什么特别的地方吗？", "是", "他走楼梯是为了锻炼身体吗？", "不是", "七楼住着他的朋友吗？"]
    row += ["没有关系", "他带着雨伞吗？", "是的，你已经猜到了关键点。请继续提问。", "他个子矮吗？", "是"]
    assert observed("", *row, "他个子很矮。") == [2, 4, 6, 10]


def test_an_environment_that_runs_what_is_said_in_words_answers_all_of_it():
    row = ["Get the flag of the service.", "nc host.example 4158"]
    row += ['nc: getaddrinfo for host "host.example" port 4158: Name or service not known\n']
    row += ["It seems like the host is not reachable.", "/bin/bash: line 1: It: command not found\n"]
    row += [
        "I'm sorry, but I can't go on.",
        "/bin/bash: line 1: Im sorry, but I cant: command not found\n",
        "I stop.",
    ]
    assert observed("", *row) == [2, 4, 6]


def test_a_game_that_reads_commands_answers_whatever_is_said():
    row = ["A cellar with stone walls.\n\nExits: up", "I'm the narrator of this adventure.", "Unknown command: I'm"]
    row += ["[I should wait for what is typed.]", "Unknown command: [I", "UP", "Unknown command: UP"]
    assert observed("", *row, "You climb up.") == [2, 4, 6]
    row = ["my game says unknown command", "Type `go up` in it.", "Unknown command: go", "Then try `up` alone."]
    assert observed("", *row, "Unknown command: up", "Which game is it?") == []


def test_a_command_that_a_person_does_not_have_was_run_by_that_person():
    row = ["how do i install it", "Try `pip install flask`.", "bash: pip: command not found", "Use pip3 then."]
    assert observed("", *row, "bash: pip3: command not found", "Is Python there?") == []


def test_a_result_that_names_a_call_of_the_turn_before_is_an_observation():
    row = ["Find where it breaks.", 'I search with `search_class("Field")` to see how it is made.']
    row += [
        'Result of search_class("Field"):\nFound 2 classes with name Field.',
        "It is in forms.py.",
        "No, in models.",
    ]
    assert observed("", *row, "Then in models.") == [2]
    row[2] = "Result of search_class I got:\nnothing"
    assert observed("", *row, "Then in models.") == []


def test_who_answers_thoughts_with_ok_answers_acts_as_well():
    row = [
        "You are in a room with a shelf 1. Your task is to: find a mug.",
        "think: I look at the shelf first.",
        "OK.",
    ]
    row += ["go to shelf 1", "On the shelf 1, you see a mug 1.", "take mug 1 from shelf 1", "You pick up the mug 1."]
    assert observed("", *row, "think: I have it.") == [2, 4, 6]


def test_verdicts_on_code_alone_turn_after_turn_are_a_harness_s():
    code = ["def f(n):\n    return n", "def f(n):\n    return n + 1", "import math  def f(n): return 0"]
    verdicts = ["Test case did not pass. Please try again."] * 2 + [
        "Error executing action: invalid syntax (<unknown>)"
    ]
    row = ["Write a function that adds one."] + [each for pair in zip(code, verdicts, strict=True) for each in pair]
    assert observed("", *row, "def f(n): return n + 1") == [2, 4, 6]
    row[4] = "It does that, but I want it for lists."
    assert observed("", *row, "def f(n): return n + 1") == []


def test_folders_that_a_command_lists_are_output():
    row = ["Print all folders under /system that hold such files."]
    for tail in ("sort -u", "uniq", "sort -u | cat", "awk '{print}'"):
        row += [f'find /system -type f -name "*.out" -exec dirname {{}} \\; | {tail}', "/system\n/system/folder1\n"]
    assert observed("", *row, "submit") == [2, 4, 6, 8]
