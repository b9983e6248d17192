"""Whose machine it was, taken out of what leaves it: home folders become ``~``, the user's name ``[user]``.

Names that many machines share (``root``, ``runner``) tell nothing and stay, for they are words of programs too.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

from stashdbg_core.redact.text import Replacement

HOME: Final = "~"
USER: Final = "[user]"

_SHARED: Final = frozenset(
    "root user users admin administrator ubuntu debian runner vscode docker node app home nobody guest test tests dev "  # noqa: SIM905
    "developer python code work worker agent assistant system tool default ec2-user azureuser codespace jovyan sandbox "
    "build builder ci git www-data daemon public shared".split()
)
_SHORTEST: Final = 3
_AFTER: Final = r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])"
_ESCAPE: Final = r"(?<=\\[nrtbf])"
"""A text may stand behind an escape of JSON in a text."""
_OTHER_HOME: Final = (
    rf"(?:(?:(?<![A-Za-z0-9.~_-])|{_ESCAPE})/(?:var/|export/)?(?:home|Users)/"
    r"|(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))"
    r"(?P<other>[A-Za-z0-9_][A-Za-z0-9._-]*)"
)
_OTHER_HOME_BYTES = re.compile(rb"(?:home|Users)(?:\\{0,8}/|\\{2,8})[A-Za-z0-9_]")


@dataclass(frozen=True, slots=True)
class Person:
    """Who reports.

    Args:
        homes: Absolute paths of their home folder.
        names: Names they are known by on the machine.
    """

    homes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def here(cls) -> Person:
        """Return whoever runs this process, by its environment and its account."""
        homes, names = [os.path.expanduser("~")], [os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")]
        try:
            import pwd

            account = pwd.getpwuid(os.getuid())
        except (ImportError, KeyError):  # no such table, or an account without an entry, as in many containers
            pass
        else:
            homes.append(account.pw_dir)
            names.append(account.pw_name)
        homes += [os.path.realpath(home) for home in homes if home]
        return cls(tuple(dict.fromkeys(homes)), tuple(dict.fromkeys(names)))


class PersonalText:
    """Takes one person out of texts and counts how often.

    Attributes:
        counts: Places changed, by ``home`` and ``user``.
    """

    def __init__(self, person: Person) -> None:
        homes = [home.rstrip("/\\") for home in person.homes]
        homes = sorted({home for home in homes if len(home) > 1}, key=lambda home: (-len(home), home))
        names = {*person.names, *(_folder_name(home) for home in homes)}
        names = {name for name in names if len(name) >= _SHORTEST and name.lower() not in _SHARED}
        self.counts: Counter[str] = Counter()
        self._pattern = _pattern(homes, sorted(names, key=lambda name: (-len(name), name)))
        spelled = {home.replace("\\", "\\\\") for home in homes} | names
        self._needles = [text.lower().encode("utf-8", "surrogatepass") for text in sorted(spelled)]
        self._escaped = any(not text.isascii() for text in spelled)

    def suspects(self, stored: bytes) -> bool:
        """Tell whether JSON text may hold something to replace; a no is certain."""
        lowered = stored.lower()
        if any(needle in lowered for needle in self._needles):
            return True
        if b"\\/" in stored or b'"base64"' in stored or (self._escaped and b"\\u" in stored):
            return True
        return b'"stream"' in stored or _OTHER_HOME_BYTES.search(stored) is not None

    def replacements(self, text: str) -> list[Replacement]:
        """Return what to write instead of the person in ``text``: disjoint stretches in order; each is counted."""
        found = []
        for match in self._pattern.finditer(text):
            group = match.lastgroup or "name"
            found.append(Replacement(*match.span(group), HOME if group == "home" else USER))
            self.counts["home" if group == "home" else "user"] += 1
        return found

    def replace(self, text: str) -> str:
        """Return ``text`` without the person; the same object if they are not in it."""
        return rewritten(text, self.replacements(text))


def rewritten(text: str, replacements: Sequence[Replacement]) -> str:
    """Return ``text`` with disjoint stretches replaced; the same object if there are none."""
    if not replacements:
        return text
    parts: list[str] = []
    end = 0
    for start, stop, new in replacements:
        parts += text[end:start], new
        end = stop
    return "".join([*parts, text[end:]])


def _pattern(homes: list[str], names: list[str]) -> re.Pattern[str]:
    """Return a pattern whose groups are the home, somebody's folder name after ``/home/``, and a name.

    A home of one step, such as ``/root``, counts only where a path can begin.
    """
    deep = [re.escape(home) for home in homes if home.count("/") + home.count("\\") > 1]
    flat = [re.escape(home) for home in homes if home.count("/") + home.count("\\") <= 1]
    ways = []
    if deep:
        ways.append("|".join(deep))
    if flat:
        ways.append(rf"(?:(?<![A-Za-z0-9.~_-])|{_ESCAPE})(?:{'|'.join(flat)})")
    parts = [rf"(?P<home>(?:{'|'.join(ways)}){_AFTER})"] if ways else []
    parts.append(_OTHER_HOME)
    if names:
        either = "|".join(map(re.escape, names))
        parts.append(rf"(?:(?<![A-Za-z0-9])|{_ESCAPE})(?P<name>(?i:{either}))(?![A-Za-z0-9])")
    return re.compile("|".join(parts))


def _folder_name(home: str) -> str:
    return (PureWindowsPath(home) if "\\" in home else PurePosixPath(home)).name
