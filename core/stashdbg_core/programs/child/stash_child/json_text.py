"""JSON as it goes over the link, by the C code that ``json`` stands on.

``json`` itself loads ``re``, ``enum`` and more, which would make up half of what the start of a program costs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

try:
    _c: Any = __import__("_json")
except ImportError:
    _c = None


class _Reading:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def writer(default: Callable[[Any], Any]) -> Callable[[Any], str]:
    """Return what writes a tree as ASCII; ``default`` makes a tree of what is none."""
    if _c is None:
        import json

        return json.JSONEncoder(separators=(",", ":"), default=default, check_circular=False).encode
    encode = _c.make_encoder(None, default, _c.encode_basestring_ascii, None, ":", ",", False, False, True)
    return lambda tree: "".join(encode(tree, 0))


def read(text: bytes) -> Any:
    """Return the tree of a JSON text.

    Raises:
        ValueError: It is not JSON.
    """
    if _c is None:
        import json

        return json.loads(text)
    try:
        return _c.make_scanner(_Reading())(text.decode("utf-8"), 0)[0]
    except StopIteration:
        raise ValueError("not JSON") from None
