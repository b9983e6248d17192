"""What calls are called on the tape: channel and key, masked, with a count of how many started."""

from __future__ import annotations

from itertools import count

from stashdbg_core.errors import invalid_input
from stashdbg_core.record.masking import Masking

_MOST_TEXTS = 4096
UNMASKABLE = "[REDACTED]"
"""What stands for a short text that the rules could not look at."""


class Name:
    """One channel and key as stored."""

    __slots__ = ("channel", "key", "ordinals")

    def __init__(self, channel: str, key: str) -> None:
        self.channel = channel
        self.key = key
        self.ordinals = count()


class Names:
    """Every name a recorder has seen; two names that are one once masked count together."""

    def __init__(self, masking: Masking) -> None:
        self._masking = masking
        self._names: dict[tuple[str, str], Name] = {}
        self._stored: dict[tuple[str, str], Name] = {}
        self._texts: dict[str, str] = {}

    def of(self, channel: str, key: str) -> Name:
        """Return the name of a call.

        Raises:
            StashError: Channel or key is not a str.
        """
        try:
            return self._names[channel, key]
        except (KeyError, TypeError):
            return self._learn(channel, key)

    def text(self, text: str | None) -> str | None:
        """Return a label, lane or similar short text as it may be stored."""
        if text is None:
            return None
        masked = self._texts.get(text)
        if masked is None:
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            masked = self._texts[text] = self._masked(text)
        return masked

    def _learn(self, channel: object, key: object) -> Name:
        for part, given in (("channel", channel), ("key", key)):
            if not isinstance(given, str):
                raise invalid_input(
                    f"the {part} of a call is a {type(given).__name__}", hint=f"name the {part} by a str"
                )
        stored = self._masked(str(channel)), self._masked(str(key))
        name = self._stored.setdefault(stored, Name(*stored))
        return self._names.setdefault((str(channel), str(key)), name)

    def _masked(self, text: str) -> str:
        try:
            return self._masking.text(text)
        except Exception:  # noqa: BLE001 - a rule that fails must not put the text in clear, nor stop the program
            return UNMASKABLE
