"""What a verification found: the verdict, every part that is not as sealed or not covered, root, signature."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button

from stashdbg_core.model import Recording
from stashdbg_core.seal.result import SIGNATURE_WORDS
from stashdbg_core.session.seal_state import SealState
from stashdbg_core.session.trust import check_seal, verdict_words
from stashdbg_tui.screens.dialog import Dialog, Fact, Field, Progress
from stashdbg_tui.widgets.panel import Panel, PanelRow

_SHOWN = 1000
_ROWS = 5
_STYLES = {"sealed": "bold $text-success", "redacted": "bold $text-success", "broken": "bold $text-error"}
_SIGNS = {"sealed": "✓ ", "redacted": "✓ ", "broken": "✗ "}


class SealCheckDialog(Dialog[int]):
    """Returns the ``seq`` of the event to jump to, or None.

    Args:
        recording: What is verified.
        state: What is known already, if it is.
    """

    heading = "Verify"

    def __init__(self, recording: Recording, state: SealState | None) -> None:
        super().__init__()
        self._recording = recording
        self.state = state

    def body(self) -> Iterable[Widget]:
        """Return what was found, and what else can be compared."""
        yield Fact("verdict", id="check-verdict")
        yield Panel(id="check-parts")
        yield Fact("root", id="check-root")
        yield Fact("signature", id="check-signature")
        yield Field("expect", "check-expect", placeholder="a root kept elsewhere, 64 hex digits; may stay empty")
        yield Field("signers", "check-signers", placeholder="a file of allowed signers; may stay empty")

    def buttons(self) -> Iterable[Button]:
        """Return what can be done."""
        yield self.button("Verify", "verify", usual=True)
        yield self.button("Close", "leave")

    def on_mount(self) -> None:
        """Show what is known, or find out."""
        if self.state is None or self.state.result is None:
            self.act("verify")
        else:
            self._show(self.state)

    def act(self, button: str) -> None:
        """Verify, against what was typed."""
        if button == "verify" and not self.working:
            expect, signers = self.typed("check-expect") or None, self.typed("check-signers") or None
            self.say("verifying…; Esc stops")
            self.work_on("verify", lambda progress: self._verified(progress, expect, signers))

    def _verified(self, progress: Progress, expect: str | None, signers: str | None) -> SealState:
        return check_seal(self._recording, expect=expect, signers=signers, progress=progress)

    def done(self, kind: str, result: object) -> None:
        """Show what was found."""
        assert isinstance(result, SealState)
        self.state = result
        self._show(result)

    def _show(self, state: SealState) -> None:
        result = state.result
        words = state.words if result is None else result.message
        verdict = "" if result is None or result.valid else f"{verdict_words(result.verdict)}: "
        sign = _SIGNS.get(state.word, "")
        self.query_one("#check-verdict", Fact).show(
            Content.styled(f"{sign}{verdict}{words}", _STYLES.get(state.word, "$foreground"))
        )
        rows = _rows(state)
        panel = self.query_one(Panel)
        panel.display = bool(rows)
        panel.styles.height = min(len(rows), _ROWS)
        panel.show_rows("seal", "", rows)
        root = (result.root if result is not None else None) or ""
        expected = " (as expected)" if result is not None and result.pinned else ""
        self.query_one("#check-root", Fact).show(f"{root}{expected}")
        self.query_one("#check-signature", Fact).show(_signature(state) if root else "")
        notes = "" if result is None else "\n".join(f"{note[:1].upper()}{note[1:]}." for note in result.notes)
        self.say("a s writes one" if state.word == "none" else notes)
        if rows and rows[0].target is not None:
            panel.focus(scroll_visible=False)
            self.query_one("#dialog").border_subtitle = "Enter jumps to the event · Esc closes"

    @on(Panel.Chosen)
    def _chosen(self, message: Panel.Chosen) -> None:
        if isinstance(message.target, tuple):
            self.dismiss(message.target[0])


def _rows(state: SealState) -> list[PanelRow]:
    result = state.result
    if result is None:
        return []
    rows = [
        PanelRow(
            [("✗ ", "error"), (f"{f'event {part.seq}':<12}", "strong"), (f"{part.part:<9}", "text"),
             (verdict_words(part.verdict), "error")],
            (part.seq,),
        )
        for part in result.broken[:_SHOWN]
    ]  # fmt: skip
    for hidden in result.uncovered[:_SHOWN]:
        where = "" if hidden.seq is None else f"{f'event {hidden.seq}':<12}"
        bare = "" if hidden.masked else ", and holds no placeholder"
        pieces = [("░ ", "muted"), (where, "strong"), (f"{hidden.part:<9}", "text"), (f"not covered{bare}", "muted")]
        rows.append(PanelRow(pieces, None if hidden.seq is None else (hidden.seq,)))
    return rows


def _signature(state: SealState) -> str:
    assert state.result is not None
    signature = state.result.signature
    return SIGNATURE_WORDS[signature.state].format(by=signature.by or "unknown")
