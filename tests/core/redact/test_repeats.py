"""What an error was raised with is masked in all that it says."""

from __future__ import annotations

from typing import Any

import pytest

from stashdbg_core.canonical import stored_form
from stashdbg_core.redact import Redactor
from stashdbg_core.values.encode import encode_value

SECRET = "x7-Kq9'z" + "\\b2"


class LoginError(Exception):
    """Says the password, and keeps it."""

    def __init__(self, user: str, password: str) -> None:
        super().__init__(f"cannot log in {user} with {password} at https://example.test/{password}?x=1")
        self.password = password


def masked(error: BaseException) -> Any:
    tree = encode_value(error).tree
    redactor = Redactor()
    assert redactor.suspects(stored_form(tree))
    result = redactor.redact_tree(tree)
    assert redactor.redact_tree(result) is result
    places = {found.pointer for found in Redactor().findings(tree)}
    assert "/text" in places
    assert len(places) > 1
    return result


@pytest.mark.parametrize("secret", [SECRET, "Zk3vQ9tw", "swordfish", "two words"])
@pytest.mark.parametrize(
    "args",
    [
        lambda s: [("password", s)],
        lambda s: {"headers": [["X-Api-Key", s]]},
        lambda s: {"name": "api_key", "value": s},
        lambda s: ["mysql", "--password", s],
        lambda s: [[[("Cookie", s)]]],
    ],
    ids=["pairs", "headers", "name and value", "command line", "nested"],
)
def test_a_text_that_repeats_arguments_as_python_writes_them_is_masked(args: Any, secret: str) -> None:
    result = masked(RuntimeError("failed", args(secret)))
    left = stored_form(result).decode()
    assert not any(form in left for form in (secret, repr(secret)[1:-1]))
    assert result["text"].startswith("('failed', ")
    assert "#2]" not in left  # one secret has one number, however it is spelled


def test_what_an_error_keeps_is_masked_in_its_text_notes_and_causes_and_urls_stay_urls() -> None:
    error = LoginError("bob", "Zk3vQ9tw7")
    error.add_note("tried Zk3vQ9tw7 twice")
    error.__cause__ = ValueError("Zk3vQ9tw7 refused")
    result = masked(error)
    assert "Zk3vQ9tw7" not in stored_form(result).decode()
    assert result["text"].startswith("cannot log in bob with [REDACTED:password#1] at https://example.test/%5BREDACTED")
    assert result["notes"] == ["tried [REDACTED:password#1] twice"]
    assert result["cause"]["args"] == ["[REDACTED:password#1] refused"]


def test_a_credential_is_masked_behind_its_scheme() -> None:
    result = masked(RuntimeError("failed", {"headers": [["Authorization", "Token Zk3vQ9tw7"]]}))
    assert result["text"].endswith("['Authorization', 'Token [REDACTED:authorization#1]']]})")


def test_a_secret_that_may_be_a_word_is_masked_in_quotes_alone() -> None:
    result = masked(RuntimeError("the gate is shut", {"Cookie": "gate"}))
    assert result["text"] == "('the gate is shut', {'Cookie': '[REDACTED:cookie#1]'})"
    assert result["args"][0] == "the gate is shut"


def test_what_stands_outside_an_error_is_left_to_names_and_shapes() -> None:
    tree = {"login": {"password": "Zk3vQ9tw7"}, "said": "Zk3vQ9tw7", "error": encode_value(KeyError("k")).tree}
    result = Redactor().redact_tree(tree)
    assert (result["said"], result["error"]) == ("Zk3vQ9tw7", tree["error"])
