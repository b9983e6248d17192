"""Verifying a recording against its seal: the one verdict, named from what a comparison found.

The seal is checked first, for a seal that does not agree with itself, or is not the one expected, says nothing about
any event.
"""

from __future__ import annotations

import os
from dataclasses import replace

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.seal.chain import SIZE, root_of
from stashdbg_core.seal.compare import Comparison, Differences
from stashdbg_core.seal.header import not_whole, two_meanings
from stashdbg_core.seal.result import Signature, Verdict, VerifyResult
from stashdbg_core.seal.seal_file import Seal, read_seal
from stashdbg_core.seal.signature import check_signature
from stashdbg_core.seal.texts import event_text
from stashdbg_core.seal.values import Progress

CAVEAT = (
    "whoever holds both files could have sealed them anew; a root kept elsewhere (--expect) or a signature (--signers) "
    "rules that out"
)
_SIGNATURE_FAULTS = {
    "none": (Verdict.UNSIGNED, "the seal is not signed, and signers were named"),
    "bad": (Verdict.BAD_SIGNATURE, "the signature is not one over this seal"),
    "unknown-signer": (Verdict.UNKNOWN_SIGNER, "the seal is signed by a key that is not among the signers"),
}


def verify_recording(
    recording: Recording,
    seal: Seal | None,
    *,
    signers: str | os.PathLike[str] | None = None,
    expect: str | None = None,
    progress: Progress | None = None,
) -> VerifyResult:
    """Compare a recording with its seal.

    Args:
        recording: As it is now.
        seal: None gives the verdict ``no-seal``.
        signers: A file of allowed signers (``man ssh-keygen``); a signature by one of them is then a must.
        expect: The root, 64 hex digits, as it was kept elsewhere.
        progress: Told how far it is.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: ``expect`` is no root; ``ERR_NOT_FOUND``: the recording cannot be read any
            more, or signers were named and they or ``ssh-keygen`` cannot be found.
    """
    wanted = None if expect is None else _root(expect)
    if seal is None:
        return VerifyResult(Verdict.NO_SEAL, "there is no seal")
    root = seal.root.hex()
    unchecked = Signature("none" if seal.signature is None else "unchecked")
    if root_of(seal.counts, seal.header, seal.events) != seal.root:
        message = "the seal's root does not follow from its own commitments"
        return VerifyResult(Verdict.SEAL_DAMAGED, message, root=root, signature=unchecked)
    if wanted is not None and wanted != root:
        message = "the seal has another root than expected: it was made anew, or is another recording's"
        return VerifyResult(Verdict.OTHER_ROOT, message, root=root, signature=unchecked)
    signature = check_signature(seal, signers)
    fault = _SIGNATURE_FAULTS.get(signature.state) if signers is not None or signature.state == "bad" else None
    if fault is not None:
        return VerifyResult(*fault, root=root, signature=signature)
    comparison = Comparison(recording, seal)
    found = comparison.run(progress)
    result = _named(recording, seal, comparison, found)
    notes = _notes(result, signature, wanted is not None)
    return replace(
        result,
        broken=tuple(found.broken),
        uncovered=tuple(found.uncovered),
        root=root,
        signature=signature,
        pinned=wanted is not None,
        notes=notes,
    )


def verify_with_file(
    recording: Recording,
    path: str | os.PathLike[str],
    *,
    signers: str | os.PathLike[str] | None = None,
    expect: str | None = None,
    progress: Progress | None = None,
) -> VerifyResult:
    """Do as ``verify_recording`` does with the seal in a file; a file that is no seal is a verdict, not an error."""
    try:
        seal = read_seal(path)
    except StashError as error:
        if "verdict" not in error.details:
            raise
        return VerifyResult(Verdict(error.details["verdict"]), error.message)
    return verify_recording(recording, seal, signers=signers, expect=expect, progress=progress)


def _root(expect: str) -> str:
    text = expect.strip().lower().removeprefix("sha256:")
    if len(text) != 2 * SIZE or any(digit not in "0123456789abcdef" for digit in text):
        raise invalid_input(f"{shorten(expect, 80)} is not a root", hint="a root is 64 hex digits, as seal prints it")
    return text


