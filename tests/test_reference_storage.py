"""The stores: what both keep, that they keep it whole, and what a crash leaves of it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import processor_contract
from processor_contract import InMemoryStorage, SQLiteStorage
from reference_kit import ids, message

SOURCE_ROOT = Path(processor_contract.__file__).parent.parent


@pytest.fixture(params=["memory", "sqlite"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "memory":
        yield InMemoryStorage()
        return
    made = SQLiteStorage(str(tmp_path / "store.db"))
    yield made
    made.close()


class TestBoth:
    """What holds of either store."""

    def test_a_thread_begins_empty(self, storage: Any) -> None:
        assert storage.read("t", "r") == []

    def test_messages_come_back_as_they_were_stored(self, storage: Any) -> None:
        given = {
            "id": "a",
            "role": "assistant",
            "createdAt": "2026-01-02T03:04:05.000Z",
            "mine": {"deep": [1, None, True, 1.5, {"ключ": "значение"}]},
            "content": {"format": 2, "parts": [{"type": "odd", "😀": "𝔘"}, {"type": "text", "text": "\ud800 lone"}]},
        }
        storage.append("t", "r", [given])

        assert [given] == storage.read("t", "r")

    def test_messages_come_back_in_the_order_of_storing(self, storage: Any) -> None:
        storage.append("t", "r", [message("z", "1", createdAt="2030"), message("a", "2", createdAt="2020")])
        storage.append("t", "r", [message("m", "3", createdAt="2025")])

        assert ids(storage.read("t", "r")) == ["z", "a", "m"]

    @pytest.mark.parametrize(
        ("limit", "expected"), [(None, "abc"), (0, ""), (1, "c"), (2, "bc"), (3, "abc"), (9, "abc")]
    )
    def test_a_limit_leaves_the_last(self, storage: Any, limit: int | None, expected: str) -> None:
        storage.append("t", "r", [message(id, id) for id in "abc"])

        assert expected == "".join(ids(storage.read("t", "r", limit)))

    def test_a_known_id_is_replaced_where_it_stands(self, storage: Any) -> None:
        storage.append("t", "r", [message("a", "1"), message("b", "2")])
        storage.append("t", "r", [message("c", "3"), message("a", "new")])

        assert [message("a", "new"), message("b", "2"), message("c", "3")] == storage.read("t", "r")

    @pytest.mark.parametrize("other", [("t2", "r"), ("t", "r2"), ("r", "t")])
    def test_threads_and_resources_are_kept_apart(self, storage: Any, other: tuple[str, str]) -> None:
        storage.append("t", "r", [message("a", "1")])
        storage.append(*other, [message("a", "2"), message("b", "3")])

        assert [message("a", "1")] == storage.read("t", "r")

    def test_what_is_stored_is_a_copy(self, storage: Any) -> None:
        given = message("a", "1")
        storage.append("t", "r", [given])
        given["content"]["parts"].clear()

        assert [message("a", "1")] == storage.read("t", "r")

    def test_what_is_read_is_a_copy(self, storage: Any) -> None:
        storage.append("t", "r", [message("a", "1")])
        storage.read("t", "r")[0]["content"]["parts"].clear()

        assert [message("a", "1")] == storage.read("t", "r")

    def test_no_message_is_stored_of_a_block_that_cannot_be(self, storage: Any) -> None:
        with pytest.raises(KeyError):
            storage.append("t", "r", [message("a", "1"), message(None, "2")])

        assert storage.read("t", "r") == []

    def test_threads_append_whole_blocks(self, storage: Any) -> None:
        together = threading.Barrier(8)

        def write(writer: int) -> None:
            together.wait()
            for number in range(50):
                storage.append("t", "r", [message(f"{writer}-{number}-{place}", "x") for place in "abc"])

        writers = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
        for one in writers:
            one.start()
        for one in writers:
            one.join()
        stored = ids(storage.read("t", "r"))
        blocks = [stored[at : at + 3] for at in range(0, len(stored), 3)]
        written = [f"{writer}-{number}" for writer in range(8) for number in range(50)]

        assert sorted([f"{block}-{place}" for place in "abc"] for block in written) == sorted(blocks)


def test_sqlite_keeps_its_messages(tmp_path: Path) -> None:
    first = SQLiteStorage(str(tmp_path / "store.db"))
    first.append("t", "r", [message("a", "1")])
    first.close()
    second = SQLiteStorage(str(tmp_path / "store.db"))
    read = second.read("t", "r")
    second.close()

    assert [message("a", "1")] == read


def test_a_closed_sqlite_store_says_so(tmp_path: Path) -> None:
    storage = SQLiteStorage(str(tmp_path / "store.db"))
    storage.close()

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        storage.read("t", "r")


def test_two_sqlite_stores_of_one_file_see_each_other(tmp_path: Path) -> None:
    one, other = (SQLiteStorage(str(tmp_path / "store.db")) for _ in range(2))
    one.append("t", "r", [message("a", "1")])
    other.append("t", "r", [message("b", "2")])
    read = ids(one.read("t", "r"))
    one.close()
    other.close()

    assert read == ["a", "b"]


def test_a_block_that_cannot_be_stored_leaves_the_store_usable(tmp_path: Path) -> None:
    storage = SQLiteStorage(str(tmp_path / "store.db"))
    with pytest.raises(TypeError, match="not JSON serializable"):
        storage.append("t", "r", [message("a", "1"), message("b", "2", odd=object())])
    storage.append("t", "r", [message("c", "3")])
    read = ids(storage.read("t", "r"))
    storage.close()

    assert read == ["c"]


class Busy:
    """A connection that is refused a few times before it gets through, as where several open a new file at once."""

    def __init__(self, path: str, times: int, **options: Any) -> None:
        self.real = sqlite3.Connection(path, **options)
        self.times = times
        self.closed = False

    def execute(self, statement: str, *values: Any) -> Any:
        if "journal_mode" in statement and self.times:
            self.times -= 1
            raise sqlite3.OperationalError("database is locked")
        return self.real.execute(statement, *values)

    def close(self) -> None:
        self.closed = True
        self.real.close()


@pytest.mark.parametrize(("timeout", "opens"), [(5.0, True), (0.0, False)])
def test_a_file_that_others_open_at_once_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, timeout: float, opens: bool
) -> None:
    made: list[Busy] = []

    def connect(path: str, **options: Any) -> Busy:
        made.append(Busy(path, 3, **options))
        return made[0]

    monkeypatch.setattr(sqlite3, "connect", connect)
    try:
        SQLiteStorage(str(tmp_path / "store.db"), busy_timeout=timeout).close()
        opened = True
    except sqlite3.OperationalError:
        opened = False

    assert (opened, made[0].closed) == (opens, True)


def test_a_file_that_is_no_database_is_refused_and_let_go(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"not a database at all" * 100)

    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        SQLiteStorage(str(tmp_path / "store.db"))


def test_a_block_is_refused_while_another_writes_for_too_long(tmp_path: Path) -> None:
    storage = SQLiteStorage(str(tmp_path / "store.db"), busy_timeout=0.0)
    other = sqlite3.connect(str(tmp_path / "store.db"), isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        storage.append("t", "r", [message("a", "1")])
    other.execute("rollback")
    other.close()
    storage.append("t", "r", [message("b", "2")])
    read = ids(storage.read("t", "r"))
    storage.close()

    assert read == ["b"]


WRITER = """
import itertools, sys
from processor_contract import SQLiteStorage
storage = SQLiteStorage(sys.argv[1])
for number in itertools.count():
    storage.append("t", "r", [
        {"id": f"{number}-{place}", "role": "user", "content": {"parts": [{"type": "text", "text": "x" * 2000}]}}
        for place in range(5)
    ])
    print(number, flush=True)
"""


def killed(path: Path, after: Callable[[int], bool]) -> int:
    """The last request that a writer says it has stored before it is killed; `after` says when that is due."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE_ROOT)}
    command = [sys.executable, "-c", WRITER, str(path)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    assert writer.stdout is not None
    last = next(number for number in map(int, writer.stdout) if after(number))
    writer.send_signal(signal.SIGKILL)
    said = [*map(int, writer.stdout.read().split())]
    writer.stdout.close()
    writer.wait()
    return max([last, *said])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
@pytest.mark.parametrize("count", [1, 8, 21])
def test_a_crash_leaves_whole_requests_and_loses_none_that_ended(tmp_path: Path, count: int) -> None:
    last = killed(tmp_path / "store.db", lambda number: number >= count)
    storage = SQLiteStorage(str(tmp_path / "store.db"))
    stored = ids(storage.read("t", "r"))
    storage.close()
    whole = len(stored) // 5

    assert [f"{number}-{place}" for number in range(whole) for place in range(5)] == stored
    assert whole > last
