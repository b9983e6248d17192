"""What a person keeps beside a recording while debugging it: bookmarks, notes, breakpoints, watches, own columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.notebook import Notebook
from stashdbg_core.session.session import Session
from stashdbg_core.session.tasks import Steps, Task

# A screen's first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.session.expressions import Column
    from stashdbg_core.session.predicate import Marks, Predicate
    from stashdbg_core.session.watches import SharedCalls, Watch, WatchRow


class Marked(Session):
    """A session with a notebook.

    Args:
        recording: The run.
        notebook: What is kept; in memory only when None.
    """

    def __init__(self, recording: Recording, notebook: Notebook | None = None) -> None:
        super().__init__(recording)
        self.notebook = notebook if notebook is not None else Notebook(None, recording.id)
        self._breakpoints: tuple[tuple[str, ...], list[Predicate]] = ((), [])
        self._watches: tuple[tuple[str, ...], list[Watch]] = ((), [])
        self._columns: tuple[tuple[str, ...], list[Column]] = ((), [])
        self._calls: SharedCalls | None = None

    def reload(self, recording: Recording) -> None:
        """Put a fuller or changed recording under the cursor; what was found out about the old one is forgotten."""
        super().reload(recording)
        self._breakpoints, self._watches, self._calls = ((), []), ((), []), None

    def marks(self) -> Marks:
        """Return what ``is:marked`` and its like ask."""
        return {**self.notebook.marks(self.recording), "breakpoint": self._stops}

    def _stops(self) -> frozenset[int]:
        return frozenset(position for predicate in self.breakpoints() for position in predicate.positions())

    def toggle_bookmark(self) -> bool:
        """Set or take away a bookmark at the cursor; tell whether it is there now.

        Raises:
            StashError: There is no event, or the notebook cannot be written.
        """
        return self.notebook.toggle_bookmark(self._here().seq)

    def add_note(self, text: str) -> None:
        """Write a note on the event at the cursor.

        Raises:
            StashError: It is empty, or the notebook cannot be written.
        """
        self.notebook.add_note(self._here().seq, text)

    def toggle_breakpoint(self, query: str | None = None) -> bool:
        """Set or take away a breakpoint: a query, or the channel and key of the event at the cursor.

        Raises:
            StashError: The query is none or looks at breakpoints itself, or the notebook cannot be written.
        """
        from stashdbg_core.session.predicate import Predicate

        if query is None:
            event = self._here()
            query = f"channel:{quoted(event.channel)} key:{quoted(event.key)}"
        query = query.strip()
        if not query or "is:breakpoint" in query:
            raise invalid_input("a breakpoint needs a query of its own", hint="such as is:error or key:search*")
        Predicate(query, self.recording)
        others = tuple(other for other in self.notebook.breakpoints if other != query)
        is_set = len(others) == len(self.notebook.breakpoints)
        self.notebook.set_breakpoints((*others, query) if is_set else others)
        return is_set

    def toggle_watch(self, expression: str) -> bool:
        """Watch a JMESPath expression over state values or, at ``value`` or ``input``, events; or stop watching it.

        Raises:
            StashError: It is no expression, or the notebook cannot be written.
        """
        from stashdbg_core.session.watches import Watch

        Watch(expression, self.recording)
        others = tuple(other for other in self.notebook.watches if other != expression)
        is_set = len(others) == len(self.notebook.watches)
        self.notebook.set_watches((*others, expression) if is_set else others)
        return is_set

    def toggle_column(self, setting: str) -> bool:
        """Show a column of one's own, ``name=expression``, or take away the one of this name; tell whether it is there.

        Raises:
            StashError: It is no JMESPath expression, or the notebook cannot be written.
        """
        from stashdbg_core.session.expressions import parse_columns

        setting = setting.strip()
        shown = [column.name for column in self.own_columns()]
        if setting in shown:
            kept = [one for one, name in zip(self.notebook.columns, shown, strict=True) if name != setting]
            self.notebook.set_columns(tuple(kept))
            return False
        name = parse_columns([setting])[0].name
        others = [one for one, other in zip(self.notebook.columns, shown, strict=True) if other != name]
        self.notebook.set_columns((*others, setting))
        return True

    def own_columns(self) -> list[Column]:
        """Return the columns of one's own, in the order in which they were asked for."""
        if self._columns[0] != self.notebook.columns:
            from stashdbg_core.session.expressions import readable_columns

            self._columns = self.notebook.columns, readable_columns(self.notebook.columns)
        return self._columns[1]

    def breakpoints(self) -> list[Predicate]:
        """Return the breakpoints as predicates; what another version wrote and is no query is left out."""
        if self._breakpoints[0] != self.notebook.breakpoints:
            from stashdbg_core.session.predicate import Predicate

            marks = self.notebook.marks(self.recording)
            found = []
            for query in self.notebook.breakpoints:
                try:
                    found.append(Predicate(query, self.recording, marks))
                except StashError:  # written by another version
                    continue
            self._breakpoints = self.notebook.breakpoints, found
        return self._breakpoints[1]

    def watches(self) -> list[Watch]:
        """Return the watches; what another version wrote and is no expression is left out."""
        if self._watches[0] != self.notebook.watches:
            from stashdbg_core.session.watches import SharedCalls, Watch

            self._calls = self._calls or SharedCalls(self.recording)
            found = []
            for expression in self.notebook.watches:
                try:
                    found.append(Watch(expression, self.recording, self._calls))
                except StashError:  # written by another version
                    continue
            self._watches = self.notebook.watches, found
        return self._watches[1]

    def watch_rows(self) -> Task[list[WatchRow]]:
        """Find what every watched path is at the cursor."""

        def steps() -> Steps[list[WatchRow]]:
            rows: list[WatchRow] = []
            for watch in self.watches() if self.count else ():
                yield from watch.calls.steps()
                rows.append(watch.row(self.position))
                yield
            return rows

        return Task(steps())

    def _here(self) -> RecordedEvent:
        event = self.event
        if event is None:
            raise invalid_input("the recording has no events")
        return event


def quoted(text: str) -> str:
    """Return a text as a phrase of the query language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
