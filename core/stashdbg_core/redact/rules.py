"""Shapes of secrets, each with a name and a regular expression.

A rule of ours matches only texts that hold one of its anchors or, where it has none, a run of ``RUN`` and more letters,
digits, ``-`` and ``_``: the prefilter relies on it, and a property test holds every rule to it. Hex digests, UUIDs and
``sha256:`` references have no shape here.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import regex

from stashdbg_core.errors import invalid_input
from stashdbg_core.sanitize import shorten

RUN: Final = 16
RULE_SECONDS: Final = 1.0
"""How long a rule of a user's own may search one text."""

_RULE_NAME = re.compile(r"[a-z][a-z-]{0,39}")

_CAPITAL_OR_DIGIT = re.compile("[A-Z0-9]")

# Where a token may begin: after a non-alphanumeric, a percent escape, or a JSON escape.
_BEGINS = r"(?:(?<![A-Za-z0-9]{0})|(?<=%[0-9A-Fa-f]{{2}}{0})|(?<=\\[nrtbf]{0})|(?<=\\u[0-9a-fA-F]{{4}}{0}))"
_B = _BEGINS.format("")
_W = r"[A-Za-z0-9_-]"
_E = r"(?![A-Za-z0-9])"


@dataclass(frozen=True, slots=True)
class Rule:
    """A named shape of a secret.

    Args:
        name: What the placeholder says: lower-case letters and ``-``.
        pattern: Regular expression; the group ``secret``, if there is one, else the whole match, is masked.
        anchors: Lower-case literals of which every match, lower-cased, holds one; none: every text is looked at.
        check: Has the last word on a match.
        timeout: Seconds after which the search of one text is given up and the whole text masked; None: no limit, for
            patterns known to be harmless.
        lead: Characters that a match has before its anchor, at most; None: not known, the whole text is gone through.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the name or the pattern is malformed.
    """

    name: str
    pattern: str
    anchors: tuple[str, ...] = ()
    check: Callable[[str], bool] | None = None
    timeout: float | None = RULE_SECONDS
    lead: int | None = None

    def __post_init__(self) -> None:
        if _RULE_NAME.fullmatch(self.name) is None:
            raise invalid_input(
                f"the redaction rule name {shorten(self.name, 60)!r} is malformed",
                hint="use lower-case letters and '-', at most 40, such as 'employee-number'",
            )
        try:
            regex.compile(self.pattern)
        except regex.error as error:
            raise invalid_input(
                f"the pattern of redaction rule {self.name!r} is no regular expression: {shorten(str(error), 120)}",
                hint="see the syntax of Python's `regex` package; a group named 'secret' narrows what is masked",
            ) from None


def _ours(
    name: str,
    pattern: str,
    anchors: tuple[str, ...] = (),
    check: Callable[[str], bool] | None = None,
    lead: int | None = 0,
) -> Rule:
    """Make a rule that needs no time limit and, being plain, no check of its pattern at import."""
    rule = object.__new__(Rule)
    values = {"name": name, "pattern": pattern, "anchors": anchors, "check": check, "timeout": None, "lead": lead}
    for key, value in values.items():
        object.__setattr__(rule, key, value)
    return rule


def _holds_user_and_password(text: str) -> bool:
    try:
        decoded = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii()


# Judges of a whole match: within a pattern, what has no end would be judged from each of its characters on.


def _holds_capital_or_digit(text: str) -> bool:
    return _CAPITAL_OR_DIGIT.search(text) is not None


def _holds_letter_and_digit(text: str) -> bool:
    return any(char.isalpha() for char in text) and any(char.isdigit() for char in text)


def _has_points(text: str) -> bool:
    return "." in text


