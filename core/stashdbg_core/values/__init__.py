"""Python values as JSON trees and back, equal and of the same type; what cannot be stored is stated.

``docs/format.md`` has the table of tags.
"""

from __future__ import annotations

from stashdbg_core.canonical import Json
from stashdbg_core.values.decode import decode_exception, decode_stored, decode_value
from stashdbg_core.values.encode import Encoded, encode_value
from stashdbg_core.values.exceptions import RecordedError, exception_kind
from stashdbg_core.values.losses import Loss
from stashdbg_core.values.recorded import RecordedObject
from stashdbg_core.values.registry import TypeRegistry, check_types
from stashdbg_core.values.snapshot import Snapshot, plain_stored, snapshot
from stashdbg_core.values.streams import StreamRecord

__all__ = [
    "Encoded",
    "Loss",
    "RecordedError",
    "RecordedObject",
    "Snapshot",
    "StreamRecord",
    "TypeRegistry",
    "check_types",
    "decode_exception",
    "decode_stored",
    "decode_value",
    "encode_exception",
    "encode_value",
    "exception_kind",
    "plain_stored",
    "snapshot",
]


def encode_exception(error: BaseException) -> Json:
    """Return the JSON tree of an exception, without traceback."""
    return encode_value(error).tree
