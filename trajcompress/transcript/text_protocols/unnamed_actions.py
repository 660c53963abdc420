"""Actions without a name, such as a chat may show as well: read where the row goes as an agent's does. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.summary_marks import tells_of_steps
from trajcompress.transcript.text_protocols.addressing import addresses, common_lead, hands_over
from trajcompress.transcript.text_protocols.bare_commands import said_in_words, terse_action
from trajcompress.transcript.text_protocols.command_lines import is_command
from trajcompress.transcript.text_protocols.delegated import is_person
from trajcompress.transcript.text_protocols.feedback import is_feedback
from trajcompress.transcript.text_protocols.moves import find_moves, game_moves, says_again
from trajcompress.transcript.text_protocols.openings import begin_of, label_of, without_figures
from trajcompress.transcript.text_protocols.printed import printed, shows_failure
from trajcompress.transcript.text_protocols.prompts import has_form, sets_up, tells_of_answers
from trajcompress.transcript.text_protocols.replies import are_data, are_forms, mirrors
from trajcompress.transcript.text_protocols.turn_evidence import TurnEvidence, acted_of

_NAME = late_re(r"[a-z][a-z0-9]{0,30}(?:[_-][a-zA-Z0-9]{1,30}|[A-Z][a-z0-9]{1,30}){1,8}")
_SIGN = late_re(r"[^\w\s,.!?'’]")
_LINE_CHARS = 60
_LEAD_CHARS = 200
_SOME = 2
_MANY = 3
_MOSTLY = 0.75
_HALF = 0.5
_OFTEN = 0.4
_SELDOM = 0.2


def behaves(row: TurnEvidence) -> bool:
    """Whether a row goes as an agent's does that has no names for what it does: action, reply, and again.

    What prompt and replies tell to be commands is added to its actions.
    """
    turns, answered = row.turns, row.answered
    row.is_set_up = sets_up(row.prompt, row.system)
    if row.is_set_up:
        for i in answered:
            if i not in row.acts and (acted := terse_action(turns[i].text)):
                row.acts[i] = acted
        if sum(row.is_foretold(i + 1) for i in answered) >= max(_MANY, _HALF * len(answered)):
            row.acts.update({i: said_in_words(turns[i].text) for i in answered if i not in row.acts})
    return _acts_unnamed(row) or add_moves(row)


def _acts_unnamed(row: TurnEvidence) -> bool:
    """Whether forms that a chat may show as well are actions, by how many there are and what answers them."""
    turns = row.turns
    unnamed = [i for i, acted in row.acts.items() if acted.sure != "named"]
    if is_labelled(row, unnamed) or _are_answered_alike(row, unnamed):
        return True
    led = {i: without_figures(row.thought(i), _LEAD_CHARS) for i in unnamed}
    lead = common_lead(list(led.values()))
    whole = [i for i in unnamed if led[i] in {"", lead}]
    acts = [i for i in unnamed if not addresses(row.thought(i))]
    if len(acts) < _MOSTLY * len(row.answered):
        acts = whole
    bare = sum("```" not in turns[i].text for i in acts) > _HALF * len(acts)  # else a chat may show as much
    chatty = sum(row.is_chatty(i + 1) and not (row.is_set_up and row.is_output(i + 1)) for i in acts)
    if not acts or chatty > (_HALF if row.is_set_up and bare else 1 - _MOSTLY) * len(acts):
        return False
    if any(turn.role == "user" and tells_of_steps(turn.text) for turn in turns):
        return True  # the row was compressed, and most of what it shows is gone
    row.is_set_up = row.is_set_up and len(acts) >= _OFTEN * len(row.answered)
    if row.is_set_up:
        return _is_borne_out(row, acts)
    alone = sum("```" not in turns[i].text for i in whole)
    mostly = len(whole) >= _MOSTLY * len(row.answered) or alone >= _MOSTLY * len(unnamed)
    # Who asks for help with what was printed shows what is printed then.
    if not mostly or shows_failure(turns[row.answered[0] - 1].text):
        return False
    return _is_printed(row, acts) or _are_commands_alone(row, whole)


def _are_commands_alone(row: TurnEvidence, whole: Sequence[int]) -> bool:
    """Whether all that is said are commands of a shell or a database, with nothing around them, and nobody speaks.

    Half of what answers them is output, ends a line as programs do, says how they went, or says what they say.
    """
    turns = row.turns
    alone = [i for i in whole if "```" not in turns[i].text and is_command(turns[i].text)]
    if not len(alone) == len(row.answered) >= _SOME or any(row.is_chatty(i + 1) for i in alone):
        return False
    answers = sum(
        row.is_output(i + 1)
        or turns[i + 1].text.endswith("\n")
        or is_feedback(row.prints[i + 1].begin)
        or says_again(turns[i].text, turns[i + 1].text)
        for i in alone
    )
    return 2 * answers >= len(alone)


def _is_printed(row: TurnEvidence, acts: Sequence[int]) -> bool:
    """Whether output answers most of some actions, and these are many of the turns that are answered."""
    spoken = [i for i in row.answered if not row.is_repeated(i + 1)]
    if len(acts) < _OFTEN * len(spoken):
        return False
    output = sum(row.prints[i + 1].shaped or ("```" not in row.turns[i].text and row.is_output(i + 1)) for i in acts)
    return output >= (len(acts) / 2 if len(acts) >= _MANY else len(acts))


def _is_borne_out(row: TurnEvidence, acts: Sequence[int]) -> bool:
    """Whether some actions are those that a prompt tells of, by how they are written or what answers them."""
    turns = row.turns
    asked = printed(next((turn.text for turn in turns if turn.role == "user"), ""))
    if asked.person and mirrors((turns[i].text, turns[i + 1].text) for i in acts):
        return False
    if tells_of_answers(row.prompt):
        return True
    told = sum(row.is_foretold(i + 1) for i in acts)
    if told >= max(_MANY, _HALF * len(acts)):
        return True
    output = told + sum(row.is_output(i + 1) or row.is_repeated(i + 1) for i in acts)
    shown = sum(row.acts[i].sure == "shape" for i in acts)  # as a person may have asked for
    if not has_form(row.prompt):
        least = (_HALF if shown == len(acts) else _MOSTLY) * len(acts)
        return row.is_told_of(acts) or (output >= least and not asked.shaped)
    return 2 * output >= len(acts) or 2 * shown <= len(acts)


def add_moves(row: TurnEvidence) -> bool:
    """Add to a row's actions the commands that have no form at all; whether there are any."""
    answered = row.answered
    chatty = sum(map(row.is_chatty, (i + 1 for i in answered)))
    if chatty <= _OFTEN * len(answered) and (moves := game_moves(row.turns, answered)):
        row.acts.update({i: acted for i, acted in moves.items() if i not in row.acts})
        return True
    labelled = _of_one_label(row)
    if sum(row.is_chatty(i + 1) for i in answered if i + 1 not in labelled) > _SELDOM * len(answered):
        return False
    begun = Counter(without_figures(row.turns[i + 1].text) for i in answered)

    def prints(index: int) -> bool:
        begin = without_figures(row.turns[index].text)
        alike = "0" in begin and begun[begin] >= max(_MANY, len(answered) / 2)
        said = row.prints[index]
        return index in labelled or said.named or row.is_output(index) or alike or is_feedback(said.begin)

    moves = find_moves(row.turns, answered, prints, row.is_chatty)
    row.acts.update({i: acted for i, acted in moves.items() if i not in row.acts})
    return bool(moves)


