"""Long texts are searched near what announces a secret: nothing is missed, and time grows with length alone."""

from __future__ import annotations

import base64
import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.redact import PII, SECRETS, Redactor
from stashdbg_core.redact import assignments as found_by
from stashdbg_core.redact.near import matches_at, matches_near, places_of
from tests.core.redact.made_up_secrets import SHAPES
from tests.core.redact.test_properties import texts

FILLERS = [
    "x" * 300,
    "A" * 90,
    " ",
    "-" * 30,
    "a.b-c_" * 40,
    ":" * 9,
    "=" * 9,
    "\n    ",
    "sk-" * 20,
    "://" * 12,
    "@",
    "K",
]
long_texts = st.lists(st.one_of(texts, st.sampled_from(FILLERS)), max_size=9).map("".join)
ASSIGNMENTS = {
    "=:": [found_by._QUOTED],
    "=": [found_by._EQUALS, found_by._QUERY],
    ":": [found_by._COLON, found_by._HEADER],
}


def spans(matches):
    return [match.span() + match.span("secret") for match in matches]


@settings(max_examples=200, deadline=None)
@given(long_texts)
def test_assignments_near_their_signs_are_all_assignments(text):
    for signs, patterns in ASSIGNMENTS.items():
        for pattern in patterns:
            windows = sorted(window for sign in signs for window in found_by.windows_before(text, sign))
            near = matches_near(pattern, text, windows, found_by._REACH)
            assert spans(near) == spans(pattern.finditer(text))
    near = matches_at(found_by._FLAG, text, places_of(text, "--"), 0)
    assert spans(near) == spans(found_by._FLAG.finditer(text))


@pytest.mark.parametrize(
    "rule", [rule for rule in (*SECRETS, *PII) if rule.anchors and rule.lead is not None], ids=lambda rule: rule.name
)
@settings(max_examples=30, deadline=None)
@given(parts=st.lists(st.one_of(texts, st.sampled_from(FILLERS), st.integers(0, 9)), max_size=6))
def test_shapes_near_their_anchors_are_all_shapes(rule, parts):
    def made(seed):
        name = rule.name if rule.name in SHAPES else sorted(SHAPES)[seed]
        return SHAPES[name](random.Random(seed))

    text = "".join(made(part) if type(part) is int else part for part in parts)
    lowered = text.lower()
    if len(lowered) == len(text):
        pattern = re.compile(rule.pattern, re.ASCII)
        near = matches_at(pattern, text, places_of(lowered, *rule.anchors), rule.lead)
        assert [match.span() for match in near] == [match.span() for match in pattern.finditer(text)]


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("secret", ["sk-" + "Ab1" * 12, "password='hunter22'", ""])
def test_a_megabyte_of_base64_beside_a_secret_costs_a_moment(encode, secret):
    data = encode(random.Random(7).randbytes(750_000)).decode()
    began = time.process_time()
    masked = Redactor().redact_tree({"data": f"{data} {secret}", "api_key": "x" * 40})
    assert time.process_time() - began < 1.5  # a sixtieth of a second on a good day; four seconds when it was quadratic
    assert masked["data"].startswith(data + " ")
    assert not secret or secret not in masked["data"]


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a1-",
        "sk-",
        "-eyJ",
        "=%",
        "=%2",
        "x=%20&",
        "a@a.",
        "bearer ",
        "x=",
        "x:",
        "--a ",
        "://",
        "-us",
        "key",
        "password",
        'a="',
        "\\",
        "@",
    ],
)
def test_time_grows_with_length_alone(unit):
    def seconds(size):
        text = (unit * size)[:size]
        began = time.process_time()
        Redactor((*SECRETS, *PII)).redact_text(text + " api_key='abcdefgh123'")
        return time.process_time() - began

    assert seconds(80_000) < 40 * max(min(seconds(20_000) for _ in range(2)), 0.02)
