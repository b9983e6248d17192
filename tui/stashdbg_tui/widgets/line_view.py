"""A pane of lines that costs what is visible: no children, no layout, no virtual size.

Moving and scrolling repaint rows and nothing else; the frame around the pane is never laid out again. The last column
is a scrollbar that can be clicked and dragged.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from stashdbg_tui import safe

_WHEEL = 3


class LineView(Widget, can_focus=True):
    """Rows drawn one by one by ``draw_row``; subclasses say how many there are."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--thumb", "lines--track"}
    DEFAULT_CSS = """
    LineView { height: 1fr; width: 1fr; }
    LineView > .lines--thumb { color: $muted; }
    LineView > .lines--track { color: $rule; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.top = 0
        """Index of the first visible row."""
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(512)
        self._styles: dict[str, Style] = {}
        self._dragging = False

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return 0

    @property
    def cursor_row(self) -> int:
        """The row that is kept in sight, and drawn in another way while the pane has the focus; negative for none."""
        return -1

    @abstractmethod
    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row in exactly ``width`` cells."""

    @property
    def page_rows(self) -> int:
        """Rows that fit, at least one."""
        return max(self.size.height, 1)

    def style_of(self, name: str) -> Style:
        """Return a component style, looked up once a theme; it has no background of its own."""
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = self.get_component_rich_style(name, partial=True)
        return style

    @property
    def base_style(self) -> Style:
        """The pane's own colours, looked up once a theme: Textual walks all ancestors for them."""
        style = self._styles.get("")
        if style is None:
            style = self._styles[""] = self.rich_style
        return style

    def forget_rows(self) -> None:
        """Drop what was drawn and draw again."""
        self._strips.clear()
        self.refresh()

    def refresh_rows(self, *rows: int) -> None:
        """Draw these rows again where visible."""
        width = self.size.width
        shown = [row - self.top for row in rows if 0 <= row - self.top < self.size.height]
        if shown:
            self.refresh(*(Region(0, y, width, 1) for y in shown))

    def scroll_rows(self, by: int) -> bool:
        """Scroll by rows; tell whether anything moved."""
        return self.scroll_to_row(self.top + by)

    def scroll_to_row(self, row: int) -> bool:
        """Make ``row`` the first visible one, or the last that still fills the pane; tell whether anything moved."""
        top = max(min(row, self.row_count - self.page_rows), 0)
        if top == self.top:
            return False
        self.top = top
        self.refresh()
        return True

    def reveal(self, row: int, margin: int = 2) -> bool:
        """Scroll as little as needed to show a row, a far one into the middle; tell whether anything moved."""
        height = self.page_rows
        margin = min(margin, (height - 1) // 2)
        if self.top + margin <= row < self.top + height - margin:
            return False
        if row < self.top - height or row >= self.top + 2 * height:
            return self.scroll_to_row(row - height // 2)
        return self.scroll_to_row(row - margin if row < self.top + margin else row - height + 1 + margin)

    def render_line(self, y: int) -> Strip:
        """Return one visible line: a row, and the scrollbar's cell."""
        strip = self._visible_line(y)
        return safe.in_ascii(strip) if getattr(self.app, "ascii_only", False) else strip

    def _visible_line(self, y: int) -> Strip:
        width, row = self.size.width, self.top + y
        inner = width - 1
        if inner <= 0:
            return Strip.blank(width, self.base_style)
        if row >= self.row_count and self.row_count <= self.size.height:
            return Strip.blank(width, self.base_style)
        body = self.draw_row(row, inner) if 0 <= row < self.row_count else Strip.blank(inner, self.base_style)
        return Strip([*body, self._bar(y)], width)

    def notify_style_update(self) -> None:
        """Forget styles and strips: the theme changed."""
        self._styles.clear()
        self._strips.clear()
        super().notify_style_update()

    def _bar(self, y: int) -> Segment:
        height, count = self.size.height, self.row_count
        if count <= height:
            return Segment(" ", self.base_style)
        thumb = max(height * height // count, 1)
        start = round(self.top / (count - height) * (height - thumb))
        inside = start <= y < start + thumb
        return Segment(
            "┃" if inside else "│", self.base_style + self.style_of("lines--thumb" if inside else "lines--track")
        )

    def _on_bar(self, event: events.MouseEvent) -> bool:
        return event.x >= self.size.width - 1 and self.row_count > self.size.height

    def _drag_to(self, y: float) -> None:
        height = self.size.height
        self.scroll_to_row(round(y / max(height - 1, 1) * (self.row_count - height)))

    def on_focus(self) -> None:
        """Draw the cursor as that of the pane with the focus."""
        self.refresh_rows(self.cursor_row)

    def on_blur(self) -> None:
        """Draw the cursor as a quiet one."""
        self.refresh_rows(self.cursor_row)

    def on_resize(self, event: events.Resize) -> None:
        """Keep the pane filled and the cursor in sight; runs after a subclass's own handler."""
        self._strips.clear()
        self.top = max(min(self.top, self.row_count - max(event.size.height, 1)), 0)
        if 0 <= self.cursor_row < self.row_count:
            self.reveal(self.cursor_row)
        self.refresh()  # rows may stand elsewhere though the pane is as large as before

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start to drag the scrollbar."""
        if self._on_bar(event):
            event.stop()
            self._dragging = True
            self.capture_mouse()
            self._drag_to(event.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the scrollbar."""
        if self._dragging:
            self._drag_to(event.y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Let the scrollbar go."""
        if self._dragging:
            self._dragging = False
            self.release_mouse()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll; the time cursor stays."""
        event.stop()
        self.scroll_rows(_WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll; the time cursor stays."""
        event.stop()
        self.scroll_rows(-_WHEEL)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Take the width given."""
        return container.width
