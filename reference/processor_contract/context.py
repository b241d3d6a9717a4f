"""What a hook is given besides data: request context, abort signal, writer; and the clock. Nothing flows in."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final


class Unset:
    """The type of `UNSET`: not given, where the contract tells 'absent' from 'nothing'."""


UNSET: Final = Unset()


class RequestContext:
    """What the caller gives a request to carry: one object, the same in every hook, tool and function of it (CTX-1)."""

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values: dict[str, Any] = dict(values or {})

    def get(self, key: str, default: Any = None) -> Any:
        return self._values.get(key, default)

    def set(self, key: str, value: Any) -> None:
        self._values[key] = value

    def has(self, key: str) -> bool:
        return key in self._values

    def delete(self, key: str) -> bool:
        """Forgets the key; says whether it was there."""
        return self._values.pop(key, UNSET) is not UNSET

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self._values))

    def __len__(self) -> int:
        return len(self._values)


class AbortSignal:
    """Tells everyone who holds it to stop. Fired once, from any thread; `reason` is what the one who fired it gave."""

    def __init__(self) -> None:
        self.aborted = False
        self.reason: Any = None
        self._fired = threading.Event()
        self._listeners: dict[object, Callable[[Any], None]] = {}
        self._lock = threading.RLock()

    def abort(self, reason: Any = None) -> None:
        """Fires the signal; a second time does nothing. A listener that raises keeps no other from hearing of it."""
        with self._lock:
            if self.aborted:
                return
            self.reason = reason
            self.aborted = True
            listeners, self._listeners = self._listeners, {}
        self._fired.set()
        for listener in listeners.values():
            with contextlib.suppress(Exception):
                listener(reason)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the signal has fired, at most `timeout` seconds; says whether it has."""
        return self._fired.wait(timeout)

    def on_abort(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        """Calls the listener with the reason once the signal fires (at once if it has); returns how to take it off."""
        place = object()  # the same listener may stand here several times
        with self._lock:
            if not self.aborted:
                self._listeners[place] = listener
                return lambda: self._take_off(place)
        listener(self.reason)
        return lambda: None

    def _take_off(self, place: object) -> None:
        with self._lock:
            self._listeners.pop(place, None)


class Clock:
    """Time as the program needs it; tests and scenarios bring one that does not wait, or always says the same."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float, signal: AbortSignal | None = None) -> None:
        """Waits that long, and no longer once the signal fires."""
        if signal is None:
            time.sleep(seconds)
        else:
            signal.wait(seconds)


class Writer:
    """Sends `data-*` chunks to the client while the run streams (DAT-1)."""

    __slots__ = ("_send",)

    def __init__(self, send: Callable[[dict[str, Any], str | None], None]) -> None:
        self._send = send

    def custom(self, chunk: dict[str, Any], *, message_id: str | None = None, transient: Any = None) -> None:
        """Sends a chunk `{"type": "data-...", "data": ..., "transient"?: True}` at once (DAT-11), and comes back when
        it has passed the processors that want data (DAT-18).

        It becomes a part of the response (of the message `message_id`, where given) unless it is transient itself; the
        option `transient` does not count (DAT-15). Raises `WrongReturn` for another type (DAT-2) and for the id of a
        message that is no assistant's (DAT-25), and what a processor that handles the chunk raises (DAT-7).
        """
        self._send(chunk, message_id)
