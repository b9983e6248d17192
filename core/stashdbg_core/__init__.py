"""The headless library of stashdbg: record, replay, read, compare and step through agent runs. Knows no screen."""

__version__ = "0.1.0"
