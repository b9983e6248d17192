"""Names, numbers, placeholders, streams, depth, own rules."""

from __future__ import annotations

import json
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.redact import PII, SECRETS, Redactor, Rule, normalise_placeholders
from stashdbg_core.redact.rule_file import load_rules
from tests.core.redact.made_up_secrets import SHAPES

KEY = SHAPES["openai"](random.Random(3))


@pytest.mark.parametrize(
    "name",
    [
        "Api-Key",
        "X-API-KEY",
        "apiKey",
        "api_key",
        "x-goog-api-key",
        "Set-Cookie",
        "Cookie",
        "Proxy-Authorization",
        "AWS_SECRET_ACCESS_KEY",
        "private_key",
        "password",
        "client_secret",
        "DB_PASSWORD_PROD",
        "access_token",
        "password2",
        "refreshToken",
        "session_token",
        "X-Auth-Token",
        "id_token",
        "openai.api.key",
        "secret_value",
        "pin",
        "PWD",
    ],
)
def test_names_are_known_in_every_spelling(name: str) -> None:
    masked = Redactor().redact_tree({name: "1f-Zz"})
    assert "1f-Zz" not in masked[name]


@pytest.mark.parametrize("value", [1234, 12.5, -7])
def test_a_number_under_a_password_is_masked(value: float) -> None:
    assert Redactor().redact_tree({"password": value, "pin": value}) == {
        "password": "[REDACTED:password#1]",
        "pin": "[REDACTED:pin#1]",
    }


@pytest.mark.parametrize("value", [None, True, False, "", "  "])
def test_nothing_is_no_secret(value: object) -> None:
    tree = {"password": value, "token": value}
    assert Redactor().redact_tree(tree) is tree


def test_a_placeholder_is_the_same_for_the_same_secret_and_shows_nothing_of_it() -> None:
    redactor = Redactor()
    tree = {"a": {"api_key": "x1"}, "b": {"api_key": "x2"}, "c": {"token": "x1"}, "d": [f"Bearer {KEY}"]}
    tree = redactor.redact_tree(tree)
    assert tree["a"]["api_key"] == "[REDACTED:api-key#1]"
    assert tree["b"]["api_key"] == "[REDACTED:api-key#2]"
    assert tree["c"]["token"] == "[REDACTED:token#1]"
    assert tree["d"][0] == "Bearer [REDACTED:openai-key#3]"
    assert redactor.redact_text("password=" + "y" * 10_000) == "password=[REDACTED:password#4]"
    assert redactor.counts == {"api-key": 2, "token": 1, "openai-key": 1, "password": 1}


def test_placeholders_of_another_redactor_keep_their_numbers() -> None:
    redactor = Redactor()
    redactor.reserve("[REDACTED:token#41] and %5BREDACTED%3Apin%2342%5D")
    assert redactor.redact_tree({"token": "abc"}) == {"token": "[REDACTED:token#43]"}


def test_normalising_strips_numbers_everywhere() -> None:
    tree = {"a[REDACTED:pin#3]": ["x [REDACTED:api-key#12] y", "?k=%5BREDACTED%3Apin%2342%5D&z=1"], "n": 1}
    assert normalise_placeholders(tree) == {
        "a[REDACTED:pin]": ["x [REDACTED:api-key] y", "?k=%5BREDACTED%3Apin%5D&z=1"],
        "n": 1,
    }
    clean = {"a": ["b"]}
    assert normalise_placeholders(clean) is clean


def test_the_object_that_was_given_is_untouched_and_clean_parts_are_kept() -> None:
    clean = {"x": [1, 2]}
    tree = {"clean": clean, "token": "secret-1"}
    masked = Redactor().redact_tree(tree)
    assert tree["token"] == "secret-1"
    assert masked["clean"] is clean


