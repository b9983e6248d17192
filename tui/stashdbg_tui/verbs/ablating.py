"""From the evidence of a why to what is causal: outputs are taken out, and the program is run again."""

from __future__ import annotations

from stashdbg_tui.bindings import keys_now
from stashdbg_tui.commands import command
from stashdbg_tui.verbs.tracing import Tracing


class Ablating(Tracing):
    """Testing what why suggests."""

    def action_ablate(self) -> None:
        """Show what testing the listed outputs would cost, and do it if that is wanted."""
        session, found = self.session, self.slice
        if session is None or found is None or self.panel.kind != "why":
            why = (keys_now(self.app, command("trace.why")) or [":why"])[0]
            self.status.show(f"nothing to test yet: {why} lists the outputs that reached this")
        elif "command" not in session.recording.meta:
            self.status.show("the recording does not say which program made it, so nothing can be run again")
        elif found.text:
            self.status.show("a selected text is not tested; put the inspector's cursor on its field")
        elif len(found.nodes) == 1:
            self.status.show("no earlier output reached this, so there is nothing to take out")
        else:
            from stashdbg_tui.screens.ablate import AblateDialog

            self.app.push_screen(AblateDialog(session.recording, found), self._tested)

    def _tested(self, seq: int | None) -> None:
        if seq is not None and self.session is not None:
            self.follow(self.session.to_seq(seq))
