"""A line or two of the screen's frame, drawn without layout: ``refresh`` repaints it and nothing moves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from stashdbg_tui import safe

Piece: TypeAlias = tuple[str, str]
"""Safe text and the component class it is drawn in; an empty class is the widget's own style."""


class OneLine(Widget, can_focus=False):
    """A fixed line of pieces; subclasses say which."""

    DEFAULT_CSS = """
    OneLine { height: 1; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._styles: dict[str, Style] = {}

    @abstractmethod
    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return what line ``y`` shows, in about ``width`` cells."""

    def style_of(self, name: str) -> Style:
        """Return the style of a component on this line's background."""
        style = self._styles.get(name)
        if style is None:
            base = self.rich_style
            style = base + self.get_component_rich_style(name, partial=True) if name else base
            self._styles[name] = style
        return style

    def render_line(self, y: int) -> Strip:
        """Return the line in exactly its width."""
        width = self.size.width
        runs = groupby(self.pieces(y, width), key=itemgetter(1))
        segments = [Segment("".join(text for text, _ in run), self.style_of(name)) for name, run in runs]
        strip = Strip(segments)
        if width > 0 and strip.crop(width).text.strip():  # a cut shows
            strip = Strip([*strip.crop(0, width - 1), Segment("…", self.style_of(""))])
        strip = strip.adjust_cell_length(width, self.style_of(""))
        return safe.in_ascii(strip) if getattr(self.app, "ascii_only", False) else strip

    def notify_style_update(self) -> None:
        """Forget styles: the theme changed."""
        self._styles.clear()
        super().notify_style_update()
