"""Whose machine it was, taken out of what leaves it: home folders become ``~``, the user's name ``[user]``.

Names that many machines share (``root``, ``runner``) tell nothing and stay, for they are words of programs too.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

HOME: Final = "~"
USER: Final = "[user]"

_SHARED: Final = frozenset(
    "root user users admin administrator ubuntu debian runner vscode docker node app home nobody guest test tests dev "  # noqa: SIM905
    "developer python code work worker agent assistant system tool default ec2-user azureuser codespace jovyan sandbox "
    "build builder ci git www-data daemon public shared".split()
)
_SHORTEST: Final = 3
_AFTER: Final = r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])"
_OTHER_HOME = re.compile(
    r"(?P<before>(?<![A-Za-z0-9.~_-])/(?:var/|export/)?(?:home|Users)/|(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))"
    r"(?!\[user\])(?P<name>[A-Za-z0-9_][A-Za-z0-9._-]*)"
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
        import pwd

        homes, names = [os.path.expanduser("~")], [os.environ.get(name, "") for name in ("USER", "LOGNAME")]
        try:
            account = pwd.getpwuid(os.getuid())
        except KeyError:  # an account without an entry, as in many containers
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
        self._homes = _either(homes, _AFTER, 0)
        ordered = sorted(names, key=lambda name: (-len(name), name))
        self._names = _either(ordered, "(?![A-Za-z0-9])", re.IGNORECASE, before="(?<![A-Za-z0-9])")
        spelled = {home.replace("\\", "\\\\") for home in homes} | names
        self._needles = [text.lower().encode("utf-8", "surrogatepass") for text in sorted(spelled)]
        self._escaped = any(not text.isascii() for text in spelled)

    def suspects(self, stored: bytes) -> bool:
        """Tell whether JSON text may hold something to replace; a no is certain."""
        lowered = stored.lower()
        if any(needle in lowered for needle in self._needles):
            return True
        if b"\\/" in stored or (self._escaped and b"\\u" in stored):
            return True
        return _OTHER_HOME_BYTES.search(stored) is not None

    def replace(self, text: str) -> str:
        """Return ``text`` without the person; the same object if they are not in it."""
        if self._homes is not None:
            text = self._sub(self._homes, HOME, text, "home")
        text = self._sub(_OTHER_HOME, rf"\g<before>{USER}", text, "user")
        if self._names is not None:
            text = self._sub(self._names, USER, text, "user")
        return text

    def _sub(self, pattern: re.Pattern[str], new: str, text: str, kind: str) -> str:
        replaced, count = pattern.subn(new, text)
        if not count:
            return text
        self.counts[kind] += count
        return replaced


def _either(texts: list[str], after: str, flags: int, before: str = "") -> re.Pattern[str] | None:
    if not texts:
        return None
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, texts))}){after}", flags)


def _folder_name(home: str) -> str:
    return (PureWindowsPath(home) if "\\" in home else PurePosixPath(home)).name
