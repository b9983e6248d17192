"""Drives the real app without a terminal, and makes the recordings it is driven over."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest
import textual._wait
from textual.worker import WorkerCancelled

from stashdbg_tui.app import StashApp

# A pilot takes the app for idle after a fiftieth of a second of rest, twice a key; a fifth of that shows as much.
textual._wait.SLEEP_GRANULARITY = 1 / 250
textual._wait.SLEEP_IDLE = textual._wait.SLEEP_GRANULARITY / 10


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tui_tests_{name}", Path(__file__).parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def recordings() -> ModuleType:
    """The module that makes recordings."""
    return _load("recordings")


@pytest.fixture(scope="session")
def agent(recordings):
    return recordings.agent_run()


@pytest.fixture(scope="session")
def hostile(recordings):
    return recordings.hostile_run()


class Driver:
    """The app under a pilot, and what its screen shows."""

    def __init__(self, app: StashApp, pilot) -> None:
        self.app = app
        self.pilot = pilot
        self.screen = app.main_screen

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        await self.press(*text)

    async def settle(self) -> None:
        for _ in range(400):
            await self.pilot.pause()
            with suppress(WorkerCancelled):  # an app that ends cancels what has just told it to
                await self.app.workers.wait_for_complete()
            await self.pilot.pause()
            if self.screen.payload.settled and not self.screen.busy:
                return
            await asyncio.sleep(0.01)
        raise AssertionError("the screen never came to rest")

    def lines(self) -> list[str]:
        """The screen's text, line by line."""
        height = self.app.size.height
        return ["".join(segment.text for segment in strip) for strip in self.app.screen._compositor.render_strips()][
            :height
        ]

    def text(self) -> str:
        return "\n".join(self.lines())

    @property
    def status(self) -> str:
        """The status line; the lines of a long message as one."""
        tall = self.screen.status.size.height if self.app.screen is self.screen else 1
        first, *more = self.lines()[-1 - max(tall, 1) : -1]
        return " ".join([first.rstrip(), *(line.strip() for line in more)]) if more else first

    @property
    def position(self) -> int:
        return self.screen.session.position


@pytest.fixture
def drive(monkeypatch):
    """Run an asynchronous test against the app; keyword arguments are the app's, and ``size``."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("TEXTUAL_THEME", raising=False)

    def run(test, *, size=(80, 24), paths=(), **options):
        async def main():
            app = StashApp(paths, **options)
            async with app.run_test(size=size) as pilot:
                driver = Driver(app, pilot)
                for _ in range(400):
                    await driver.settle()
                    if driver.screen.session is not None or app._exit or getattr(app.screen, "ready", False):
                        break
                    await asyncio.sleep(0.01)
                await driver.settle()
                await test(driver)
            return app

        return asyncio.run(main())

    return run
