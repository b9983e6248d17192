"""The cheap look that decides whether a value is looked at closely.

It sees the stored bytes once lower-cased without ``-``, ``_``, ``.`` and spaces, for names, and once by class, for runs
of token characters. It may say yes in vain; it never says no to what the full pass would mask. JSON text and plain
text are the same to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from stashdbg_core.redact.multipart import MARK
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
_RUNS: Final = re.compile(_RUN + b"a*")
_DISCORD: Final = b".aaaaaa."
_SHORT: Final = b'"aaa"'
_AFTER: Final = SUFFIX.encode() + rb"""["'\\\])]{0,24}(?:[:=,}>]|%3d)"""
"""What follows a name that announces a secret: quotes, then what sets the value off or ends their pair."""

_KEY_STEMS: Final = sorted(
    {stem[: stem.index("key") + 3] for stems in STEMS.values() for stem in stems if "key" in stem}
)
_TOKEN_STEMS: Final = sorted(stem[:-1].encode() for stem in STEMS["token"] if stem.endswith("s"))


def _behind(stems: Iterable[bytes]) -> bytes:
    return b"(?:" + b"|".join(b"(?<=" + stem + b")" for stem in stems) + b")"


def _one_of(*parts: bytes) -> bytes:
    return b"(?:" + b"|".join(parts) + b")"


_KEY: Final = b"ey(?:" + _behind(s.encode() for s in _KEY_STEMS) + b"(?:s|id)?" + _AFTER + b"|(?<=privatekey))"
_TOKEN: Final = _one_of(b"(?<!pagetoken)(?<!maxtoken)", _behind(_TOKEN_STEMS) + b"s") + _AFTER
_COOKIE: Final = b"ie(?:(?<=<cookie)|s?(?:(?<=cookie)|(?<=cookies))" + _AFTER + b")"
_WEBHOOK: Final = b"s(?:(?<=hooks)slackcom/|/(?<=/api/webhooks/))"
_NAMES: Final = (
    re.compile(b"k" + _one_of(_KEY, b"en(?<=token)" + _TOKEN, _COOKIE, _WEBHOOK)),
    re.compile(b"cre" + _one_of(b"ts?(?:(?<=secret)|(?<=secrets))", b"dentials?") + _AFTER),
    re.compile(b"p(?:" + _one_of(b"ass(?:w(?:or[dt]s?|d)|phrase|code|)", b"wd") + _AFTER + b"|ass(?<=sshpass))"),
    re.compile(b"uth(?<=auth)(?:orization)?" + _AFTER),
)
"""Names that announce secrets, and addresses that are one. Each pattern begins with what is rare in texts: ``re`` finds
that as fast as ``in`` does, and looks back from there."""
_SCHEMES: Final = re.compile(b"b(?:earer|asic)")
_BEARER = re.compile(rb"(?i:bearer)(?:[ +\t\r\n]|%20|\\[tnr])+[A-Za-z0-9._~+/-]{8}")
_BASIC = re.compile(rb"(?i:basic)(?:[ +]|%20)+[A-Za-z0-9+/]{6}")
_FLAG = re.compile(rb"--([A-Za-z][A-Za-z0-9-]{1,60}) ")
_CURL = re.compile(rb"[ \"](?:-[bUu]|--(?:user|proxy-user|cookie))")
_DASH = re.compile(rb"-(?:-(?=[A-Za-z])|data(?<=form-data)|p(?<=[ \"]-p)|Lines: (?<=Private-Lines: ))")
_FORM: Final = MARK.encode()
_PIPED = re.compile(rb"chpasswd|-stdin|sudo [^|\r\n]{0,80}-[A-Za-z]{0,8}S")
_HASH = re.compile(rb"\$(?:apr1|2[abxy]|[156y])\$")
_ESCAPED_LETTER = re.compile(rb"\\u00[2-7]")
"""Of JSON in a text: what it spells is known only when it is read."""
_SIGNATURE = re.compile(rb"sig(?:nature)?(?:=|%3d)")
_URL_USER = re.compile(rb"://(?:[^\s/?#@:\"'<>\\]{0,256}:[^\s/?#\"'<>\\]{1,512}|[A-Za-z0-9]{20,512})@")
_SHORT_NAMES: Final = frozenset(name.encode() for name in SHORT)

_WORDS: Final = frozenset(
    b"sk rk whsec ghp gho ghu ghs ghr github xapp hf api npm pypi key dop doo dor gsk xai pplx r8 tvly lsv2 pcsk figd "
    b"sbp lin ntn glsa glc NRAK PMAK sntrys sntryu nvapi fw sq0atp sq0csp dckr rubygems atlasv1 AGE GOCSPX shpat shpca "
    b"shppa shpss glpat gldt glrt glrtr glcbt glptt glft glimt glagent gloas glsoat glffct xoxa xoxb xoxc xoxe xoxo "
    b"xoxp xoxr xoxs".split()
)
"""What stands before the first ``-`` or ``_`` of the shapes that have one."""
_BEGINNING: Final = re.compile(
    rb"(?<![A-Za-z0-9])(?:(?:sk-|[sr]k_(?:live|test)_|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|xox[abceoprs]-|xapp-|hf_|api_org_"
    rb"|npm_|pypi-A|do[opr]_v1_|gsk_|xai-|pplx-|r8_|tvly-|lsv2_(?:pt|sk)_|pcsk_|figd_|sbp_|lin_api_|ntn_|glsa_|glc_|NRAK-"
    rb"|PMAK-|sntry[su]_|nvapi-|fw_|sq0(?:atp|csp)-|dckr_pat_|rubygems_|atlasv1-|AGE-SECRET-KEY-1|GOCSPX-|shp(?:at|ca|pa|ss)_)"
    rb"[A-Za-z0-9_-]{10}|key-[0-9a-f]{32}|whsec_)"
)
"""How these shapes begin; most of the words above are words of programs too."""
_LONG_HEADS: Final = (b"SK", b"AC")
_HEADS: Final = frozenset(
    b"AIz AKI ASI ABI ACC A3T eyJ W3s ewo eyA dap AKC".split()
    + [b"us%d" % digit for digit in range(10)]
    + [head + b"%x" % digit for head in _LONG_HEADS for digit in range(16)]
)
"""The first three characters of the shapes that have no ``-`` or ``_``, and of a Mailchimp key's end."""
_BEFORE_POINT: Final = (b"SG.", b"hvs.", b"hvb.", b"hvr.", b"ya29.")
_TELEGRAM: Final = re.compile(rb"(?::|%3[Aa])AA")
_ESCAPE: Final = re.compile(rb"(?:\\(?:u[0-9a-fA-F]{4}|[nrtbf])|%[0-9A-Fa-f]{2})")
_TO_UNDERSCORE: Final = bytes.maketrans(b"- ", b"__")
_TELLING: Final = frozenset((b":", b"%", b"\\"))
"""What before a run, beside a point, may change what it is."""
_OF_NUMBERS: Final = b"0123456789.+-eE"
_LONGEST_NUMBER: Final = 40
_SHORTEST: Final = 6
"""The full pass leaves shorter texts alone."""


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
        self._only_ours = not own and not self._names

    def suspects(self, text: bytes) -> bool:
        """Tell whether ``text``, JSON in stored form or plain UTF-8, may hold something to mask."""
        size = len(text)
        if size < _SHORTEST or (size < _LONGEST_NUMBER and self._only_ours and not text.translate(None, _OF_NUMBERS)):
            return False
        folded = text.translate(_LOWER, _FOLDED)
        for name in _NAMES:
            if name.search(folded):
                return True
        classes = text.translate(_CLASS)
        if _RUN in classes and _has_known_run(text, classes):
            return True
        if _SHORT in classes and _has_short_name(text, classes):
            return True
        if _SCHEMES.search(folded) and (_BEARER.search(text) or _BASIC.search(text)):
            return True
        if b"@" in text and b"://" in text and _URL_USER.search(text):
            return True
        return self._looks_odd(text, folded)

    def _looks_odd(self, text: bytes, folded: bytes) -> bool:
        """Look for what the lack of a single rare byte rules out nearly always, and for what users added."""
        if b"~" in text and (b"8Q~" in text or b"7Q~" in text):
            return True
        if b"=" in text:
            if b"sig" in folded and _SIGNATURE.search(folded):
                return True
            if b"response=" in text and b"Digest " in text:
                return True
        if b"%" in text and ((b"%3a%2f%2f" in folded and b"%40" in text) or _SIGNATURE.search(folded)):
            return True
        if b"\\u00" in text and _ESCAPED_LETTER.search(text):
            return True
        if b"curl" in text and _CURL.search(text):
            return True
        if b"$" in text:
            if b'"$stash"' in text and (b'"stream"' in text or b'"base64"' in text):
                return True
            if _HASH.search(text):
                return True
        if b"|" in text and (b"echo " in text or b"printf " in text) and _PIPED.search(text):
            return True
        if b"-" in text and _DASH.search(text) and _has_form_or_flag(text):
            return True
        return not self._only_ours and self._wanted(text, folded)

    def _wanted(self, text: bytes, folded: bytes) -> bool:
        if self._always or any(name in folded for name in self._names):
            return True
        lowered = text.lower()
        return any(anchor in lowered for anchor in self._anchors)


def _has_form_or_flag(text: bytes) -> bool:
    if _FORM in text or b"Private-Lines: " in text:
        return True
    if (b" -p" in text or b'"-p' in text) and (b"mysql" in text or b"mariadb" in text):
        return True
    return b"--" in text and any(_is_name(flag) for flag in _FLAG.findall(text))


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


def _has_known_run(text: bytes, classes: bytes) -> bool:
    """Tell whether a run of token characters begins, or is preceded, as a known token does."""
    runs: list[bytes] = []
    for found in _RUNS.finditer(classes):
        start, end = found.span()
        run = text[start:end]
        if not run.isdigit():  # else it is a number, whose digits begin no token
            runs.append(run)
        before = text[start - 1 : start]
        if before == b".":
            if text.endswith(_BEFORE_POINT, 0, start) or classes.endswith(_DISCORD, 0, start):
                return True
        elif before in _TELLING:
            if _TELEGRAM.match(text, start - 1):
                return True
            if escape := _ESCAPE.match(before + run):
                runs.append(run[escape.end() - 1 :])
    if not runs:
        return False
    joined = b" ".join(runs)
    words = joined.translate(_TO_UNDERSCORE).split(b"_")
    if b"AIza" in joined or (not _WORDS.isdisjoint(words) and _BEGINNING.search(joined)):
        return True
    return not _HEADS.isdisjoint([word[:3] for word in words]) and any(map(_begins_token, words))


def _begins_token(word: bytes) -> bool:
    """Tell whether a word that has a known head is long, or short, enough for it."""
    head = word[:3]
    return head in _HEADS and (len(word) <= 4 if head[:2] == b"us" else len(word) >= 34 or head[:2] not in _LONG_HEADS)
