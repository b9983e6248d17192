"""JSON text laid out for reading, line by line and on demand.

The text is lexed, never parsed: numbers stay as spelled, depth costs nothing, and a damaged or cut-off text reads as
far as it goes. A line costs at most ``PIECE`` characters whatever the value is, so 30 MB in one string are many
lines, not one. Keys lose their quotes and items their commas; a text with line feeds stands as its lines; short flat
objects and runs of numbers share one; a tagged value without parts is read as what it stands for, bytes with a dump
of their head.
"""

from __future__ import annotations

import re
from array import array
from json import loads

from stashdbg_core.errors import StashError
from stashdbg_core.parse import parse_json
from stashdbg_core.session.line_pointers import DUMP as _DUMP
from stashdbg_core.session.line_pointers import LINE as _LINE
from stashdbg_core.session.line_pointers import MORE as _MORE
from stashdbg_core.session.line_pointers import NOTE as _NOTE
from stashdbg_core.session.line_pointers import PLAIN as _PLAIN
from stashdbg_core.session.line_pointers import SCALAR as _SCALAR_LINE
from stashdbg_core.session.line_pointers import LinePointers
from stashdbg_core.session.lines import Gutter, Line, Token
from stashdbg_core.session.scalars import BYTES_TAGS, Scalar, bytes_scalar, read_scalar
from stashdbg_core.session.words import size_words
from stashdbg_core.tags import TAG

PIECE = 4096
"""Characters of JSON text that one line covers at most."""

_INLINE = 72
"""Characters up to which a flat object or list, or a run of numbers, is kept on one line."""
_KEY_SHOWN = 200

_SPACE = re.compile(r"[\s,]*+")
_COLON = re.compile(r"\s*+:\s*+")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_PIECE = re.compile(r'(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^nu])*+', re.DOTALL)
_HALF_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
_FLAT = re.compile(r'[\[{](?:[^\[\]{}"]++|"(?:[^"\\]++|\\[^n])*+")*+[\]}]')
_EMPTY = re.compile(r"\{\s*+\}")
_RUN = re.compile(r"(?:(?:-?\d[\d.eE+-]*+|true|false|null)\s*+,\s*+)++")
_SCALAR = re.compile(r'[^\s,\[\]{}"]++')
_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\]++|\\.)*+"?)|(?P<punctuation>[\[\]{},:])|\s++|(?P<scalar>[^\s\[\]{},:"]++)', re.DOTALL
)
_BARE_KEY = re.compile(r"[^\W\d][\w.$/-]*+")
_TAGGED = re.compile(r'\{\s*+"\$stash"\s*+:(?:[^\[\]{}"]++|"(?:[^"\\]++|\\.)*+")*+\}')
"""A tagged value without parts."""
_BYTES = re.compile(
    rf'\{{\s*+"\$stash"\s*+:\s*+"({"|".join(BYTES_TAGS)})"\s*+,\s*+"base64"\s*+:\s*+"([A-Za-z0-9+/]*+=*+)(?:("\s*+\}})|\Z)'
)
"""Bytes; cut off if the third group is missing."""

_GUTTERS: tuple[Gutter, ...] = ("", "line", "more", "", "", "")


