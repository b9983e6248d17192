"""agentfootprint's recordings: bare, packed, in an envelope, or in a bug report."""
