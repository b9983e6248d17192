"""Secrets made up at test time, so that no scanner finds any in the repository."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

ALNUM = string.ascii_letters + string.digits
CRYPT = ALNUM + "./"


def _of(rng: random.Random, alphabet: str, n: int) -> str:
    return "".join(rng.choices(alphabet, k=n - 1)) + rng.choice(string.digits)


def _b64(rng: random.Random, n: int) -> str:
    return base64.urlsafe_b64encode(rng.randbytes(n)).decode().rstrip("=")


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits

SHAPES: dict[str, Callable[[random.Random], str]] = {
    "openai": lambda r: "sk-" + "proj-" + _of(r, ALNUM, 40),
    "anthropic": lambda r: "sk-" + "ant-api03-" + _of(r, ALNUM + "_-", 80),
    "google": lambda r: "AI" + "za" + _of(r, ALNUM + "_-", 35),
    "google-oauth": lambda r: "ya" + "29." + _of(r, ALNUM, 60),
    "aws": lambda r: "AK" + "IA" + _of(r, UPPER, 16),
    "github": lambda r: "gh" + r.choice("pous") + "_" + _of(r, ALNUM, 36),
    "github-pat": lambda r: "github" + "_pat_" + _of(r, ALNUM, 22) + "_" + _of(r, ALNUM, 59),
    "gitlab": lambda r: "gl" + "pat-" + _of(r, ALNUM + "_", 20),
    "slack": lambda r: "xo" + "xb-" + _of(r, string.digits, 12) + "-" + _of(r, ALNUM, 24),
    "stripe": lambda r: "sk" + "_live_" + _of(r, ALNUM, 24),
    "hugging-face": lambda r: "hf" + "_" + _of(r, ALNUM, 34),
    "jwt": lambda r: "eyJhbGciOiJIUzI1NiJ9" + "." + _b64(r, 40) + "." + _b64(r, 32),
    "npm": lambda r: "npm" + "_" + _of(r, ALNUM, 36),
    "pypi": lambda r: "pypi" + "-AgEIcHlwaS5vcmc" + _of(r, ALNUM, 60),
    "sendgrid": lambda r: "SG" + "." + _of(r, ALNUM, 22) + "." + _of(r, ALNUM, 43),
    "twilio": lambda r: "SK" + _of(r, HEX, 32),
    "telegram": lambda r: _of(r, "123456789", 10) + ":AA" + _of(r, ALNUM, 33),
    "discord": lambda r: "M" + _of(r, ALNUM, 25) + "." + _of(r, ALNUM, 6) + "." + _of(r, ALNUM, 38),
    "azure": lambda r: _of(r, ALNUM, 3) + "8Q~" + _of(r, ALNUM, 34),
    "mailgun": lambda r: "key-" + _of(r, HEX, 32),
    "digitalocean": lambda r: "dop" + "_v1_" + _of(r, HEX, 64),
    "shopify": lambda r: "shp" + "at_" + _of(r, HEX, 32),
    "databricks": lambda r: "da" + "pi" + _of(r, HEX, 32),
    "vault": lambda r: "hv" + "s." + _of(r, ALNUM, 28),
    "groq": lambda r: "gs" + "k_" + _of(r, ALNUM, 52),
}
"""25 kinds that are recognised by what they look like."""


def password(rng: random.Random) -> str:
    """Make a secret that only its name gives away."""
    return _of(rng, ALNUM + "!^*", 14)


def pem(rng: random.Random) -> str:
    """Make a private key."""
    body = base64.b64encode(rng.randbytes(600)).decode()
    lines = "\n".join(body[i : i + 64] for i in range(0, len(body), 64))
    return "-----BEGIN RSA PRIVATE" + f" KEY-----\n{lines}\n-----END RSA PRIVATE" + " KEY-----\n"


def putty_key(rng: random.Random) -> str:
    """Make a private key of PuTTY."""
    body = base64.b64encode(rng.randbytes(140)).decode()
    lines = [body[i : i + 64] for i in range(0, len(body), 64)]
    head = "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: k\nPublic-Lines: 1\nAAAAB3NzaC1yc2EAAAADAQAB\n"
    return f"{head}Private-Lines: {len(lines)}\n" + "\n".join(lines) + f"\nPrivate-MAC: {_of(rng, HEX, 64)}\n"


def password_hash(rng: random.Random) -> str:
    """Make a hash as files of passwords hold it."""
    kinds = [
        lambda: "$apr1$" + _of(rng, CRYPT, 8) + "$" + _of(rng, CRYPT, 22),
        lambda: "$1$" + _of(rng, CRYPT, 8) + "$" + _of(rng, CRYPT, 22),
        lambda: "$2y$10$" + _of(rng, CRYPT, 53),
        lambda: "$5$" + _of(rng, CRYPT, 16) + "$" + _of(rng, CRYPT, 43),
        lambda: "$6$rounds=5000$" + _of(rng, CRYPT, 8) + "$" + _of(rng, CRYPT, 86),
        lambda: "$y$j9T$" + _of(rng, CRYPT, 22) + "$" + _of(rng, CRYPT, 43),
    ]
    return rng.choice(kinds)()


def digest_response(rng: random.Random) -> str:
    """Make the answer to a challenge of HTTP Digest."""
    return _of(rng, HEX, 32)
