"""Copy-on-write edits of a JSON tree: what nobody edits keeps its identity, and no depth overflows the stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stashdbg_core.canonical import Json


@dataclass(slots=True, eq=False)
class Place:
    """A container on the way from the root of a tree to the node being looked at."""

    container: Any
    parent: Place | None = None
    key: str | int = ""
    """Key or index of this container within its parent."""

    def pointer(self, *last: str | int) -> str:
        """Return the RFC 6901 pointer of this container, or of its child ``last``."""
        tokens = list(last)
        place: Place | None = self
        while place is not None and place.parent is not None:
            tokens.insert(0, place.key)
            place = place.parent
        return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


@dataclass(slots=True)
class Edits:
    """Edits collected during a walk, applied at its end."""

    values: list[tuple[Place, str | int, Json]] = field(default_factory=list)
    renames: list[tuple[Place, str, str]] = field(default_factory=list)

    def apply(self, tree: Json) -> Json:
        """Return ``tree`` with the edits made on copies of the containers concerned."""
        if not self.values and not self.renames:
            return tree
        copies: dict[int, Any] = {}
        for place, key, value in self.values:
            _copy_of(place, copies)[key] = value
        renamed: dict[int, tuple[Place, dict[str, str]]] = {}
        for place, old, new in self.renames:
            _copy_of(place, copies)  # before any key changes: copies are linked under the old keys
            renamed.setdefault(id(place), (place, {}))[1][old] = new
        for place, names in renamed.values():
            copy = _copy_of(place, copies)
            items = [(_free(names[key], copy) if key in names else key, value) for key, value in copy.items()]
            copy.clear()
            copy.update(items)
        root = (self.values[0] if self.values else self.renames[0])[0]
        while root.parent is not None:
            root = root.parent
        return copies[id(root)]


def edit_tree(tree: Json, change: Callable[[str], str]) -> Json:
    """Return ``tree`` with ``change`` applied to every text and key; the same object if nothing changed."""
    if type(tree) is str:
        return change(tree)
    edits = Edits()
    pending = [Place(tree)] if type(tree) in (dict, list) else []
    while pending:
        place = pending.pop()
        container = place.container
        if type(container) is dict:
            for name in container:
                if (new := change(name)) != name:
                    edits.renames.append((place, name, new))
        for key, value in container.items() if type(container) is dict else enumerate(container):
            kind = type(value)
            if kind is str:
                changed = change(value)
                if changed is not value and changed != value:
                    edits.values.append((place, key, changed))
            elif kind is dict or kind is list:
                pending.append(Place(value, place, key))
    return edits.apply(tree)


def _copy_of(place: Place, copies: dict[int, Any]) -> Any:
    """Return the one copy of a container, its ancestors copied and linked too."""
    chain: list[Place] = []
    step: Place | None = place
    while step is not None and id(step) not in copies:
        chain.append(step)
        step = step.parent
    for link in reversed(chain):
        copy = copies[id(link)] = link.container.copy()
        if link.parent is not None:
            copies[id(link.parent)][link.key] = copy
    return copies[id(place)]


def _free(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "'"
    return name
