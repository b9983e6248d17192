"""What the texts of a list announce about those after them: arguments of a command line, lines of a private key."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stashdbg_core.canonical import Json

_LOGINS: Final = dict.fromkeys(("-u", "--user", "-U", "--proxy-user"), "password")
_COOKIES: Final = dict.fromkeys(("-b", "--cookie"), "cookie")
_FLAGS: Final[dict[str, dict[str, str]]] = {
    "curl": _LOGINS | _COOKIES,
    "sshpass": {"-p": "password"},
    "openssl": dict.fromkeys(("-pass", "-passin", "-passout"), "password"),
}
"""Program -> flags whose argument is a secret, though their names do not say so."""
_SIGN: Final = dict.fromkeys(_LOGINS, ":") | dict.fromkeys(_COOKIES, "=") | dict.fromkeys(_FLAGS["openssl"], "pass:")
"""What tells a login from the mere name of a user, a cookie from that of a file, and a password from where one is."""
_ONE_WORD: Final = re.compile(r"(?:mysql|mariadb)[a-z-]{0,20}|sshpass")
"""Programs that take ``-p`` and the password in one word."""
_OF_A_KEY: Final = re.compile(r"[A-Za-z0-9+/=]*\s*|[A-Za-z-]{1,40}: \S{1,200}\s*")


@dataclass(slots=True)
class Before:
    """The items of a list so far."""

    program: str | None = None
    previous: str = ""
    in_key: bool = False

    def announces(self, item: Json, kind_of: Callable[[str], str | None]) -> str | None:
        """Return the kind of secret that the next item is, if those before it tell."""
        text = item if type(item) is str else ""
        previous, self.previous = self.previous, text
        if self.program is None:
            self.program = text.rpartition("/")[2]
        goes_on = item == text and not text.startswith("Private-MAC") and _OF_A_KEY.fullmatch(text) is not None
        self.in_key = self.in_key and goes_on
        if self.in_key:
            return "private-key"
        begins = "PRIVATE KEY" in text and "-----BEGIN " in text and "-----END " not in text
        self.in_key = begins or text.startswith("Private-Lines: ")
        if text[:2] == "-p" and len(text) > 2 and text[2] not in "$[{<" and _ONE_WORD.fullmatch(self.program):
            return "password"
        if previous[:1] != "-" or text[:1] in ("-", ""):
            return None
        kind = _FLAGS.get(self.program, {}).get(previous)
        if kind is not None:
            return kind if _SIGN.get(previous, "") in text else None
        name = previous.lstrip("-")
        return kind_of(name) if len(name) > 3 else None
