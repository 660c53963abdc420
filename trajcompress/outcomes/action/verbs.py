"""What a tool does, by the verb in its name: whether it changes something, runs, reads, or does neither. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from trajcompress.outcomes.action.shell import Kind
from trajcompress.processes.late_patterns import late_re

_WORD = late_re(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # also of camelCase
_NAME_CHARS = 200  # a longer one is no name
_LEAST_BEFORE, _LEAST_BEHIND = 4, 5  # letters of a verb that a longer word begins or ends with


def _of(kind: Kind, words: str) -> dict[str, Kind]:
    return dict.fromkeys(words.split(), kind)


_VERBS: Mapping[str, Kind] = {
    **_of(
        "change",
        "edit write create replace insert patch apply update delete remove add cancel submit send rename save append"
        " transfer modify fix commit refund pay grant revoke exchange purchase buy sell reserve schedule reschedule"
        " assign register unregister enable disable activate deactivate approve reject invite upload deploy install"
        " uninstall resume suspend enroll subscribe unsubscribe charge deposit withdraw redeem renew merge"
        " publish archive upgrade downgrade confirm unblock unlock adjust terminate",
    ),
    **_of(
        "read",
        "view read open get search find grep cat show fetch visit browse extract look lookup query retrieve describe",
    ),
    **_of("run", "check verify validate calculate compute"),
    **_of("idle", "think thinking scroll wait sleep hypothesis"),
}
_VERBS_OR_NOUNS: Mapping[str, Kind] = {
    **_of("change", "book post move return issue set make put place mark share block lock reset close swap log"),
    **_of("idle", "list"),
}
_NOUNS: Mapping[str, Kind] = _of("idle", "route plan planning status")
_REPLACES = {"search", "replace"}
_PLANS = frozenset({"plan", "plans", "todo", "todos"})
_OF_PLANS = _PLANS | {"create", "update", "write", "set", "enter", "exit", "mode", "list", "tasks"}


@lru_cache(maxsize=4_096)
def kind_of_tool(name: str) -> Kind:
    """Return what a tool does; one that no verb tells of is taken to run something.

    A word that is a verb and nothing else decides before one that may be a noun, and the first of several does.

    >>> [kind_of_tool(name) for name in ("cancel_subscription_plan", "getOrderStatus", "facebook_search", "python")]
    ['change', 'read', 'read', 'run']
    >>> kind_of_tool("search_replace")
    'change'
    """
    words = [word.lower() for word in _WORD.findall(name[:_NAME_CHARS])]
    if _PLANS.intersection(words) and _OF_PLANS.issuperset(words):  # the agent's own
        return "idle"
    if {*words} >= _REPLACES:  # by what it searches for
        return "change"
    for table in (_VERBS, _VERBS_OR_NOUNS, _NOUNS):
        if (verb := next(filter(table.__contains__, words), None)) is not None:
            return table[verb]
    return next((_VERBS[verb] for word in words for verb in _VERBS if _is_in(verb, word)), "run")


def _is_in(verb: str, word: str) -> bool:
    """Whether a word is a verb run together with others."""
    return (len(verb) >= _LEAST_BEFORE and word.startswith(verb)) or (
        len(verb) >= _LEAST_BEHIND and word.endswith(verb)
    )