def test_depth_does_not_matter() -> None:
    tree: Any = {"password": "deep-1"}
    for _ in range(20_000):
        tree = [tree]
    masked = Redactor().redact_tree(tree)
    for _ in range(20_000):
        masked = masked[0]
    assert masked == {"password": "[REDACTED:password#1]"}


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_secret_across_chunks_is_masked_and_the_text_around_it_stays(cut: int) -> None:
    text = f'say {KEY} and {{"password": "hunter2-{KEY[:4]}"}} end'
    parts = [text[i : i + cut] for i in range(0, len(text), cut)]
    for wrap in (lambda p: p, lambda p: {"type": "delta", "index": 0, "delta": {"type": "text_delta", "text": p}}):
        stream = {"$stash": "stream", "kind": "async", "chunks": [wrap(p) for p in parts], "ending": "exhausted"}
        redactor = Redactor()
        masked = redactor.redact_tree(stream)
        read = [c if isinstance(c, str) else c["delta"]["text"] for c in masked["chunks"]]
        assert len(read) == len(parts)
        joined = "".join(read)
        assert joined.startswith("say [REDACTED:openai-key#")
        assert joined.endswith('"} end')
        assert "hunter2" not in joined
        assert redactor.redact_tree(masked) == masked


def test_parallel_streams_in_one_are_told_apart() -> None:
    chunks = []
    for i in range(0, len(KEY), 3):
        chunks += [{"index": 0, "t": KEY[i : i + 3]}, {"index": 1, "t": "ab "}]
    masked = Redactor().redact_tree({"$stash": "stream", "kind": "sync", "chunks": chunks, "ending": "closed"})
    assert "".join(c["t"] for c in masked["chunks"] if c["index"] == 0) == "[REDACTED:openai-key#1]"
    assert all(c["t"] == "ab " for c in masked["chunks"] if c["index"] == 1)


def test_threads_share_one_table() -> None:
    redactor = Redactor()
    results: list[str] = []

    def work(n: int) -> None:
        results.extend(redactor.redact_tree({"token": f"secret-{i % 50}"})["token"] for i in range(n, n + 500))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 50
    assert redactor.counts == {"token": 4000}


def test_personal_data_is_left_unless_asked_for() -> None:
    text = "bob@example.test, +49 30 1234567, 4111 1111 1111 1111, DE89 3704 0044 0532 0130 00, 10.0.0.7"
    text += "; v1.2.3, 1234567890123"
    assert Redactor().redact_text(text) is text
    masked = Redactor([*SECRETS, *PII]).redact_text(text)
    assert masked.endswith("; v1.2.3, 1234567890123")
    for kind in ("email", "phone", "card", "iban", "ip-address"):
        assert f"[REDACTED:{kind}#" in masked


def test_a_users_hex_rule_does_not_eat_refs_or_placeholders() -> None:
    redactor = Redactor([*SECRETS, Rule("hex", "[0-9a-f]{6,}")])
    text = "sha256:" + "ab" * 32
    assert redactor.redact_text(text) is text
    assert redactor.redact_text("id " + "ab" * 8) == "id [REDACTED:hex#1]"


def test_a_rule_that_matches_what_it_leaves_behind_is_applied_once() -> None:
    redactor = Redactor([Rule("user", r"user=(?P<secret>\S+)")])
    once = redactor.redact_text("user=bob x")
    assert once == "user=[REDACTED:user#1] x"
    assert redactor.redact_text(once) is once


def test_a_rule_that_never_ends_masks_the_whole_text() -> None:
    redactor = Redactor([Rule("slow", r"(a|\w)*[0-9]", timeout=0.05)])
    assert redactor.redact_text("a" * 5_000 + "!") == "[REDACTED:unsearched#1]"


def test_own_names_and_kept_names() -> None:
    redactor = Redactor(names=["x-internal"], keep=["session_token"])
    assert redactor.redact_tree({"X_INTERNAL": "a", "session-token": "b"}) == {
        "X_INTERNAL": "[REDACTED:secret#1]",
        "session-token": "b",
    }


