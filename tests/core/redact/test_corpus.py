"""300 planted secrets over all places: none is left; 300 look-alikes: none is touched."""

from __future__ import annotations

import base64
import json
import random
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

import pytest

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.redact import Redactor
from tests.core.redact.made_up_secrets import SHAPES, digest_response, password, password_hash, pem, putty_key

Plant = Callable[[str], Any]


def _bytes(text: str) -> dict[str, str]:
    return {"$stash": "bytes", "base64": base64.b64encode(text.encode()).decode()}


def _error(text: str) -> dict[str, Any]:
    return {
        "$stash": "exception",
        "class": "builtins:RuntimeError",
        "text": text,
        "args": [text],
        "attributes": {"url": text},
        "cause": {"$stash": "exception", "class": "builtins:KeyError", "text": repr(text), "args": [text]},
    }


def _stream(text: str) -> dict[str, Any]:
    parts = ["the key is ", text[:5], text[5:9], text[9:], " as said"]
    chunks = [{"id": "c1", "choices": [{"index": 0, "delta": {"content": part}}]} for part in parts]
    return {"$stash": "stream", "kind": "sync", "chunks": chunks, "times": [0.0] * len(chunks), "ending": "exhausted"}


def form(name: str, value: str) -> str:
    """A form of two fields as HTTP libraries send it."""
    head = "Content-Type: text/plain\r\nContent-Disposition: form-data; name="
    return f'--b0und\r\n{head}"user"\r\n\r\nbob\r\n--b0und\r\n{head}"{name}"\r\n\r\n{value}\r\n--b0und--\r\n'


