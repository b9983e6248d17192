"""The published vectors hold, for our encoder and for a small one written from the page alone."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

import stashdbg_core.store
from stashdbg_core import tags
from stashdbg_core.canonical import canonical_form, content_digest, content_ref, stored_form
from stashdbg_core.parse import parse_json

PAGE = Path(__file__).parents[2] / "docs" / "format.md"
TEXT = PAGE.read_text(encoding="utf-8")
VECTORS: list[dict[str, str]] = json.loads(TEXT.partition("```json vectors\n")[2].partition("```")[0])


class Spelled(str):
    """A number token that no double holds."""


def second_float(token: str) -> Any:
    number = float(token)
    return Spelled(token) if number in (float("inf"), float("-inf")) else number


def second_spelling(number: float) -> str:
    """The page's rule for doubles, from Python's shortest digits."""
    sign = "-" if str(number).startswith("-") else ""
    size = abs(number)
    mantissa, _, exponent = f"{size!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0").rstrip("0") or "0"
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    if size == 0:
        return sign + "0.0"
    if not 1e-5 <= size < 1e16:
        return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"


def second(tree: Any, *, sort: bool) -> str:
    """A second encoder, written from the page."""
    if isinstance(tree, Spelled):
        return str.__str__(tree)
    if isinstance(tree, float):
        return second_spelling(tree)
    if isinstance(tree, str):
        short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
        escape = re.compile('["\\\\\x00-\x1f\ud800-\udfff]')
        return '"' + escape.sub(lambda m: short.get(m[0], f"\\u{ord(m[0]):04x}"), tree) + '"'
    if isinstance(tree, list):
        return "[" + ",".join(second(item, sort=sort) for item in tree) + "]"
    if isinstance(tree, dict):
        keys = sorted(tree, key=lambda key: key.encode("utf-8", "surrogatepass")) if sort else list(tree)
        return "{" + ",".join(second(key, sort=sort) + ":" + second(tree[key], sort=sort) for key in keys) + "}"
    return json.dumps(tree)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["input"].encode("ascii").decode()[:30])
def test_vector(vector: dict[str, str]) -> None:
    tree = parse_json(vector["input"].encode())
    assert stored_form(tree) == vector["stored"].encode()
    assert canonical_form(tree) == vector["canonical"].encode()
    assert content_ref(stored_form(tree)) == vector["ref"]
    assert content_digest(tree) == vector["digest"]
    assert stored_form(parse_json(vector["stored"].encode())) == vector["stored"].encode()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["input"][:30])
def test_vector_by_a_second_implementation(vector: dict[str, str]) -> None:
    tree = json.loads(vector["input"], parse_float=second_float)
    assert second(tree, sort=False) == vector["stored"]
    assert second(tree, sort=True) == vector["canonical"]
    assert "sha256:" + hashlib.sha256(vector["stored"].encode()).hexdigest() == vector["ref"]
    assert hashlib.sha256(vector["canonical"].encode()).hexdigest() == vector["digest"]


def test_the_vectors_reach_the_borders() -> None:
    stored = [vector["stored"] for vector in VECTORS]
    assert len(VECTORS) >= 40
    for needed in ("-0.0", "1e16", "9999999999999998.0", "0.00001", "9.9e-6", "5e-324", "18446744073709551616"):
        assert needed in stored


def test_every_tag_is_documented() -> None:
    names = {
        value for name, value in vars(tags).items() if name[0].isupper() and name != "TAG" and isinstance(value, str)
    }
    table = TEXT.partition("## Tags")[2].partition("## Exceptions")[0]
    documented = {name for row in re.findall(r"^\| (`[^|]*`) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert documented == names


def test_the_limits_are_the_documented_ones() -> None:
    from stashdbg_core.store.limits import Limits

    table = TEXT.partition("## Limits")[2]
    for name in ("depth", "events", "blobs", "digits"):
        assert f"| `{name}` | {getattr(Limits(), name):,} |" in table
    assert (Limits().size, Limits().line) == (16 * 10**9, 2 * 10**9)


def test_every_kind_of_note_on_a_recording_is_documented() -> None:
    store = "".join(path.read_text() for path in Path(stashdbg_core.store.__file__).parent.glob("*.py"))
    made = set(re.findall(r"""(?:notes\.add|Note)\(\s*"([a-z-]+)(?=",)""", store)) | {"odd-events", "odd-blobs"}
    table = TEXT.partition("## Notes")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*`) \|", table, re.M)
    assert {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)} == made
