"""Claude Code: session files with those of their sub-agents, and streams."""
