"""Textual bindings made from the command registry, and keys looked up for display."""

from __future__ import annotations

from textual.app import App
from textual.binding import Binding, BindingType

from stashdbg_tui.commands import Command, Scope, command, in_scope, key_name


def bindings(*scopes: Scope, target: str = "") -> list[BindingType]:
    """Return the bindings of these scopes; ``target`` (``screen.``) names where their actions live.

    Keys that a keymap may move carry the command's id; fixed ones carry none, so a keymap never takes them away.
    """
    found: list[BindingType] = []
    for entry in in_scope(*scopes):
        action = target + entry.action
        if entry.keys:
            keys = ",".join(entry.keys)
            found.append(
                Binding(
                    keys, action, entry.title, show=False, tooltip=entry.tooltip, id=entry.id, priority=entry.at_once
                )
            )
        if entry.fixed:
            keys = ",".join(entry.fixed)
            found.append(Binding(keys, action, entry.title, show=False, tooltip=entry.tooltip, priority=entry.at_once))
    return found


def closing(command_id: str, action: str = "dismiss") -> list[BindingType]:
    """Return bindings by which the keys that opened a view close it, however a keymap moves them."""
    entry = command(command_id)
    found: list[BindingType] = [Binding(",".join(entry.keys), action, "Close", show=False, id=entry.id)]
    return found + ([Binding(",".join(entry.fixed), action, "Close", show=False)] if entry.fixed else [])


def keys_now(app: App[object], entry: Command) -> list[str]:
    """Return the keys of a command as they are bound now, a user's keymap included, as people write them."""
    remapped = app._keymap.get(entry.id)
    keys = tuple(remapped.split(",")) if remapped is not None else entry.keys
    return [key_name(key.strip()) for key in (*keys, *entry.fixed)]
