"""The published vectors hold, for our code and for the independent verifier that uses nothing of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.canonical import stored_form
from stashdbg_core.seal import parse_seal, seal_recording, verify_recording
from stashdbg_core.seal.result import Verdict
from stashdbg_core.store.open import read_recording

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "seal.md").read_text(encoding="utf-8")
VECTORS: list[dict[str, Any]] = json.loads(PAGE.partition("```json vectors\n")[2].partition("```")[0])
REDACTED = [vector["redacted"] for vector in VECTORS if "redacted" in vector]
NAMES = [vector["name"] for vector in VECTORS]


def independent(folder: Path, recording: str, seal: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Run the example verifier in isolated mode."""
    (folder / "run.json").write_text(recording, encoding="utf-8")
    (folder / "run.seal.json").write_bytes(stored_form(seal))
    program = [sys.executable, "-I", str(ROOT / "docs" / "examples" / "verify_seal.py"), "run.json", "run.seal.json"]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)


def test_there_are_vectors_for_each_hard_part() -> None:
    assert len(VECTORS) >= 5
    assert REDACTED


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_our_seal_is_the_published_one(vector: dict[str, Any], tmp_path: Path) -> None:
    recording = read_recording(vector["recording"].encode())
    seal = seal_recording(recording, secret=bytes.fromhex(vector["seal"]["secret"]))
    assert seal.to_json() == vector["seal"]
    assert verify_recording(recording, parse_seal(stored_form(vector["seal"]))).verdict is Verdict.SEALED
    assert independent(tmp_path, vector["recording"], vector["seal"]).stdout == "sealed\n"


@pytest.mark.parametrize("copy", REDACTED)
def test_both_say_what_a_redacted_copy_does_not_cover(copy: dict[str, Any], tmp_path: Path) -> None:
    result = verify_recording(read_recording(copy["recording"].encode()), parse_seal(stored_form(copy["seal"])))
    assert result.verdict is Verdict.REDACTED
    words = independent(tmp_path, copy["recording"], copy["seal"]).stdout.strip()
    assert words == f"sealed; {len(result.uncovered)} fields are redacted and not covered"


@pytest.mark.parametrize("vector", VECTORS, ids=NAMES)
def test_both_see_the_same_edits(vector: dict[str, Any], tmp_path: Path) -> None:
    seal = parse_seal(stored_form(vector["seal"]))
    for old, new in [('"id":"', '"id":"x'), ('"complete":true', '"complete":false'), ('"y"', '"z"'), ("-0.0", "0.0")]:
        if old not in vector["recording"]:
            continue
        changed = vector["recording"].replace(old, new, 1)
        assert not verify_recording(read_recording(changed.encode()), seal).valid
        found = independent(tmp_path, changed, vector["seal"])
        assert (found.returncode, "not sealed" in found.stderr) == (1, True)


def test_the_independent_verifier_agrees_on_the_shipped_recording(tmp_path: Path) -> None:
    text = (ROOT / "stashdbg" / "data" / "demo.json").read_text(encoding="utf-8")
    seal = seal_recording(read_recording(text.encode()))
    assert independent(tmp_path, text, seal.to_json()).stdout == "sealed\n"
    duplicate = text.replace('"version":1', '"version":1,"version":1', 1)
    assert "ambiguous" in independent(tmp_path, duplicate, seal.to_json()).stderr


def test_every_verdict_is_documented() -> None:
    assert [word for word in Verdict if f"`{word}`" not in PAGE] == []
