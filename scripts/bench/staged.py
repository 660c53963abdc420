"""The real command with timers around its stages, as a process of its own.

    python scripts/bench/staged.py stages.json compress data/ --output out/

Writes ``{stage: [seconds of CPU, calls]}``. Whatever CPU the process used outside the stages is ``rest``: the
hand-over between threads, threads of libraries, and the end of the interpreter.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.timers import Timers

_RUN = "trajcompress.run"
_STAGES = {
    "read": ("trajcompress.dataset.readers:read_rows",),
    "parse": (f"{_RUN}.row:parse_row",),
    "count": (
        "trajcompress.tokens.counter:TokenCounter.count_texts",
        "trajcompress.tokens.counter:TokenCounter._count_pieces",
        "trajcompress.tokens.pieces:cut",
    ),
    "render": ("trajcompress.tokens.chat_template:ChatTemplate.render",),
    "plan": (
        "trajcompress.compaction.measure:measure",
        "trajcompress.compaction.region:plan_region",
        "trajcompress.compaction.region:lay_out",
        "trajcompress.compaction.verify:overhead",
    ),
    "prune": (
        "trajcompress.compaction.text.steps:prune_steps",
        "trajcompress.compaction.text.truncate:truncate_until",
    ),
    "summarise": (
        "trajcompress.summarize.extractive:extract",
        "trajcompress.compaction.reading:read_region",
    ),
    "prompt": (
        "trajcompress.summarize.endpoint.client:OpenAISummarizer.request_key",
        "trajcompress.summarize.prompt:build_prompt",
    ),
    "call": ("trajcompress.summarize.endpoint.client:OpenAISummarizer.summarize",),
    "facts": (
        "trajcompress.facts:facts_needed",
        "trajcompress.facts:facts_kept",
        "trajcompress.facts:facts_note",
    ),
    "store": (
        "trajcompress.summarize.cache.store:SummaryStore.find",
        "trajcompress.summarize.cache.store:SummaryStore.add",
    ),
    "redact": ("trajcompress.redact.text:redact", "trajcompress.redact.text:redact_all"),
    "assemble": ("trajcompress.compaction.assemble:assemble", "trajcompress.formats.adapter:replace_turns"),
    "verify": ("trajcompress.compaction.verify:splice_in",),
    "loop": ("asyncio.base_events:BaseEventLoop._run_once",),
    "write": (f"{_RUN}.part_writer:PartWriter._write",),
    "commit": (
        f"{_RUN}.commit:PartCommitter.add",
        f"{_RUN}.commit:PartCommitter._commit",
        f"{_RUN}.run_json:write_results",
    ),
}
"""The functions of each stage; what they call of other stages counts there."""


def main() -> None:
    """Run the command; write what its stages cost."""
    output, *arguments = sys.argv[1:]
    import trajcompress.cli

    timers = Timers()
    for stage, places in _STAGES.items():
        for place in places:
            timers.wrap(place, stage, "trajcompress")
    sys.argv = ["trajcompress", *arguments]
    try:
        trajcompress.cli.main()
    except SystemExit as ended:
        if ended.code:
            raise
    children = resource.getrusage(resource.RUSAGE_CHILDREN)  # they count, where no fast engine does
    seconds, calls = timers.without_timing(), timers.calls
    seconds["count"] = seconds.get("count", 0.0) + children.ru_utime + children.ru_stime
    seconds["start-up"] = timers.before["read"]
    seconds["rest"] = max(0.0, seconds["rest"] - seconds["start-up"])
    Path(output).write_text(json.dumps({stage: [seconds[stage], calls[stage]] for stage in seconds}))


if __name__ == "__main__":
    main()
