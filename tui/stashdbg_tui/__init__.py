"""The screen of stashdbg: a Textual app over the headless session. Importing this package loads no textual."""
