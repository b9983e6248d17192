"""Panes, lists and prompts: where the focus is, what is listed, what is asked."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on

from stashdbg_core.session.rows import lane_steps
from stashdbg_core.session.words import counted
from stashdbg_core.store.journal_place import still_at
from stashdbg_tui.verbs.copying import Copying
from stashdbg_tui.verbs.finding import Finding
from stashdbg_tui.verbs.marking import Marking
from stashdbg_tui.widgets.panel import Panel, PanelRow
from stashdbg_tui.widgets.prompt_line import PromptLine

# The first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.session.watches import WatchRow

_NAMES = 500
"""Events whose channels and keys are offered while a query is typed."""


class Panes(Finding, Copying, Marking):
    """The frame around the verbs."""

    # Prompts

    def action_ask(self, kind: str) -> None:
        """Ask for something at the prompt."""
        query = self.session.filter.query if self.session is not None else ""
        self.ask_line(kind, self._words_of, query if kind == "f" else "")

    def _words_of(self) -> Sequence[str]:
        if self.prompt.kind == ":":
            from stashdbg_tui.screens.prompt import WORDS

            return WORDS
        if self.prompt.kind != "f" or self.session is None:
            return ()
        from stashdbg_core.session.query_operators import FLAGS, OPERATORS

        columns, count = self.session.columns, self.session.count
        sample = range(0, count, max(count // _NAMES, 1))
        channels = dict.fromkeys(f"channel:{columns.channel_at(place)}" for place in sample)
        keys = dict.fromkeys(f"key:{columns.key_at(place)}" for place in sample)
        flags = [f"is:{flag.name}" for flag in FLAGS]
        plain = [word for word in (*channels, *keys) if not set(word) & set(' "()')]
        return [*flags, *plain, "outcome:throw", *(f"{entry.name}:" for entry in OPERATORS)]

    @on(PromptLine.Entered)
    async def _prompt_entered(self, message: PromptLine.Entered) -> None:
        self.turn_back()
        if message.kind == "/":
            self.start_search(message.text, inside=self.asked_from == "payload")
        elif message.kind == "f":
            self.set_filter(message.text)
        elif message.kind == "note":
            if message.text.strip():
                self.add_note(message.text)
        else:
            await self._command(message.text)

    async def _command(self, line: str) -> None:
        from stashdbg_tui.screens.prompt import answer

        found = answer(line)
        if found.problem is not None:
            self.status.show(found.problem)
        elif found.verb == "action":
            await self.run_action(found.text)
        elif found.verb == "write":
            self.action_write(found.text)
        elif found.verb == "open":
            self.stash_app.open_file(Path(found.text).expanduser())
        elif found.verb == "source":
            self.confirm_sources(found.text)
        elif found.verb == "break":
            self.toggle_breakpoint(found.text)
        elif found.verb in ("watch", "unwatch"):
            self.set_watch(found.text, watched=found.verb == "watch")
        elif found.verb == "column":
            self.set_column(found.text)
        elif found.verb == "filter":
            self.set_filter(found.text)
        elif found.verb == "search":
            self.start_search(found.text, inside=False)
        elif found.verb == "note":
            self.add_note(found.text)
        elif found.verb == "goto" and self.session is not None:
            self.follow(self.session.goto(found.text))

    # Lists

    def action_list(self, kind: str) -> None:
        """List something below the inspector, or close the list if it is what is shown."""
        if self.panel.kind == kind and self.has_class("-panel"):
            self._leave_panel()
        elif self.session is not None:
            self.list_rows(kind)
            self.enter_panel()

    def list_rows(self, kind: str) -> None:
        """List something in the panel anew."""
        session = self.session
        if session is None:
            return
        if kind == "marks":
            self.open_panel(
                "marks", "Marks: Enter jumps, or filters by a breakpoint; - takes away", self.mark_rows(), focus=False
            )
        elif kind == "watches":
            self.work_on("watches", session.watch_rows(), self._show_watches)
        elif kind == "recordings":
            paths = dict.fromkeys(map(still_at, self.stash_app.paths))
            rows = [PanelRow([(path.name, "strong"), (f"  {path.parent}", "muted")], path) for path in paths]
            rows = rows or [PanelRow([("no other recording was opened: :open FILE", "muted")])]
            self.open_panel("recordings", "Recordings: Enter opens", rows, focus=False)
        elif kind == "lanes":
            self.work_on("lanes", lane_steps(session.recording.events), partial(self._show_lanes, session.folded))

    def _show_watches(self, watches: Sequence[WatchRow]) -> None:
        title = "Watches at the cursor: Enter jumps to their event, - takes away"
        self.open_panel("watches", title, self.watch_lines(watches), focus=False)

    def _show_lanes(self, folded_lanes: Set[str | None], lanes: dict[str | None, int]) -> None:
        rows = []
        for lane, count in lanes.items():
            folded = lane in folded_lanes
            name = "main, without a name" if lane is None else lane
            pieces = [
                ("▸ " if folded else "▾ ", "strong"),
                (f"{name}  ", "text"),
                (f"{counted(count, 'event')}{', folded' if folded else ''}", "muted"),
            ]
            rows.append(PanelRow(pieces, (lane,)))
        self.open_panel("lanes", "Lanes: Enter folds or unfolds", rows, focus=False)

    @on(Panel.Chosen)
    def _panel_chosen(self, message: Panel.Chosen) -> None:
        session, target = self.session, message.target
        if session is None:
            return
        if message.kind == "marks" and message.drop:
            self.drop_mark(target)
        elif message.kind == "watches" and isinstance(target, tuple):
            if message.drop:
                self.set_watch(target[0], watched=False)
            elif target[1] is not None:
                self.follow(session.jump(target[1]))
        elif message.drop:
            self.status.show("nothing to take away here")
        elif message.kind == "marks" and isinstance(target, tuple):
            kind, what = target
            if kind == "breakpoint":
                self.set_filter(what)
            else:
                self.follow(session.to_seq(what))
        elif message.kind == "lanes" and isinstance(target, tuple):
            self.fold_lanes(session.folded ^ {target[0]})
            self.list_rows("lanes")
        elif message.kind == "recordings" and isinstance(target, Path):
            self.stash_app.open_file(target)
        elif message.kind == "why" and isinstance(target, int):
            self.follow(session.jump(target))

    # Panes

    def action_pane(self, by: int) -> None:
        """Give the focus to the next pane; a zoomed screen shows it instead."""
        panes = ["timeline", "payload", *(["panel"] if self.has_class("-panel") else [])]
        now = self.focused.id if self.focused is not None else None
        place = panes.index(now) if now in panes else 0
        other = panes[(place + by) % len(panes)]
        if self.has_class("-zoom"):
            self._zoom(other)
        self.set_focus(self.query_one(f"#{other}"))

    def action_open(self) -> None:
        """Look into the value."""
        if self.timeline.has_focus:
            self.action_pane(1)

    def action_zoom(self) -> None:
        """Fill the screen with the focused pane, or bring the other back."""
        self._zoom(None if self.has_class("-zoom") else (self.focused.id if self.focused is not None else "timeline"))

    def _zoom(self, pane: str | None) -> None:
        self.set_class(pane is not None, "-zoom")
        self.set_class(pane in ("payload", "panel"), "-zoom-inspector")
        self.set_class(pane == "timeline", "-zoom-timeline")

    def leaves_panel(self) -> bool:
        """Close the list if it has the focus; tell whether it had."""
        entered = self.panel.has_focus
        if entered:
            self._leave_panel()
        return entered

    def _leave_panel(self) -> None:
        self.close_panel()
        self.status.show()

    def action_dismiss_view(self) -> None:
        """Step out of what was opened last: work, a list, a zoom, the inspector, the search, the filter."""
        if self.stop_work():
            self.status.show("stopped")
        elif self.has_class("-panel"):
            self._leave_panel()
        elif self.has_class("-zoom"):
            self.action_zoom()
        elif self.payload.has_focus:
            if not self.clear_search():
                self.set_focus(self.timeline)
        elif self.get_selected_text():
            self.clear_selection()
        else:
            if not self.clear_search():
                self.clear_filter()
            self.status.show()
