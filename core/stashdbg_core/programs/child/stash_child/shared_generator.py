"""The generator behind the functions of ``random``, drawn from by several threads and tasks.

Who draws first is chance, so each lane but the process's first draws from a generator of its own, seeded by the run's
seed and the lane's name: as good as the shared one for a program that never seeded it. One that seeds it, or puts it
into a state, relies on what comes next, and from there on all lanes share it as they would without us.
"""

from __future__ import annotations

from . import lanes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_CHOOSE = ("seed", "setstate")
"""Functions by which a program chooses what is drawn next."""


class Shared:
    """How lanes share the generator at present.

    Args:
        make: Makes a generator of a seed.
        seed: Of the run.
    """

    def __init__(self, make: Callable[[str], Any], seed: str) -> None:
        self._make = make
        self._seed = seed
        self._is_chosen = False
        self._number = 0

    def of_lane(self) -> Any:
        """Return the generator of the running lane; None: the one of the module."""
        if self._is_chosen:
            return None
        lane = lanes.current()
        if lane.is_first():
            return None
        known = lane.generator
        if known is None or known[0] != self._number:
            made = self._make("%s %d %s" % (self._seed, self._number, lane.name))
            known = lane.generator = (self._number, made)
        return known[1]

    def chosen(self, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Take down that the program seeded the generator, by a value of its own or afresh, or set its state."""
        value = args[0] if args else named.get("a")
        self.afresh()
        self._is_chosen = name == "setstate" or value is not None

    def afresh(self) -> None:
        """Take down that the generator was seeded by nothing that the program knows."""
        self._is_chosen = False
        self._number += 1


class Function:
    """A function of the module as the bound method it is: no method when it is the attribute of a class."""

    def __init__(self, name: str, method: Callable[..., Any], shared: Shared) -> None:
        self._method = method
        self._shared = shared
        self.__name__ = name
        self.__qualname__ = getattr(method, "__qualname__", name)
        self.__module__ = "random"
        self.__doc__ = method.__doc__
        self.__wrapped__ = method

    def __call__(self, *args: Any, **named: Any) -> Any:
        generator = self._shared.of_lane()
        return (self._method if generator is None else getattr(generator, self.__name__))(*args, **named)

    def __repr__(self) -> str:
        return repr(self._method)

    def __reduce__(self) -> Any:
        return self._method.__reduce__()


class _Choice(Function):
    """A function that chooses what all lanes draw next."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        answer = self._method(*args, **named)
        self._shared.chosen(self.__name__, args, named)
        return answer


def install(module: Any, seed: str) -> Shared:
    """Let each lane draw its own numbers from the functions of ``random``; ``seed`` is that of the run."""
    inst = module._inst
    shared = Shared(module.Random, seed)
    for name, method in list(vars(module).items()):
        if getattr(method, "__self__", None) is inst:
            setattr(module, name, (_Choice if name in _CHOOSE else Function)(name, method, shared))
    return shared
