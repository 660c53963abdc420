"""Steps: what ran and what came of it, one line for each call with its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field
from msgspec.structs import replace

from trajcompress.formats.rewrite import result_texts
from trajcompress.outcomes.action.actions import SCAN_CHARS, SHELLS, TARGET_CHARS, Action, describe, together
from trajcompress.outcomes.action.again import Before
from trajcompress.outcomes.action.apart import NOTHING_APART, Apart, arguments_apart
from trajcompress.outcomes.action.folders import folders_apart
from trajcompress.outcomes.action.labels import cut_label
from trajcompress.outcomes.action.scripts import saved_as
from trajcompress.outcomes.action.usual import NOTHING_USUAL, Usual, usual_arguments
from trajcompress.outcomes.commands_apart import parts_in
from trajcompress.outcomes.compact import parse
from trajcompress.outcomes.echo import is_only_typed
from trajcompress.outcomes.jobs import job_asked_for, started_job
from trajcompress.outcomes.outcome import Outcome
from trajcompress.outcomes.text import LEAST_CHARS, harmless, one_line, shorten
from trajcompress.outcomes.unwrap import unwrap
from trajcompress.processes.late_patterns import late_re
from trajcompress.redact import redact
from trajcompress.transcript.observations import said_beside, without_aside
from trajcompress.transcript.text_protocols.actions import find_actions
from trajcompress.transcript.text_protocols.answered_apart import results_apart
from trajcompress.transcript.text_protocols.feedback import SUBMITTED, judged
from trajcompress.transcript.tool_groups import Place, match_results
from trajcompress.transcript.trajectory import ToolCall, Turn

LABEL_CHARS = 90
_HALF_TAG = late_re(r"\s*</?\w{0,40}…$")
_LIST_MARKS = "-*>+ \n"
_MOST_RESULTS = 1_000  # in one turn
_MOST_TOGETHER = 20  # calls that are described as one


class Step(Struct, frozen=True):
    """A call, and the text of its result: None where none came. ``turn`` is that of the call, or the result's own.

    ``answered`` is the turn of the result.
    """

    turn: int
    action: Action | None
    name: str
    result: str | None
    answered: int | None = None


def steps_of(turns: Sequence[Turn], head: Sequence[Turn] = ()) -> list[Step]:
    """Return what ran in turns, in order, each with its result; what was sent in the ``head`` before is not new."""
    before = Before()
    if any(turn.calls for turn in head):
        _steps_of(head, before)
    return _steps_of(turns, before)


class _Results(Struct, frozen=True):
    """The results of some turns: by the call that each answers, the turn in which it stands, and those of no call."""

    of_calls: dict[Place, str] = field(default_factory=dict)
    answered: dict[Place, int] = field(default_factory=dict)
    unasked: list[Step] = field(default_factory=list)


def _steps_of(turns: Sequence[Turn], before: Before) -> list[Step]:
    found = _results_of(turns)
    results, answered = found.of_calls, found.answered
    calls = calls_of(turns)
    ran: dict[Place, Step] = {}
    jobs: dict[str, Place] = {}  # that go on: the last call that told of each
    at_once = typed_at_once(turns, results, calls)
    for index, turn in enumerate(turns):
        if index in at_once:
            place = next((index, each) for each in range(len(turn.calls)) if results.get((index, each), "").strip())
            ran[place] = Step(index, at_once[index], "", results[place], answered.get(place))
            continue
        for number in range(_actions_in(turn) or (index, 0) in results):
            action = action_of(turn, number, calls)
            if turn.calls:
                action = before.since(action, turn.calls[number])
            place = index, number
            result = results.get(place)
            before.shown(action, result)
            job = job_asked_for(turn.calls[number].arguments, jobs) if jobs and turn.calls and result else ""
            if job:  # what came of the command is told once, by the last that tells of it
                action = ran.pop(jobs[job]).action or action
            ran[place] = Step(index, action, "", result, answered.get(place))
            if result and (job := job or started_job(result)):
                jobs[job] = place
    steps = [part for step in ran.values() for part in _one_by_one(step)]
    return sorted([*steps, *found.unasked], key=lambda step: step.turn) if found.unasked else steps


def _results_of(turns: Sequence[Turn]) -> _Results:
    found = _Results()
    texts: dict[int, Sequence[str | None]] = {}
    for match in match_results(turns):
        index, number = match.result
        if index not in texts:
            texts[index] = _results_in(turns[index])
        told = texts[index]
        # One text may answer several calls; of several texts none goes to a call that it may not answer.
        text = told[0] if len(told) == 1 else told[number] if number < len(told) else None
        if text is None:
            continue
        if match.call is not None and (turns[match.call[0]].calls or match.by == "name"):
            found.answered[match.call] = index
            before = found.of_calls.get(match.call)
            found.of_calls[match.call] = text if before is None else f"{before}\n{text}"
        else:
            found.unasked.append(Step(index, None, turns[index].name or "", text, index))
    _judge(turns, found.of_calls, found.answered)
    return found


def typed_at_once(turns: Sequence[Turn], results: Mapping[Place, str], calls: Calls) -> dict[int, Action]:
    """Return, of each turn whose calls one screen answers, all that was typed there.

    Harnesses that type a batch of commands give what the terminal shows then to one call, and nothing to the others.

    Args:
        turns: those with calls.
        results: the text that answers each call.
        calls: what is known of the calls.
    """
    found: dict[int, Action] = {}
    for index, turn in enumerate(turns):
        if turn.in_text or len(turn.calls) not in range(2, _MOST_TOGETHER):
            continue
        texts = [results.get((index, number), "") for number in range(len(turn.calls))]
        screens = [text for text in texts if text.strip()]
        if len(screens) != 1:
            continue
        actions = [action_of(turn, number, calls) for number in range(len(turn.calls))]
        typed = "\n".join(action.typed.strip("\n") for action in actions)
        action = replace(together(actions, len(actions)), typed=typed)
        shows = parts_in(screens[0], action) or is_only_typed(unwrap(screens[0]), typed)
        if shows and all(action.typed for action in actions):
            found[index] = action
    return found


def _one_by_one(step: Step) -> Sequence[Step]:
    """Return a step as one for each command, where several were typed at once and a screen tells them apart."""
    parts = parts_in(step.result or "", step.action)
    return [Step(step.turn, part.action, "", part.output, step.answered) for part in parts] or (step,)


def _judge(turns: Sequence[Turn], results: dict[Place, str], answered: dict[Place, int]) -> None:
    """Let what a turn says of an answer right behind it be what came of handing that in, but for an echo of it."""
    handed_in = {
        answered.get((at, number), at): (at, number, call)
        for at, turn in enumerate(turns)
        if not turn.in_text
        for number, call in enumerate(turn.calls)
        if call.name.lower() in SUBMITTED
    }
    for before, (at, number, call) in handed_in.items():
        after = turns[before + 1] if before + 1 < len(turns) else None
        if after is None or after.role != "user" or after.answers or not (verdict := judged(after.text)):
            continue
        said = results.get((at, number), "").strip()
        results[at, number] = verdict if said in call.arguments else f"{said}\n{verdict}"
        answered.setdefault((at, number), before + 1)


def _actions_in(turn: Turn) -> int:
    """Return how many actions a turn makes; the calls of a text that have one answer are one."""
    return min(len(turn.calls), 1) if turn.in_text and not turn.apart else len(turn.calls)


def _results_in(turn: Turn) -> Sequence[str | None]:
    """Return the texts of a turn's results: of its text, as secrets are taken out of that, not of its message.

    None is one that cannot be told from what stands beside it.
    """
    if "<tool_response>" in turn.text and (turn.in_text or len(turn.answers) > 1):
        parts = turn.text.split("<tool_response>", _MOST_RESULTS)[1:]
        return tuple(part.partition("</tool_response>")[0] for part in parts)
    if turn.in_text and len(turn.answers) > 1:
        return [turn.text[start:end] for start, end in results_apart(turn.text)]
    is_alone = turn.role == "tool" and len(turn.answers) < 2  # noqa: PLR2004 - it is the result
    if turn.in_text or is_alone or said_beside(turn):
        return (without_aside(turn),)
    found: list[str | None] = []
    at = 0
    for text in result_texts(turn):
        clean = text if turn.text.startswith(text, at) else redact(text).text
        place = turn.text.find(clean, at)
        found.append(clean if place >= 0 else None)
        at = max(place + len(clean), at)
    return found or (turn.text,)


class Calls(Struct, frozen=True):
    """What is known of the calls of some turns: arguments that most have, and those that tell each from others.

    ``described`` are those that were asked for, by their names and arguments. ``clean`` takes secrets out of a call
    before anything of it is cut: half of one is not known for one, and half a call may look like one. ``folders``
    are those that calls ran in, where most ran in another.
    """

    usual: Usual = NOTHING_USUAL
    apart: Apart = NOTHING_APART
    clean: Callable[[str], str] = str
    described: dict[tuple[str, str], Action] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)


def calls_of(turns: Iterable[Turn], clean: Callable[[str], str] = str) -> Calls:
    """Read the calls of some turns; ``clean`` takes secrets out of what is said of them, where they have any."""
    return _read_calls(tuple((call.name, call.arguments) for turn in turns for call in turn.calls), clean)


@lru_cache(maxsize=4)  # a row's are asked for by whoever makes lines of it
def _read_calls(calls: tuple[tuple[str, str], ...], clean: Callable[[str], str]) -> Calls:
    return Calls(usual_arguments(calls), arguments_apart(calls), clean, folders=folders_apart(calls))


def action_of(turn: Turn, number: int, calls: Calls | None = None) -> Action:
    """Describe a call of a turn; where an agent calls another by its name, what it says to it is the call.

    Several in one text that have one answer are one action.
    """
    calls = calls or Calls()
    if not turn.calls:
        said = calls.clean(turn.text[:SCAN_CHARS]).lstrip(_LIST_MARKS)[: TARGET_CHARS * 2]
        return Action("", shorten(one_line(said), TARGET_CHARS), "run", in_words=True)
    if turn.in_text and not turn.apart and len(turn.calls) > 1:
        return together([_action_of(call, calls) for call in turn.calls[:_MOST_TOGETHER]], len(turn.calls))
    return _action_of(turn.calls[number], calls)


def _action_of(call: ToolCall, calls: Calls) -> Action:
    key = call.name, call.arguments
    if key not in calls.described:
        calls.described[key] = _describe(call, calls)
    return calls.described[key]


def _describe(call: ToolCall, calls: Calls) -> Action:
    if not call.name and (acted := find_actions(call.arguments)) and acted.calls:  # another form, in tags of a call
        call = call if " " in acted.calls[0].name else acted.calls[0]
    given = parse(calls.clean(call.arguments))
    action = describe(call.name, given, calls.usual, calls.apart.get(call.arguments, frozenset()))
    block = given.get("code", given.get("command")) if call.in_text and isinstance(given, dict) else None
    saved = saved_as(block) if isinstance(block, str) else ""
    where = one_line(calls.clean(calls.folders.get(call.arguments, "")))
    return replace(action, saved=(saved,) if saved else action.saved, where=where) if saved or where else action


def label_of(
    action: Action | None, name: str, limit: int = LABEL_CHARS, change_chars: int = 0, *, full: bool = False
) -> str:
    """Say what ran: the command of a shell, else the tool and what it was used on.

    Args:
        action: the call.
        name: of the tool, where there is no call.
        limit: the most characters.
        change_chars: the most that what an edit brings in takes besides.
        full: what most calls are given is said as well, behind the rest: no turn says it.
    """
    if action is None:
        return shorten(one_line(name), limit)
    shell = action.name.lower() in SHELLS and action.target
    label = action.target if shell else f"{action.name or name} {action.target}".strip()
    label += f", {action.beside}" if full and action.beside else ""
    if "<" in label:  # what goes anyway takes no room
        label = _HALF_TAG.sub("…", one_line(harmless(label)))
    change = f" «{action.change}»" if action.change else ""
    span = f" (lines {action.span})" if action.span else ""
    span += f" (in {action.where})" if action.where else ""
    if len(label) + len(span) + len(change) > limit:
        label = without_folders(label, action)
    is_command = shell or not (action.name or name)
    label = cut_label(label, limit - len(span), command=bool(is_command)).replace("……", "…")
    room = max(limit - len(label) - len(span), change_chars)
    if len(change) > room:
        change = f" «{shorten(action.change, room - 3)}»" if room > LEAST_CHARS else ""
    return f"{label}{span}{change}"


def without_folders(text: str, action: Action | None) -> str:
    """Name files that an action is about by their names alone, once its own turn or label has said where they are."""
    for path in action.files if action else ():
        name = file_name(path)
        folder = path[: len(path) - len(name)]
        text = text.replace(path, f"…{folder[-1]}{name}") if len(folder) > 2 else text  # noqa: PLR2004 - as short
    return text


def file_name(path: str) -> str:
    """Return the name of a file without its folders, which Windows divides in its own way."""
    return path[max(path.rfind("/"), path.rfind("\\")) + 1 :]


def written(label: str, outcome: Outcome | None) -> str:
    """Write a step: what ran → what came of it."""
    if outcome is None:
        return label
    came = outcome.said or outcome.size
    return f"{label} → {came or 'no output'}" if label else came