BY_SHAPE: dict[str, Plant] = {
    "value": lambda s: s,
    "prose": lambda s: f"use {s}, then go on",
    "new line": lambda s: f"keys:\n{s}\nend",
    "dict key": lambda s: {s: 1},
    "list": lambda s: [1, [s]],
    "tuple": lambda s: {"$stash": "tuple", "items": [s, 1]},
    "nested JSON": lambda s: {"body": json.dumps({"a": {"b": s}})},
    "twice nested JSON": lambda s: {"body": json.dumps({"a": json.dumps({"b": [s]})})},
    "broken JSON": lambda s: {"body": json.dumps({"a": s})[:-1]},
    "URL query": lambda s: f"GET https://api.example.test/v1?x=1&k={quote(s)}&y=2 failed",
    "URL path": lambda s: f"https://api.example.test/bot/{s}/send",
    "form": lambda s: f"grant=1&assertion={quote_plus(s)}",
    "header pairs": lambda s: {"headers": [["accept", "*/*"], ["authorization", f"Bearer {s}"]]},
    "bytes": lambda s: _bytes(f'{{"x": "{s}"}}'),
    "error": lambda s: _error(f"403 for https://api.example.test/v1?key={s}"),
    "stream": _stream,
    "base64 JSON": lambda s: base64.b64encode(json.dumps({"key_material": s}).encode()).decode(),
    "nested JSON, escaped": lambda s: {"body": '{"a": "' + "".join(f"\\u{ord(char):04x}" for char in s) + '"}'},
}
BY_NAME: dict[str, Plant] = {
    "password": lambda s: {"password": s},
    "api key": lambda s: {"X-API-KEY": s},
    "camel case": lambda s: {"clientSecret": s},
    "upper case": lambda s: {"env": {"AWS_SECRET_ACCESS_KEY": s}},
    "header list": lambda s: {"headers": {"Set-Cookie": [f"sid={s}; Path=/"]}},
    "header pairs": lambda s: {"headers": [["Cookie", f"sid={s}"]]},
    "bytes pairs": lambda s: [{"$stash": "tuple", "items": [_bytes("x-api-key"), _bytes(s)]}],
    "name and value": lambda s: {"name": "Api-Key", "value": s},
    "URL credentials": lambda s: f"postgres://app:{quote(s)}@db.example.test:5432/x",
    "URL query": lambda s: f"https://example.test/?access_token={quote(s)}&q=1",
    "form": lambda s: f"user=bob&password={quote_plus(s)}",
    "nested JSON": lambda s: {"body": json.dumps({"login": {"passwd": s}}, indent=2)},
    "broken JSON": lambda s: json.dumps({"api_key": s, "x": 1})[:-3],
    "text header": lambda s: f"POST / HTTP/1.1\r\nAuthorization: Token {s}\r\nAccept: */*",
    "environment": lambda s: f"export DB_PASSWORD={s}\nrun",
    "flag": lambda s: f"mysql --password {s} db",
    "curl": lambda s: f"curl -sS -X POST -u bob:{quote(s)} https://example.test/x",
    "XML": lambda s: f"<server>\n  <username>bob</username>\n  <password>{quote(s)}</password>\n</server>",
    "argv": lambda s: ["mysql", "--password", s, "db"],
    "connection string": lambda s: f"Server=db;Uid=app;Pwd={s};",
    "repr": lambda s: f"login(user='bob', password='{s}')",
    "form field": lambda s: form("password", s),
    "form field in bytes": lambda s: _bytes(form("user[api_key]", s)),
    "form field, escaped": lambda s: json.dumps({"body": repr(form("client-secret", s))}),
    "form field of several lines": lambda s: form("pin", f"{s}\r\n\r\n--{s}"),
    "form cut short": lambda s: form("token", s)[: -len("\r\n--b0und--\r\n")],
    "curl, first flag": lambda s: f"curl -u bob:{quote(s)} https://example.test/x",
    "curl argv": lambda s: ["/usr/bin/curl", "-sS", "-u", f"bob:{s}", "https://example.test/x"],
    "curl cookie": lambda s: f"curl -b 'sid={s}; theme=dark' https://example.test/x",
    "curl argv cookie": lambda s: ["curl", "--cookie", f"sid={s}"],
    "cookie jar": lambda s: f"<RequestsCookieJar[<Cookie sid={quote(s)} for .example.test/>]>",
    "environ": lambda s: f"HOME=/root\0OPENAI_API_KEY={s}\0PATH=/bin\0",
    "sshpass": lambda s: f"sshpass -p '{s}' ssh bob@example.test",
    "mysql": lambda s: f"mysqldump --host db -u root -p'{s}' shop",
    "mysql argv": lambda s: ["/usr/bin/mysql", "-uroot", f"-p{s}", "shop"],
    "openssl": lambda s: f"openssl rsa -in key.pem -passin pass:{s} -out x",
    "openssl argv": lambda s: ["openssl", "pkcs12", "-passout", f"pass:{s}"],
    "JavaScript": lambda s: f"connect({{ user: `bob`, password: `{s}` }})",
    "piped to sudo": lambda s: f"echo '{s}' | sudo -u root -S id",
    "piped to chpasswd": lambda s: f'echo "bob:{s}" | chpasswd',
    "piped to docker": lambda s: f"printf '{s}\\n' | docker login -u bob --password-stdin registry.example",
    "Go": lambda s: f'apiKey := "{s}"',
    "odd dict": lambda s: {"$stash": "dict", "items": [[1, 2], ["secret", s]]},
}


