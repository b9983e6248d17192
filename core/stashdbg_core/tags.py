"""The tags by which stored JSON says what JSON cannot: ``{"$stash": NAME, …}``.

``docs/format.md`` has the table with every tag's keys. A program's own dict that holds the key ``$stash`` is stored as
``DICT``, so a tag can never be forged by data. An unknown tag is kept and shown as the object it is.
"""

from __future__ import annotations

from stashdbg_core.canonical import Json

TAG = "$stash"

# Values (stashdbg_core.values)
STR = "str"  # parts; for a text in which a high surrogate stands before a low one, cut between them
INT = "int"  # hex: digits; for what Python refuses to write in decimal
FLOAT = "float"  # value: "nan" | "inf" | "-inf"
BYTES = "bytes"  # base64
TUPLE = "tuple"  # items
SET = "set"  # items, in the order of their canonical forms
FROZENSET = "frozenset"  # items, as for SET
ORDERED_DICT = "ordereddict"  # items, as for DICT
DEFAULT_DICT = "defaultdict"  # items; factory: the name of a builtin type, or null
COUNTER = "counter"  # items
DEQUE = "deque"  # items; maxlen: int or null
NAMED_TUPLE = "namedtuple"  # class; fields: {name: value} in order
BYTEARRAY = "bytearray"  # base64
MEMORYVIEW = "memoryview"  # base64; one dimension of unsigned bytes
RANGE = "range"  # start, stop, step
SLICE = "slice"  # start, stop, step
ELLIPSIS = "ellipsis"
DICT = "dict"  # items: [[key, value], …]; for keys that are not text, and for dicts that hold TAG
DATETIME = "datetime"  # value: ISO 8601, with a fixed offset; fold: 1; zone: IANA name; name: of a fixed offset
DATE = "date"  # value: ISO 8601
TIME = "time"  # as for DATETIME
TIMEDELTA = "timedelta"  # days, seconds, microseconds
TIMEZONE = "timezone"  # seconds, microseconds east of UTC; name
ZONE = "zone"  # zone: IANA name
DECIMAL = "decimal"  # value: as Python's str() writes it
FRACTION = "fraction"  # numerator, denominator
UUID = "uuid"  # value: 8-4-4-4-12 hex
COMPLEX = "complex"  # real, imag
PATH = "path"  # class: PosixPath, …; value
IP = "ip"  # class: IPv4Address, …; value
ENUM = "enum"  # class; name; value
DATACLASS = "dataclass"  # class; fields: {name: value}; extra: attributes that are no fields
MODEL = "model"  # a pydantic model: class; fields; set: names; extra; private
SUBCLASS = "subclass"  # class; value: as the builtin type it extends; attributes: {name: value}
EXCEPTION = "exception"  # class; text; args; attributes; cause; context; notes; … (values.exceptions)
STREAM = "stream"  # kind; chunks; times; ending; error; returned (values.streams)
UNSTORABLE = "unstorable"  # a stated stand-in for what could not be stored: class; reason; shown
DROPPED = "dropped"  # a redactor said DROP
PENDING = "pending"  # the call never finished

# Sharing (stashdbg_core.store.sharing); never inside a whole tree
REF = "ref"  # ref: the value of another blob stands here
LIST = "list"  # parts: [ref, …], items: […]; the lists of the parts, then the items, as one list

_OBJECTS = (MODEL, DATACLASS, NAMED_TUPLE)


def tag_of(tree: Json) -> str | None:
    """Return the name of the tag a tree is, or None."""
    name = tree.get(TAG) if isinstance(tree, dict) else None
    return name if isinstance(name, str) else None


def opened(tree: Json) -> Json:
    """Return what a recorded object of a class holds, by name; anything else as it is."""
    if isinstance(tree, dict) and tag_of(tree) in _OBJECTS and isinstance(tree.get("fields"), dict):
        return tree["fields"]
    return tree