def _of_one_label(row: TurnEvidence) -> set[int]:
    """Return the turns that answer in some lines, under a label which most of them have, and which is no person's."""
    replies = {i + 1: row.turns[i + 1].text for i in row.answered}
    labels = {index: label_of(text) if text.count("\n") > _SOME else "" for index, text in replies.items()}
    often = Counter(label for label in labels.values() if label and not is_person(label))
    least = max(_MANY, _MOSTLY * len(labels))
    return {index for index, label in labels.items() if often[label] >= least}


def add_bare(row: TurnEvidence, *, played: bool) -> None:
    """Read a turn that is a tool's name alone as a call, or what is no sentence where all turns are commands.

    Args:
        row: that of a text-protocol agent.
        played: whether a person gives the commands, and the assistant plays what answers them.
    """
    known = list(row.acts)
    least = max(_MANY, _MOSTLY * len(known))
    bare = sum(row.acts[i].sure != "named" and not row.thought(i) for i in known) >= least
    lines = {} if played else Counter(begin_of(row.turns[i].text) for i in known if row.is_line(i))
    begins = {begin for begin, times in lines.items() if times >= max(_SOME, _MOSTLY * len(known))}
    for i in row.answered:
        if i in row.acts:
            continue
        text, begin = row.turns[i].text, begin_of(row.turns[i].text)
        known_line = begin in begins and (len(text) <= _LINE_CHARS or not begin.isalnum())
        answered = not row.prints[i + 1].chatty and ((bare and row.is_output(i + 1)) or known_line)
        if (answered or _NAME.fullmatch(text.strip())) and (acted := terse_action(text)):
            row.acts[i] = acted


def is_labelled(row: TurnEvidence, acts: Collection[int]) -> bool:
    """Whether most of what answers some actions begins with the same label: nobody pastes so, turn after turn."""
    replies = [said for i in acts if (said := row.prints[i + 1]).named and not said.person]
    labels = Counter(label for said in replies if (label := label_of(said.begin)))
    return max(labels.values(), default=0) >= max(_MANY, _MOSTLY * len(acts))


def _are_answered_alike(row: TurnEvidence, acts: Sequence[int]) -> bool:
    """Whether most of what answers some actions names what was called; or is data alone, or begins alike with a sign.

    What answers code that is fenced, as it may be shown to a person who runs it, must name it.
    """
    least = max(_MANY, _MOSTLY * len(acts))
    if sum(row.names_call(i + 1) and not row.prints[i + 1].person for i in acts) >= least:
        return True
    bare = (i for i in acts if "```" not in row.turns[i].text and not row.prints[i + 1].chatty)
    replies = [row.turns[i + 1].text for i in bare]
    begun = Counter(begin for begin in map(without_figures, replies) if _SIGN.search(begin))
    return max(sum(map(are_data, replies)), *begun.values(), 0) >= least


def fills_forms(row: TurnEvidence) -> bool:
    """Whether all that is said are forms, to the last, and no output stands between: a chat's template."""
    turns = row.turns
    if turns[-1].role != "assistant" or sets_up(row.prompt, row.system):
        return False
    replies = [i + 1 for i in row.acts]
    if 2 * sum(row.is_output(i) or row.is_repeated(i) for i in replies) >= len(replies):
        return False
    said = [turn.text for turn in turns if turn.role == "assistant"]
    last = acted_of(turns[-1])
    answered = [(turns[i - 1].text, turns[i].text) for i in replies]
    return are_forms(said, answered, ends=last is not None and hands_over(last.calls[-1]))
