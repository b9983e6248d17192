"""Keys that come faster than views open and close never end the app."""

from __future__ import annotations

from stashdbg_core.errors import invalid_input
from stashdbg_tui.screens.forks import LineageRead
from stashdbg_tui.screens.pick import ChoicesFound


def test_keys_that_come_before_a_view_is_gone_take_nothing_else_down(drive, agent):
    async def test(driver):
        app, main = driver.app, driver.app.main_screen
        for keys in (
            ["ctrl+o", "escape", "escape", "enter", "escape"],
            ["t", "escape", "escape", "q", "escape"],
            ["question_mark", "escape", "q", "escape"],
            ["ctrl+p", "pagedown", "a", "escape", "escape"],
            ["A", "q", "escape", "escape"],
        ):
            for key in keys:
                app.simulate_key(key)
            await driver.settle()
            assert app._exception is None
            assert main in app.screen_stack
            while app.screen is not main:
                await driver.press("escape")

    drive(test, recording=agent)


def test_a_line_typed_before_the_screen_had_the_terminal_is_entered(drive, agent):
    async def test(driver):
        await driver.press("colon", *"7", "ctrl+j")  # what the terminal makes of an Enter by then
        assert driver.position == 7 and driver.app.focused is driver.screen.timeline

    drive(test, recording=agent)


def test_what_is_typed_right_behind_the_key_that_asks_is_the_answer(drive, agent):
    async def test(driver):
        for keys, said in ((["slash", *"Riga", "enter"], "hit 1 of"), (["f", *"is:error", "enter"], "event")):
            for key in keys:
                driver.app.simulate_key(key)
            await driver.settle()
            assert said in driver.status
        assert driver.screen.session.filter.query == "is:error"

    drive(test, recording=agent)


def test_what_arrives_for_a_view_that_was_left_is_dropped(drive, agent):
    async def test(driver):
        app = driver.app
        for key in ("ctrl+o", "t"):
            await driver.press(key)
            view = app.screen
            view.dismiss()
            view.dismiss()
            view.post_message(ChoicesFound([]) if key == "ctrl+o" else LineageRead(None, invalid_input("late")))
            await driver.settle()
            assert app.screen is app.main_screen

    drive(test, recording=agent)


def test_keys_typed_on_the_way_out_are_let_go(drive, agent):
    async def test(driver):
        for key in ("Q", "escape", "j", "slash", "q"):
            driver.app.simulate_key(key)

    assert drive(test, recording=agent).return_code in (None, 0)


def test_leaving_in_the_midst_of_work_ends_it(drive, agent):
    def endless():
        while True:
            yield

    async def test(driver):
        driver.screen.work_on("search", endless(), done=lambda result: None)
        driver.app.exit()

    assert drive(test, recording=agent).return_code in (None, 0)
