"""What holds for any input: the prefilter misses nothing, masking twice is masking once, nothing is harmed."""

from __future__ import annotations

import copy
import json
import random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import stored_form
from stashdbg_core.redact import PII, SECRETS, Redactor, normalise_placeholders
from stashdbg_core.redact.names import EXACT, QUERY, SHORT, STEMS
from tests.core.redact.made_up_secrets import SHAPES, password

NAMES = [*EXACT, *SHORT, *QUERY, *(stem for stems in STEMS.values() for stem in stems), "max_tokens", "x-api-key", "n"]
GLUE = [
    " ", "\n", "\t", '"', "'", "\\", "=", ": ", '": "', "='", "&", "?", "://", "@", "%3D", "%26", "%40", "/", ".", "-",
    "--", "_", ",", ";", "(", "[", "{", "}", "Bearer ", "Basic ", "https://", "%3A%2F%2F", "é", "\ud800", "\x00",
    "\x7f", "[REDACTED:pin#1]",
    "\\n", "\\u0041", "sha256:", "K", ":=", "<Cookie a=", " for ", "curl -u a:", "curl ", " -b a=",
    "sshpass -p ", "mysql -p", 'Content-Disposition: form-data; name="', "\r\n\r\n", "\n\n", "\n--", "\\n\\n", "=curl",
    "-----BEGIN PRIVATE KEY-----", "Private-Lines: 2\n", "echo ", " | sudo -S", "|chpasswd", "-passin pass:",
    ": `", "`", "$6$ab$", "Digest a=b, ", 'response="',
]  # fmt: skip
secrets = st.builds(
    lambda kind, seed: SHAPES[kind](random.Random(seed)), st.sampled_from(sorted(SHAPES)), st.integers(0, 99)
)
passwords = st.integers(0, 99).map(lambda seed: password(random.Random(seed)))
pieces = st.one_of(secrets, passwords, st.sampled_from(NAMES), st.sampled_from(GLUE), st.text(max_size=4))
texts = st.lists(pieces, max_size=8).map("".join)
leaves = st.one_of(
    texts,
    texts.map(json.dumps),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
names = st.one_of(st.sampled_from(NAMES), texts)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(names, inner, max_size=4),
        st.dictionaries(names, inner, max_size=3).map(lambda tree: json.dumps(tree)),
        st.builds(lambda items: {"$stash": "tuple", "items": items}, st.lists(inner, max_size=3)),
        st.builds(
            lambda said, args: {
                "$stash": "exception",
                "class": "builtins:RuntimeError",
                "text": said + repr(args),
                "args": args,
                "notes": [said, *map(str, args)],
            },
            st.sampled_from(["", "failed ", "password: "]),
            st.lists(inner, max_size=3),
        ),
        st.builds(
            lambda items: {"$stash": "dict", "items": items}, st.lists(st.tuples(names, inner).map(list), max_size=3)
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(trees)
def test_what_the_prefilter_clears_the_full_pass_leaves_alone(tree: object) -> None:
    redactor = Redactor()
    if not redactor.suspects(stored_form(tree)):
        assert redactor.redact_tree(tree) is tree


@settings(max_examples=200, deadline=None)
@given(trees)
def test_masking_twice_is_masking_once_and_the_input_is_untouched(tree: object) -> None:
    redactor = Redactor([*SECRETS, *PII])
    before = copy.deepcopy(tree)
    masked = redactor.redact_tree(tree)
    assert stored_form(tree) == stored_form(before)
    assert redactor.redact_tree(masked) == masked
    assert Redactor().redact_tree(Redactor().redact_tree(tree)) == Redactor().redact_tree(tree)


@settings(max_examples=200, deadline=None)
@given(texts, st.sampled_from(sorted(SHAPES)), st.integers(0, 99), texts)
def test_a_secret_set_off_by_spaces_never_survives(before: str, kind: str, seed: int, after: str) -> None:
    secret = SHAPES[kind](random.Random(seed))
    assume(secret not in before + after)
    assert secret not in Redactor().redact_text(f"{before} {secret} {after}")


@settings(max_examples=100, deadline=None)
@given(trees)
def test_redactors_differ_in_numbers_alone(tree: object) -> None:
    one, two = Redactor(), Redactor()
    two.redact_text("password=other-1")
    assert normalise_placeholders(one.redact_tree(tree)) == normalise_placeholders(two.redact_tree(tree))
