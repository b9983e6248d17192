"""Seals: commitments to everything in a recording, so that any change shows; see ``docs/seal.md``.

Names are loaded when they are first used: whoever only asks where a seal lies does not pay for making one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stashdbg_core.seal.make import redacted_seal, seal_recording
    from stashdbg_core.seal.result import Broken, Signature, Uncovered, Verdict, VerifyResult
    from stashdbg_core.seal.seal_file import Seal, parse_seal, read_seal, seal_path, write_seal
    from stashdbg_core.seal.signature import check_signature, sign_seal
    from stashdbg_core.seal.verify import CAVEAT, verify_recording, verify_with_file

__all__ = [
    "CAVEAT",
    "Broken",
    "Seal",
    "Signature",
    "Uncovered",
    "Verdict",
    "VerifyResult",
    "check_signature",
    "parse_seal",
    "read_seal",
    "redacted_seal",
    "seal_path",
    "seal_recording",
    "sign_seal",
    "verify_recording",
    "verify_with_file",
    "write_seal",
]

_HOMES = {
    "make": ("redacted_seal", "seal_recording"),
    "result": ("Broken", "Signature", "Uncovered", "Verdict", "VerifyResult"),
    "seal_file": ("Seal", "parse_seal", "read_seal", "seal_path", "write_seal"),
    "signature": ("check_signature", "sign_seal"),
    "verify": ("CAVEAT", "verify_recording", "verify_with_file"),
}
_HOME_OF = {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found
