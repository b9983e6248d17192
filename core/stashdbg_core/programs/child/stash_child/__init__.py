"""The part of stashdbg that lives inside a recorded program: standard library only, CPython 3.8 and later."""
