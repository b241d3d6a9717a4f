"""The SQLite store: one file, several processes, and everything that may be wrong with a file.

What holds of every store is in test_storage_contract.py, what a crash leaves in test_reference_crashes.py.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import processor_contract
from processor_contract import Agent, Memory, NotSaved, ScriptedModel, SQLiteStorage, StorageFailed
from reference_kit import ids, message

SOURCE_ROOT = Path(processor_contract.__file__).parent.parent
NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def storage(path: Path) -> Iterator[SQLiteStorage]:
    made = SQLiteStorage(path)
    yield made
    made.close()


def printed(program: str, *arguments: Any) -> str:
    """What a Python program prints that has the reference at hand."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE_ROOT)}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout


# -- one file for several ----------------------------------------------------------------------------------------------


def test_two_stores_of_one_file_see_each_other(path: Path, storage: SQLiteStorage) -> None:
    other = SQLiteStorage(path)
    storage.append("t", "r", [message("a", "1")])
    other.append("t", "r", [message("b", "2")])
    other.close()

    assert ids(storage.read("t", "r")) == ["a", "b"]


REQUESTS = """
import sys
from processor_contract import Agent, Memory, ScriptedModel, SQLiteStorage
path, worker = sys.argv[1:]
storage = SQLiteStorage(path)
agent = Agent(ScriptedModel(lambda request, number: f"{worker}-{number}"), memory=Memory(storage))
sys.stdin.readline()
for number in range(50):
    agent.generate(f"{worker}-{number}", thread="t", resource="r")
"""


def test_requests_of_eight_processes_are_stored_whole_and_once(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE_ROOT)}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", REQUESTS, str(path), str(worker)],
            env=environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for worker in range(8)
    ]
    complaints = []
    for each in workers:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    for each in workers:
        complaints.append(each.communicate(timeout=120)[1])
    storage = SQLiteStorage(path)
    texts = [(one["role"], one["content"]["content"]) for one in storage.read("t", "r")]
    storage.close()
    requests = [f"{worker}-{number}" for worker in range(8) for number in range(50)]

    assert complaints == [""] * 8
    assert [texts[at + 1] for at in range(0, 800, 2)] == [("assistant", text) for _, text in texts[::2]]
    assert sorted(text for _, text in texts[::2]) == sorted(requests)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_of_the_process_uses_the_store_too(path: Path, storage: SQLiteStorage) -> None:
    storage.append("t", "r", [message("before", "x")])
    child = os.fork()
    if child == 0:
        storage.append("t", "r", [message("child", "x")])
        os._exit(0 if ids(storage.read("t", "r"))[:1] == ["before"] else 1)
    storage.append("t", "r", [message("parent", "x")])
    _, status = os.waitpid(child, 0)
    stored = ids(storage.read("t", "r"))

    assert (status, sorted(stored), stored[0]) == (0, ["before", "child", "parent"], "before")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_that_closes_the_store_leaves_it_to_its_process(storage: SQLiteStorage) -> None:
    child = os.fork()
    if child == 0:
        storage.close()
        os._exit(0)
    os.waitpid(child, 0)
    storage.append("t", "r", [message("a", "x")])

    assert ids(storage.read("t", "r")) == ["a"]


def test_a_block_waits_for_another_that_is_being_written(path: Path, storage: SQLiteStorage) -> None:
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    waiting = threading.Thread(target=storage.append, args=("t", "r", [message("a", "1")]))
    waiting.start()
    waiting.join(0.05)
    still = waiting.is_alive()
    other.execute("rollback")
    other.close()
    waiting.join()

    assert (still, ids(storage.read("t", "r"))) == (True, ["a"])


def test_a_block_is_refused_while_another_writes_for_too_long(path: Path) -> None:
    storage = SQLiteStorage(path, busy_timeout=0.0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(StorageFailed, match="is being written by another process"):
        storage.append("t", "r", [message("a", "1")])
    other.execute("rollback")
    other.close()
    storage.append("t", "r", [message("b", "2")])
    read = ids(storage.read("t", "r"))
    storage.close()

    assert read == ["b"]


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
    monkeypatch: pytest.MonkeyPatch, path: Path, timeout: float, opens: bool
) -> None:
    made: list[Busy] = []

    def connect(path: str, **options: Any) -> Busy:
        made.append(Busy(path, 3, **options))
        return made[0]

    monkeypatch.setattr(sqlite3, "connect", connect)
    try:
        SQLiteStorage(path, busy_timeout=timeout).close()
        opened = True
    except StorageFailed:
        opened = False

    assert (opened, made[0].closed) == (opens, True)


# -- files that are none -----------------------------------------------------------------------------------------------


def no_database(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 100)


def of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table recipes (name)")
    connection.close()


