"""The cheap look that decides whether a value is looked at closely.

It sees the stored bytes once lower-cased without ``-``, ``_``, ``.`` and spaces, for names, and once by class, for runs
of token characters. It may say yes in vain; it never says no to what the full pass would mask. JSON text and plain
text are the same to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from stashdbg_core.redact.names import SHORT, STEMS, SUFFIX, normalise_name
from stashdbg_core.redact.rules import RUN, SECRETS, Rule

_LOWER: Final = bytes(c + 32 if 65 <= c <= 90 else c for c in range(256))
_FOLDED: Final = b"-_. "


def _class(code: int) -> int:
    """Token characters are ``a``, quotes and backslashes ``"``, a point itself, all else a space."""
    char = chr(code)
    if (char.isascii() and char.isalnum()) or char in "-_":
        return 0x61
    return 0x22 if char in "\"'\\" else 0x2E if char == "." else 0x20


_CLASS: Final = bytes(map(_class, range(256)))
_RUN: Final = b"a" * RUN
_DISCORD: Final = b".aaaaaa." + b"a" * 27
_SHORT: Final = b'"aaa"'
_MANY_RUNS: Final = 8
_AFTER: Final = SUFFIX.encode() + rb"""["'\\\])]{0,24}(?:[:=,]|%3d)"""
"""What follows a name that announces a secret: quotes, then what sets the value off."""

_KEY_STEMS: Final = sorted(
    {stem[: stem.index("key") + 3] for stems in STEMS.values() for stem in stems if "key" in stem}
)
_TOKEN_STEMS: Final = sorted(stem[:-1].encode() for stem in STEMS["token"] if stem.endswith("s"))


def _behind(stems: Iterable[bytes]) -> bytes:
    return b"(?:" + b"|".join(b"(?<=" + stem + b")" for stem in stems) + b")"


_NAMES: Final = (
    re.compile(b"key(?:" + _behind(s.encode() for s in _KEY_STEMS) + b"(?:s|id)?" + _AFTER + b"|(?<=privatekey))"),
    re.compile(b"token(?:(?<!pagetoken)(?<!maxtoken)" + _AFTER + b"|" + _behind(_TOKEN_STEMS) + b"s" + _AFTER + b")"),
    re.compile(b"secret(?:" + _AFTER + b"|s" + _AFTER + b")"),
    re.compile(b"pass(?:w(?:or[dt]s?|d)|phrase|code|)" + _AFTER),
    re.compile(b"auth(?:orization)?" + _AFTER),
    re.compile(b"cookies?" + _AFTER),
    re.compile(b"credentials?" + _AFTER),
    re.compile(b"pwd" + _AFTER),
)
"""What begins with a literal ``re`` finds as fast as ``in`` does; so every pattern does."""
_BEARER = re.compile(rb"(?i:bearer)(?:[ +\t\r\n]|%20|\\[tnr])+[A-Za-z0-9._~+/-]{8}")
_BASIC = re.compile(rb"(?i:basic)(?:[ +]|%20)+[A-Za-z0-9+/]{6}")
_FLAG = re.compile(rb"--([A-Za-z][A-Za-z0-9-]{1,60}) ")
_SIGNATURE = re.compile(rb"sig(?:nature)?(?:=|%3d)")
_URL_USER = re.compile(rb"://[^\s/?#@:\"'<>\\]{0,256}:[^\s/?#\"'<>\\]{1,512}@")
_SHORT_NAMES: Final = frozenset(name.encode() for name in SHORT)

_WORDS: Final = frozenset(
    b"sk rk whsec ghp gho ghu ghs ghr github xapp hf api npm pypi key dop doo dor gsk xai pplx r8 tvly lsv2 pcsk figd "
    b"sbp lin ntn glsa glc NRAK PMAK sntrys sntryu nvapi fw sq0atp sq0csp dckr rubygems atlasv1 AGE GOCSPX shpat shpca "
    b"shppa shpss glpat gldt glrt glrtr glcbt glptt glft glimt glagent gloas glsoat glffct xoxa xoxb xoxc xoxe xoxo "
    b"xoxp xoxr xoxs".split()
)
"""What stands before the first ``-`` or ``_`` of the shapes that have one."""
_HEADS: Final = frozenset(b"AIz AKI ASI ABI ACC A3T eyJ W3s ewo eyA dap AKC".split())
"""The first three characters of the shapes that have no ``-`` or ``_``."""
_BEFORE_POINT: Final = (b"SG.", b"hvs.", b"hvb.", b"hvr.", b"ya29.")
_TELEGRAM: Final = re.compile(rb"(?::|%3[Aa])AA")
_REST: Final = re.compile(b"a+")
_ESCAPE: Final = re.compile(rb"(?:\\(?:u[0-9a-fA-F]{4}|[nrtbf])|%[0-9A-Fa-f]{2})")
_TO_UNDERSCORE: Final = bytes.maketrans(b"-", b"_")
_ANYWHERE: Final = (
    *(re.compile(re.escape(word) + b"[-_]") for word in sorted(_WORDS)),
    *(re.compile(head + b"(?<![A-Za-z0-9]" + head + b")") for head in sorted(_HEADS)),
    *(re.compile(re.escape(head) + b"[A-Za-z0-9_-]{16}") for head in (*_BEFORE_POINT, b":AA", b"%3AAA", b"%3aAA")),
    *(re.compile(head + b"[0-9a-f]{32}") for head in (b"SK", b"AC")),
    *(re.compile(head) for head in (b"-us[0-9]", b"AIza", rb"\\neyJ", rb"%3DeyJ")),
)
"""For texts of many runs: what is searched at the speed of ``in``."""
_TELLING: Final = frozenset((b".", b":", b"%", b"\\"))
"""What before a run may change what it is."""


