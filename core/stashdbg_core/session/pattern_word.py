"""The word that every match of a regular expression holds, if that is plain to see.

A value whose JSON text lacks the word needs no search. Only letters outside of all groups count, of a pattern without
alternatives at its top and without anything that gives letters another meaning; where in doubt there is no word.
"""

from __future__ import annotations

import re

_SHORTEST = 3
_TOKEN = re.compile(
    r"(?P<word>[A-Za-z_]+)|(?P<plain>\\[dDwWsSbBAZnrt]|\\[^A-Za-z0-9]|[.^$])|(?P<repeat>[*?+]|\{[0-9, ]*\})"
    r"|(?P<set>\[\^?\]?(?:\\.|[^\]\\\[])*\])|(?P<open>\((?!\?(?![:=!<P>])))|(?P<close>\))|(?P<other>[^\\\[\](){}|*?+.^$])",
    re.DOTALL,
)
_ODD_CASE = re.compile("[iksIKS]")
"""Letters that have more cases than two where case does not count."""
_SAID_OTHERWISE = frozenset("aefilnrstuyNI")
"""Letters of ``true``, ``false``, ``null``, ``NaN`` and ``Infinity``, which values may be written with."""


def required_word(pattern: str, ignores_case: bool) -> str | None:
    """Return the longest word of which it is plain that every match of a pattern holds it; None if there is none."""
    words: list[str] = []
    word = ""
    depth = at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            if pattern[at] == "|" and depth:
                at += 1
                continue
            return None
        at = token.end()
        kind = token.lastgroup
        if kind == "repeat":
            word = word[:-1]
        words.append(word)
        word = ""
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "word" and not depth:
            word = token["word"]
    words.append(word)
    if ignores_case:
        words = [part for word in words for part in _ODD_CASE.split(word)]
    best = max(words, key=len)
    return best if len(best) >= _SHORTEST and not _SAID_OTHERWISE.issuperset(best) else None