def test_rules_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(
        'presets = ["secrets", "pii"]\nnames = ["x-internal"]\n[[rule]]\nname = "employee"\n'
        "pattern = 'EMP-(?P<secret>[0-9]{6})'\nanchors = ['EMP-']\n"
    )
    masked = load_rules(file).redactor().redact_tree({"a": "EMP-123456 a@b.example", "x-internal": "v"})
    assert masked == {"a": "EMP-[REDACTED:employee#1] [REDACTED:email#2]", "x-internal": "[REDACTED:secret#3]"}


@pytest.mark.parametrize(
    "text",
    [
        "[[rule]]\nname='a'\npattern='('",
        "[[rule]]\nname='A1'\npattern='x'",
        "[[rule]]\npattern='x'",
        "[[rule]]\nname='a'\npattern='x'\ncode='os:system'",
        "presets=['all']",
        "nonsense=1",
        "names='a'",
        "rule=1",
        "x",
    ],
)
def test_a_malformed_rule_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(text)
    with pytest.raises(StashError, match=r"rules\.toml") as caught:
        load_rules(file)
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert caught.value.hint


def test_a_missing_rule_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(StashError) as caught:
        load_rules(tmp_path / "none.toml")
    assert caught.value.code is ErrorCode.NOT_FOUND


def test_case_79_is_masked_in_every_place(data: Path) -> None:
    document = json.loads((data / "redact" / "nested-secret.json").read_text())
    redactor = Redactor()
    masked = json.dumps(redactor.redact_tree(document["blobs"]))
    assert "AAAABBBB" not in masked
    assert "p4ssw0rd" not in masked
    assert "XXX" not in masked


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE KEY-----" * 4_000,
        "password=x&a=%41" * 6_000,
        "https://" * 12_000 + ":@",
        "password " + "a" * 100_000,
        "password" + "\\" * 100_000,
        "[REDACTED:pin#1]" * 6_000 + "password=x",
        "[" * 50_000 + "]" * 50_000 + "password=x",
    ],
    ids=["begin", "form", "scheme", "run", "backslash", "placeholder", "brackets"],
)
def test_time_grows_with_size_alone(text: str) -> None:
    def seconds(size: int) -> float:
        started = time.process_time()
        Redactor([*SECRETS, *PII]).redact_text(text[:size])
        return time.process_time() - started

    assert seconds(len(text)) < 40 * seconds(len(text) // 8) + 1


def test_a_secret_in_keys_within_keys_is_gone() -> None:
    key = SHAPES["openai"](random.Random(1))
    masked = Redactor().redact_tree({key: {key: {key: 1}}})
    assert key not in str(masked)


@pytest.mark.parametrize(
    "head",
    [
        "sk-",
        "rk_test_",
        "api_org_",
        "xapp-",
        "glagent-",
        "gloas-",
        "lsv2_pt_",
        "lin_api_",
        "sntryu_",
        "sq0csp-",
        "NRAK-",
    ],
)
def test_tokens_that_begin_like_words_of_programs_are_masked(head: str) -> None:
    assert Redactor().redact_text(f"x {head}{'Ab12' * 9}") != f"x {head}{'Ab12' * 9}"


@pytest.mark.parametrize(
    "words",
    [
        "libdw-api-x86_64-linux-gnu.so",
        "primary-key-constraint-name",
        "github_actions_runner_linux",
        "lin-alg-fw_update_hf",
    ],
)
def test_words_of_programs_that_tokens_begin_with_are_not_suspected(words: str) -> None:
    assert not Redactor().suspects(words.encode())


def test_a_webhook_without_a_long_run_is_suspected() -> None:
    address = "https://hooks.slack.com/services/T12345678/B12345678/abcdefghij"
    assert Redactor().suspects(address.encode())
    assert "abcdefghij" not in Redactor().redact_text(address)
