"""Threads that answer the adapter's requests, each reused when it is idle.

Flows in: jobs. Flows out: nothing; what a job raises goes to who was named for that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue


class Workers:
    """Up to `most` threads that run jobs in order, each reused when it is idle. `failed` gets what a job raises."""

    def __init__(self, failed: Callable[[Exception], None], most: int = 10_000) -> None:
        self._failed = failed
        self._most = most
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._threads = 0

    def run(self, job: Callable[[], None]) -> None:
        with self._lock:
            new = self._idle <= 0 and self._threads < self._most
            self._idle -= 0 if new else 1
            self._threads += 1 if new else 0
        self._jobs.put(job)
        if new:
            threading.Thread(target=self._work, name="runner-worker", daemon=True).start()

    def close(self) -> None:
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as error:
                self._failed(error)
            with self._lock:
                self._idle += 1
