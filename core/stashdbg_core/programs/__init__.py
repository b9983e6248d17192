"""Recording and re-running whole programs, unmodified: the parent's side. ``child/`` is what the program loads."""
