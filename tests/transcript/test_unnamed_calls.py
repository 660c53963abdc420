"""Calls of home-made protocols, known by their form and by what answers them; no chat is read as one for that."""

from __future__ import annotations

import pytest
from observing import observed

_ROUTES = [
    ("Oslo", "2 trains, the first at 07:10"),
    ("Bergen", "no train before 9"),
    ("Narvik", "a bus at 12:40"),
    ("Bodo", "2 trains"),
]
_FORMS = {
    "slash": ('/find_routes {{"to": "{0}"}}', "> /find_routes\n{1}"),
    "name and colon": ('I look for {0}.\nfind_routes: {{"to": "{0}"}}', "find_routes returned:\n{1}"),
    "in a sentence": ('I will use the tool find_routes with {{"to": "{0}"}}.', "The tool find_routes returned: {1}"),
    "capitals": ('CALL find_routes WITH {{"to": "{0}"}}', "find_routes -> {1}"),
    "python behind words": ("I look for {0}.\n[find_routes(to='{0}')]", "find_routes: {1}"),
    "session of python": (">>> find_routes(to='{0}')", "{{'to': '{0}', 'found': '{1}'}}"),
    "shell's sign": ("I look for {0}.\n$ find_routes --to {0}", '{{"to": "{0}", "found": "{1}"}}'),
    "element of one word": ("I look for {0}.\n<routes>\n<to>{0}</to>\n</routes>", "[routes for '{0}']\n{1}"),
    "answers that begin alike": ('TOOL find_routes {{"to": "{0}"}}', "--- result ---\n{1}\n--- end ---"),
}


@pytest.mark.parametrize(("action", "reply"), _FORMS.values(), ids=_FORMS)
def test_what_answers_calls_of_a_home_made_form_is_no_request(action, reply):
    turns = ["How do I get from Hamar to the sea?"]
    for to, found in _ROUTES:
        turns += [action.format(to, found), reply.format(to, found)]
    turns += ["The train to Oslo at 07:10 is best.", "And back?", "On Sunday."]
    assert observed("", *turns) == [2, 4, 6, 8]


def test_a_reply_that_names_the_call_is_one_also_where_it_asks_for_something():
    turns = ["Mend the build."]
    replies = ["ok", "ok", "The fix is empty. Please give me a fix that changes a line.", "ok"]
    for number, reply in enumerate(replies):
        turns += [f'/write_fix {{"line": {number}}}', f"> /write_fix\n{reply}"]
    assert observed("", *turns) == [2, 4, 6, 8]


_CHATS = {
    "an example of data ends each turn": [
        "Write me a config for the scraper.",
        'As you like:\nconfig: {"depth": 2, "retries": 3}',
        "deeper please",
        'Then:\nconfig: {"depth": 4, "retries": 3}',
        "and no retries",
        'Then:\nconfig: {"depth": 4, "retries": 0}',
        "great, and in YAML?",
    ],
    "who runs what is shown pastes data": [
        "The gateway macht Ärger.",
        "Führ das aus:\n\n```bash\ncurl -s localhost:8000/health\n```",
        '{"ok": false, "worker": 1}',
        "Und das:\n\n```bash\ncurl -s localhost:8000/worker\n```",
        '{"worker": null}',
        "Und noch das:\n\n```bash\ncurl -s localhost:8000/queue\n```",
        '{"queue": [1, 2]}',
        "Der Worker hängt.",
    ],
    "a function that is taught is named again": [
        "What does zip do?",
        "It pairs things up:\nzip_pairs(left=[1], right=[2])",
        "zip_pairs is not known to me, is it built in?",
        "No, one writes it:\nzip_pairs(left=[], right=[])",
        "I get a NameError for zip_pairs",
        "Define it first:\nzip_pairs(left=[3], right=[4])",
        "ok zip_pairs works now, thanks!",
    ],
}


@pytest.mark.parametrize("turns", _CHATS.values(), ids=_CHATS)
def test_a_chat_that_looks_a_little_like_it_stays_one(turns):
    assert observed("", *turns) == []
