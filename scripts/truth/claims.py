"""Whether what an output row says is so: results of actions, actions that ran, requests of people, files changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from truth import rows
from truth.edits import Edit, changed, edits
from truth.results import BROKEN, COUNTED, all_of, differs, plain
from truth.sections import Bullet, Changed, Output
from truth.who import Action, Story
from truth.words import FILLER, NOTED, Bag, pieces, quoted, words

RESULT, RAN, GOAL, REQUEST, SAID, CHANGED, CLEARED = KINDS = (
    *("result", "ran", "goal", "request", "said", "changed", "cleared"),
)
ARROW = " → "
ASKING = re.compile(
    r"^(?:latest |current |first |user |open )?(?:goals?|tasks?|requests?|constraints?|asked|preferences?)\b"
)
OPEN = re.compile(r"^(?:not answered(?: yet)?|unanswered|open request|still asked):\s*(.+)", re.DOTALL)
LEADING = re.compile(
    r"^(?:then|also|latest|first|now|in force|done|open|\(\w+\)|\d+[.)]):?\s+(?=\S)|^(?:then|latest|first):\s*"
)
BY = re.compile(r'([^:"\n]{1,60}): (".*)', re.DOTALL)
LAST = re.compile(r"^(?:the )?(?:last|latest|final|failed) (?:action|command|call|step)?[^:→]{0,20}:\s*")
GROUP = re.compile(r"; (?=(?:[^;→]|\\;)* → )")
CLEAR_MARK = re.compile(r"(?i)omitted|elided|truncated|removed|cleared|cut|shortened|…")
CUT = re.compile(
    r"\[… (?:as in the (?:first turns|call), )?[\d,]+ (?:encoded |NUL )?characters elided[^\]]*\]"
    r"|\[… (?:the same (?:line|words) [\d,]+ times more"
    r"|[\d,]+ more such lines(?: of [^\n,]{1,80})?, with other (?:numbers|files)(?: \([^\n)]{1,200}\))?, elided) …\]"
)
NULS = re.compile(r"\[… ([\d,]+) NUL characters elided …\]")
SAME = re.compile(r"(?i)same (?:result|output|text|as)")


@dataclass(frozen=True)
class Finding:
    """A claim, whether it is so, and why not."""

    kind: str
    ok: bool
    text: str
    why: str = ""


class Judge:
    """A row as it was, asked about what is said of it."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.actions = [(action, Bag(all_of(action)), Bag(plain(action.result or ""))) for action in story.actions]

    @cached_property
    def edits(self) -> list[Edit]:
        """Changes of files."""
        return edits(self.story)

    def told(self, output: Output) -> list[Edit]:
        """Those that a summary may tell of: in turns that it stands for."""
        return [edit for edit in self.edits if edit.action.turn not in output.kept]

    @cached_property
    def names(self) -> set[str]:
        """Who speaks by a name in user turns."""
        messages = (turn.message for turn in self.story.turns if rows.role(turn.message) in {"user", "human"})
        return {message["name"] for message in messages if isinstance(message.get("name"), str)}

    def kind(self, *kinds: str) -> list[Bag]:
        """The turns of these kinds."""
        return [Bag(turn.text) for turn in self.story.turns if turn.kind in kinds]

    def judge(self, output: Output) -> Iterator[Finding]:
        """All claims of the output."""
        for bullet in output.bullets:
            yield from self._bullet(Bullet(bullet.section, plain(bullet.text)), output)
        for turn in output.changed:
            yield from self._changed(turn)

    def _bullet(self, bullet: Bullet, output: Output) -> Iterator[Finding]:
        acts = bullet.section.startswith(("action", "command", "calls", "steps", "done"))
        if ASKING.match(bullet.section):
            kind = GOAL if bullet.section.startswith(("goal", "task")) else REQUEST
            yield self._request(kind, bullet.text, constraint=bullet.section.startswith("constraint"))
        elif asked := OPEN.match(bullet.text):
            yield self._request(REQUEST, asked[1], constraint=False)
        elif bullet.section in {"replies", "notes"}:
            yield self._said(bullet.text)
        elif bullet.section.startswith("file"):
            yield from self._files(bullet, self.told(output))
        elif ARROW in bullet.text or (bullet.text.endswith(" →")):
            if acts or not self._quotes(bullet.text):
                for left, right in _split(LAST.sub("", bullet.text)):
                    yield from self._pair(left, right) if right is not None else self._ran(left)
        elif bullet.section.startswith("result") and ": " in bullet.text:
            yield from self._labelled(bullet.text)
        elif acts and words(bullet.text) and not bullet.text.startswith("…"):
            yield from self._ran(bullet.text)

    def _quotes(self, text: str) -> bool:
        """Whether the arrow is of what is quoted."""
        around = " ".join(re.findall(r"\S{0,12} → \S{0,12}", text)[:1]).strip()
        return around in " ".join(turn.text for turn in self.story.turns)

    def _pair(self, left: str, right: str) -> Iterator[Finding]:
        ran, candidates = self._find(left)
        said = f"{left}{ARROW}{right}"
        yield Finding(RAN, ran, said, "" if ran else "no action has these words")
        if not candidates:
            return
        tried = [differs(right, action, bag) for action, _, bag in candidates]
        if any(why == "" for why in tried):
            yield Finding(RESULT, True, said)
            return
        others = [
            action.turn for action, _, bag in self.actions if words(right) and differs(right, action, bag) == ""
        ]
        elsewhere = f"it is the result of turn {others[0]}" if others else tried[0]
        yield Finding(RESULT, False, said, f"of turn {candidates[0][0].turn}: {elsewhere}")

    def _labelled(self, text: str) -> Iterator[Finding]:
        """``LEFT: RIGHT`` among results, where LEFT is an action's and RIGHT is some result's."""
        left, _, right = text.partition(": ")
        value = NOTED.sub(" … ", right)
        if len(words(left)) < 2 or len(words(value)) < 3:  # noqa: PLR2004
            return
        said = [action.turn for action, _, bag in self.actions if quoted(value, bag)]
        _, candidates = self._find(left)
        candidates = [entry for entry in candidates if entry[0].result is not None]
        if said and candidates:
            ok = any(action.turn in said for action, _, _ in candidates)
            yield Finding(RESULT, ok, text, "" if ok else f"of turn {candidates[0][0].turn}: it is of turn {said[0]}")

    def _find(self, left: str) -> tuple[bool, list[tuple[Action, Bag, Bag]]]:
        """Whether an action has the words, and those actions that may be meant."""
        asked = [word for piece in pieces(NOTED.sub(" ", left)) for word in piece if word not in FILLER]
        if not asked:
            return True, []
        missing = [(sum(word not in entry[1].single for word in asked), entry) for entry in self.actions]
        least = min((count for count, _ in missing), default=0)
        fits = [entry for count, entry in missing if count == least] if least <= len(asked) // 10 else []
        exact = [entry for entry in fits if set(asked) == entry[1].single - FILLER]
        if left.endswith("…"):  # where it was cut the action says more
            exact = [entry for entry in fits if entry not in exact]
        return bool(fits), exact or fits

    def _ran(self, text: str) -> Iterator[Finding]:
        """A bullet of actions without a result: one, or several of a kind put together."""
        ran, _ = self._find(text)
        if not ran:
            asked = {word for piece in pieces(NOTED.sub(" ", text)) for word in piece if word not in FILLER}
            name = words(text)[:1]
            of_kind = [bag for _, bag, _ in self.actions if name and name[0] in bag.single]
            ran = len(asked - {word for bag in of_kind for word in bag.single}) <= len(asked) // 10 and bool(of_kind)
        yield Finding(RAN, ran, text, "" if ran else "no action has these words")

    def _request(self, kind: str, text: str, *, constraint: bool) -> Finding:
        said = text
        while (shorter := LEADING.sub("", said.strip())) != said.strip():
            said = shorter
        said = NOTED.sub(" … ", said).strip(" \"'«»“”")
        if not words(said):
            return Finding(kind, True, text)
        people = self.kind("request", *(["system"] if constraint else []))
        if (by := BY.match(text)) and by[1] in self.names:
            said = NOTED.sub(" … ", by[2]).strip(' "')
            people = [Bag(turn.text) for turn in self.story.turns if turn.message.get("name") == by[1]]
        if any(quoted(said, bag) for bag in people) or quoted(said, Bag("\n".join(bag.text for bag in people))):
            return Finding(kind, True, text)
        others = [turn.kind for turn in self.story.turns if quoted(said, Bag(turn.text))]
        return Finding(kind, False, text, f"words of: {others[0]}" if others else "nobody said it so")

    def _said(self, text: str) -> Finding:
        """A quote of what the agent said, or another agent by its name."""
        by = BY.match(text)
        said = NOTED.sub(" … ", by[2] if by else text).strip(" \"'«»“”")
        if not words(said) or any(
            quoted(said, Bag(turn.text)) for turn in self.story.turns if turn.kind != "request"
        ):
            return Finding(SAID, True, text)
        is_person = any(quoted(said, bag) for bag in self.kind("request"))
        return Finding(SAID, False, text, "words of: request" if is_person else "nobody said it so")

    def _files(self, bullet: Bullet, told: list[Edit]) -> Iterator[Finding]:
        all_changed = "changed" in bullet.section or "edited" in bullet.section
        for part in re.split(r"\n|(?<=\));?,? ", bullet.text):
            marked = re.search(r"\(([^)]*)\)", part)
            if not all_changed and not (
                marked and re.search(r"\b(?:changed|edited|created|written|deleted)\b", marked[1])
            ):
                continue
            for path in re.split(r"[,;] |, (?=/)", re.sub(r"\(.*", "", part).strip()):
                if not words(path):
                    continue
                was, failed = changed(re.split(r":\s|\s", path)[0], told)
                why = "no action changed it" if not was else "every change of it failed" if failed else ""
                yield Finding(CHANGED, was and not failed, f"{path} {marked[0] if marked else ''}".strip(), why)

    def _changed(self, turn: Changed) -> Iterator[Finding]:
        """A kept turn that was cleared or cut: what it says now is from it, and of its own action."""
        was = self.story.turns[turn.turn]
        if was.kind != "observation":
            return
        bag = Bag(plain(was.text))
        actions = [entry for entry in self.actions if entry[0].result_turn == turn.turn]
        line = plain(turn.text).strip()
        own = [part for part in line.splitlines() if part.strip() not in plain(was.text)]
        if len(own) == 1 and own[0].startswith("[") and own[0].rstrip().endswith("]"):
            line = own[0]  # what its protocol puts around it stays
        untrue = next((number for number in NULS.findall(line) if not _has_nuls(was.text, number)), None)
        if untrue is not None:
            why = f"it has no {untrue} NUL characters side by side"
        elif len(line.splitlines()) > 4 or ("[" not in line[:1] and ARROW not in line and len(line) > 600):  # noqa: PLR2004
            new = [part for part in line.splitlines() if words(part) and part.strip() not in plain(was.text)]
            new = [part for part in new if not quoted(part, bag) and not CLEAR_MARK.search(part)]
            why = f"it did not say {new[0]!r}" if new else ""
        elif SAME.search(line):
            is_later = "later" in line
            others = self.story.turns[turn.turn + 1 :] if is_later else self.story.turns[: turn.turn]
            alike = any(Bag(plain(other.text)).words == bag.words for other in others)
            why = "" if alike else f"no {'later' if is_later else 'earlier'} result is the same"
        elif ARROW in line and actions:
            left, _, right = line.strip("[]").partition(ARROW)
            asked = words(NOTED.sub(" ", left))
            missing = [w for w in asked if w not in actions[0][1].single | bag.single | FILLER]
            why = f"its action has no {missing[0]!r}" if len(missing) > len(asked) // 10 + 2 else ""
            why = why or differs(re.sub(r"[;,] with .*|</?\w+>", "", right), actions[0][0], bag)
        else:
            known = bag.single | FILLER | {word for entry in actions for word in entry[1].single}
            asked = [w for piece in pieces(NOTED.sub(" ", COUNTED.sub(" ", CUT.sub(" ", line)))) for w in piece]
            known |= {"ok", "result", "output", "cleared"} | (
                {"failed", "error", "exit"} if BROKEN.search(was.text) else set()
            )
            missing = [word for word in asked if word not in known]
            why = f"neither it nor its action says {missing[0]!r}" if len(missing) > len(asked) // 10 else ""
        yield Finding(CLEARED, not why, f"[{turn.turn}] {line[:300]}", why)


def _has_nuls(text: str, number: str) -> bool:
    """Whether so many NUL characters stand side by side, as they are or escaped."""
    times = int(number.replace(",", ""))
    return any(nul * times in text for nul in ("\0", r"\x00", r"\u0000"))


def _split(text: str) -> list[tuple[str, str | None]]:
    """Actions of a bullet with their results; ``NAME: a → 1; b → 2`` is two of the same name."""
    left, _, right = text.partition(ARROW)
    if ": " in left and (ARROW in right or ("; " in left and not re.search(r"[«\"'`{(]", left))):
        name, _, rest = text.partition(": ")
        found: list[tuple[str, str | None]] = []
        for part in GROUP.split(rest):
            one, arrow, result = part.partition(ARROW)
            found += [(f"{name} {item}", None) for item in one.split("; ")[:-1]]
            found.append((f"{name} {one.split('; ')[-1]}", result if arrow else None))
        return found
    parts = GROUP.split(text)
    made = [part.partition(ARROW) for part in parts if ARROW in part]
    return [(one, result) for one, _, result in made] if len(made) == len(parts) > 1 else [(left, right)]