def luhn(text: str) -> bool:
    """Tell whether the digits of ``text`` pass the check of payment cards (ISO/IEC 7812-1, annex B)."""
    digits = [int(c) for c in text if c.isascii() and c.isdigit()]
    doubled = [sum(divmod(2 * d, 10)) if i % 2 else d for i, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def iban(text: str) -> bool:
    """Tell whether ``text`` passes the check of bank account numbers (ISO 13616: 97-10 of ISO 7064)."""
    plain = text.replace(" ", "").upper()
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


SECRETS: Final[tuple[Rule, ...]] = (
    _ours(
        "private-key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)(?s:.)){0,20000}"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        ("private key",),
        lead=51,
    ),
    _ours(
        "private-key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s]|\\[nr])+",
        ("private key",),
        lead=51,
    ),
    _ours("anthropic-key", _B + r"sk-ant-" + _W + "{10,}", ("sk-ant-",)),
    _ours("openai-key", _B + "sk-" + _W + "{14,}", ("sk-",), _holds_capital_or_digit),
    _ours("google-api-key", r"AIza" + _W + "{30,}", ("aiza",)),
    _ours("google-oauth", _B + r"(?:ya29\." + _W + r"{20,}|GOCSPX-" + _W + "{20,})", ("ya29.", "gocspx-")),
    _ours(
        "aws-access-key",
        _B + r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}" + _E,
        ("akia", "asia", "abia", "acca", "a3t"),
    ),
    _ours(
        "github-token",
        _B + r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{22,})",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    _ours(
        "gitlab-token",
        _B + r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct)-" + _W + "{16,}",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glrtr-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glffct-",
        ),
    ),
    _ours("slack-token", _B + r"(?:xox[abceoprs]-|xapp-)[A-Za-z0-9-]{12,}", ("xox", "xapp-")),
    _ours(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{30,})",
        ("hooks.slack.com",),
    ),
    _ours(
        "discord-webhook",
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>[0-9]{10,}/" + _W + "{30,})",
        ("/api/webhooks/",),
        lead=14,
    ),
    _ours(
        "stripe-key",
        _B + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,})",
        ("k_live_", "k_test_", "whsec_"),
        lead=1,
    ),
    _ours("hugging-face-token", _B + r"(?:hf_|api_org_)[A-Za-z0-9]{20,}", ("hf_", "api_org_")),
    _ours("jwt", _B + "eyJ" + _W + r"{14,}+(?:\." + _W + r"{4,}(?:\." + _W + r"*){0,3})?", ("eyj",), _has_points),
    _ours("npm-token", _B + r"npm_[A-Za-z0-9]{30,}", ("npm_",)),
    _ours("pypi-token", _B + r"pypi-A" + _W + "{30,}", ("pypi-a",)),
    _ours("sendgrid-key", _B + r"SG\." + _W + r"{16,}\." + _W + "{16,}", ("sg.",)),
    _ours("twilio-key", "(?:AC|SK)" + _BEGINS.format("..") + "[0-9a-f]{32}" + _E),
    _ours("telegram-token", r"(?<![0-9])[0-9]{8,10}(?::|%3[Aa])AA" + _W + "{32,}", (":aa", "%3aaa"), lead=10),
    _ours(
        "discord-token",
        "[MNO]" + _BEGINS.format(".") + _W + r"{23,27}\." + _W + r"{6}\." + _W + "{27,}",
        (".",),
        lead=None,
    ),
    _ours(
        "azure-client-secret",
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}",
        ("8q~", "7q~"),
        lead=3,
    ),
    _ours("mailgun-key", _B + r"key-[0-9a-f]{32}" + _E, ("key-",)),
    _ours("mailchimp-key", _B + r"[0-9a-f]{32}-us[0-9]{1,2}" + _E, ("-us",), lead=32),
    _ours("digitalocean-token", _B + r"do[opr]_v1_[0-9a-f]{40,}", ("_v1_",), lead=3),
    _ours("shopify-token", _B + r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", ("shpat_", "shpca_", "shppa_", "shpss_")),
    _ours("databricks-token", _B + r"dapi[0-9a-f]{32}", ("dapi",)),
    _ours("vault-token", _B + r"hv[sbr]\." + _W + "{24,}", ("hvs.", "hvb.", "hvr.")),
    _ours("age-key", _B + r"AGE-SECRET-KEY-1[A-Z0-9]{50,}", ("age-secret-key-",)),
    _ours(
        "provider-key",
        _B + r"(?:gsk_|xai-|pplx-|r8_|tvly-|lsv2_(?:pt|sk)_|pcsk_|figd_|sbp_|lin_api_|ntn_|glsa_|glc_|NRAK-|PMAK-"
        r"|sntry[su]_|nvapi-|fw_|sq0atp-|sq0csp-|dckr_pat_|rubygems_|atlasv1-|AKCp)" + _W + "{18,}",
        (
            "gsk_",
            "xai-",
            "pplx-",
            "r8_",
            "tvly-",
            "lsv2_",
            "pcsk_",
            "figd_",
            "sbp_",
            "lin_api_",
            "ntn_",
            "glsa_",
            "glc_",
            "nrak-",
            "pmak-",
            "sntrys_",
            "sntryu_",
            "nvapi-",
            "fw_",
            "sq0",
            "dckr_pat_",
            "rubygems_",
            "atlasv1-",
            "akcp",
        ),
    ),
    _ours(
        "bearer-token",
        r"(?i:\bbearer)(?:\s|%20|\+|\\[tnr])+(?P<secret>(?=[a-z]*[A-Z0-9._~+/-]|[a-z]{24})[A-Za-z0-9._~+/-]{8,}=*)",
        ("bearer",),
    ),
    _ours(
        "basic-credentials",
        r"(?i:\bbasic)(?:\s|%20|\+)+(?P<secret>[A-Za-z0-9+/]{6,}={0,2})",
        ("basic",),
        _holds_user_and_password,
    ),
    _ours(
        "password",
        r"\bcurl\b[^|;&\r\n]{0,400}? (?:-u|--user|-U|--proxy-user)[ =]?[\"']?[^\s:\"'$]{1,100}:"
        r"(?P<secret>[^\s\"'$]{1,200})",
        ("curl",),
    ),
    _ours(
        "cookie",
        r"\bcurl\b[^|;&\r\n]{0,400}? (?:-b|--cookie)[ =]?(?P<quote>[\"'])?"
        r"(?P<secret>(?!-)[^\s\"'$=]{1,100}=(?(quote)[^\"'$]{1,4000}|[^\s\"'$]{1,4000}))",
        ("curl",),
    ),
    _ours("cookie", r"<Cookie [^\s=<>]{1,256}=(?P<secret>[^\s<>]{1,4096}) for ", ("<cookie ",)),
    _ours(
        "password",
        r"\b(?:sshpass -p ?|(?:mysql|mariadb)[a-z-]{0,20}\b[^|;&\r\n]{0,200}? -p)[\"']?"
        r"(?P<secret>[^\s\"'$\[-][^\s\"'$]{0,200})",
        ("sshpass", "mysql", "mariadb"),
    ),
    _ours(
        "password",
        r"\b(?:echo|printf)(?: -[neE]{1,3})? {1,4}[\\\"']{0,6}(?P<secret>[^\s\"'$|;&<>`]{1,200}?)(?:\\{1,8}n)?"
        r"[\\\"']{0,6} {0,4}\| {0,4}(?:sudo(?: -[ugpUC] \S{1,40}| -[A-Za-z]{1,8}){0,4}? -[A-Za-z]{0,8}S\b"
        r"|(?:sudo )?chpasswd\b|(?:sudo )?passwd[^|;&\r\n]{0,80}? --stdin\b|[^|;&\r\n]{1,200}? --password-stdin\b)",
        ("echo ", "printf "),
    ),
    _ours("password", r"-pass(?:in|out)?[ =]{1,4}[\"']?pass:(?P<secret>[^\s\"'$<>]{1,200})", ("pass:",), lead=14),
    _ours(
        "password-hash",
        r"\$(?:apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}"
        r"|1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|5\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}"
        r"|6\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}"
        r"|y\$[./A-Za-z0-9]{1,9}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43})(?![/A-Za-z0-9])",
        ("$apr1$", "$2a$", "$2b$", "$2x$", "$2y$", "$1$", "$5$", "$6$", "$y$"),
    ),
    _ours(
        "digest-response",
        r"\bDigest [a-z-]{1,20}=[^\r\n]{0,2000}?\bresponse=(?:\\{0,8}\")?(?P<secret>[0-9a-f]{32,64})(?![0-9a-f])",
        ("digest ",),
    ),
    _ours(
        "private-key",
        r"Private-Lines: [0-9]{1,3}(?:\s|\\{1,8}[nr])+(?P<secret>[A-Za-z0-9+/=]{16,80}"
        r"(?:(?:\r?\n|(?:\\{1,8}[nr])+)(?!Private-)[A-Za-z0-9+/=]{4,80})*)",
        ("private-lines",),
    ),
    _ours(
        "url-password",
        r"(?i:[a-z][a-z0-9+.-]{1,30})(?<![\\])://(?P<secret>[A-Za-z0-9]{20,512})@",
        ("://",),
        _holds_letter_and_digit,
        lead=31,
    ),
    _ours(
        "url-password",
        r"(?i:[a-z][a-z0-9+.-]{1,30})(?<![\\])://[^\s/?#@:\"'<>\\]{0,256}:(?P<secret>[^\s/?#\"'<>\\]{1,512})@",
        ("://",),
        lead=31,
    ),
    _ours(
        "url-password",
        r"(?i:[a-z][a-z0-9+.-]{1,30}%3A%2F%2F)[^\s/?#@:\"'<>\\%]{0,256}(?i:%3A)(?P<secret>[^\s/?#\"'<>\\&]{1,512}?)(?i:%40)",
        ("%3a%2f%2f",),
        lead=31,
    ),
)
"""Secrets: on by default."""

PII: Final[tuple[Rule, ...]] = (
    _ours(
        "email",
        r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}(?![A-Za-z0-9])",
        ("@",),
        lead=64,
    ),
    _ours("card", r"(?<![0-9A-Za-z.-])[0-9](?:[ -]?[0-9]){12,18}(?![0-9A-Za-z])", (), luhn),
    _ours("iban", r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])", (), iban),
    _ours(
        "phone",
        r"(?<![0-9A-Za-z.+-])(?:\+[0-9]{1,3}[ .-]?)(?:\(?[0-9]{1,4}\)?[ .-]?){2,5}[0-9]{2,4}(?![0-9A-Za-z])",
        ("+",),
    ),
    _ours("phone", r"(?<![0-9A-Za-z.+-])\(?[2-9][0-9]{2}\)?[ .-][2-9][0-9]{2}[ .-][0-9]{4}(?![0-9A-Za-z-])"),
    _ours(
        "ip-address",
        r"(?<![0-9A-Za-z.])(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?![0-9A-Za-z.])",
    ),
    _ours("ip-address", r"(?<![0-9A-Za-z:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![0-9A-Za-z:])"),
)
"""Personal data: on when asked for."""
