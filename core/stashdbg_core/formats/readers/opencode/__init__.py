"""opencode: exports and its SQLite store."""
