"""One end of the wire: requests in both directions, any number of them open.

Flows in: lines from the runner. Flows out: lines to it. `receive` never writes, waits or runs anything itself.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from ..errors import ContractError

Json = Any


class Unserved(ContractError):
    """The runner asked for something this adapter cannot do: answered with a JSON-RPC error."""


class Workers:
    """Threads that wait for the next job: one more is started whenever none is free."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._free = 0
        self._lock = threading.Lock()

    def run(self, job: Callable[[], None]) -> None:
        """Does the job on a thread of its own."""
        with self._lock:
            if self._free:
                self._free -= 1
            else:
                threading.Thread(target=self._work, daemon=True).start()
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            self._jobs.get()()
            with self._lock:
                self._free += 1


class Peer:
    """Asks and answers. `serve(method, params)` answers the runner's requests; `ended` is called behind a shutdown."""

    serve: Callable[[str, dict[str, Json]], Json]

    def __init__(self, send_line: Callable[[str], None], ended: Callable[[], None] = lambda: None) -> None:
        self._send_line = send_line
        self.ended = ended
        self._ids = itertools.count(1)
        self._waiting: dict[str, SimpleQueue[dict[str, Json]]] = {}
        self._workers = Workers()

    def receive(self, line: str) -> None:
        """Takes one line: an answer wakes the one who waits for it, a request goes to a worker."""
        try:
            message = json.loads(line)
        except ValueError as error:
            refusal = {"code": -32700, "message": f"this line is no JSON: {error}"}
            self._workers.run(lambda: self._send({"jsonrpc": "2.0", "id": None, "error": refusal}))
            return
        if "method" in message:
            self._workers.run(lambda: self._answer(message))
            return
        waiting = self._waiting.pop(message["id"], None)
        if waiting is not None:  # an answer that nobody waits for changes nothing
            waiting.put(message)

    def request(self, method: str, params: dict[str, Json]) -> dict[str, Json]:
        """Asks the runner and waits for its answer."""
        identity = f"a{next(self._ids)}"
        answers: SimpleQueue[dict[str, Json]] = SimpleQueue()
        self._waiting[identity] = answers
        self._send({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        answer = answers.get()
        if "error" in answer:
            raise Unserved(f"the runner refused {method}: {answer['error'].get('message')}")
        result: dict[str, Json] = answer["result"]
        return result

    def notify(self, method: str, params: dict[str, Json]) -> None:
        """Tells the runner something."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _answer(self, message: dict[str, Json]) -> None:
        answer: dict[str, Json] = {"jsonrpc": "2.0", "id": message.get("id")}
        try:
            answer["result"] = self.serve(message["method"], message.get("params", {}))
        except Unserved as error:
            answer["error"] = {"code": -32601, "message": str(error)}
        except BaseException as error:  # whatever it is, the runner waits for an answer
            answer["error"] = {"code": -32000, "message": f"{type(error).__name__}: {error}"}
        self._send(answer)
        if message["method"] == "shutdown":
            self.ended()

    def _send(self, message: dict[str, Json]) -> None:
        self._send_line(json.dumps(message, separators=(",", ":")))  # escaped: UTF-8 has no lone surrogates