class Prefilter:
    """Tells texts that may hold a secret from those that cannot.

    Args:
        rules: What the full pass looks for; rules that are not ours are asked for by their anchors.
        names: Further names that announce secrets.
    """

    def __init__(self, rules: Iterable[Rule], names: Iterable[str] = ()) -> None:
        own = [rule for rule in rules if rule not in SECRETS]
        self._always = any(not rule.anchors for rule in own)
        self._anchors = tuple({anchor.encode("utf-8", "surrogatepass") for rule in own for anchor in rule.anchors})
        self._names = tuple(normalise_name(name).encode("utf-8", "surrogatepass") for name in names)

    def suspects(self, text: bytes) -> bool:
        """Tell whether ``text``, JSON in stored form or plain UTF-8, may hold something to mask."""
        folded = text.translate(_LOWER, _FOLDED)
        for name in _NAMES:
            if name.search(folded):
                return True
        classes = text.translate(_CLASS)
        if _RUN in classes and _has_prefix(text, classes):
            return True
        if _SHORT in classes and _has_short_name(text, classes):
            return True
        if b"bearer" in folded and _BEARER.search(text):
            return True
        if b"basic" in folded and _BASIC.search(text):
            return True
        if b"@" in text and b"://" in text and _URL_USER.search(text):
            return True
        return self._looks_odd(text, folded)

    def _looks_odd(self, text: bytes, folded: bytes) -> bool:
        """Look for what the lack of a single rare byte rules out nearly always, and for what users added."""
        if b"~" in text and (b"8Q~" in text or b"7Q~" in text):
            return True
        if b"=" in text and b"sig" in folded and _SIGNATURE.search(folded):
            return True
        if b"%" in text and ((b"%3a%2f%2f" in folded and b"%40" in text) or _SIGNATURE.search(folded)):
            return True
        if b"$" in text and (b'"$stash":"stream"' in text or b'"base64":' in text):
            return True
        if b"--" in text and any(_is_name(flag) for flag in _FLAG.findall(text)):
            return True
        return (self._always or self._names != () or self._anchors != ()) and self._wanted(text, folded)

    def _wanted(self, text: bytes, folded: bytes) -> bool:
        if self._always or any(name in folded for name in self._names):
            return True
        lowered = text.lower()
        return any(anchor in lowered for anchor in self._anchors)


def _is_name(flag: bytes) -> bool:
    folded = flag.translate(_LOWER, _FOLDED) + b"="
    return any(name.search(folded) for name in _NAMES)


def _has_short_name(text: bytes, classes: bytes) -> bool:
    found = classes.find(_SHORT)
    while found >= 0:
        if text[found + 1 : found + 4].lower() in _SHORT_NAMES:
            return True
        found = classes.find(_SHORT, found + 4)
    return False


def _has_prefix(text: bytes, classes: bytes) -> bool:
    """Tell whether a run of token characters begins, or is preceded, as a known token does."""
    end = 0
    for _ in range(_MANY_RUNS):
        found = classes.find(_RUN, end)
        if found < 0:
            break
        end = found + RUN
        if (rest := _REST.match(classes, end)) is not None:
            end = rest.end()
        if _is_known(text, found, end):
            return True
    else:
        if any(pattern.search(text) for pattern in _ANYWHERE):
            return True
    if b"hooks" in text and (b"hooks.slack.com" in text or b"/api/webhooks/" in text):
        return True
    return _DISCORD in classes


def _is_known(text: bytes, start: int, end: int) -> bool:
    """Tell whether the run ``text[start:end]`` holds the beginning of a known token."""
    run = text[start:end]
    words = run.translate(_TO_UNDERSCORE).split(b"_")
    before = text[start - 1 : start]
    if before in _TELLING:
        if text[max(start - 5, 0) : start].endswith(_BEFORE_POINT) or _TELEGRAM.match(text, start - 1):
            return True
        if escape := _ESCAPE.match(before + words[0]):
            words.append(words[0][escape.end() - 1 :])
    if not _WORDS.isdisjoint(words) or not _HEADS.isdisjoint([word[:3] for word in words]):
        return True
    if words[-1][:2] == b"us" or b"AIza" in run:
        return True
    return end - start >= 34 and any(len(word) >= 34 and word[:2] in (b"SK", b"AC") for word in words)
