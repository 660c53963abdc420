"""Whether a text says what came of an action: figures, words of the result, whether it worked."""

from __future__ import annotations

import json
import re

from truth.who import Action
from truth.words import NOTED, Bag, quoted, words

COUNTED = re.compile(
    r"(?i)\b(?P<n>\d[\d,]*) (?:more |other )?(?P<of>lines?|characters|chars|bytes|tokens|words|matches"
    r"|results|items|rows|entries|hits|files|keys|records|turns|pages|paragraphs)(?: in all| total| in total)?\b"
)
TIMES = re.compile(r"\b(\d+) × (?!\d)([^;\]]{2,40})")
LABEL = re.compile(
    r"(?i)(?:\b(?:the )?(?:last|first|ends?|begins?|end|error|failed|exit|output|result|then|of them|ok)"
    r"(?: line)?:\s)"
)
GOOD = re.compile(r"(?i)^(?:ok|done|success|succeeded|passed|no output|empty|nothing|no result|\W*)$")
BAD = re.compile(r"(?i)^(?:failed|error|an error|timed? ?out|refused)$")
EXIT = re.compile(r"(?i)\b(?:exit(?:ed)?(?: code| status)?|rc|return ?code|status)(?: with)?\s*[:=]?\s*(-?\d+)\b")
EXITED = re.compile(r"(?i)(?:exit\w*|return\w*|status|code)\W{0,3}(?:code|status|with|:|\s|=|>)*\W*(-?\d+)")
DONE = re.compile(r"(?i)has been edited|created successfully|replaced|updated")
FAILING = re.compile(r"(?i)(?:error|failed)\b(?::|$)")
BROKEN = re.compile(
    r"Traceback \(most recent|^\s*(?:\w+\.)*\w*(?:Error|Exception)\b:|<returncode>[1-9]|exitcode: [1-9]"
    r"|(?i:no such file|no replacement|not found|invalid|cannot|could not|failed|fatal|error)",
    re.MULTILINE,
)
FAILED = re.compile(
    r"Traceback \(most recent|^\s*(?:\w+\.)*\w*(?:Error|Exception)\b:|^\W*(?:error|fatal|failed)\b"
    r"|No such file or dir|command not found|No replacement was performed|<returncode>[1-9]|exitcode: [1-9]"
    r"|\b[1-9]\d* failed\b|^E   +\w",
    re.MULTILINE,
)
AGAIN = re.compile(r"^fails as before(?:: |$)")
FOUND = re.compile(r"(?:[^\s:]+:)?\d+:")  # a match of grep, not what it complains of, nor a line around one
WRAPPER = 12  # lines that an environment writes around a result
ROOMY = 4  # words; fewer must stand together


def differs(right: str, action: Action, bag: Bag) -> str:
    """Why the text is not what came of the action; nothing where it is."""
    if action.result is None:
        waits = not words(right) or re.match(r"(?i)no (?:result|answer)|pending|not answered|unknown", right)
        return "" if waits else "it had no result"
    result = plain(action.result)
    right, again = AGAIN.subn("", right)
    if again and not (BROKEN.search(result) or "fail" in result):
        return "it did not fail"
    return _miscounted(right, result, action, bag) or _says_other(right, result, bag)


def _says_other(right: str, result: str, bag: Bag) -> str:
    """Why the text is not what the result says, but for its counts."""
    rest = LABEL.sub(" … ", NOTED.sub(" ", COUNTED.sub(" … ", TIMES.sub(" … ", right)))).strip(" ,;:()[]")
    if not words(rest):
        return ""
    bare = rest.strip(" …")
    if GOOD.match(bare):
        return f"it failed: {' '.join(result.split())[:80]}" if _failed(result) else ""
    if (BAD.match(bare) or FAILING.match(right)) and not BROKEN.search(f"{result[:600]}\n{result[-400:]}"):
        return "it did not fail"
    return "" if BAD.match(bare) or quoted(rest, bag) else _unsaid(rest, result, bag)


def _miscounted(right: str, result: str, action: Action, bag: Bag) -> str:
    """Which count of the text is not that of the result."""
    for counted in COUNTED.finditer(right):
        if not (_as_many(counted, action.result or "") or bag.run(words(counted[0])[:2])):
            return f"it had {len(result.splitlines())} lines, {result.count('), (') + 1} tuples"
    for times in TIMES.finditer(right):
        if result.count(times[2].strip()) < int(times[1]):
            return f"it has {times[2]} {result.count(times[2].strip())} times"
    return ""


def _failed(result: str) -> bool:
    """Whether it says that it failed; a file that is shown after an edit may hold such words."""
    return bool(FAILED.search(result[:300] + result[-200:])) and not DONE.search(result[:200])


def _unsaid(rest: str, result: str, bag: Bag) -> str:
    """What of the text the result does not say."""
    if exit_code := EXIT.search(rest):
        told = EXITED.search(result)
        if told and told[1] != exit_code[1]:
            return f"it exited with {told[1]}"
        rest = EXIT.sub(" … ", rest)
    for part in re.split(r"[;…|]|, |=[\[(]+", rest):
        said = words(part)
        if not said or quoted(part, bag) or GOOD.match(part.strip()):
            continue
        if len(said) <= ROOMY or bag.holds(said) < 0.9:  # noqa: PLR2004
            return f"it does not say {part.strip()!r}"
    return ""


def _as_many(counted: re.Match[str], result: str) -> bool:
    """Whether so many: of lines, blank ones, a wrapper's, and those that are escaped may be counted or not."""
    claimed = int(counted["n"].replace(",", ""))
    kind = counted["of"].rstrip("s")
    if kind in {"character", "char", "byte", "token", "word"}:
        return True  # tokenizers and encodings differ
    most = len(plain(result).splitlines())
    outer = min(
        sum(bool(line.strip()) for line in text.splitlines())
        for text in (plain(result.replace("\\\\n", " ")), result if "\n" in result else plain(result))
    )
    shown = [int(found) for found in re.findall(r"\((\d+) (?:more )?lines", result)]
    if kind != "line":
        shown += [
            result.count(mark) + bool(result.strip(" []\n")) for mark in ("), (", "}, {", "', '", "],[", "], [")
        ]
        shown += _listed(result)
        shown.append(sum(bool(FOUND.match(line)) for line in plain(result).splitlines()))
    return 0.97 * outer - WRAPPER <= claimed <= most + 2 or claimed in shown


def _listed(result: str) -> list[int]:
    """How many there are in each list of a result that is JSON."""
    try:
        waiting = [json.loads(result)]
    except ValueError:
        return []
    found = []
    while waiting:
        value = waiting.pop()
        found += [len(value)] if isinstance(value, (list, dict)) else []
        waiting += value if isinstance(value, list) else value.values() if isinstance(value, dict) else []
    return found


def all_of(action: Action) -> str:
    """An action with the file it was done to, where the environment keeps one open."""
    shown = re.findall(r"\(Open file: (.+?)\)|^\[File: (.+?) \(\d+", action.result or "", re.MULTILINE)
    return plain("\n".join([action.text, action.open_file, *(name for pair in shown for name in pair)]))


def plain(text: str) -> str:
    """Text that may be escaped once more, without that."""
    return text.replace("\\r", "").replace("\\n", "\n").replace("\\t", " ").replace('\\"', '"')
