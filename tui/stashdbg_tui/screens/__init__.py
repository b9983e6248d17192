"""Screens: each owns its layout and hands every key to the session."""
