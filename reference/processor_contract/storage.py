"""Stores: where finished requests are kept.

Flows in: the messages of one request, at once. Flows out: the last messages of a thread, as copies, in the order they
were stored.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Sequence
from typing import Protocol

from .data import Message, clone


class Storage(Protocol):
    """What history needs of a store. Safe from several threads; `append` keeps a request whole or not at all."""

    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        """The thread's last `limit` messages (None: all), oldest first, as copies."""
        ...

    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        """Adds the messages as one block (PER-20); one whose id the thread has is replaced where it stands."""
        ...


class InMemoryStorage:
    """Keeps everything in this process."""

    def __init__(self) -> None:
        self._threads: dict[tuple[str, str], dict[str, Message]] = {}
        self._lock = threading.Lock()

    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        with self._lock:
            stored = list(self._threads.get((thread, resource), {}).values())
        return clone(_last(stored, limit))  # type: ignore[no-any-return]

    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        block = {message["id"]: clone(message) for message in messages}
        with self._lock:
            self._threads.setdefault((thread, resource), {}).update(block)


TABLE = """
create table if not exists messages (
    position integer primary key,
    thread text not null,
    resource text not null,
    id text not null,
    message text not null,
    unique (thread, resource, id)
)
"""
# A known id keeps its position: `on conflict` updates in place, where `replace` would move the row to the end.
PUT = """
insert into messages (thread, resource, id, message) values (?, ?, ?, ?)
on conflict (thread, resource, id) do update set message = excluded.message
"""
LAST = "select message from messages where thread = ? and resource = ? order by position desc limit ?"


class SQLiteStorage:
    """Keeps everything in one SQLite file, in write-ahead mode: one transaction a request, whole or not at all (PER-2).

    `busy_timeout` (seconds) is how long to wait for another process that is writing.
    """

    def __init__(self, path: str, *, busy_timeout: float = 30.0) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
        try:
            self._set_up(time.monotonic() + busy_timeout)
        except BaseException:
            self._connection.close()
            raise

    def _set_up(self, deadline: float) -> None:
        """The file's mode and table; SQLite's own waiting does not cover several that open a new file at once."""
        while True:
            try:
                self._connection.execute("pragma journal_mode = wal")
                self._connection.execute("pragma synchronous = full")
                self._connection.execute(TABLE)
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        with self._lock:
            rows = self._connection.execute(LAST, (thread, resource, -1 if limit is None else limit)).fetchall()
        return [json.loads(text) for (text,) in reversed(rows)]

    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        rows = [(thread, resource, message["id"], json.dumps(message)) for message in messages]
        with self._lock:
            try:
                self._connection.execute("begin immediate")
                self._connection.executemany(PUT, rows)
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()


def _last(messages: list[Message], limit: int | None) -> list[Message]:
    return messages if limit is None else messages[max(len(messages) - limit, 0) :]
