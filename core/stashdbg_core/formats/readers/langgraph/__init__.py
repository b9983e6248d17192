"""LangGraph: checkpoints in SQLite."""
