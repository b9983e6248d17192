"""What a verification found, as data: one stable word, one sentence, and where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from stashdbg_core.canonical import Json


class Verdict(StrEnum):
    """How a recording stands to its seal; the words are stable."""

    SEALED = "sealed"
    """Everything is as it was sealed."""
    REDACTED = "redacted"
    """Everything that the seal covers is as it was; some fields are masked and not covered."""
    VALUE_EDITED = "value-edited"
    INPUT_EDITED = "input-edited"
    IDENTITY_EDITED = "identity-edited"
    """An event's seq, channel, key, ordinal or outcome."""
    NOTES_EDITED = "notes-edited"
    """Another key of an event: time, label, lane, call id, an unknown one."""
    REORDERED = "reordered"
    CUT_SHORT = "cut-short"
    """Fewer events than were sealed."""
    LENGTHENED = "lengthened"
    """More events than were sealed."""
    ID_EDITED = "id-edited"
    META_EDITED = "meta-edited"
    """A key of ``meta``, or an unknown one of the top level."""
    BLOB_MISSING = "blob-missing"
    BLOB_ADDED = "blob-added"
    """A value that no event reaches, and that was not sealed."""
    BLOB_EDITED = "blob-edited"
    """A value that no event reaches."""
    DAMAGED = "damaged"
    """The content is as sealed, but a reference is no hash, a record cannot be read, or the file is not whole."""
    AMBIGUOUS = "ambiguous"
    """A key or reference stands twice, or bytes are not UTF-8: two readers may see two things."""
    OTHER_RECORDING = "other-recording"
    NO_SEAL = "no-seal"
    FOREIGN_SEAL = "foreign-seal"
    """A file that is no seal of ours."""
    UNKNOWN_ALGORITHM = "unknown-algorithm"
    SEAL_DAMAGED = "seal-damaged"
    """The seal file does not agree with itself."""
    OTHER_ROOT = "other-root"
    """The seal is not the one expected: it was made anew."""
    UNSIGNED = "unsigned"
    BAD_SIGNATURE = "bad-signature"
    UNKNOWN_SIGNER = "unknown-signer"


class Broken(NamedTuple):
    """A part that is not what was sealed."""

    seq: int
    part: str
    verdict: Verdict
    problem: str | None = None
    """What is wrong with its text, if it is damaged."""


class Uncovered(NamedTuple):
    """A part of a redacted copy that the seal says nothing about."""

    seq: int | None
    """None for what is no part of an event."""
    part: str
    masked: bool
    """Whether it holds a placeholder at all."""


class Signature(NamedTuple):
    """What is known about who signed."""

    state: str
    """``none``; ``good``: by a listed signer; ``valid``: by a key that nobody vouched for; ``unchecked``; ``bad``;
    ``unknown-signer``."""
    by: str | None = None
    """The signer's name in the list of signers, or else the key's fingerprint."""


NOT_SIGNED = Signature("none")
SIGNATURE_WORDS = {
    "none": "not signed",
    "good": "signed by {by}",
    "valid": "signed with the key {by}, which nobody was asked to vouch for (--signers)",
    "unchecked": "signed, not checked",
    "bad": "not a signature over this seal",
    "unknown-signer": "signed with the key {by}, which is not among the signers",
}
"""A state of a signature in words; ``{by}`` is its signer."""


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """What a verification found."""

    verdict: Verdict
    message: str
    """One sentence for people, safe to print."""
    broken_at: int | None = None
    """``seq`` of the first event that is not as sealed."""
    broken: tuple[Broken, ...] = ()
    """Parts that are not as sealed, in order; the first thousand."""
    uncovered: tuple[Uncovered, ...] = ()
    root: str | None = None
    """The seal's root, 64 hex digits."""
    signature: Signature = NOT_SIGNED
    pinned: bool = False
    """Whether the root is the one that was expected."""
    notes: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether everything that the seal covers is as it was sealed."""
        return self.verdict in (Verdict.SEALED, Verdict.REDACTED)

    @property
    def vouched(self) -> bool:
        """Whether something outside the two files, a pinned root or a listed signer, stands for the seal."""
        return self.pinned or self.signature.state == "good"

    @property
    def named(self) -> dict[str, Any]:
        """Return verdict and place for an error's details."""
        return {"verdict": str(self.verdict), "brokenAt": self.broken_at}

    def to_json(self) -> dict[str, Json]:
        """Return the JSON tree of ``verify --json``."""
        signature: dict[str, Json] = {"state": self.signature.state}
        if self.signature.by is not None:
            signature["by"] = self.signature.by
        return {
            "valid": self.valid,
            "verdict": str(self.verdict),
            "message": self.message,
            "brokenAt": self.broken_at,
            "broken": [{"seq": seq, "part": part, "verdict": str(word)} for seq, part, word, _ in self.broken],
            "uncovered": [{"seq": seq, "part": part, "masked": masked} for seq, part, masked in self.uncovered],
            "root": self.root,
            "signature": signature,
            "vouched": self.vouched,
            "notes": list(self.notes),
        }
