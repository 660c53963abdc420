"""Where is a dated idiom still used? A written inventory, and some of it brought up to date."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from recorder.agent import Agent, UnsuitableError, amount
from recorder.house import found_house, note_change, open_task
from recorder.study import study
from recorder.topics import Topic

_MIN_MATCHES = 3
_MAX_MATCHES = 50  # fewer than a search shows, so that the agent sees all of them
_MAX_CONVERTED = 6


@dataclass(frozen=True, slots=True)
class _Idiom:
    slug: str
    title: str
    pattern: str
    advice: str
    replacement: str = ""  # for re.sub; empty where a person has to decide


_IDIOMS = (
    _Idiom("bare-except", "bare `except:`", r"except:\s*(#.*)?$", "name what is caught"),
    _Idiom("old-super", "`super()` with arguments", r"super\(\w+, \w+\)", "plain `super()`", "super()"),
    _Idiom("percent", "percent formatting", r"""["'] % """, "f-strings where the value is simple"),
    _Idiom("range-len", "`range(len(...))`", r"range\(len\(", "`enumerate`, where the index serves only to look up"),
    _Idiom(
        "type-compare", "comparison of types", r"\btype\(\w+\) (==|is|in) ", "`isinstance`, unless subclasses differ"
    ),
    _Idiom("notes", "XXX, TODO and FIXME notes", r"#.*\b(XXX|TODO|FIXME)\b", "a ticket for each, or removal"),
    _Idiom("asserts", "`assert` in library code", r"^\s+assert ", "a real exception where users can cause it"),
    _Idiom("raise-not-implemented", "abstract methods by hand", r"raise NotImplementedError", "`abc.abstractmethod`"),
    _Idiom("keys-membership", "`in d.keys()`", r" in ([\w.]+)\.keys\(\)", "`in d`", r" in \1"),
    _Idiom(
        "old-errors", "aliases of OSError", r"\b(IOError|EnvironmentError|select\.error)\b", "`OSError`", "OSError"
    ),
    _Idiom("private-import", "imports of private names", r"^\s*from \w+ import _\w", "a public home for the name"),
    _Idiom("global", "`global` statements", r"^\s+global \w", "state on an object"),
    _Idiom(
        "getattr-default", "`getattr` with a default", r"\bgetattr\([^()]+, [^()]+, [^()]+\)", "a declared attribute"
    ),
    _Idiom("lambda", "lambdas", r"\blambda\b", "a named function where it is longer than a word or two"),
    _Idiom("is-none-chain", "`or` as a default", r"= \w+ or (\[\]|\{\}|\(\)|'')", "an explicit test for None"),
)


