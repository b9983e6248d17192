"""Inspect AI: logs as ``.eval`` and JSON."""
