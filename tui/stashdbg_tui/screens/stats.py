"""Statistics: tokens, durations and errors along the run by channel, and a table of names."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.session.run_stats import Measure, NameStats, RunStats, Series, run_stats_steps, sparkline
from stashdbg_core.session.tasks import Task
from stashdbg_core.session.usage import Usage
from stashdbg_core.session.words import duration_words
from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings, closing
from stashdbg_tui.screens.left_once import LeftOnce
from stashdbg_tui.theme import channel_colour
from stashdbg_tui.workers.slices import work_in_slices

_CHANNELS = 12
_NAMES = 60
_CHARTS: dict[Measure, tuple[str, str, str]] = {
    "ms": ("Time", "", "no call says how long it took"),
    "errors": ("Errors", "$text-error", "none"),
    "tokens": ("Tokens", "$primary", "no recorded answer says what it used"),
}
"""Title, colour if not the channel's own, and what is said where there is nothing."""

Pieces = list[tuple[str, str]]


class StatsScreen(LeftOnce, ModalScreen[None]):
    """What a run took, drawn when it is added up.

    Args:
        recording: The run.
    """

    CSS_PATH = "stats.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("reader"), *closing("stats")]

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self._adding = Task(run_stats_steps(recording))
        self.stats: RunStats | None = None

    def compose(self) -> ComposeResult:
        """Make the one text."""
        with VerticalScroll(id="stats") as frame:
            frame.border_title = "Statistics"
            frame.border_subtitle = "Esc closes · stashdbg stats FILE prints the numbers"
            yield Static(Content("adding up…"), id="stats-text")

    def on_mount(self) -> None:
        """Start to add up."""
        work_in_slices(self, self._adding, self._added, self._failed)

    def on_unmount(self) -> None:
        """Stop adding up."""
        self._adding.cancel()

    def on_resize(self) -> None:
        """Draw to the new width."""
        self._draw()

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one("#stats", VerticalScroll).scroll_relative(y=lines, animate=False)

    def _added(self, stats: RunStats) -> None:
        self.stats = stats
        self._draw()

    def _failed(self, failure: StashError) -> None:
        self.query_one("#stats-text", Static).update(safe.block(failure.message))

    def _draw(self) -> None:
        if self.stats is not None:
            width = max(min(self.size.width * 96 // 100, 110) - 8, 20)
            pieces = [*_along(self.stats, width), *_table(self.stats, width)]
            self.query_one("#stats-text", Static).update(Content.assemble(*pieces))


def _along(stats: RunStats, width: int) -> Pieces:
    """Return the charts: one line a channel for each of time, errors and tokens."""
    bars = max(width - 30, 10)
    pieces: Pieces = []
    for measure, (title, style, none) in _CHARTS.items():
        pieces.append((f"{title} along the run\n", "bold $accent"))
        shown = stats.by_channel(measure)
        for channel, series in shown[:_CHANNELS]:
            colour = style or f"$channel-{channel_colour(channel)}"
            drawn = sparkline(series.along(measure), bars)
            total = f"  {_total(series, measure):>10}\n"
            pieces += [(f"  {safe.fit(channel, 12)} ", ""), (drawn, colour), (total, "$muted")]
        if len(shown) > _CHANNELS:
            pieces.append((f"  … and {len(shown) - _CHANNELS:,} channels more\n", "$muted"))
        if not shown:
            pieces.append((f"  {none}\n", "$muted"))
        pieces.append(("\n", ""))
    used = stats.usage.total
    if stats.usage.calls:
        pieces[-1] = (f"  {used.input:,} in ({used.cached:,} cached), {used.output:,} out\n\n", "$muted")
    return pieces


def _total(series: Series, measure: Measure) -> str:
    return duration_words(sum(series.ms)) if measure == "ms" else f"{series.total(measure):,.0f}"


def _table(stats: RunStats, width: int) -> Pieces:
    rows = sorted(stats.names.items(), key=lambda item: (-item[1].ms, -item[1].calls))
    tokens = f"{'tokens in':>10}{'out':>8}" if stats.usage.calls else ""
    name_width = max(min(width - 35 - len(tokens), 40), 12)
    head = f"{'':{name_width + 2}}{'calls':>6}{'errors':>7}{'time':>10}{'slowest':>10}{tokens}\n"
    pieces: Pieces = [("By name\n", "bold $accent"), (head, "$muted")]
    for (channel, key), row in rows[:_NAMES]:
        pieces += _row(channel, key, row, stats.usage_of(channel, key), name_width)
    if len(rows) > _NAMES:
        pieces.append((f"  … and {len(rows) - _NAMES:,} more\n", "$muted"))
    return pieces


def _row(channel: str, key: str, row: NameStats, usage: Usage | None, name_width: int) -> Pieces:
    used = f"{usage.input:>10,}{usage.output:>8,}" if usage is not None else ""
    return [
        (f"  {safe.fit(f'{channel} {key}', name_width)}", f"$channel-{channel_colour(channel)}"),
        (f"{row.calls:>6,}", ""),
        (f"{row.errors or '':>7}", "bold $text-error"),
        ("".join(f"{duration_words(ms) if ms else '':>10}" for ms in (row.ms, row.slowest)), ""),
        (f"{used}\n", ""),
    ]
