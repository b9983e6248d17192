"""Describe and export: exact sizes, exact bytes, nothing of what was left out."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.report import Bundle, Fields, describe, export
from stashdbg_core.store.open import read_recording
from stashdbg_core.store.writer import encode_recording
from tests.core.report.conftest import HOME, JANE, KEY, NOW, chat, lanes_run, recording_of

WORDS = Fields("Wrong city", "1. run it", "paris", "rome")


def read(bundle: Bundle, name: str) -> bytes:
    return next(file.data for file in bundle.files if file.name == name)


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_every_agent_is_a_conversation_and_files_come_last(lanes: Recording) -> None:
    units = describe([lanes], person=JANE).units
    assert [unit.id for unit in units] == [
        "conv-1",
        "conv-2",
        "conv-3",
        "file-transcript",
        "file-narrative",
        "file-environment",
    ]
    assert "lane bob" in units[2].label
    assert (units[2].events, units[2].failed, units[2].in_flight) == (3, 0, 1)


def test_pool_threads_belong_to_the_only_conversation() -> None:
    run = recording_of([chat("q", "a"), {"thread": "pool-1"}, {"thread": "pool-2"}])
    units = describe([run], person=JANE).units
    assert [unit.id for unit in units if unit.kind == "conversation"] == ["conv-1"]
    assert units[0].events == 3


def test_calls_within_a_call_go_with_it_and_others_stay_apart() -> None:
    run = recording_of(
        [
            chat("q", "a", thread="a"),
            chat("q", "b", thread="b"),
            {"thread": "worker", "parent": 1, "value": "of b"},
            {"thread": "worker", "value": "whose?"},
        ]
    )
    conversations = [unit for unit in describe([run], person=JANE).units if unit.kind == "conversation"]
    assert [unit.events for unit in conversations] == [1, 2, 1]
    assert "other lanes" in conversations[2].label


@pytest.mark.parametrize(
    "include", [None, ["conv-3"], ["conv-1", "conv-3", "file-narrative"], ["conv-2", "file-environment"]]
)
def test_all_sizes_are_exact(lanes: Recording, include: list[str] | None) -> None:
    bundle = describe([lanes], person=JANE).export(include, WORDS, NOW)
    files = unzipped(bundle.zip())
    assert next(iter(files)) == "manifest.json"
    manifest = json.loads(files["manifest.json"])
    assert manifest == bundle.manifest
    assert {row["name"]: row["bytes"] for row in manifest["files"]} == {name: len(data) for name, data in files.items()}
    assert manifest["totalBytes"] == sum(map(len, files.values())) == bundle.total_bytes
    assert manifest["counts"]["files"] == len(files)


@pytest.mark.parametrize("padding", range(0, 130, 7))
def test_the_manifest_knows_its_own_size(padding: int) -> None:
    run = recording_of([chat("q", "a")])
    bundle = describe([run], person=JANE).export(None, Fields("t" + "x" * padding), NOW)
    assert bundle.manifest["files"][0]["bytes"] == len(read(bundle, "manifest.json"))


def test_offered_sizes_are_those_of_the_files(lanes: Recording) -> None:
    offer = describe([lanes], person=JANE)
    sizes = {unit.id: unit.bytes for unit in offer.units}
    alone = offer.export(["conv-3"], WORDS, NOW)
    assert sizes["conv-3"] == len(read(alone, "recording.json"))
    everything = offer.export(None, WORDS, NOW)
    assert sizes["file-narrative"] == len(read(everything, "narrative.txt"))
    assert sizes["file-transcript"] == len(read(everything, "transcript.txt"))


def test_what_is_left_out_leaves_no_name(lanes: Recording, names_in: Callable[[bytes], list[str]]) -> None:
    offer = describe([lanes], person=JANE)
    include = ["conv-1", "conv-3", "file-transcript", "file-narrative", "file-environment"]
    bundle = offer.export(include, WORDS, NOW)
    kept = bundle.zip().replace(b"I ask alice and bob", b"")  # the main lane's own words
    assert names_in(kept) == []
    assert bundle.manifest["excluded"] == {"conversations": 1, "files": 0, "events": 2}
    assert any("subset" in warning for warning in bundle.manifest["warnings"])
    part = read_recording(read(bundle, "recording.json"))
    assert [event.seq for event in part.events] == [0, 3, 4, 5]
    assert part.meta["omittedEvents"] == 2
    assert all(part.blobs.payload(event.ref).state == "ok" for event in part.events)
    assert names_in(offer.export(["conv-2"], WORDS, NOW).zip()) == ["alice", "conv-2"]


def test_a_run_left_out_is_gone_with_its_id_and_secrets() -> None:
    other = recording_of([chat("q", "a", value={"iban_password": "other-secret-9"})], "alice-run", alice="x")
    offer = describe([recording_of([chat("q", "a")]), other], person=JANE)
    bundle = offer.export(["conv-1", "file-environment"], WORDS, NOW)
    assert b"alice" not in bundle.zip()
    assert b"iban_password" not in bundle.zip()
    assert [file.name for file in bundle.files] == ["manifest.json", "recordings/run-1.json", "environment.json"]
    both = offer.export(None, WORDS, NOW)
    assert b"alice-run" in both.zip()
    assert both.manifest["redacted"] == {"names": ["iban_password"], "kinds": {"password": 1}}


def test_a_masked_secret_is_nowhere_in_clear(lanes: Recording) -> None:
    secret = "Tr0ub4dor&3-x"
    run = recording_of(
        [
            chat("q", "a", value={"password": secret}),
            {"value": f"they typed {secret} there", "input": {secret: [f"again {secret}!"]}},
            {"value": stored_form({"nested": f'say "{secret}"'}).decode()},
            {
                "value": {
                    "$stash": "stream",
                    "kind": "sync",
                    "chunks": ["Tr0ub", "4dor&3-x"],
                    "times": [],
                    "ending": "exhausted",
                }
            },
        ],
        note=secret,
    )
    bundle = describe([run], person=JANE).export(None, Fields(f"it leaks {secret}", secret, secret, secret), NOW)
    assert secret.encode() not in bundle.zip()
    assert b"4dor&3" not in bundle.zip()
    assert bundle.manifest["report"]["title"] == "it leaks [REDACTED:password#1]"
    assert secret not in bundle.file_name
    assert bundle.manifest["redacted"]["names"] == ["password"]


def test_a_short_secret_that_a_reference_holds_by_chance_is_no_leak() -> None:
    run = recording_of([chat("q", "a"), {"value": {"password": "x"}}])
    ref = run.events[0].ref
    digits = next(ref[at : at + 6] for at in range(7, 65) if ref[at].isdigit() and not ref[at : at + 6].isdigit())
    run = recording_of([chat("q", "a"), {"value": {"password": digits}}, {"value": f"see {ref}, not {digits}"}])
    text = read(describe([run], person=JANE).export(None, WORDS, NOW), "recording.json").decode()
    assert f"see {ref}, not [REDACTED:password#1]" in text


def test_an_ordinary_word_under_a_secret_name_does_not_blot_out_the_rest() -> None:
    run = recording_of([chat("q", "a", value={"password": "hello"}), {"value": "hello world"}])
    bundle = describe([run], person=JANE).export(None, WORDS, NOW)
    assert b"hello world" in read(bundle, "recording.json")


def test_calls_in_flight_appear_everywhere(lanes: Recording) -> None:
    bundle = describe([lanes], person=JANE).export(None, WORDS, NOW)
    assert bundle.manifest["counts"]["inFlight"] == 1
    assert "slow" in bundle.files[2].text
    for name in ("transcript.txt", "narrative.txt"):
        text = read(bundle, name).decode()
        assert "slow" in text
        assert "never finished" in text


def test_the_archive_depends_on_input_and_moment_alone(lanes: Recording) -> None:
    first = describe([lanes], person=JANE).export(None, WORDS, NOW)
    again = describe([lanes_run()], person=JANE)
    again.preview(["conv-2"], NOW)
    elsewhere = NOW.astimezone(timezone(timedelta(hours=-5)))
    assert again.export(None, WORDS, elsewhere).zip() == first.zip()
    assert again.export(None, WORDS, NOW + timedelta(minutes=1)).zip() != first.zip()


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+00:00", "1970-01-01T00:00:00+14:00", "9999-12-31T23:59:59+00:00"]
)
def test_any_moment_makes_a_whole_archive(moment: str) -> None:
    data = export([recording_of([chat("q", "a")])], None, WORDS, datetime.fromisoformat(moment))
    assert "recording.json" in unzipped(data)


def test_the_reporter_is_not_in_it() -> None:
    run = recording_of(
        [
            {"value": f"{HOME}/secret-project/a.py", "input": {"who": "Jane.Doe", f"{HOME}/k": "jane.doe@x.org"}},
            {"value": {"$stash": "bytes", "base64": "L3RtcC9qYW5lLmRvZS1BQ01FL3k="}, "site": f"{HOME}/a.py:1 f"},
            {"value": '{"log": "\\\\n' + HOME + '/z"}', "label": f"see {HOME}"},
            {
                "value": {
                    "$stash": "stream",
                    "kind": "sync",
                    "chunks": ["/tmp/jane.", "doe-ACME/w"],
                    "times": [],
                    "ending": "exhausted",
                }
            },
            {"value": ["/home/peter/x", "C:\\Users\\Peter\\y", "https://x.org/home/about", "/tmp/jane.doe-ACME2/x"]},
        ],
        command={"argv": ["python", f"{HOME}/a.py"], "cwd": f"{HOME}/secret-project"},
    )
    bundle = describe([run], person=JANE).export(None, Fields(f"In {HOME}/x"), NOW)
    everything = bundle.zip()
    assert b"jane.doe-ACME/" not in everything
    assert b"L3RtcC9qYW5lLmRvZS1BQ01FL3k=" not in everything
    assert b"ane.doe" not in everything.lower()
    assert b"peter" not in everything.lower()
    text = read(bundle, "recording.json").decode()
    assert "~/secret-project/a.py" in text
    assert "https://x.org/home/about" in text
    assert "/home/[user]/x" in text
    assert bundle.manifest["report"]["title"] == "In ~/x"


def test_a_name_that_many_machines_share_stays() -> None:
    from stashdbg_core.report import Person

    run = recording_of([{"value": {"root": "the root cause at /root/x and x.org/root/y"}}])
    bundle = describe([run], person=Person(("/root",), ("root", "me"))).export(None, WORDS, NOW)
    assert '{"root":"the root cause at ~/x and x.org/root/y"}' in read(bundle, "recording.json").decode()


@pytest.mark.parametrize(
    ("include", "fields", "said"),
    [
        (None, Fields("  "), "title"),
        (["conv-9"], WORDS, "conv-9"),
        (["file-narrative"], WORDS, "no conversation"),
        ([], WORDS, "no conversation"),
    ],
)
def test_a_choice_that_cannot_be_made_is_refused(
    lanes: Recording, include: list[str] | None, fields: Fields, said: str
) -> None:
    with pytest.raises(StashError, match=said) as caught:
        describe([lanes], person=JANE).export(include, fields, NOW)
    assert caught.value.code == ErrorCode.INVALID_INPUT
    assert caught.value.hint


def test_no_recording_and_no_zone_are_refused() -> None:
    with pytest.raises(StashError, match="nothing to report"):
        describe([])
    with pytest.raises(StashError, match="time zone"):
        export([recording_of([])], None, WORDS, datetime(2026, 1, 1))


def test_too_large_a_bundle_says_what_to_drop() -> None:
    run = recording_of([chat("q", name * 3000, thread=name) for name in "abc"])
    offer = describe([run], person=JANE, ceiling=12_000)
    bundle = offer.export(None, WORDS, NOW)
    hints = bundle.manifest["oversize"]["trimHints"]
    assert bundle.manifest["oversize"]["totalBytes"] == bundle.manifest["totalBytes"] == bundle.total_bytes
    assert hints[0].startswith("Drop conv-")
    assert "over the 12 kB ceiling" in bundle.manifest["warnings"][0]
    dropped = {hint.split()[1] for hint in hints if hint.startswith("Drop")}
    smaller = offer.export([unit.id for unit in offer.units if unit.id not in dropped], WORDS, NOW)
    assert smaller.total_bytes <= 12_000
    hopeless = describe([run], person=JANE, ceiling=10).preview(None, NOW)
    assert hopeless.manifest["oversize"]["trimHints"][-1].startswith("Still over")


def test_notes_say_what_the_recording_lacks() -> None:
    run = recording_of([], complete=False, droppedEvents=3)
    notes = " ".join(describe([run], person=JANE).export(None, WORDS, NOW).manifest["notes"])
    for said in ("incomplete", "3 events were not recorded", "no events", "No secret is masked"):
        assert said in notes


def test_secrets_already_masked_keep_their_numbers() -> None:
    run = recording_of([chat("q", "a", value={"token": "[REDACTED:token#4]", "api_key": KEY})])
    bundle = describe([run], person=JANE).export(None, WORDS, NOW)
    text = read(bundle, "recording.json").decode()
    assert '"token":"[REDACTED:token#4]","api_key":"[REDACTED:anthropic-key#5]"' in text
    assert bundle.manifest["redacted"]["names"] == ["api_key", "token"]
    assert not bundle.manifest["warnings"]


def test_hostile_values_and_facts_are_reported_like_any_other() -> None:
    deep: object = "bottom"
    for _ in range(1500):
        deep = [deep]
    call = chat("q", "a", input={"messages": [{"role": "user", "content": deep}]})
    run = recording_of([call, call], producer=deep, createdAt=[1], droppedEvents=-1, command="x")
    bundle = describe([run], person=JANE).export(None, WORDS, NOW)
    assert len(read_recording(read(bundle, "recording.json")).events) == 2
    assert b"createdAt" not in read(bundle, "environment.json")


def test_a_damaged_or_missing_value_goes_along_as_it_is() -> None:
    run = recording_of([chat("q", "a"), {"value": "good"}])
    blobs = dict.fromkeys(run.blobs.refs())
    text = encode_recording(run).replace('"good"', '"forged"')
    damaged = read_recording(text.encode())
    assert len(blobs) == len(list(damaged.blobs.refs()))
    bundle = describe([damaged], person=JANE).export(None, WORDS, NOW)
    again = read_recording(read(bundle, "recording.json"))
    assert again.blobs.payload(again.events[1].ref).state == "damaged"
    assert "damaged" in read(bundle, "transcript.txt").decode()
