"""Seals: commitments to everything in a recording, so that any change shows; see ``docs/seal.md``.

Names are loaded when they are first used: whoever only asks where a seal lies does not pay for making one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stashdbg_core.lazy_names import lazy_names

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
__getattr__ = lazy_names(__name__, _HOMES)
