"""A stream is one value: its chunks, when they came, and why there were no more."""

from __future__ import annotations

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.values import StreamRecord, decode_exception, decode_value, encode_exception, snapshot


def test_a_stream_survives_the_file() -> None:
    chunks = [snapshot(chunk).tree for chunk in ("a", b"b", {"c": (1,)})]
    record = StreamRecord("async", chunks, [0.1, 2.0, 3.123456], "failed", encode_exception(ValueError("boom")))
    back = decode_value(record.to_tree())
    assert type(back) is StreamRecord
    assert [decode_value(chunk) for chunk in back.chunks] == ["a", b"b", {"c": (1,)}]
    assert back.times_ms == [0.1, 2.0, 3.123]
    assert (back.kind, back.ending, back.returned) == ("async", "failed", None)
    assert repr(decode_exception(back.error)) == "ValueError('boom')"
    assert snapshot(record).tree == record.to_tree()


def test_a_return_value_is_kept() -> None:
    record = StreamRecord("sync", [1], [0.0], "exhausted", returned={"$stash": "tuple", "items": [1]})
    back = StreamRecord.from_tree(record.to_tree())
    assert back == record


@pytest.mark.parametrize(
    "tree",
    [
        None,
        [],
        {"$stash": "stream"},
        {"$stash": "stream", "kind": "sync", "chunks": {}, "ending": "closed"},
        {"$stash": "stream", "kind": "sync", "chunks": [], "ending": "paused"},
        {"kind": "sync", "chunks": [], "ending": "closed"},
    ],
)
def test_a_malformed_stream_is_refused(tree: object) -> None:
    with pytest.raises(StashError, match="stream is malformed"):
        StreamRecord.from_tree(tree)
