"""What an answered call does in place of waiting for the outside world, so that other tasks run as they did.

asyncio is used if the program runs in it, and never imported for it.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Generator
from typing import Any, Final

_AT_ONCE: Final = 1.0
"""Milliseconds: what was cancelled sooner was not waiting, or is cancelled again within one turn of the loop."""
_LONGER: Final = 1.0
"""Seconds beyond twice the recorded wait after which nobody is expected to cancel any more."""


def _running_asyncio() -> Any:
    """Return asyncio if one of its loops runs here, else None."""
    asyncio = sys.modules.get("asyncio")
    return asyncio if asyncio is not None and asyncio._get_running_loop() is not None else None


@types.coroutine
def _one_turn() -> Generator[None, None, None]:
    yield


async def let_others_run() -> None:
    """Give way once under asyncio; other event loops have their own idea of a bare yield."""
    if _running_asyncio() is not None:
        await _one_turn()


async def be_cancelled_again(error: BaseException, ms: float | None) -> None:
    """Wait for whoever cancelled a call when it was recorded, so that a time limit expires as one does.

    Returns at once for other errors, and after a while if nobody does.

    Args:
        error: What ended the recorded call.
        ms: How long it had run.
    """
    asyncio = _running_asyncio()
    if asyncio is not None and isinstance(error, asyncio.CancelledError) and ms is not None and ms >= _AT_ONCE:
        await asyncio.sleep(ms / 1000 * 2 + _LONGER)
