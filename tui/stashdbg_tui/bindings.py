"""Textual bindings made from the command registry, and keys looked up for display."""

from __future__ import annotations

from textual.app import App
from textual.binding import Binding, BindingType

from stashdbg_tui.commands import Command, Scope, in_scope, key_name


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
            found.append(Binding(",".join(entry.fixed), action, entry.title, show=False, tooltip=entry.tooltip))
    return found


def keys_now(app: App[object], entry: Command) -> list[str]:
    """Return the keys of a command as they are bound now, a user's keymap included, as people write them."""
    remapped = app._keymap.get(entry.id)
    keys = tuple(remapped.split(",")) if remapped is not None else entry.keys
    return [key_name(key.strip()) for key in (*keys, *entry.fixed)]
