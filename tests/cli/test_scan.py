"""``stashdbg scan``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

KEY = "sk-" + "ant-api03-" + "Ab3" * 12
CALLS = [
    {"value": {"headers": {"authorization": f"Bearer {KEY}"}, "text": "fine"}, "input": {"password": "hunter2-x"}},
    {"value": "nothing", "label": f"with {KEY}"},
    {"value": {KEY: 1}},
]


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A configuration folder of its own, empty."""
    folder = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


def test_findings_name_event_part_place_and_kind_never_the_secret(make: Callable, stashdbg: Callable) -> None:
    path = make(CALLS)
    ran = stashdbg("scan", path)
    assert ran.code == 1
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["event", "0", "value", "anthropic-key", "/headers/authorization"] in rows
    assert ["event", "0", "input", "password", "/password"] in rows
    assert ["event", "1", "event", "anthropic-key", "/label"] in rows
    assert len(rows) == 4
    assert "4 places with a secret, 3 events searched" in ran.err
    as_json = stashdbg("scan", path, "--json")
    assert as_json.code == 1
    findings = json.loads(as_json.out)["findings"]
    assert findings[0] == {"seq": 0, "part": "value", "pointer": "/headers/authorization", "kind": "anthropic-key"}
    for text in (ran.out, ran.err, as_json.out):
        assert KEY not in text
        assert "hunter2" not in text


def test_a_clean_recording_is_fine(recording: Path, stashdbg: Callable) -> None:
    ran = stashdbg("scan", recording)
    assert (ran.code, ran.out) == (0, "")
    assert "nothing found" in ran.err
    assert json.loads(stashdbg("scan", recording, "--json").out)["findings"] == []


def test_people_are_looked_for_on_request(make: Callable, stashdbg: Callable) -> None:
    path = make([{"value": "write to ann@example.org"}])
    assert stashdbg("scan", path).code == 0
    ran = stashdbg("scan", path, "--pii")
    assert ran.code == 1
    assert "ann@" not in ran.out


def test_own_rules_come_from_a_file_or_the_configuration(
    make: Callable, stashdbg: Callable, tmp_path: Path, no_configuration: Path
) -> None:
    path = make([{"value": "badge EMP-123456"}])
    rules = "[[rule]]\nname = 'employee'\npattern = 'EMP-[0-9]{6}'\n"
    (tmp_path / "rules.toml").write_text(rules)
    assert stashdbg("scan", path).code == 0
    assert "employee" in stashdbg("scan", path, "--rules", tmp_path / "rules.toml").out
    from stashdbg_core.redact.user_rules import rules_path

    rules_path().parent.mkdir(parents=True)
    rules_path().write_text(rules)
    assert no_configuration in rules_path().parents or tmp_path in rules_path().parents
    assert "employee" in stashdbg("scan", path).out


@pytest.mark.parametrize(("text", "code"), [("[[rule]]\nname = 'X'\npattern='('", 64), ("not toml", 64), (None, 66)])
def test_rules_that_cannot_be_used_are_one_line(
    recording: Path, stashdbg: Callable, tmp_path: Path, text: str | None, code: int
) -> None:
    path = tmp_path / "rules.toml"
    if text is not None:
        path.write_text(text)
    ran = stashdbg("scan", recording, "--rules", path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)


def test_scanning_loads_no_screen(recording: Path, process: Callable) -> None:
    program = (
        "import sys; from stashdbg.cli.app import run; run(sys.argv[1:]); "
        "sys.exit(any(m.split('.')[0] in ('textual', 'deepdiff') for m in sys.modules))"
    )
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", program, "scan", recording], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
