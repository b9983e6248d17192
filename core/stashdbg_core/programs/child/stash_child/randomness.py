"""Random numbers that are the same on replay.

The generator behind ``random``'s functions starts from a recorded seed, in each lane its own, and so does each
``random.Random()`` that gets none; draws from them are not recorded. What comes from the operating system is:
``os.urandom``, and with it ``SystemRandom`` and ``secrets``, and UUIDs. What a library draws for itself is recorded
too, and nobody's divergence.
"""

from __future__ import annotations

import os
import sys

from . import calls, lanes, real, sites

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RANDOM = "random"
_OWN_IDS = ("uuid1", "uuid4", "uuid6", "uuid7", "uuid8")


def install() -> None:
    """Lay the hooks."""
    os.urandom = _urandom
    posix: Any = sys.modules.get("posix")
    if posix is not None:
        posix.urandom = _urandom
    if hasattr(os, "getrandom"):
        get_random = os.getrandom

        def getrandom(size: int, flags: int = 0) -> bytes:
            return _drawn("getrandom", size, lambda: get_random(size, flags), sys._getframe(1))

        os.getrandom = getrandom


def _urandom(size: int) -> bytes:
    """Return a bytes object containing random bytes suitable for cryptographic use."""
    return _drawn("urandom", size, lambda: real.urandom(size), sys._getframe(1))


_urandom.__name__ = _urandom.__qualname__ = "urandom"
_urandom.__module__ = "posix"


def _drawn(name: str, size: int, draw: Callable[[], bytes], frame: Any) -> bytes:
    if calls.inside() or type(size) is not int or size <= 0:
        return draw()
    site, soft = sites.drawn_by(frame)
    if site is None:  # no code of the program's is running
        return draw()
    found = calls.value(RANDOM, "%s(%d)" % (name, size), draw, soft=soft, site=site)
    return found if type(found) is bytes and len(found) <= size else draw()


def pin_random(module: Any) -> None:
    """Start generators from recorded seeds."""
    from . import shared_generator

    module._urandom = _urandom
    seed = module.Random.seed

    def pinned_seed(self: Any, a: Any = None, version: int = 2) -> None:
        if a is None and not calls.inside():
            site, soft = sites.drawn_by(sys._getframe(1))
            if site is not None:
                a = calls.value(RANDOM, "seed", _fresh_seed, soft=soft, site=site)
        return seed(self, a, version)  # type: ignore[no-any-return]

    pinned_seed.__name__, pinned_seed.__qualname__ = "seed", "Random.seed"
    pinned_seed.__doc__, pinned_seed.__module__ = seed.__doc__, "random"
    module.Random.seed = pinned_seed
    module.seed = module._inst.seed
    seed_shared_generator()
    shared = shared_generator.install(module, str(calls.settings.get("seed")))

    def seed_in_fork() -> None:  # Python seeds it there too, by chance
        seed_shared_generator()
        shared.afresh()

    os.register_at_fork(after_in_child=seed_in_fork)


def seed_shared_generator() -> None:
    """Start the generator behind the functions of ``random`` from this process's own recorded seed."""
    module: Any = sys.modules.get("random")
    if module is not None and calls.mode() != "off":
        module.Random.seed(module._inst, _seed_of_process())


def _fresh_seed() -> int:
    return int.from_bytes(real.urandom(16), "big")


def _seed_of_process() -> str:
    return "%s %s" % (calls.settings.get("seed"), lanes.process() or "")


def pin_uuid(module: Any) -> None:
    """Record UUIDs."""
    for name in _OWN_IDS:
        if hasattr(module, name):
            setattr(module, name, _pinned_id(name, getattr(module, name), module.UUID))


def _pinned_id(name: str, make: Callable[..., Any], cls: type) -> Any:
    def pinned(*args: Any, **named: Any) -> Any:
        if calls.inside():
            return make(*args, **named)
        site, soft = sites.drawn_by(sys._getframe(1))
        if site is None:
            return make(*args, **named)
        found = calls.value(RANDOM, name, lambda: make(*args, **named), soft=soft, site=site)
        return found if isinstance(found, cls) else make(*args, **named)

    pinned.__name__ = pinned.__qualname__ = name
    pinned.__doc__, pinned.__module__ = make.__doc__, "uuid"
    pinned.__wrapped__ = make  # type: ignore[attr-defined]
    return pinned
