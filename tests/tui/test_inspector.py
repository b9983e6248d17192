"""The inspector: its tabs, folding, copying out."""

from __future__ import annotations

import json

import pytest


def test_every_tab_reads_the_call_in_its_way(drive, agent):
    async def test(d):
        await d.press("colon", *"llm:3", "enter")
        wanted = {"3": "compared with event", "4": "the reply", "5": "recorded no state", "6": ":source FOLDER",
                  "7": "agent.py:88 ask", "8": '"choices":[{'}  # fmt: skip
        for key, said in wanted.items():
            await d.press(key)
            assert said in d.text(), key
        await d.press("v")
        assert "agent.py:88 ask" in d.text()

    drive(test, recording=agent, size=(150, 60))


def test_the_chat_shows_results_beneath_their_calls(drive, recordings):
    tape = recordings.Tape()
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Riga"}'}}
    messages = [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    ]
    tape.add(
        "llm", "m", {"choices": [{"message": {"role": "assistant", "content": "It rains."}}]}, {"messages": messages}
    )

    async def test(d):
        await d.press("4")
        lines = [line[72:] for line in d.lines()]
        place = next(index for index, line in enumerate(lines) if '→ weather {"city": "Riga"}' in line)
        assert "rain" in lines[place + 1] and any("It rains." in line for line in lines[place:])

    drive(test, recording=tape.done(), size=(150, 40))


def test_objects_fold_by_enter_and_by_h_and_l(drive, recordings):
    tape = recordings.Tape()
    tape.add("llm", "m", {"outer": {"inner": [[1, 2], [3, 4], "long " * 30], "text": "a\nb"}, "after": 1})

    async def test(d):
        await d.press("tab", "j", "enter")
        assert "outer: { … }" in d.text() and "inner:" not in d.text() and "after: 1" in d.text()
        await d.press("l", "j", "j", "h")
        assert "outer: {" in d.text() and d.screen.payload.pointer in ("/outer", "/outer/inner")
        await d.press("minus")
        assert "outer: { … }" in d.text()
        await d.press("slash", *"long", "enter")
        assert "long long" in d.screen.payload.line_text
        await d.press("plus", "G")
        assert d.screen.payload.line_text == "}"

    drive(test, recording=tape.done(), size=(120, 40))


@pytest.mark.parametrize(("key", "check"), [
    ("v", lambda text: json.loads(text)["model"] == "gpt-4.1-mini"),
    ("p", lambda text: text == "value/model"),
    ("e", lambda text: json.loads(text)["key"] == "gpt-4.1-mini"),
    ("c", lambda text: text == "stashdbg show FILE --at 2"),
])  # fmt: skip
def test_what_y_copies(drive, agent, key, check):
    async def test(d):
        await d.press("j", "j", "tab", "j", "j", "y")
        assert "v value" in d.lines()[-1] or "v value" in d.text()
        await d.press(key)
        assert check(d.app.clipboard)
        assert d.app.focused is d.screen.payload

    drive(test, recording=agent, size=(120, 40))


def test_y_then_any_other_key_does_nothing(drive, agent):
    async def test(d):
        await d.press("y", "j")
        assert d.position == 0 and d.app.clipboard == ""
        await d.press("y", "colon", "j", "Y")
        assert d.position == 1 and d.app.clipboard == "stashdbg show FILE --at 1"

    drive(test, recording=agent)


def test_sources_are_read_only_from_a_confirmed_folder(drive, agent, tmp_path):
    (tmp_path / "agent.py").write_text("".join(f"line_{number} = [{number}]\n" for number in range(1, 120)))

    async def test(d):
        await d.press("j", "j", "6")
        assert "line_88" not in d.text()
        await d.press("colon")
        d.screen.prompt.query_one("Input").value = f"source {tmp_path}"
        await d.press("enter")
        assert "▶" in d.text() and "line_88 = [88]" in d.text()

    drive(test, recording=agent, size=(120, 40))


def test_the_headers_of_a_response_start_closed(drive, recordings):
    tape = recordings.Tape()
    headers = {"date": "Mon, 30 Nov 2026 10:00:00 GMT", "x-request-id": "req_0123456789abcdef0123456789"}
    tape.add("llm", "m", {"status": 200, "headers": headers, "body": {"text": "hello"}})

    async def test(d):
        assert "headers: { … }" in d.text() and "hello" in d.text() and "10:00:00" not in d.text()
        await d.press("tab", "j", "j", "enter")
        assert "10:00:00" in d.text() and "hello" in d.text()
        await d.press("enter")
        assert "10:00:00" not in d.text()
        await d.press("plus")
        assert "10:00:00" in d.text()

    drive(test, recording=tape.done(), size=(80, 24))
