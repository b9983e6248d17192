"""One program run many times, and what the runs have in common: sweep, ablate, doctor. Nothing below knows of it."""
