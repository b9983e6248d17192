"""Statistics: tokens, durations and errors along the run by channel, and a table of names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.session.run_stats import NameStats, RunStats, Series, run_stats_steps
from stashdbg_core.session.tasks import Task
from stashdbg_core.session.usage import Usage
from stashdbg_core.session.words import duration_words
from stashdbg_tui import safe
from stashdbg_tui.theme import channel_colour

_BARS = " ▁▂▃▄▅▆▇█"
_PAUSE_SECONDS = 0.004
_CHANNELS = 12
_NAMES = 60

Pieces = list[tuple[str, str]]


class StatsScreen(ModalScreen[None]):
    """What a run took, drawn when it is added up.

    Args:
        recording: The run.
    """

    CSS_PATH = "stats.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,A", "dismiss", "Close", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("space,pagedown", "scroll(10)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
    ]

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
        self._work()

    def on_unmount(self) -> None:
        """Stop adding up."""
        self._adding.cancel()

    def on_resize(self) -> None:
        """Draw to the new width."""
        self._draw()

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one("#stats", VerticalScroll).scroll_relative(y=lines, animate=False)

    def _work(self) -> None:
        try:
            over = self._adding.work(8.0)
        except StashError as failure:
            self.query_one("#stats-text", Static).update(safe.block(failure.message))
            return
        if not over:
            self.set_timer(_PAUSE_SECONDS, self._work)
        elif self._adding.done:
            self.stats = self._adding.result
            self._draw()

    def _draw(self) -> None:
        if self.stats is not None:
            width = max(min(self.size.width * 96 // 100, 110) - 8, 20)
            pieces = [*_along(self.stats, width), *_table(self.stats, width)]
            self.query_one("#stats-text", Static).update(Content.assemble(*pieces))


def _along(stats: RunStats, width: int) -> Pieces:
    """Return the charts: one line a channel for each of time, errors and tokens."""
    bars = max(width - 30, 10)
    pieces: Pieces = []
    for title, name, style in (("Time along the run", "ms", ""), ("Errors along the run", "errors", "$text-error")):
        pieces.append((f"{title}\n", "bold $accent"))
        shown = sorted(stats.channels.items(), key=lambda item: -item[1].total(name))
        shown = [item for item in shown if item[1].total(name)][:_CHANNELS]
        for channel, series in shown:
            pieces += _chart(channel, getattr(series, name), _total(series, name), bars, style)
        if not shown:
            pieces.append(("  none\n", "$muted"))
        pieces.append(("\n", ""))
    pieces.append(("Tokens along the run\n", "bold $accent"))
    if not stats.usage.calls:
        pieces.append(("  no recorded answer says what it used\n\n", "$muted"))
        return pieces
    total = stats.usage.total
    pieces += _chart("in and out", stats.tokens(), f"{total.input + total.output:,}", bars, "$primary")
    pieces.append((f"  {total.input:,} in ({total.cached:,} cached), {total.output:,} out\n\n", "$muted"))
    return pieces


def _total(series: Series, name: str) -> str:
    return duration_words(sum(series.ms)) if name == "ms" else f"{series.total(name):,.0f}"


def _chart(label: str, values: Sequence[float], total: str, bars: int, style: str) -> Pieces:
    drawn = sparkline(values, bars)
    colour = style or f"$channel-{channel_colour(label)}"
    return [(f"  {safe.fit(label, 12)} ", ""), (drawn, colour), (f"  {total:>10}\n", "$muted")]


def sparkline(values: Sequence[float], width: int) -> str:
    """Return values as bars, neighbours added up; what is not nothing is never drawn as nothing."""
    merged = [0.0] * width
    for place, value in enumerate(values):
        merged[place * width // len(values)] += value
    top = max(merged, default=0.0)
    if not top:
        return " " * width
    return "".join(_BARS[max(math.ceil(value / top * (len(_BARS) - 1)), 1) if value else 0] for value in merged)


def _table(stats: RunStats, width: int) -> Pieces:
    rows = sorted(stats.names.items(), key=lambda item: (-item[1].ms, -item[1].calls))
    name_width = max(min(width - 56, 40), 14)
    head = f"{'':{name_width + 2}}{'calls':>7}{'errors':>8}{'time':>11}{'slowest':>11}{'tokens in':>11}{'out':>9}\n"
    pieces: Pieces = [("By name\n", "bold $accent"), (head, "$muted")]
    for (channel, key), row in rows[:_NAMES]:
        pieces += _row(channel, key, row, stats.usage_of(channel, key), name_width)
    if len(rows) > _NAMES:
        pieces.append((f"  … and {len(rows) - _NAMES:,} more\n", "$muted"))
    return pieces


def _row(channel: str, key: str, row: NameStats, usage: Usage | None, name_width: int) -> Pieces:
    used = f"{usage.input:>11,}{usage.output:>9,}" if usage is not None else ""
    return [
        (f"  {safe.fit(f'{channel} {key}', name_width)}", f"$channel-{channel_colour(channel)}"),
        (f"{row.calls:>7,}", ""),
        (f"{row.errors or '':>8}", "bold $text-error"),
        (f"{duration_words(row.ms):>11}{duration_words(row.slowest):>11}", ""),
        (f"{used}\n", ""),
    ]
