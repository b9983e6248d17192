"""Recording and re-running whole programs, unmodified: the parent's side. ``child/`` is what the program loads.

From below: ``process/`` starts programs, ``wire/`` talks to them, ``tapes/`` answers their calls, ``runs/`` is one run
from start to end, ``experiments/`` are many.
"""
