"""Opening by name: one recording, whichever kind of file holds it, and what a folder holds."""