def places(secret: str) -> list[str]:
    """Return the spellings under which a secret could have been left."""
    spelled = [secret, json.dumps(secret)[1:-1], quote(secret), quote_plus(secret), quote(secret, safe="")]
    for shift in range(3):
        encoded = base64.b64encode(b" " * shift + secret.encode()).decode()
        spelled.append(encoded[(shift * 8 + 5) // 6 + (1 if shift else 0) : len(encoded) - 4])
    return spelled


def assert_gone(secret: str, tree: Any) -> None:
    redactor = Redactor()
    assert redactor.suspects(stored_form(tree))
    masked = redactor.redact_tree(tree)
    left = stored_form(masked).decode()
    for spelling in places(secret):
        assert spelling not in left, left
    assert sum(redactor.counts.values()) > 0
    assert redactor.redact_tree(masked) is masked


@pytest.mark.parametrize("place", BY_SHAPE)
@pytest.mark.parametrize("kind", SHAPES)
def test_no_secret_with_a_shape_is_left(kind: str, place: str) -> None:
    secret = SHAPES[kind](random.Random(f"{kind} {place}"))
    assert_gone(secret, BY_SHAPE[place](secret))


@pytest.mark.parametrize("place", BY_NAME)
def test_no_secret_with_a_name_is_left(place: str) -> None:
    rng = random.Random(place)
    for _ in range(4):
        secret = password(rng)
        assert_gone(secret, BY_NAME[place](secret))


def test_private_keys_are_masked_whole() -> None:
    key = pem(random.Random(1))
    broken = json.dumps({"k": key})[:-1]
    lines = key.splitlines()
    for tree in (
        lines,
        ["cat", *lines, "done"],
        key,
        f"cat id_rsa\n{key}$ ",
        json.dumps({"file": key}),
        {"file": broken},
        _bytes(key),
    ):
        left = stored_form(Redactor().redact_tree(tree)).decode()
        assert not any(line in left for line in key.splitlines()[1:-1])


def test_private_keys_of_putty_are_masked_and_what_is_public_stays() -> None:
    key = putty_key(random.Random(1))
    lines = key.splitlines()
    for tree in (key, key.replace("\n", "\r\n"), {"file": json.dumps({"k": key})[:-1]}, _bytes(key), [*lines, "done"]):
        left = stored_form(Redactor().redact_tree(tree)).decode()
        assert not any(line in left for line in lines[6:-1])
        assert type(tree) is dict or (lines[4] in left and lines[-1] in left)
    assert Redactor().redact_tree([*lines, "done"])[-1] == "done"


def test_hashes_of_passwords_and_answers_to_challenges_are_masked() -> None:
    rng = random.Random(8)
    for _ in range(24):
        hashed = password_hash(rng)
        assert_gone(hashed, f"bob:{hashed}\nann:x:1000:1000::/home/ann:/bin/sh")
        assert_gone(hashed, [f"root:{hashed}:19000:0:99999:7:::"])
    answer = digest_response(rng)
    assert_gone(answer, f'sent Digest username="Ann", realm="a, b", uri="/x", response="{answer}", opaque="5ccc069c"')


def innocent() -> list[Any]:
    rng = random.Random(5)
    trees: list[Any] = [
        {"max_tokens": 4096, "usage": {"input_tokens": 12, "total_tokens": 20}, "tokenizer": "cl100k"},
        {"next_page_token": "x", "text": "<task-notification> risk-free"},
        {"token": "Hello", "logprob": -0.1, "bytes": [72]},
        {"token": 15339, "token_count": "12"},
        {"properties": {"api_key": {"type": "string", "description": "Your key"}}, "required": ["api_key", "q"]},
        {"password": None, "api_key": "", "secret": True},
        "<token>Hello</token> is one token; curl -o a:b https://example.test/ | grep -u user:pass; List<Token> x",
        "The password: must be long. Never share your token, password or API key with anyone.",
        "Passwords are hashed; the secret is to salt. Authorization: required for all calls. Token: a unit of text.",
        "f(password=password, token=tokens[i], key=lambda x: x.api_key)",
        "token = next_token()\npassword = getpass.getpass()\nif api_key == other:",
        "basic understanding, bearer of bad news, Basic programming skills, bearer authentication is required",
        "see https://example.test:8080/a@b?page=2&sort=key#frag and mail me at bob@example.test",
        "sk-learn-contrib-and-more-words scikit-learn disk-usage-of-the-whole-machine",
        "npm install pypi-mirror; key-value-store; hf-hub; xoxo",
        "--token-limit 5 --no-password-prompt --tokens 12",
        {"cache_key": "user:1:profile", "primary_key": "id", "public_key": "ssh-ed25519 AAAAC3Nz", "keyboard": "us"},
        {"author": "x", "authority": "y", "oauth_scopes": ["read"], "cookie_policy": "strict", "session_id": "s-1"},
        {"stop_token": "</s>", "bosToken": "<s>", "max_completion_tokens": "10", "secretary": "Ann", "passport": "x"},
        "[REDACTED:openai-key#3] and [REDACTED]",
        {"auth": "none", "authorization": "bearer"},
        form("file", "password is not asked for"),
        "curl -b cookies.txt --cookie-jar jar=1.txt https://example.test/; mysql -u root -p shop",
        ["curl", "-u", "bob", "-b", "cookies.txt"],
        ["grep", "-u", "a:b", "-b", "x=y", "-p", "z"],
        "git clone ssh://service_account_prod1@git.example.test/x and https://bob@example.test/",
        "`password`: `string`, `token`: `the token`, secret: `/run/secrets/db1`, api_key: `YOUR_KEY`, token = `${t1}`",
        "echo y | sudo -E pacman -S x1; echo y1 | sudo pacman -S x; echo $PW1 | sudo -S id; echo a1 | eslint --stdin",
        "openssl rsa -passin env:PW1 -passout file:/run/pw1; openssl enc -pass pass:$PW1",
        ["mysql", "-p", "shop1", "-P3306"],
        ["mkdir", "-p1", "-pass", "pass:word1"],
        "costs $1$2, $5$ or $6$x$y; $2a$10$short; sent Digest, response=none; Private-Lines: many of them",
        ["what begins", "with -----BEGIN and PRIVATE KEY", "is a key, and this", "is", "none"],
    ]
    for _ in range(60):
        digest = f"{rng.getrandbits(256):064x}"
        trees += [
            content_ref(digest.encode()),
            digest,
            digest[:40],
            str(uuid.UUID(int=rng.getrandbits(128))),
            {"id": f"call_{digest[:24]}", "run": f"chatcmpl-{digest[:29]}", "tool": f"toolu_01{digest[:22]}"},
            base64.b64encode(rng.randbytes(600)).decode(),
        ]
    return trees


def test_look_alikes_stay() -> None:
    trees = innocent()
    assert len(trees) >= 300
    redactor = Redactor()
    for tree in trees:
        assert redactor.redact_tree(tree) is tree, redactor.redact_tree(tree)
    assert redactor.counts == {}


def test_a_form_keeps_all_but_the_secret_fields() -> None:
    masked = Redactor().redact_text(form("password", "hunter2\n--b0und\nis it"))
    assert masked == form("password", "[REDACTED:password#1]")


def test_tokens_in_place_of_a_user_are_masked() -> None:
    token = password(random.Random(3)).translate({ord(char): "q" for char in "!^*"}) + "Zk3vQ9tw7LmX2"
    assert token not in Redactor().redact_text(f"git clone https://{token}@git.example.test/a/b.git")


def test_urls_stay_urls_and_nested_json_stays_json() -> None:
    secret = SHAPES["openai"](random.Random(2))
    redactor = Redactor()
    url = urlsplit(redactor.redact_text(f"https://u:p4ssw0rd@api.example.test:8443/x?api_key={secret}&q=1"))
    assert (url.hostname, url.port, url.path, url.username) == ("api.example.test", 8443, "/x", "u")
    assert url.query.endswith("&q=1")
    body = json.dumps({"n": 12345678901234567890, "api_key": secret, "z": [1.0, "é"]}, ensure_ascii=False)
    masked = json.loads(redactor.redact_tree({"body": body})["body"])
    assert masked["n"] == 12345678901234567890
    assert masked["z"] == [1.0, "é"]
    assert list(masked) == ["n", "api_key", "z"]
