"""``stashdbg stats``: what a recording holds, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stashdbg.cli import console
from stashdbg.cli.cells import cell_len, clip, fit
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.notes import narrate_notes, note_message
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption, RunOption
from stashdbg_core.session.words import duration_words, size_words

if TYPE_CHECKING:
    from stashdbg_core.session.run_stats import Measure, RunStats

_CHANNELS_SHOWN = 100
_NAME = 32
_STRETCHES = 60
"""Parts of the run that ``--json`` tells apart."""
_ALONG: tuple[tuple[Measure, str], ...] = (("ms", "time"), ("errors", "errors"), ("tokens", "tokens"))
_CHARTS, _LABEL, _TOTAL, _WIDEST = 12, 12, 10, 100


def command(file: FileArgument, as_json: JsonOption = False, limit: LimitOption = None, run: RunOption = None) -> None:
    """Count events, errors, values and bytes by channel."""
    from stashdbg_core.session.run_stats import run_stats_steps
    from stashdbg_core.session.tasks import Task
    from stashdbg_core.store.stats import recording_stats

    recording = load_recording(file, limit, run)
    facts = recording_stats(recording).to_json()
    along = Task(run_stats_steps(recording)).run()
    usage = along.usage.to_json()
    facts["usage"] = usage if usage["calls"] else None
    facts["along"] = along.to_json(_STRETCHES)
    if as_json:
        console.ascii_text(json_text(facts) + "\n")
        return
    console.line(Styled(clip(recording.id, 60) or "(no id)", "bold"), " · ", _ending(facts))
    _print_channels(facts)
    _print_along(along)
    if facts["usage"]:
        _print_usage(facts["usage"])
    console.line()
    about = "; the largest, and the first event that needs each" if facts.get("biggestBlobs") else ""
    console.line(f"{facts['blobs']:,} values, {size_words(facts['bytes'])}{about}")
    for blob in facts.get("biggestBlobs", ()):
        owner = f"  event {blob['seq']}  {blob['channel']} {blob['key']}" if blob.get("seq") is not None else ""
        console.line(f"{size_words(blob['bytes']):>9}{clip(owner, 80)}")
    narrate_notes([note_message(note) for note in recording.notes])


def _print_along(stats: RunStats) -> None:
    """Draw a line a channel for time, errors and tokens along the run, where there are any."""
    from stashdbg_core.session.run_stats import sparkline

    for measure, title in _ALONG:
        shown = stats.by_channel(measure)
        if not shown:
            continue
        name_wide = max(min(cell_len(clip(name, _LABEL)), _LABEL) for name, _ in shown)
        bars = max(min(console.width(), _WIDEST) - name_wide - _TOTAL - 4, 10)
        console.line()
        console.line(Styled(f"{title} along the run", "dim"))
        for channel, series in shown[:_CHARTS]:
            total = series.total(measure)
            told = duration_words(total) if measure == "ms" else f"{total:,.0f}"
            drawn = Styled(sparkline(series.along(measure), bars), "error" if measure == "errors" else "channel")
            console.line(fit(channel, name_wide), "  ", drawn, f"  {told:>{_TOTAL}}")
        if len(shown) > _CHARTS:
            console.line(f"… and {len(shown) - _CHARTS:,} channels more")


def _print_usage(usage: dict[str, Any]) -> None:
    """Write a table of tokens with a line a channel and key that told what it used."""
    rows = [(f"{row['channel']} {row['key']}", row) for row in usage["keys"]]
    shown = [*rows[:_CHANNELS_SHOWN], ("total", usage)]
    wide = max(6, *(min(cell_len(clip(name, _NAME)), _NAME) for name, _ in shown))
    console.line()
    titles = f"{'tokens'.ljust(wide)}  {'calls':>9}  {'input':>11}  {'cached':>11}  {'output':>11}"
    console.line(Styled(titles, "dim"))
    for name, row in shown:
        counts = (row["inputTokens"], row["cachedTokens"], row["outputTokens"])
        console.line(fit(name, wide), f"  {row['calls']:>9,}", *(f"  {count:>11,}" for count in counts))
    if len(rows) > _CHANNELS_SHOWN:
        console.line(f"… and {len(rows) - _CHANNELS_SHOWN:,} more")


def _ending(facts: dict[str, Any]) -> str:
    return "complete" if facts["complete"] else "incomplete"


def _print_channels(facts: dict[str, Any]) -> None:
    """Write a table with a line a channel and one for all of them."""
    rows = [(name, counts["events"], counts["throws"]) for name, counts in facts["channels"].items()]
    shown = [*rows[:_CHANNELS_SHOWN], ("total", facts["events"], facts["throws"])]
    name_wide = max(7, *(min(cell_len(clip(name, _NAME)), _NAME) for name, _, _ in shown))
    console.line(Styled(f"{'channel'.ljust(name_wide)}  {'events':>9}  {'threw':>7}", "dim"))
    for name, events, throws in shown:
        threw = f"{throws:>7,}"
        console.line(fit(name, name_wide), f"  {events:>9,}  ", Styled(threw, "error") if throws else threw)
    if len(rows) > _CHANNELS_SHOWN:
        console.line(f"… and {len(rows) - _CHANNELS_SHOWN:,} channels more")