def audit(agent: Agent, topic: Topic) -> None:
    """Search, read round the matches, write the inventory, check it, perhaps convert one file."""
    idiom, matches = _choose(agent)
    house = found_house(agent, topic)
    report = f"docs/audit-{idiom.slug}.md"
    open_task(
        agent,
        topic,
        agent.pick(
            (
                (
                    f"Please find every use of {idiom.title} in src/ and write an inventory to `{report}`: one "
                    f"row per file with the number and the lines. We would like {idiom.advice}. Ticket "
                    f"{house.ticket}."
                ),
                (
                    f"{house.ticket}: how much {idiom.title} is left in src/? I need file, count and lines in "
                    f"`{report}`, and your opinion where {idiom.advice} would be an improvement."
                ),
            )
        ),
    )
    agent.search("Is there an earlier inventory?", idiom.slug, "docs" if agent.chance(0.5) else ".")
    agent.search(f"No. I look for {idiom.title} in all of src.", idiom.pattern, "src")
    places: dict[str, list[int]] = {}
    for path, line in matches:
        places.setdefault(path, []).append(line)
    counts = Counter({path: len(lines) for path, lines in places.items()})
    worst, most = counts.most_common(1)[0]
    remark = f"{len(matches)} lines in {amount(len(places), 'file')}; `{worst}` alone has {most}."
    half = agent.pick((5, 8, 12))
    for path, line in matches:
        if not agent.room(4000):
            break
        agent.read(f"{remark} Now `{path}` line {line} in its surroundings.", path, line - half, line + half)
        remark = f"Line {line} reads `{agent.workspace.lines(path)[line - 1].strip()[:100]}`."
    study(agent, list(places), "whether the uses on other pages follow a pattern")
    rows = "\n".join(f"| `{path}` | {len(lines)} | {', '.join(map(str, lines))} |" for path, lines in places.items())
    table = f"| file | uses | lines |\n|---|---|---|\n{rows}\n"
    agent.write(
        f"That is enough to write it down. {amount(len(places), 'row')} for {len(matches)} uses.",
        report,
        f"# Audit: {idiom.title}\n\nTicket {house.ticket}. Preferred: {idiom.advice}.\n\n{table}",
    )
    agent.python("I count once more by other means, so that the table can be trusted.", _recount(idiom))
    note_change(agent, house, topic, f"inventory of {idiom.title}, {len(matches)} uses")
    agent.reply(
        f"`{report}` lists {len(matches)} uses of {idiom.title} in {amount(len(places), 'file')}:\n\n{table}\n"
        f"`{worst}` alone has {most}. I would prefer {idiom.advice}; nothing in src was changed."
    )
    if idiom.replacement:
        _convert(agent, topic, idiom, {worst: places[worst]})
    elif agent.chance(0.5):
        agent.user(f"Thanks. Remind me, what exactly stands on the last of the lines in `{worst}`?")
        line = places[worst][-1]
        agent.read("I look again rather than quote from memory.", worst, line - 1, line + 1)
        agent.reply(f"Line {line} of `{worst}`: `{agent.workspace.lines(worst)[line - 1].strip()}`.")


def _choose(agent: Agent) -> tuple[_Idiom, list[tuple[str, int]]]:
    for idiom in agent.rng.sample(_IDIOMS, len(_IDIOMS)):
        wanted = re.compile(idiom.pattern)
        matches = [
            (path, number)
            for path in agent.workspace.paths("src")
            for number, line in enumerate(agent.workspace.lines(path), 1)
            if wanted.search(line)
        ]
        if _MIN_MATCHES <= len(matches) <= _MAX_MATCHES:
            return idiom, matches
    raise UnsuitableError("no idiom with a handful of uses")


def _recount(idiom: _Idiom) -> str:
    return (
        "import pathlib, re\n"
        f"wanted = re.compile({idiom.pattern!r})\n"
        "total = 0\n"
        "for path in sorted(pathlib.Path('src').rglob('*.py')):\n"
        "    count = sum(bool(wanted.search(line)) for line in path.read_text(encoding='utf-8').split('\\n'))\n"
        "    if count:\n"
        "        print(f'{count:4} {path.as_posix()}')\n"
        "    total += count\n"
        "print('total', total)\n"
    )


def _convert(agent: Agent, topic: Topic, idiom: _Idiom, places: dict[str, list[int]]) -> None:
    [(path, lines)] = places.items()
    chosen = lines[:_MAX_CONVERTED]
    agent.user(f"Good. Convert the first {len(chosen)} in `{path}` right away, and run the tests.")
    for line in chosen:
        before = agent.workspace.lines(path)[line - 1]
        after = re.sub(idiom.pattern, idiom.replacement, before)
        agent.change_line(f"Line {line}: `{before.strip()[:80]}`.", path, line, after)
    outcome = agent.test("All done; the tests.", f"tests.test_{topic.name}")
    left = agent.search("How many are left?", idiom.pattern, path)
    count = re.search(r"Ran (\d+) test", outcome)
    verdict = "all of them passed" if "\nOK" in outcome else "not all of them passed"
    agent.reply(
        f"Lines {', '.join(map(str, chosen))} of `{path}` now use {idiom.advice}; {len(left)} of {len(lines)} "
        f"remain in that file. {count[1] if count else 'No'} tests ran, {verdict}."
    )
