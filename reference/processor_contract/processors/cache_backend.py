"""Where a response cache keeps its texts: the protocol of such a place, and the one in this process.

Flows in: texts under keys. Flows out: the same texts, as long as they are kept.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol

from ..context import Clock


class CacheBackend(Protocol):
    """Where answers are kept: texts by key. Safe from several threads; free to forget anything at any time."""

    def get(self, key: str) -> str | None:
        """The text kept under the key, or None."""
        ...

    def set(self, key: str, text: str) -> None:
        """Keeps a text, in the place of one that was there."""
        ...


class InMemoryCache:
    """A backend in this process, of bounded size: what was not asked for the longest time is forgotten first.

    `max_size` counts characters of all texts together; a longer one is not kept at all. `max_age` is in seconds, None
    for no limit, measured by the `clock`.
    """

    def __init__(self, max_size: int = 10_000_000, *, max_age: float | None = None, clock: Clock | None = None) -> None:
        self._max_size = max_size
        self._max_age = max_age
        self._clock = clock or Clock()
        self._entries: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> str | None:
        with self._lock:
            text, since = self._entries.get(key, ("", 0.0))
            if not text:
                return None
            if self._max_age is not None and self._clock.now() - since > self._max_age:
                self._forget(key)
                return None
            self._entries.move_to_end(key)
            return text

    def set(self, key: str, text: str) -> None:
        with self._lock:
            self._forget(key)
            if len(text) > self._max_size:
                return
            self._entries[key] = (text, self._clock.now())
            self._size += len(text)
            while self._size > self._max_size:
                self._forget(next(iter(self._entries)))

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._entries.clear()
            self._size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def _forget(self, key: str) -> None:
        text, _ = self._entries.pop(key, ("", 0.0))
        self._size -= len(text)
