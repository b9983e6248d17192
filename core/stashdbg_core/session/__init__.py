"""The headless debugger: the cursor, its moves, and how an event reads. A screen only draws what is computed here."""
