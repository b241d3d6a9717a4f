"""What history needs of a store, and the store that keeps everything in this process.

Flows in: the messages of one request, at once. Flows out: the last messages of a thread, as copies, in the order in
which they were stored. `storage_contract.py` has the tests that a store of your own has to pass.
"""

from __future__ import annotations

import datetime
import json
import threading
from collections.abc import Sequence
from typing import Any, Protocol

from .data import Message
from .errors import InvalidMessage


class Storage(Protocol):
    """Two methods, called from any thread. A conversation is named by thread and resource together (PER-43).

    What either raises, of whatever type, fails the request: PER-39 and PER-40 say how. A store never waits for ever.
    """

    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        """The last `limit` messages of the conversation (None: all), oldest first, in the order in which they were
        appended (PER-15); none where it is unknown. The caller may do to them what it likes (PER-25).
        """
        ...

    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        """Adds the messages as one block behind those that are there (PER-20), all of them or, where it raises, none.

        An id that the conversation has already stays as and where it is (PER-44), so that a block may be appended
        again. Every member is kept, known or not (PER-28); `createdAt` decides nothing.
        """
        ...


class InMemoryStorage:
    """Keeps everything in this process."""

    def __init__(self) -> None:
        self._threads: dict[tuple[str, str], dict[str, str]] = {}
        self._lock = threading.Lock()

    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        with self._lock:
            texts = list(self._threads.get((thread, resource), {}).values())
        return [json.loads(text) for text in texts[0 if limit is None else max(len(texts) - limit, 0) :]]

    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        block = packed(messages)
        with self._lock:
            stored = self._threads.setdefault((thread, resource), {})
            for message_id, text in block:
                stored.setdefault(message_id, text)


def packed(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Id and JSON text of each message; a date becomes its ISO text. Raises `InvalidMessage`, naming the message."""
    return [(_id(message), _text(message)) for message in messages]


def _id(message: Any) -> str:
    found = message.get("id") if isinstance(message, dict) else None
    if not isinstance(found, str) or not found:
        lacks = isinstance(message, dict)
        what = "a message without an `id`" if lacks else f"{type(message).__name__}, which is no message,"
        raise InvalidMessage(f"{what} cannot be stored; append dicts with an `id` that is a text")
    return found


def _text(message: Message) -> str:
    try:
        return json.dumps(message, default=_date)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidMessage(
            f"message {message['id']!r} cannot be stored: {error}; keep in it what JSON can hold"
        ) from error


def _date(value: Any) -> str:
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"it holds a value of type {type(value).__name__}")