class PayloadLines:
    """The lines of one JSON text.

    Args:
        text: The text, or its head.
        omitted: Bytes of the value that ``text`` leaves out; told in a last line.
    """

    def __init__(self, text: str, *, omitted: int = 0) -> None:
        self._text = text
        self._omitted = omitted
        self._at = 0
        self._inside = bytearray()
        """Open brackets, outermost first."""
        self._in_string = False
        self._after_break = True
        """In a string: whether the next piece starts a line of it."""
        self._starts, self._ends, self._depths, self._forms = array("Q"), array("Q"), array("L"), bytearray()
        self._bytes: dict[int, Scalar] = {}
        """Bytes that are laid out, by where their tag begins."""
        self.complete = False
        self.has_crlf = False
        """Whether a text in it has CRLF line ends, which are shown as plain ones."""

    @property
    def count(self) -> int:
        """Lines laid out so far."""
        return len(self._forms)

    def extend(self, lines: int) -> None:
        """Lay out up to so many further lines."""
        until = self.count + lines
        while not self.complete and self.count < until:
            if self._in_string:
                self._take_piece()
            else:
                self._take_item()

    def line(self, index: int) -> Line:
        """Return a line that is laid out; bounded work."""
        form, depth = self._forms[index], self._depths[index]
        if form == _NOTE:
            return Line(0, [(f"… {size_words(self._omitted)} more, :write FILE saves all of it", "note")])
        start, end = self._starts[index], self._ends[index]
        if form == _DUMP:
            dump = self._bytes[start].dump
            return Line(depth, dump.row(end) if dump is not None else [])
        if form == _SCALAR_LINE:
            value = self._value_after(start)
            scalar = self._bytes.get(value) or self._scalar(value)
            return Line(depth, [*_tokens(self._text[start:value]), *(scalar.tokens if scalar is not None else [])])
        text = self._text[start : min(end, start + 3 * PIECE)]
        tokens: list[Token] = [(_decoded(text), "string")] if form in (_LINE, _MORE) else _tokens(text)
        return Line(depth, tokens, _GUTTERS[form])

    def pointer(self, index: int) -> str | None:
        """Return the JSON pointer of the field that a line belongs to; None for a remark."""
        return LinePointers(self._text, self._starts, self._ends, self._depths, self._forms).of(index)

    def _emit(self, start: int, end: int, form: int = _PLAIN, deeper: int = 0) -> None:
        self._starts.append(start)
        self._ends.append(end)
        self._depths.append(len(self._inside) + deeper)
        self._forms.append(form)

    def _take_item(self) -> None:
        """Lay out what starts here: a bracket, or a value with its key."""
        text, inside = self._text, self._inside
        start = self._at = _end(_SPACE, text, self._at)
        if start >= len(text):
            self._finish()
            return
        if text[start] in "]}":
            if inside:
                inside.pop()
            self._emit(start, start + 1)
            self._at = start + 1
            return
        value = self._value_after(start) if inside and inside[-1] == 0x7B else start
        opener = text[value : value + 1]
        if opener == "{" and self._take_scalar(start, value):
            return
        if opener in ("{", "["):
            # The fields of a whole value have a line each, so that every one can be pointed at.
            flat = _FLAT.match(text, value, value + _INLINE) if inside or opener == "[" else _EMPTY.match(text, value)
            self._at = flat.end() if flat else value + 1
            self._emit(start, self._at)
            if not flat:
                inside.append(ord(opener))
        elif opener == '"':
            self._take_string(start, value)
        else:
            run = _RUN.match(text, start, start + _INLINE) if value == start else None
            self._at = run.end() if run else max(_end(_SCALAR, text, value), min(value + 1, len(text)))
            self._emit(start, self._at)

    def _value_after(self, start: int) -> int:
        """Return where the value of a member begins; of anything else, where it begins itself."""
        colon = _COLON.match(self._text, _end(_STRING, self._text, start)) if self._text[start] == '"' else None
        return colon.end() if colon else start

    def _take_scalar(self, start: int, value: int) -> bool:
        """Lay out a tagged value without parts, if one stands here."""
        scalar = self._scalar(value)
        if scalar is None:
            return False
        self._at = _end(_BYTES, self._text, value) if scalar.dump else _end(_TAGGED, self._text, value)
        self._emit(start, self._at, _SCALAR_LINE)
        if scalar.dump is not None:
            self._bytes[value] = scalar
            for offset in scalar.dump.rows:
                self._emit(value, offset, _DUMP, 1)
        return True

    def _scalar(self, value: int) -> Scalar | None:
        found = _BYTES.match(self._text, value)
        try:
            if found:
                return bytes_scalar(found[1], found[2], cut=found[3] is None)
            tagged = _TAGGED.match(self._text, value, value + PIECE)
            return read_scalar(parse_json(tagged[0].encode())) if tagged else None
        except (StashError, ValueError):
            return None

    def _take_string(self, start: int, quote: int) -> None:
        end = _end(_PIECE, self._text, quote + 1, quote + 1 + PIECE)
        if self._text[end : end + 1] == '"' and end - quote <= PIECE:
            self._at = end + 1
            self._emit(start, self._at)
            return
        if quote > start:
            self._emit(start, quote)
        self._in_string, self._after_break, self._at = True, True, quote + 1

    def _take_piece(self) -> None:
        """Lay out the next line of a text, or the next piece of a long line."""
        text, start = self._text, self._at
        end = _end(_PIECE, text, start, start + PIECE)
        form = _LINE if self._after_break else _MORE
        deeper = 1 if self._inside else 0
        if text.startswith("\\n", end):
            crlf = end - start >= 2 and text.startswith("\\r", end - 2)
            self.has_crlf |= crlf
            self._emit(start, end - 2 * crlf, form, deeper)
            self._after_break, self._at = True, end + 2
            return
        if end < len(text) and text[end] != '"':
            if end - start > 6 and _HALF_PAIR.fullmatch(text, end - 6, end):
                end -= 6
            if end == start:  # a broken escape: shown as it stands
                end = min(start + 2, len(text))
            self._emit(start, end, form, deeper)
            self._after_break, self._at = False, end
            return
        if end > start or self._after_break:
            self._emit(start, end, form, deeper)
        self._in_string, self._at = False, end + 1

    def _finish(self) -> None:
        if self._omitted:
            self._emit(0, 0, _NOTE)
        self.complete = True


def _end(pattern: re.Pattern[str], text: str, start: int, limit: int | None = None) -> int:
    match = pattern.match(text, start) if limit is None else pattern.match(text, start, limit)
    return match.end() if match else start


def _decoded(text: str) -> str:
    """Return what the inside of a JSON string stands for; a broken escape leaves it as it stands."""
    if "\\" not in text:
        return text
    try:
        decoded = loads(f'"{text}"', strict=False)
    except ValueError:
        return text
    return decoded if isinstance(decoded, str) else text


def _tokens(text: str) -> list[Token]:
    """Return the tokens of a line of JSON text, as they read best."""
    out: list[Token] = []
    found = [match for match in _TOKEN.finditer(text) if match.lastgroup]
    expect_tag = False
    for place, match in enumerate(found):
        token = match.group()
        if match.lastgroup == "string":
            if place + 1 < len(found) and found[place + 1].group() == ":":
                key = _decoded(token[1:-1]) if len(token) <= PIECE else token[1:PIECE]
                expect_tag = key == TAG
                bare = _BARE_KEY.fullmatch(key)
                key = key if len(key) <= _KEY_SHOWN else key[:_KEY_SHOWN] + "…"
                out.append((key if bare else f'"{key}"', "tag" if expect_tag else "key"))
                continue
            out.append(
                (f'"{_decoded(token[1:-1])}"' if token[-1:] == '"' else token, "tag" if expect_tag else "string")
            )
            expect_tag = False
        elif match.lastgroup == "punctuation":
            out.append(({",": ", ", ":": ": "}.get(token, token), "punctuation"))
        elif token[0] in "-0123456789":
            out.append((token if len(token) <= PIECE else token[:PIECE] + "…", "number"))
        else:
            out.append((token[:PIECE], "literal" if token in ("true", "false", "null") else "problem"))
    if out and out[-1][0] == ", ":
        out.pop()
    return out
