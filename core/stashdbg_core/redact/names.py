"""Names that announce a secret: ``api_key``, ``X-API-KEY``, ``clientSecret``, ``Set-Cookie``.

A name is compared with ASCII case and every ``-``, ``_``, ``.`` and space gone. Names that count or configure tokens
(``max_tokens``, ``tokenizer``, ``next_page_token``) are not secret, whatever they end in.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache
from typing import Final

MAX_NAME: Final = 128
"""A longer name is judged by its last characters."""

_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase, "-_. ")

SUFFIX: Final = (
    r"(?:values?|raw|plain|text|confirmation|confirm|old|new|current|production|prod|dev|test|staging|live|base64|b64|pem"
    r"|header|string|str|env|[0-9])*"
)
"""What a name may go on with and still be the name of the secret: ``password2``, ``api_key_prod``, ``secretValue``."""

STEMS: Final[dict[str, tuple[str, ...]]] = {
    "password": ("password", "passwords", "passwd", "passphrase", "passcode", "passwort", "pwd"),
    "api-key": (
        "apikey",
        "apikeys",
        "accesskey",
        "accesskeyid",
        "authkey",
        "subscriptionkey",
        "servicekey",
        "licensekey",
    ),
    "private-key": (
        "privatekey",
        "signingkey",
        "encryptionkey",
        "masterkey",
        "sshkey",
        "accountkey",
        "sharedaccesskey",
    ),
    "secret": ("secret", "secrets", "secretkey", "secretaccesskey"),
    "authorization": ("authorization",),
    "token": ("token", "authtokens", "accesstokens", "refreshtokens", "apitokens"),
    "cookie": ("cookie", "cookies"),
    "credential": ("credential", "credentials"),
}
"""Kind of secret -> what its names end in, a suffix apart."""

EXACT: Final = frozenset({"auth", "xauth", "basicauth", "httpauth", "proxyauth"})
"""Whole names of the kind ``authorization``."""

SHORT: Final[dict[str, str]] = {"pin": "pin", "otp": "pin", "mfa": "pin", "cvv": "pin", "cvc": "pin", "jwt": "token"}
"""Three letters that mean a secret only as a whole key, never in running text."""

QUERY: Final[dict[str, str]] = {
    "sig": "signature",
    "signature": "signature",
    "xamzsignature": "signature",
    "xgoogsignature": "signature",
    "pass": "password",
}
"""Names that mean a secret in the query of a URL only."""

NUMERIC: Final = frozenset({"password", "pin", "secret", "api-key", "private-key"})
"""Kinds under which a number is a secret too; a number under ``token`` is a count or a vocabulary index."""

_COUNTED = frozenset(
    "max min num number count total input output prompt completion cached cache reasoning thinking text audio "  # noqa: SIM905
    "image video tool context per first last top avg mean n new page next prev previous continuation sync bos eos pad "
    "unk sep cls mask stop start end begin special added vision budget used remaining limit delta".split()
)
_COUNTED_ENDINGS = ("page", "max", "continuation")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TAIL = re.compile(
    "(?P<stem>" + "|".join(sorted((s for v in STEMS.values() for s in v), key=len, reverse=True)) + ")" + SUFFIX + r"\Z"
)
_KIND_OF_STEM = {stem: kind for kind, stems in STEMS.items() for stem in stems}


def normalise_name(name: str) -> str:
    """Return ``name`` as names are compared: ASCII case, ``-``, ``_``, ``.`` and spaces ignored."""
    return name.translate(_FOLD)


def sensitive_kind(name: str) -> str | None:
    """Return the kind of secret that a key called ``name`` announces, or None if it announces none."""
    return (
        SHORT.get(name.lower())
        if len(name) == 3 and name.isascii() and name.lower() in SHORT
        else _kind(name[-MAX_NAME:])
    )


def sensitive_text_kind(name: str) -> str | None:
    """Return the kind of secret that ``name`` announces in running text, or None."""
    return _kind(name[-MAX_NAME:])


def sensitive_query_kind(name: str) -> str | None:
    """Return the kind of secret that a URL query parameter called ``name`` holds, or None."""
    return QUERY.get(normalise_name(name[-MAX_NAME:])) or sensitive_text_kind(name)


@lru_cache(maxsize=4096)
def _kind(name: str) -> str | None:
    plain = normalise_name(name)
    if plain in EXACT:
        return "authorization"
    found = _TAIL.search(plain)
    if found is None:
        return None
    kind = _KIND_OF_STEM[found["stem"]]
    return None if kind == "token" and _is_counted(name, plain[: found.start()]) else kind


def _is_counted(name: str, before: str) -> bool:
    """Tell whether a token name is of tokens that are counted, configured or paged through."""
    if before in _COUNTED or before.endswith(_COUNTED_ENDINGS):
        return True
    words = [word.lower() for word in _WORD.findall(name)]
    place = next((i for i, word in enumerate(words) if word in ("token", "tokens")), 0)
    return place > 0 and words[place - 1] in _COUNTED