def of_a_later_edition(path: Path) -> None:
    SQLiteStorage(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("pragma user_version = 7")
    connection.close()


def a_folder(path: Path) -> None:
    path.mkdir()


def cut_off(path: Path) -> None:
    filled(path)
    path.write_bytes(path.read_bytes()[:5000])


def filled(path: Path) -> None:
    storage = SQLiteStorage(path)
    for number in range(50):
        storage.append("t", "r", [message(f"{number}", "x" * 500)])
    storage.close()


@pytest.mark.parametrize(
    ("prepare", "expected"),
    [
        (no_database, "is no SQLite file; name another one"),
        (of_another_program, "holds tables of another program, where this edition reads version 1"),
        (of_a_later_edition, "holds tables of version 7, where this edition reads version 1"),
        (a_folder, "cannot be opened; its folder has to be there, and writable"),
        (cut_off, "is damaged; move it away"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_and_left_as_it_is(
    path: Path, prepare: Callable[[Path], None], expected: str
) -> None:
    prepare(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StorageFailed, match=f"the store '.*store.db' {expected}"):
        SQLiteStorage(path).read("t", "r")

    assert before == (path.read_bytes() if path.is_file() else None)


def test_a_store_without_a_path_is_refused() -> None:
    with pytest.raises(StorageFailed, match="has no path; name a file"):
        SQLiteStorage("")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        StorageFailed, match=r"the store '.*gone/store.db' cannot be opened; its folder has to be there"
    ):
        SQLiteStorage(tmp_path / "gone" / "store.db")


def test_a_damaged_page_is_an_error_of_the_request_that_needs_it(path: Path) -> None:
    filled(path)
    content = bytearray(path.read_bytes())
    content[8192:-4096] = b"\xff" * len(content[8192:-4096])
    path.write_bytes(content)
    storage = SQLiteStorage(path)
    with pytest.raises(StorageFailed, match="is damaged; move it away"):
        storage.read("t", "r")
    storage.close()


def test_a_row_that_is_no_message_is_damage(path: Path, storage: SQLiteStorage) -> None:
    storage.append("t", "r", [message("a", "1")])
    with sqlite3.connect(path) as connection:
        connection.execute("update messages set message = '{'")
    connection.close()

    with pytest.raises(StorageFailed, match="is damaged; move it away"):
        storage.read("t", "r")


@pytest.mark.parametrize("method", ["read", "append"])
def test_a_closed_store_says_so(path: Path, method: str) -> None:
    storage = SQLiteStorage(path)
    storage.close()

    with pytest.raises(StorageFailed, match="has been closed"):
        getattr(storage, method)("t", "r", *([[message("a", "1")]] if method == "append" else []))


def test_a_name_that_utf_8_cannot_hold_is_refused(storage: SQLiteStorage) -> None:
    with pytest.raises(StorageFailed, match="failed: 'utf-8' codec"):
        storage.append("\ud800", "r", [message("a", "1")])


def told_nobody(path: Path) -> str:
    """What the store says to a process that has no rights of its own; one of root's would have all."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setuid(NOBODY)
        try:
            SQLiteStorage(path)
        except StorageFailed as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading, encoding="utf-8") as said:
        return said.read()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("mode", [0o555, 0o777])
def test_a_file_that_may_not_be_written_is_refused_at_once(mode: int) -> None:
    with tempfile.TemporaryDirectory() as folder:  # tmp_path lies where nobody else may look
        path = Path(folder) / "store.db"
        filled(path)
        path.chmod(0o444)
        path.parent.chmod(mode)
        said = told_nobody(path)
        path.parent.chmod(0o755)

    assert "may not be written; make it and its folder writable" in said


# -- disks that are full -----------------------------------------------------------------------------------------------


def test_a_full_disk_costs_the_request_and_nothing_else(storage: SQLiteStorage) -> None:
    agent = Agent(ScriptedModel(["one", "two" * 5000, "three"]), memory=Memory(storage))
    agent.generate("a", thread="t", resource="r")
    (pages,) = storage._connection.execute("pragma page_count").fetchone()
    storage._connection.execute(f"pragma max_page_count = {pages}")
    with pytest.raises(NotSaved, match="has no room to grow; nothing of this was stored") as raised:
        agent.generate("b", thread="t", resource="r")
    storage._connection.execute("pragma max_page_count = 100000")
    agent.generate("c", thread="t", resource="r")

    assert raised.value.result.text == "two" * 5000
    assert [one["content"]["content"] for one in storage.read("t", "r")] == ["a", "one", "c", "three"]


FULL = """
import resource, sys
from processor_contract import SQLiteStorage, StorageFailed
storage = SQLiteStorage(sys.argv[1])
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
stored = 0
try:
    for number in range(1000):
        storage.append("t", "r", [{"id": f"{number}-{place}", "text": "x" * 700} for place in "abc"])
        stored += 1
except StorageFailed as error:
    print(stored, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
storage.append("t", "r", [{"id": f"last-{place}"} for place in "abc"])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the size of files is limited the way Linux does it")
@pytest.mark.parametrize("limit", [40_000, 43_210, 100_001])
def test_a_disk_that_fills_up_in_mid_write_leaves_whole_requests(path: Path, limit: int) -> None:
    stored, _, said = printed(FULL, path, limit).partition(" ")
    storage = SQLiteStorage(path)
    found = ids(storage.read("t", "r"))
    storage.close()

    assert "nothing of this was stored" in said
    assert [f"{number}-{place}" for number in [*range(int(stored)), "last"] for place in "abc"] == found
