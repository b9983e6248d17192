"""What the seal beside a recording says of it, and which secrets a value holds.

Nothing here raises for a bad seal; that a seal is bad is what there is to say.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.redact.scan import kind_words, scan_tree
from stashdbg_core.redact.user_rules import rule_set
from stashdbg_core.seal import Uncovered, Verdict, VerifyResult, verify_with_file
from stashdbg_core.seal.values import Progress
from stashdbg_core.session.seal_place import seal_file_of
from stashdbg_core.session.seal_state import NO_SEAL, SealState, SealWord
from stashdbg_core.session.words import counted

_NOT_OURS: Final = {
    Verdict.FOREIGN_SEAL: "the seal file is no seal of ours",
    Verdict.UNKNOWN_ALGORITHM: "the seal has an unknown algorithm",
    Verdict.SEAL_DAMAGED: "BROKEN seal: it does not agree with itself",
}


def verdict_words(verdict: Verdict) -> str:
    """Return a verdict as words: ``value edited``."""
    return str(verdict).replace("-", " ")


def state_of(result: VerifyResult, path: Path | None = None) -> SealState:
    """Return what a verification found, as a state."""
    broken: dict[int, list[str]] = {}
    for part in result.broken:
        broken.setdefault(part.seq, []).append(verdict_words(part.verdict))
    if not result.valid and result.broken_at is not None:
        broken.setdefault(result.broken_at, []).insert(0, verdict_words(result.verdict))
    uncovered: dict[int, list[Uncovered]] = {}
    for hidden in result.uncovered:
        if hidden.seq is not None:
            uncovered.setdefault(hidden.seq, []).append(hidden)
    word, words = _words(result)
    return SealState(
        word,
        words,
        result,
        path,
        {seq: tuple(dict.fromkeys(found)) for seq, found in broken.items()},
        {seq: tuple(found) for seq, found in uncovered.items()},
    )


def check_seal(
    recording: Recording,
    *,
    signers: str | None = None,
    expect: str | None = None,
    progress: Progress | None = None,
) -> SealState:
    """Verify a recording against the seal beside it.

    Args:
        recording: As it is now.
        signers: A file of allowed signers, one of whom must have signed.
        expect: The root as it was kept elsewhere.
        progress: Told how far it is; what it raises passes through.

    Raises:
        StashError: As ``seal.verify_recording``.
    """
    try:
        path = seal_file_of(recording)
    except StashError:
        return NO_SEAL
    return state_of(verify_with_file(recording, path, signers=signers, expect=expect, progress=progress), path)


def unchecked(failure: StashError) -> SealState:
    """Return the state of a seal that could not be checked."""
    return SealState("unknown", f"seal not checked: {failure.message}")


def secret_words(recording: Recording, ref: str) -> str:
    """Return which secrets a stored value holds, ``2 openai-key, 1 password``; empty if none.

    Raises:
        StashError: The value or the user's rule file cannot be read.
    """
    redactor = rule_set().redactor()
    return kind_words(kind for _, kind in scan_tree(recording.blobs.tree(ref), redactor))


def _words(result: VerifyResult) -> tuple[SealWord, str]:
    if result.verdict is Verdict.NO_SEAL:
        return "none", "no seal"
    if result.verdict is Verdict.SEALED:
        signer = f", signed by {result.signature.by}" if result.signature.state == "good" else ""
        return "sealed", f"sealed{signer}"
    if result.verdict is Verdict.REDACTED:
        count = len(result.uncovered)
        return "redacted", f"sealed, {counted(count, 'field')} redacted and not covered"
    if result.verdict in _NOT_OURS:
        return "broken", _NOT_OURS[result.verdict]
    where = "" if result.broken_at is None else f" at event {result.broken_at}"
    return "broken", f"BROKEN{where}: {verdict_words(result.verdict)}"
