"""A command whose help writes its arguments as people do, ``FILE``, ``FILE...``, ``[FOLDER]``, and ends in examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand


class PlainCommand(TyperCommand):
    """A command with plain names in its usage line and its help."""

    examples: Sequence[str] = ()
    """Command lines, as typed."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line after the command's name."""
        return ["[OPTIONS]", *(name(param) for param in self.get_params(ctx) if is_argument(param))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options."""
        arguments: list[tuple[str, str]] = []
        options: list[tuple[str, str]] = []
        param: Any
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            if is_argument(param):
                arguments.append((name(param), str(param.help or "")))
            else:
                options.append(record)
        for title, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, each on a line of its own."""
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def is_argument(param: Any) -> bool:
    """Tell an argument from an option."""
    return bool(param.param_type_name == "argument")


def name(param: Any) -> str:
    """Return an argument's name, in brackets if it may be left out."""
    shown = str(param.metavar or param.name or "").strip("[]")
    return shown if param.required else f"[{shown}]"
