"""A difference of two recordings as one JSON object, written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from stashdbg.cli.json_out import json_text
from stashdbg_core.canonical import Json
from stashdbg_core.diff.explain import UNPROVEN, Explanation
from stashdbg_core.diff.result import MOST_CHANGES, DiffResult, Row


def diff_chunks(result: DiffResult, why: Explanation | None, *, everything: bool = False) -> Iterator[str]:
    """Yield one JSON object in pieces of printable ASCII; ``more`` counts changes of an event that are left out."""
    first = result.first_divergence
    yield f'{{"same":{json_text(result.same)},"align":{json_text(result.mode)}'
    yield f',"a":{json_text(result.a.id)},"b":{json_text(result.b.id)}'
    yield f',"firstDivergence":{json_text(None if first is None else row_tree(result, first))}'
    yield f',"counts":{json_text(_counts(result))}'
    for name in ("added", "removed", "moved", "changed", "measured"):
        yield f',"{name}":['
        comma = "\n"
        for row in getattr(result, name):
            tree = row_tree(result, row)
            if name in ("changed", "measured"):
                tree |= _changes(result, row, everything=everything)
            yield comma + json_text(tree)
            comma = ",\n"
        yield "]"
    if why is not None:
        yield f',"explanation":{json_text(_explanation(result, why))}'
    yield "}\n"


def row_tree(result: DiffResult, row: Row) -> dict[str, Json]:
    """Return which two events a row is about; null for the side that has none."""
    one, other = result.event_a(row), result.event_b(row)
    named = one or other
    tree: dict[str, Json] = {
        "seqA": one and one.seq,
        "seqB": other and other.seq,
        "channel": named and named.channel,
        "keyA": one and one.key,
        "keyB": other and other.key,
        "ordinalA": one and one.ordinal,
        "ordinalB": other and other.ordinal,
        "kind": row.kind,
    }
    if row.moved and row.kind in ("changed", "measured"):
        tree["moved"] = True
    return tree


def _counts(result: DiffResult) -> dict[str, int]:
    return {
        "same": result.same_count,
        "added": len(result.added),
        "removed": len(result.removed),
        "changed": len(result.changed),
        "moved": len(result.moved),
        "measured": len(result.measured),
        "timingOnly": len(result.timing_only),
    }


def _changes(result: DiffResult, row: Row, *, everything: bool) -> dict[str, Any]:
    found = result.iter_changes(row)
    kept = [change.to_json() for change in islice(found, None if everything else MOST_CHANGES)]
    left = sum(1 for _ in found)
    return {"changes": kept, **({"more": left} if left else {})}


def _explanation(result: DiffResult, why: Explanation) -> Json:
    causes = []
    for cause in why.causes:
        sources = [
            {**row_tree(result, source.row), "characters": len(source.text), "text": source.text[:200]}
            for source in cause.sources
        ]
        causes.append({**row_tree(result, cause.row), "verdict": cause.verdict, "sources": sources})
    return {"causes": causes, "unseen": why.unseen, "unproven": UNPROVEN}
