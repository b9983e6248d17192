"""Gemini CLI: sessions and streams."""