def _named(recording: Recording, seal: Seal, comparison: Comparison, found: Differences) -> VerifyResult:
    note = two_meanings(recording)
    if note is not None:
        return VerifyResult(
            Verdict.AMBIGUOUS, note.message, note.seq if note.ref is None else _names(recording, note.ref)
        )
    ids = [verdict for _, _, verdict in found.header if verdict is Verdict.ID_EDITED]
    total, sealed = len(recording.events), seal.counts.events
    all_broken = found.events_checked == found.events_broken
    if ids and all_broken and (found.events_checked or total != sealed):
        return VerifyResult(
            Verdict.OTHER_RECORDING, "the seal is another recording's: neither id nor any event is the same"
        )
    if total != sealed:
        return _other_length(recording, seal, found)
    if found.broken:
        return _first_broken(recording, comparison, found)
    if found.header:
        return _header_broken(found)
    torn = not_whole(recording)
    if torn is not None:
        return VerifyResult(Verdict.DAMAGED, torn.message, torn.seq)
    if found.uncovered:
        return VerifyResult(Verdict.REDACTED, _redacted_words(found))
    return VerifyResult(Verdict.SEALED, f"sealed: {_count(total, 'event')}, nothing has changed")


def _other_length(recording: Recording, seal: Seal, found: Differences) -> VerifyResult:
    total, sealed = len(recording.events), seal.counts.events
    verdict = Verdict.CUT_SHORT if total < sealed else Verdict.LENGTHENED
    if found.broken:
        at = found.broken[0].seq
        where = f"the first that is not as sealed is event {at}"
    elif total < sealed:
        at = event_text(recording.events, total - 1).seq + 1 if total else 0
        where = f"from event {at} on they are gone"
    else:
        at = event_text(recording.events, sealed).seq
        where = f"from event {at} on they were added"
    return VerifyResult(verdict, f"{_count(total, 'event')}, the seal says {sealed}: {where}", at)


def _first_broken(recording: Recording, comparison: Comparison, found: Differences) -> VerifyResult:
    first = found.broken[0]
    verb = "are" if first.part == "notes" else "is"
    verdict, why = first.verdict, f"{verb} not what was sealed"
    if verdict is Verdict.IDENTITY_EDITED:
        index = recording.events.position_of(first.seq)
        place = None if index is None else comparison.place_sealed(index)
        if place is not None:
            message = f"event {first.seq} was sealed at another place, {place} from the start"
            return VerifyResult(Verdict.REORDERED, message, first.seq)
    elif verdict is Verdict.BLOB_MISSING:
        why = "is missing"
    elif verdict in (Verdict.AMBIGUOUS, Verdict.DAMAGED):
        why = "can be read in two ways" if verdict is Verdict.AMBIGUOUS else "is damaged"
    problem = f": {shorten(first.problem, 200)}" if first.problem and "not what" not in why else ""
    others = sum(1 for broken in found.broken if broken.seq != first.seq)
    more = f" (and {others} parts of other events)" if others else ""
    return VerifyResult(verdict, f"the {first.part} of event {first.seq} {why}{problem}{more}", first.seq)


def _header_broken(found: Differences) -> VerifyResult:
    kind, name, verdict = found.header[0]
    shown = shorten(name, 80)
    if verdict is Verdict.ID_EDITED:
        message = "the recording's id is not what was sealed"
    elif verdict is Verdict.AMBIGUOUS:
        message = shown
    elif kind == "blob":
        words = {
            Verdict.BLOB_MISSING: f"values that no event reaches are missing: {shown}",
            Verdict.BLOB_ADDED: f"values that no event reaches were added: {shown}",
            Verdict.BLOB_EDITED: f"the value {shown}, which no event reaches, is not what was sealed",
        }
        message = words.get(verdict, f"the value {shown}, which no event reaches, is damaged")
    elif name.isdecimal():
        message = f"{'meta' if kind == 'meta' else 'the top level'} has other keys than were sealed"
    else:
        message = f"{'meta' if kind == 'meta' else 'the top level'} is not what was sealed: {shown or kind}"
    return VerifyResult(verdict, message)


def _redacted_words(found: Differences) -> str:
    count = len(found.uncovered)
    words = (
        "sealed; 1 field is redacted and not covered"
        if count == 1
        else (f"sealed; {count} fields are redacted and not covered")
    )
    bare = sum(not part.masked for part in found.uncovered)
    return f"{words}; {bare} of them {'holds' if bare == 1 else 'hold'} no placeholder" if bare else words


def _notes(result: VerifyResult, signature: Signature, pinned: bool) -> tuple[str, ...]:
    notes = []
    if result.verdict is Verdict.REDACTED:
        notes.append("whoever redacted could have written anything in the fields that are not covered")
    if result.valid and not pinned and signature.state != "good":
        notes.append(CAVEAT)
    return tuple(notes)


def _names(recording: Recording, ref: str) -> int | None:
    """Return ``seq`` of the first event that names a ref."""
    return next((event.seq for event in recording.events if ref in (event.ref, event.input_ref)), None)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
