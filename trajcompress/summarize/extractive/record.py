"""The record of a region: what people asked for, what ran and what came of it, which files changed, what is needed.

Each line is a quote, or is read off one call and its own result: nothing in it is guessed.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from trajcompress.facts import facts_in, told_where
from trajcompress.facts.next_turns import NOTHING_LATER, LaterReader
from trajcompress.facts.parts import Wanted, told_of
from trajcompress.facts.quoted import is_block
from trajcompress.facts.reading import mentions, readable
from trajcompress.facts.taken import PLAIN, STRONG
from trajcompress.outcomes.action.actions import Action, is_taken_back, undoes_edit
from trajcompress.outcomes.action.change import CHANGE_CHARS
from trajcompress.outcomes.action.shell import plain_path
from trajcompress.outcomes.aider import is_undone, undone_in
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.outcome import Outcome, Reading
from trajcompress.outcomes.printed.chained import runs_programs
from trajcompress.outcomes.printed.screen import is_screen
from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.reports.edits import done_to
from trajcompress.outcomes.steps import LABEL_CHARS, Step, steps_of, without_folders
from trajcompress.outcomes.text import NO_OUTPUT
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive.fit import CHANGED, RECENT, Line, Record, Section
from trajcompress.summarize.extractive.previous import carry_over
from trajcompress.summarize.extractive.replies import last_note, replies_of
from trajcompress.summarize.extractive.requests import requests_of
from trajcompress.summarize.extractive.scores import LAST, Told, scores
from trajcompress.summarize.extractive.step_forms import (
    LITTLE_MORE_CHARS,
    SHORT_SAID_CHARS,
    forms_of,
    in_brief,
    in_file,
    is_echo,
    label_of_step,
)
from trajcompress.transcript.observations import is_request
from trajcompress.transcript.sent_again import first_turns
from trajcompress.transcript.speakers import people_of
from trajcompress.transcript.text_protocols.feedback import is_feedback
from trajcompress.transcript.trajectory import Turn

Of = TypeVar("Of")

_PAGE_CHARS = 100
_LONG_FOLDER = 20  # characters; where there is little room a file is told without it
_THOUGHT = NO_OUTPUT, "Your thought has been logged."  # what comes of a tool to think with; that of OpenHands says so
_NEEDED_CHARS, _MOST_IN_SHORT = 40, 3  # for each of so many of what is needed
_STEP_CHARS = 300
_CHANGE_LABEL_CHARS = CHANGE_CHARS + 20  # with its marks
_MOST_STEP_CHARS = 1_400  # where kept turns take so much from a result, or quote it
_MOST_STEPS = 4_000  # read of a region
_GIVEN_SCORE = 2.0  # of all that is given to what changes records


def write(request: SummaryRequest) -> Record:
    """Read the region of a request, and what an earlier summary told, into the lines of a record."""
    region = request.region
    steps = steps_of(region, request.head)[-_MOST_STEPS:]
    if any(turn.in_text for turn in region):
        steps = _what_is_new(steps, request.head)
    asked_at = [index for index, turn in enumerate(region) if is_request(turn)]
    told = _told(steps, LaterReader(region), request.facts, request.taken(), asked_at)
    _tell_undone(told, undone_in(turn.text for turn in region))
    ran = [each for each in told if (each.step.action or _came_of_something(each)) and not _only_thinks(each)]
    people = people_of(request.head, region)
    asked = requests_of(region, request.head, people)
    lines = [
        *asked,
        *replies_of(region, told, people),
        *last_note(region),
        *_step_lines(ran, len(region)),
        *_changed(told),
    ]
    if request.previous:
        lines = carry_over(request.previous, lines)
    if request.focus:
        _prefer(lines, request.focus)
    record = Record(tuple(lines), special_tokens=request.special_tokens)
    previous = [request.previous] if request.previous else []
    return replace(record, needed=told_where(request.facts, region, previous), steps=_answering(lines))


def _answering(lines: Sequence[Line]) -> dict[int, int]:
    """Return for each turn that is the result of one step the place of its line."""
    answered = Counter(line.answered for line in lines)
    return {
        line.answered: place
        for place, line in enumerate(lines)
        if line.answered is not None and answered[line.answered] == 1 and " → " in line.forms[-1]
    }


def _what_is_new(steps: Sequence[Step], head: Sequence[Turn]) -> list[Step]:
    """Leave of results that tell the task again what neither that nor the turn before told."""
    first, results = first_turns(head), [head[-1].text if head else "", *(step.result or "" for step in steps)]
    new = [step.result and first.new_in(step.result, before) for step, before in zip(steps, results, strict=False)]
    return [replace(step, result=result) for step, result in zip(steps, new, strict=True)]


def _told(
    steps: Sequence[Step],
    later: LaterReader,
    facts: Sequence[str],
    taken: Mapping[int, Wanted],
    asked_at: Sequence[int],
) -> list[Told]:
    """Read each step; the same call made again right after with the same outcome is one, if nobody asked between."""
    found: list[Told] = []
    repeated = Repeated((_ran(step), step.result) for step in steps if step.result)
    # Which are named anyway.
    made = [step.action for step in steps if step.action and not step.action.said_each]
    changed = {path for action in made for path in (*action.changes, *action.saved)}
    facts = [fact for fact in facts if fact not in changed]
    teller = _last_tellers(steps, facts)
    results = Counter(step.answered for step in steps)  # of each turn
    opened: str | None = None  # the file that an editor shows
    for place, step in enumerate(steps):
        action = step.action
        reading: Reading | None = None
        outcome: Outcome | None = None
        needed: tuple[str, ...] = ()
        used: Wanted = {}
        if step.result is not None:
            needed = tuple(fact for fact in facts if teller.get(fact) == place)
            ahead = later.after(step.turn + 1) if len(step.result) > _STEP_CHARS else NOTHING_LATER
            used = {} if step.answered is None else taken.get(step.answered, {})
            used = _of_it(used, step.result) if results[step.answered] > 1 else used
            most = _MOST_STEP_CHARS if used else _STEP_CHARS
            reading = Reading(step.result, Asked(action, needed, repeated=repeated, later=ahead, taken=used))
            outcome = reading.told(_STEP_CHARS, most, used)
        label = label_of_step(step, LABEL_CHARS, _CHANGE_LABEL_CHARS)
        told = Told(step, label, outcome, len(needed) + _uses(used))
        if outcome and reading:
            if is_screen(reading.text):
                told.pages = _of_page(reading)
            else:
                told.in_short = _in_short(reading, outcome) or _end_in_short(reading, outcome)
            if blocks := _blocks(used):
                told.quoted, told.quotes = _quoted(reading, blocks), sum(blocks.values())
        told.files = () if told.is_refused else _changed_files(action, outcome, reading, opened)
        if told.files and action and action.edits_open_file:
            told.label += in_file(told)
        opened = (outcome.file if outcome else None) or opened
        is_again = bool(found) and told.label == found[-1].label != "" and found[-1].outcome == outcome
        if is_again and bisect(asked_at, found[-1].step.turn) == bisect(asked_at, step.turn):
            found[-1].times += 1
            found[-1].step = step
        else:
            found.append(told)
    return found


def _in_short(reading: Reading, outcome: Outcome) -> str:
    """Say in short what is needed of a result, and what the next turns take up of data, where its first words do not.

    An edit was made, that is all.
    """
    action, needed = reading.asked.action, reading.asked.needed
    brief = in_brief(outcome, action)
    is_told = len(facts_in(needed, brief)) == len(needed)
    if (action and action.change) or (is_told and (brief == outcome.said or outcome.failed or not reading.is_data)):
        return ""
    most = SHORT_SAID_CHARS + _NEEDED_CHARS * min(len(needed), _MOST_IN_SHORT)
    short = without_folders(reading.told(SHORT_SAID_CHARS, most, {}).said, action)
    later = reading.asked.later
    if is_told and action and is_echo(brief, action):
        return short
    return "" if is_told and told_of(later, short) <= told_of(later, brief) else short


def _end_in_short(reading: Reading, outcome: Outcome) -> str:
    """Say in short how what ran ended, beside how it began; what failed says why, tests how many."""
    asked, is_short = reading.asked, len(outcome.said) <= SHORT_SAID_CHARS + LITTLE_MORE_CHARS
    if is_short or asked.needed or not runs_programs(asked.action):
        return ""
    if outcome.failed or outcome.tests or reading.is_data:
        return ""
    return without_folders(reading.told(SHORT_SAID_CHARS, 0, {}).said, asked.action)


def _of_page(reading: Reading) -> tuple[str, ...]:
    """Say of a page in a browser what was done and where that led, with what it shows and without."""
    more = _NEEDED_CHARS * len(reading.asked.needed)
    return tuple(reading.told(room, room + more, {}).said for room in (_PAGE_CHARS, SHORT_SAID_CHARS))


def _blocks(used: Wanted) -> Wanted:
    return {block: weight for block, weight in used.items() if is_block(block) and "\r\n" not in block}


def _quoted(reading: Reading, blocks: Wanted) -> str:
    """Say of a result what kept turns quote, as an edit quotes what it replaces, and little else."""
    told = reading.told(SHORT_SAID_CHARS, _MOST_STEP_CHARS, blocks)
    return without_folders(told.said, reading.asked.action)


def _of_it(used: Wanted, result: str) -> Wanted:
    """Return what kept turns take from one of several results of a turn."""
    shown = readable(result) if used else ""
    return {word: weight for word, weight in used.items() if mentions(shown, word)}


def _uses(used: Wanted) -> float:
    """Return how much kept turns take from a step, in facts."""
    return sum(weight for weight in used.values() if weight > PLAIN) / (2 * STRONG)


def _ran(step: Step) -> tuple[str, str]:
    return (step.action.name, step.action.target) if step.action else (step.name, "")


def _last_tellers(steps: Sequence[Step], facts: Sequence[str]) -> dict[str, int]:
    """Return which step tells each fact last: there it is told, and only there."""
    found: dict[str, int] = {}
    for fact in facts:
        for place in reversed(range(len(steps))):
            result = steps[place].result
            if result and fact in result and facts_in((fact,), result):
                found[fact] = place
                break
    return found


def _changed_files(
    action: Action | None, outcome: Outcome | None, reading: Reading | None, opened: str | None
) -> tuple[str, ...]:
    """Return the files that a step changed, none where that is not certain."""
    if action is None or outcome is None or reading is None:
        return ()
    if outcome.failed:
        return action.saved
    if action.edits_open_file and not action.changes:
        shown = outcome.file or opened
        return (shown,) if shown else ()
    unsaid = {path for path, said in action.said_when_done if said not in reading.printed}
    made = [path for path in action.changes if not action.said_each or done_to(path, reading.text)]
    made = [path for path in made if path not in unsaid]
    within = f"{action.where}/" if action.where else ""
    named = [path if path.startswith(("/", "~")) else f"{within}{path}" for path in (*action.saved, *made)]
    return tuple(map(partial(_as_shown, outcome.file or ""), named))


def _as_shown(shown: str, path: str) -> str:
    """Return a file as the editor names it which shows it: where else it would be two."""
    return shown if shown.endswith(f"/{path.removeprefix('./')}") else path


def _came_of_something(each: Told) -> bool:
    """Whether a result is of what no call tells: the agent did that, so it is no reply; what only nags is neither."""
    return each.step.action is None and each.outcome is not None and not is_feedback(each.step.result or "")


def _tell_undone(told: Iterable[Told], undone: Collection[str]) -> None:
    """Say of edits that a person has undone that they were, and that they changed no file."""
    for each in told if undone else ():
        if each.outcome and is_undone(each.step.result or "", undone):
            each.outcome = replace(each.outcome, said=f"undone: {each.outcome.said}")
            each.files, each.in_short = (), ""


def _only_thinks(each: Told) -> bool:
    """Whether it is a call by which an agent thinks or waits, of which nothing comes."""
    action, outcome = each.step.action, each.outcome
    return action is not None and action.kind == "idle" and outcome is not None and outcome.said in _THOUGHT


def _step_lines(told: Sequence[Told], turns: int) -> list[Line]:
    """Write what ran and what came of it."""
    lines = []
    for place, (each, scored) in enumerate(zip(told, scores(told, turns), strict=True)):
        score, worth, first = scored
        order = each.step.turn + place / 1e6
        worth += _GIVEN_SCORE * bool(each.step.action and each.step.action.given)
        forms, answered = forms_of(each), each.step.answered
        lines.append(Line(Section.STEPS, order, score, forms, each.times, each.left, worth, first, answered))
    return lines


def _changed(told: Sequence[Told]) -> list[Line]:
    """Name the files that were changed, and how often; the steps say how. What may be taken back is not certain."""
    times: dict[str, int] = {}
    last: dict[str, Told] = {}
    for each in told:
        if action := each.step.action:
            times = {file: number for file, number in times.items() if not is_taken_back(file, action)}
            if each.outcome and not each.outcome.failed and action.moves:
                times, last = _renamed(times, action), _renamed(last, action)
        undone = action is not None and undoes_edit(action)
        more = 0 if each.removes else -each.times if undone else each.times
        for file in each.files:
            times[file] = max(times.get(file, 0) + more, 0)
            last[file] = last.get(file, each) if undone else each
    changes = {file: number for file, number in times.items() if number or last[file].removes}
    lines: list[Line] = []
    for file, number in changes.items():
        score = CHANGED + RECENT * len(lines) / len(changes)
        step = last[file].step
        how = f" ({number} times)" if number > 1 else ""
        how = " (removed)" if last[file].removes else how
        folder, _, name = file.rpartition("/")
        short = f"…/{name}" if len(folder) >= _LONG_FOLDER else file
        forms = tuple(dict.fromkeys((f"{file}{how}", f"{short}{how}")))
        lines.append(Line(Section.CHANGED, step.turn + len(lines) / 1e6, score, forms))
    return lines


def _renamed(files: Mapping[str, Of], action: Action) -> dict[str, Of]:
    """Return what is known of files by the names that they have once a command has moved them."""
    new = dict(action.moves)
    return {new.get(plain_path(file), file): known for file, known in files.items()}


def _prefer(lines: list[Line], focus: str) -> None:
    """Raise the score of lines that name a part of a topic."""
    terms = set(re.findall(r"\w{3,}", focus.lower())) or {focus.strip().lower()}
    for line in lines:
        text = line.forms[0].lower() if line.forms else ""
        if share := sum(term in text for term in terms) / len(terms):
            line.score += LAST + LAST * share
