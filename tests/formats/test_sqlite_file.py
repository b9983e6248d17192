"""Databases that were made to harm: what they give is bounded by what they hold."""

from __future__ import annotations

import sqlite3
import struct
import threading
from pathlib import Path

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.formats.source import Cancelled, ForeignSource
from stashdbg_core.formats.sqlite_file import open_database, tables_of
from stashdbg_core.opening.files import open_one

PAGE = 512


def _made(path: Path, rows: list[bytes]) -> Path:
    with sqlite3.connect(path) as made:
        made.execute(f"PRAGMA page_size = {PAGE}")
        made.execute("CREATE TABLE t (data BLOB)")
        made.executemany("INSERT INTO t VALUES (?)", [(row,) for row in rows])
    made.close()
    return path


def _repeated(path: Path) -> Path:
    """Let every branch of a table lead to its first leaf, where a large value begins."""
    data = bytearray(path.read_bytes())
    root = PAGE  # the second page
    assert data[root] == 5
    (cells,) = struct.unpack_from(">H", data, root + 3)
    places = struct.unpack_from(f">{cells}H", data, root + 12)
    for place in places:
        data[root + place : root + place + 4] = data[root + places[0] : root + places[0] + 4]
    path.write_bytes(data)
    return path


def test_pages_that_stand_in_many_places_do_not_multiply_what_is_read(tmp_path: Path) -> None:
    path = _repeated(_made(tmp_path / "x", [b"x" * 100_000, *[b"y" * 300] * 20]))
    with open_database(ForeignSource(path)) as database:
        read = []
        with pytest.raises(StashError, match="more than its size allows"):
            read.extend(database.rows("SELECT data FROM t"))
    assert sum(len(row[0]) for row in read) <= path.stat().st_size


@pytest.mark.parametrize(
    "query",
    [
        "SELECT random()",
        "SELECT hex(data) FROM t",
        "SELECT sql FROM sqlite_master",
        "SELECT missing FROM t",
        "ATTACH 'x' AS y",
        "DELETE FROM t",
        "PRAGMA user_version = 7",
    ],
)
def test_only_plain_columns_are_read(tmp_path: Path, query: str) -> None:
    path = _made(tmp_path / "x", [b"1"])
    before = path.read_bytes()
    with open_database(ForeignSource(path)) as database, pytest.raises(StashError):
        list(database.rows(query))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "data", [b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 5000, b"SQLite format 3\0" + b"\0" * 84]
)
def test_what_is_no_database_has_no_tables(data: bytes) -> None:
    assert tables_of(ForeignSource(data)) == {}


@pytest.mark.parametrize("kept", [30, PAGE, 3 * PAGE + 7, -1])
def test_a_database_that_is_cut_off_is_said_to_be(tmp_path: Path, kept: int) -> None:
    path = _made(tmp_path / "x", [b"1" * 100] * 50)
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    with pytest.raises(StashError, match=r"an SQLite database that is cut off: [\d,]+ of [\d,]+ bytes are there"):
        open_one(path)
    path.write_bytes(whole)
    with pytest.raises(StashError, match="looks like an SQLite database"):
        open_one(path)


def test_a_schema_whose_damaged_names_are_no_text_is_damage(tmp_path: Path) -> None:
    data = _made(tmp_path / "made.db", [b"x"]).read_bytes()
    assert data.count(b"CREATE TABLE ") == 1
    before, _, after = data.partition(b"CREATE TABLE ")
    assert tables_of(ForeignSource(before + b"CREATE TABL\xe5 " + after)) == {}


def test_reading_ends_when_nobody_wants_it(tmp_path: Path) -> None:
    wanted = threading.Event()
    wanted.set()
    source = ForeignSource(_made(tmp_path / "x", [b"1"] * 5000), cancelled=lambda: not wanted.is_set())
    with open_database(source) as database:
        rows = database.rows("SELECT data FROM t ORDER BY data")
        wanted.clear()
        with pytest.raises(Cancelled):
            list(rows)
