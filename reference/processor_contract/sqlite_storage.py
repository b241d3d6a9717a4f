"""The store that keeps everything in one SQLite file.

Flows in: the messages of one request, at once. Flows out: the last messages of a thread. The file is in write-ahead
mode and each request is one transaction: whoever is killed, at any moment, leaves whole requests (PER-40).
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .data import Message
from .errors import StorageFailed
from .storage import packed

MOST = 2**63 - 1  # what SQLite can count to
VERSION = 1  # of the tables; kept in the file's user_version
TABLE = """
create table messages (
    position integer primary key,
    thread text not null,
    resource text not null,
    id text not null,
    message text not null,
    unique (thread, resource, id)
)
"""
PUT = "insert into messages (thread, resource, id, message) values (?, ?, ?, ?) on conflict do nothing"  # PER-44
LAST = "select message from messages where thread = ? and resource = ? order by position desc limit ?"
TABLES = "select count(*) from sqlite_master where type = 'table'"

# What SQLite says, and what that means for whoever has to mend it; the first that fits.
ADVICE = (
    ("not a database", "is no SQLite file; name another one"),
    ("malformed", "is damaged; move it away and put a copy from before in its place"),
    ("readonly", "may not be written; make it and its folder writable, or name another one"),
    ("unable to open", "cannot be opened; its folder has to be there, and writable"),
    ("disk is full", "has no room to grow; nothing of this was stored"),
    ("disk I/O", "cannot be read or written as it should; nothing of this was stored"),
    ("locked", "is being written by another process, which does not come to an end"),
    ("closed", "has been closed"),
)


class SQLiteStorage:
    """A `Storage` for several threads and processes at once; one object a process is enough.

    `busy_timeout` (seconds) is how long to wait for another process that is writing. Raises `StorageFailed`, also in
    the beginning: for a file that is no database, is damaged, may not be written, or is that of another program or
    edition.
    """

    def __init__(self, path: str | os.PathLike[str], *, busy_timeout: float = 30.0) -> None:
        self._path = os.fspath(path)
        if not self._path:  # SQLite would take this for a file that goes when it is closed
            raise StorageFailed("the store has no path; name a file")
        self._busy_timeout = busy_timeout
        self._inherited: list[sqlite3.Connection] = []
        self._open()

    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        with self._connected() as connection:
            rows = connection.execute(LAST, (thread, resource, -1 if limit is None else min(limit, MOST))).fetchall()
            return [json.loads(text) for (text,) in reversed(rows)]

    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        rows = [(thread, resource, *each) for each in packed(messages)]
        with self._connected() as connection:
            connection.execute("begin immediate")
            connection.executemany(PUT, rows)
            connection.execute("commit")

    def close(self) -> None:
        """Closes the file; in a fork of its process, which has not opened it, nothing."""
        if self._process == os.getpid():
            with self._lock:
                self._connection.close()

    # -- the connection --------------------------------------------------------------------------------------------

    def _open(self) -> None:
        lock, process = threading.Lock(), os.getpid()
        with self._explained():
            connection = sqlite3.connect(
                self._path, timeout=self._busy_timeout, isolation_level=None, check_same_thread=False
            )
            try:
                connection.execute("pragma synchronous = full")
                self._patiently(lambda: self._is_new(connection))  # before anything is changed in the file of another
                self._patiently(lambda: connection.execute("pragma journal_mode = wal"))
                self._make_table(connection)
            except BaseException:
                connection.close()
                raise
        self._connection, self._lock, self._process = connection, lock, process

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread alone; what goes wrong takes an open transaction back."""
        if self._process != os.getpid():  # a connection must not be used, nor closed, in a fork of its process
            self._inherited.append(self._connection)
            self._open()
        with self._lock, self._explained():
            try:
                yield self._connection
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    if self._connection.in_transaction:
                        self._connection.execute("rollback")
                raise

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Makes SQLite's errors say which file, what it means, and what to do."""
        try:
            yield
        except (sqlite3.Error, ValueError) as error:
            told = "damaged: malformed JSON" if isinstance(error, json.JSONDecodeError) else str(error)
            advice = next((advice for said, advice in ADVICE if said in told), "failed")
            raise StorageFailed(f"the store {self._path!r} {advice}: {told}") from error

    def _patiently(self, action: Callable[[], Any]) -> None:
        """Repeats what SQLite's own waiting does not cover: several that open a new file at once."""
        deadline = time.monotonic() + self._busy_timeout
        while True:
            try:
                action()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def _is_new(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is still empty; raises StorageFailed where it is not this edition's."""
        (version,) = connection.execute("pragma user_version").fetchone()
        (tables,) = connection.execute(TABLES).fetchone()
        if version == VERSION:
            return False
        if version == tables == 0:
            return True
        held = "tables of another program" if version == 0 else f"tables of version {version}"
        raise StorageFailed(
            f"the store {self._path!r} holds {held}, where this edition reads version {VERSION}; name another file"
        )

    def _make_table(self, connection: sqlite3.Connection) -> None:
        """The table, in a file that has none: one of several that open it at once makes it."""
        self._patiently(lambda: connection.execute("begin immediate"))
        if self._is_new(connection):
            connection.execute(TABLE)
        # also where it says so already: a file that may not be written is refused now, and not with the first request
        connection.execute(f"pragma user_version = {VERSION}")
        connection.execute("commit")
