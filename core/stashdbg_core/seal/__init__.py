"""Seals: commitments to everything in a recording, so that any change shows; see ``docs/seal.md``."""

from __future__ import annotations

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
