"""Public names of a package, each loaded from its module when it is first used (PEP 562).

The façade ``stashdbg`` does the same by itself: importing it loads no other module, this one included.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package.

    Args:
        package: Its ``__name__``.
        homes: Names by the module of the package that they live in.
    """
    home_of = {name: f"{package}.{module}" for module, names in homes.items() for name in names}

    def load(name: str) -> object:
        """Load a name on first use."""
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: object = getattr(import_module(home), name)
        vars(sys.modules[package])[name] = found
        return found

    return load
