"""The commands of sealing, masking and reporting. This module imports no textual.

Whatever writes has no key of its own: it is asked for in the menu, at the prompt or in the palette, and asks back.
"""

from __future__ import annotations

from stashdbg_tui.command import Command

TRUST_COMMANDS: tuple[Command, ...] = (
    Command("actions", ("a",), "Actions…",
            "Choose by a letter: v verify, s seal, r redact, x export a report, d compare.",
            "actions", "Trust"),
    Command("seal.verify", (), "Verify the seal",
            "Compare the recording with the seal beside it, and list what is not as sealed.", "verify", "Trust"),
    Command("seal.make", (), "Seal…",
            "Write a seal beside the recording, signed if you like, by which any later change shows.",
            "seal", "Trust"),
    Command("redact.copy", (), "Write a masked copy…",
            "List the secrets that a scan finds, and write a copy without them.", "redact", "Trust"),
    Command("report.export", (), "Export a bug report…",
            "Choose what a bug report holds, read every file of it, and write the archive.", "report", "Trust"),
    Command("report.tick", ("space",), "Include, or leave out",
            "Tick the unit at the cursor, or stop to.", "tick", "Trust", "report", palette=False),
    Command("report.write", ("e",), "Export…",
            "Write the archive, after asking for a title and a file name.", "export", "Trust", "report",
            palette=False),
    Command("report.close", ("q",), "Close the report",
            "Close the list; nothing is written.", "leave", "Trust", "report", ("escape",), palette=False),
    Command("report.pane", ("tab",), "List, or preview",
            "Give the focus to the list, or to the file shown below it.", "pane", "Trust", "report",
            ("shift+tab",), palette=False),
)  # fmt: skip
