"""Signatures by the user's SSH key. Where ``ssh-keygen`` is not installed, what users get instead is tested."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.seal import Seal, Verdict, seal_recording, sign_seal, verify_recording
from tests.core.seal.recordings import edited, opened, set_value, tree_of

INSTALLED = shutil.which("ssh-keygen") is not None


def new_key(folder: Path, name: str) -> Path:
    path = folder / name
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


def signers_file(folder: Path, **keys: Path) -> Path:
    path = folder / "signers"
    lines = [f"{name}@x {' '.join(key.with_suffix('.pub').read_text().split()[:2])}\n" for name, key in keys.items()]
    path.write_text("".join(lines))
    return path


def says_that_the_program_is_absent(tmp_path: Path, seal: Seal) -> bool:
    """Whether ``ssh-keygen`` is absent; if so, signing says so in one clear line."""
    if INSTALLED:
        return False
    (tmp_path / "key").write_text("x")
    with pytest.raises(StashError, match="ssh-keygen is not installed"):
        sign_seal(seal, tmp_path / "key")
    return True


def test_a_listed_signer_vouches_for_the_seal(tmp_path: Path) -> None:
    seal = seal_recording(opened(tree_of()))
    if says_that_the_program_is_absent(tmp_path, seal):
        return
    key = new_key(tmp_path, "ann")
    signed = sign_seal(seal, key)
    signers = signers_file(tmp_path, bob=new_key(tmp_path, "bob"), ann=key)
    result = verify_recording(opened(tree_of()), signed, signers=signers)
    assert (result.verdict, result.signature) == (Verdict.SEALED, ("good", "ann@x"))
    assert result.vouched
    assert result.notes == ()


def test_without_signers_a_signature_is_shown_and_vouches_for_nothing(tmp_path: Path) -> None:
    seal = seal_recording(opened(tree_of()))
    if says_that_the_program_is_absent(tmp_path, seal):
        return
    result = verify_recording(opened(tree_of()), sign_seal(seal, new_key(tmp_path, "ann")))
    assert result.valid
    assert result.signature.state == "valid"
    assert (result.signature.by or "").startswith("SHA256:")
    assert not result.vouched


def test_signatures_that_do_not_count(tmp_path: Path) -> None:
    seal = seal_recording(opened(tree_of()))
    if says_that_the_program_is_absent(tmp_path, seal):
        return
    ann, eve = new_key(tmp_path, "ann"), new_key(tmp_path, "eve")
    signers = signers_file(tmp_path, ann=ann)
    signed = sign_seal(seal, ann)
    forged_recording = edited(lambda tree: set_value(tree, 1, "forged"))
    rebuilt = replace(seal_recording(forged_recording), signature=signed.signature)
    rows = [
        (opened(tree_of()), replace(signed, signature=None), Verdict.UNSIGNED),
        (opened(tree_of()), sign_seal(seal, eve), Verdict.UNKNOWN_SIGNER),
        (opened(tree_of()), replace(signed, signature="nonsense"), Verdict.BAD_SIGNATURE),
        (forged_recording, rebuilt, Verdict.BAD_SIGNATURE),
        (forged_recording, signed, Verdict.VALUE_EDITED),
    ]
    for recording, given, verdict in rows:
        result = verify_recording(recording, given, signers=signers)
        assert (result.verdict, result.valid) == (verdict, False)
    assert verify_recording(forged_recording, rebuilt).verdict is Verdict.BAD_SIGNATURE


def test_a_signature_for_another_purpose_does_not_count(tmp_path: Path) -> None:
    seal = seal_recording(opened(tree_of()))
    if says_that_the_program_is_absent(tmp_path, seal):
        return
    key = new_key(tmp_path, "ann")
    message = f"stashdbg-seal/1\nsha256\n5\n{seal.root.hex()}\n".encode()
    command = ["ssh-keygen", "-Y", "sign", "-q", "-n", "git", "-f", str(key)]
    made = subprocess.run(command, input=message, capture_output=True, check=True).stdout.decode()
    result = verify_recording(opened(tree_of()), replace(seal, signature=made), signers=signers_file(tmp_path, ann=key))
    assert result.verdict is Verdict.BAD_SIGNATURE


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seal = seal_recording(opened(tree_of()))
    with pytest.raises(StashError, match="no such key"):
        sign_seal(seal, tmp_path / "none")
    with pytest.raises(StashError, match="no such file of signers"):
        verify_recording(opened(tree_of()), seal, signers=tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "key").write_text("x")
    with pytest.raises(StashError, match="ssh-keygen is not installed") as caught:
        sign_seal(seal, tmp_path / "key")
    assert caught.value.code is ErrorCode.NOT_FOUND
    signed = replace(seal, signature="-----BEGIN SSH SIGNATURE-----\nx\n-----END SSH SIGNATURE-----\n")
    assert verify_recording(opened(tree_of()), signed).signature.state == "unchecked"
    (tmp_path / "signers").write_text("")
    with pytest.raises(StashError, match="ssh-keygen is not installed"):
        verify_recording(opened(tree_of()), signed, signers=tmp_path / "signers")
