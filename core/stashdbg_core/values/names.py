"""Names of classes, found without running code of theirs.

A class is named ``module:Qualname``. What is read here comes from ``type`` itself and the class's own namespace: a
metaclass or a property that raises cannot get in the way.
"""

from __future__ import annotations

import sys
from typing import Any

_qualname_of = type.__dict__["__qualname__"].__get__
_module_of = type.__dict__["__module__"].__get__


def class_name(cls: type) -> str:
    """Return ``module:Qualname`` of a class."""
    module = _module_of(cls)
    return f"{module if type(module) is str else '?'}:{_qualname_of(cls)}"


def loaded_class(name: str) -> type | None:
    """Return the top-level class of this name from a module that is loaded already; import nothing."""
    module_name, _, qualname = name.partition(":")
    module = sys.modules.get(module_name)
    found: Any = None if module is None else vars(module).get(qualname)
    return found if isinstance(found, type) and class_name(found) == name else None
