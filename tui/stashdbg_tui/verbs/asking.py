"""Asking for one key, or for a line: the answer is taken below, then the focus goes back to where it was."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on

from stashdbg_tui.screens.base import SessionScreen
from stashdbg_tui.widgets.choice_line import Choice, ChoiceLine
from stashdbg_tui.widgets.prompt_line import PromptLine, Words


class Asking(SessionScreen):
    """What a person is asked at the bottom of the screen."""

    def __init__(self) -> None:
        super().__init__()
        self.asked_from: str | None = None
        """The pane that had the focus when something was asked."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a colon be typed while something is asked."""
        return action != "ask" or not self.has_class("-prompt")

    def ask_line(self, kind: str, words: Words, value: str = "") -> None:
        """Ask for a line of a kind, offering words while it is typed."""
        self._turn_to_question()
        self.prompt.open(kind, words, value)

    def ask_choice(self, title: str, choices: Sequence[Choice], hidden: Sequence[Choice] = ()) -> None:
        """Let the next key choose an action."""
        self._turn_to_question()
        self.choice.open(title, choices, hidden)

    def _turn_to_question(self) -> None:
        self.asked_from = self.focused.id if self.focused is not None else None
        self.add_class("-prompt")

    @on(PromptLine.Left)
    def turn_back(self) -> None:
        """Take the question away and give the focus back."""
        self.remove_class("-prompt")
        self.set_focus(self.query_one(f"#{self.asked_from or 'timeline'}"))

    @on(PromptLine.Refused)
    def _say_refusal(self, message: PromptLine.Refused) -> None:
        self.status.show(message.reason)

    @on(ChoiceLine.Left)
    async def _choice_left(self, message: ChoiceLine.Left) -> None:
        self.turn_back()
        if message.action is not None:
            await self.run_action(message.action)
