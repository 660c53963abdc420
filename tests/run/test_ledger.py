"""What is missing of an input is handed out in order, and where it begins is known from what comes before."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from trajcompress.dataset.cutting import cut_into_parts
from trajcompress.dataset.sources import find_sources
from trajcompress.run.loop.reading import PieceBegin, PieceEnd, Reading
from trajcompress.run.parts.committed import CommittedPart, PartKey, as_json, from_json
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.selection import build_selection
from trajcompress.run.progress.progress import Progress
from trajcompress.run.rows.row import Parsed
from trajcompress.settings import resolve

PART_SIZE = 700


def write_inputs(folder):
    rows = [{"messages": [{"role": "user", "content": f"{n} " + "x" * (n * 37 % 300)}]} for n in range(30)]
    lines = [json.dumps(row) for row in rows]
    (folder / "a.jsonl").write_text("\n\n".join(lines[:12]) + "\n")
    (folder / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines[12:24]).encode()))
    (folder / "c.json").write_text(json.dumps(rows[24:]))
    return find_sources([str(folder)])


def read(sources, committed, again=frozenset(), **given_):
    """Read what is missing; return it as committed parts, with the places of their rows."""
    options = {f"input.{key}": value for key, value in given_.items()} | {"processing.part_size": PART_SIZE}
    chosen = resolve(options, None, environ={}, dotenv=None).settings
    selection = build_selection(chosen, sources)
    ledger = Ledger(cut_into_parts(sources, PART_SIZE), committed, selection, again)
    made, rows, through = {}, [], []
    begun = None
    for item in Reading(chosen, selection).all_of(ledger, through.append):
        if isinstance(item, PieceBegin):
            begun, rows = item, []
        elif isinstance(item, Parsed):
            rows.append((item.source.name, item.index, item.position, item.made.line))
        else:
            assert isinstance(item, PieceEnd)
            key = PartKey(begun.part.number, begun.piece)
            part = CommittedPart(key, item.is_last, begun.start, item.read, (), Progress())
            made[key] = part, rows
            ledger.commit(part)
    return made, ledger, through


@given(
    st.randoms(), st.sampled_from([{}, {"limit": 17}, {"shard": "2/3"}, {"sample_percent": 60}, {"sample_count": 11}])
)
@settings(deadline=None, max_examples=60)
def test_whatever_is_missing_is_read_as_in_one_go(rng, given_):
    with tempfile.TemporaryDirectory() as folder:
        sources = write_inputs(Path(folder))
        whole, ledger, through = read(sources, {}, **given_)
        assert [part.key for part in ledger.in_order()] == sorted(whole)
        kept = {key: part for key, (part, _) in whole.items() if rng.random() < 0.5}
        again = frozenset(key for key in kept if rng.random() < 0.3)
        made, ledger, _ = read(sources, kept, again, **given_)
    assert made.keys() == whole.keys() - (kept.keys() - again)
    assert all(made[key] == whole[key] for key in made)
    assert [part.key for part in ledger.in_order()] == sorted(whole)
    if "limit" not in given_:
        assert through == sources


def test_what_is_done_counts_for_the_bar(tmp_path):
    sources = write_inputs(tmp_path)
    whole, ledger, _ = read(sources, {})
    parts = cut_into_parts(sources, PART_SIZE)
    assert ledger.bytes_done() == sum(source.size for source in sources)
    first = {key: part for key, (part, _) in whole.items() if key.number == 0}
    assert Ledger(parts, first).bytes_done() == parts[0].size
    assert Ledger(parts, first, again=frozenset(first)).bytes_done() == 0


def test_a_manifest_is_read_as_it_was_written(tmp_path):
    sources = write_inputs(tmp_path)
    for key, (part, _) in read(sources, {})[0].items():
        assert from_json(key, as_json(part)) == part


def test_rows_of_a_pack_are_counted_in_their_own_files(tmp_path):
    for number in range(40):
        (tmp_path / f"{number:02}.jsonl").write_text('{"text": "x"}\n' * 2)
    sources = find_sources([str(tmp_path)])
    made, _, through = read(sources, {})
    assert 1 < len(made) < 20
    places = [place for _, rows in made.values() for place in rows]
    assert places == [
        (source.name, index, 2 * number + index, index + 1)
        for number, source in enumerate(sources)
        for index in range(2)
    ]
    assert through == sources
