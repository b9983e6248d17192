"""Signatures over a seal by the user's SSH key, made and checked by ``ssh-keygen -Y``; there is no key code here.

What is signed names domain, algorithm, number of events and root, so a signature fits one seal alone and cannot be
carried over to a weaker one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stashdbg_core.errors import invalid_input, not_found
from stashdbg_core.sanitize import shorten
from stashdbg_core.seal.chain import signed_text
from stashdbg_core.seal.result import Signature
from stashdbg_core.seal.seal_file import Seal

PROGRAM = "ssh-keygen"
NAMESPACE = "stashdbg-seal"
_MAX_SIGNATURE = 100_000
_BEGIN = "-----BEGIN SSH SIGNATURE-----"
_KEY = re.compile(r"key (SHA256:[A-Za-z0-9+/=]{1,64})")


def sign_seal(seal: Seal, key: str | os.PathLike[str]) -> Seal:
    """Return the seal with a signature.

    Args:
        seal: What to sign; a signature that it has is replaced.
        key: A private SSH key, or a public one whose private half an agent holds. A passphrase is asked for on the
            terminal by ``ssh-keygen`` itself.

    Raises:
        StashError: ``ERR_NOT_FOUND``: no key, or no ``ssh-keygen``; ``ERR_INVALID_INPUT``: it did not sign.
    """
    if not Path(key).is_file():
        raise not_found(f"no such key: {shorten(str(key), 200)}", hint="name a private SSH key file")
    command = ["-Y", "sign", "-q", "-n", NAMESPACE, "-f", os.fspath(key)]
    done = _run(command, signed_text(seal.counts.events, seal.root))
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode or not text.startswith(_BEGIN):
        raise invalid_input(f"{PROGRAM} did not sign: {_reason(done)}", hint="check the key and its passphrase")
    return replace(seal, signature=text)


def check_signature(seal: Seal, signers: str | os.PathLike[str] | None) -> Signature:
    """Return what is known about a seal's signature.

    Args:
        seal: Whose signature to check.
        signers: A file of allowed signers as ``ssh-keygen`` reads it; None asks only whether the signature is whole.

    Raises:
        StashError: ``ERR_NOT_FOUND``: signers were named, and they or ``ssh-keygen`` cannot be found.
    """
    if signers is not None and not Path(signers).is_file():
        raise not_found(
            f"no such file of signers: {shorten(str(signers), 200)}",
            hint='a line of it is: NAME namespaces="stashdbg-seal" ssh-ed25519 AAAA…',
        )
    if seal.signature is None:
        return Signature("none")
    if len(seal.signature) > _MAX_SIGNATURE or not seal.signature.startswith(_BEGIN):
        return Signature("bad")
    if signers is None and shutil.which(PROGRAM) is None:
        return Signature("unchecked")
    with tempfile.TemporaryDirectory(prefix="stashdbg-") as folder:
        path = os.path.join(folder, "signature")
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(seal.signature)
        return _checked(signed_text(seal.counts.events, seal.root), path, signers)


def _checked(text: bytes, path: str, signers: str | os.PathLike[str] | None) -> Signature:
    whole = _run(["-Y", "check-novalidate", "-n", NAMESPACE, "-s", path], text)
    if whole.returncode:
        return Signature("bad")
    found = _KEY.search(whole.stdout.decode("utf-8", "replace"))
    key = found.group(1) if found else None
    if signers is None:
        return Signature("valid", key)
    file = os.fspath(signers)
    listed = _run(["-Y", "find-principals", "-s", path, "-f", file], text)
    names = listed.stdout.decode("utf-8", "replace").splitlines() if listed.returncode == 0 else []
    for name in names:
        if not _run(["-Y", "verify", "-n", NAMESPACE, "-s", path, "-f", file, "-I", name], text).returncode:
            return Signature("good", shorten(name, 200))
    return Signature("unknown-signer", key)


def _run(arguments: Sequence[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which(PROGRAM)
    if program is None:
        raise not_found(
            f"{PROGRAM} is not installed, and signatures need it", hint="install OpenSSH's client (openssh-client)"
        )
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        return subprocess.run([program, *arguments], input=text, capture_output=True, env=environment, check=False)
    except OSError as error:
        raise not_found(f"{PROGRAM} cannot be run: {error.strerror}", hint="check its installation") from error


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return shorten(lines[-1], 200) if lines else f"it ended with {done.returncode}"
