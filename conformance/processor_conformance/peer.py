"""JSON-RPC 2.0 with one running adapter, in both directions.

Flows in: our requests, and the adapter's lines from a transport. Flows out: answers, and the adapter's requests and
notifications to a `Receiver`. The reading thread only sorts messages: what a request asks for is done on a worker
thread, because a gate may hold many calls at once. Whatever breaks the protocol ends the connection with one fault,
which every waiting request then raises.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from . import schema
from .faults import AdapterFault, FaultKind, SuiteError, breach, excerpt
from .wire import open_transport
from .words import Json
from .workers import Workers

Job = Callable[[], Json]
REQUESTS = {"hook/call", "model/call", "model/next", "tool/call", "callback/call", "store/read", "store/write"}
OUTPUT = "stdout is for messages, one JSON object a line; write all else to stderr"
NOTIFICATIONS = {"stream/chunk", "model/aborted", "warning"}


class Work(NamedTuple):
    """What makes a request's result. Work that `waits`, for a gate or for the adapter, gets a thread of its own; all
    other is done by one thread, so that answers leave in the order of arrival and a play can be repeated."""

    job: Job
    waits: bool


class Receiver(Protocol):
    """Who answers the adapter. `arrived` and `broken` are called on the reading thread and must not wait."""

    def arrived(self, method: str, params: dict[str, Json]) -> Work | None:
        """Takes note of a message in order of arrival; for a request gives what makes its result."""

    def served(self) -> None:
        """The result of a job was sent."""

    def broken(self) -> None:
        """The connection has failed: let go of everything that waits."""


class Refusal(Exception):
    """Raised by a job: the request is answered with an error, and that is all."""


class _Nobody:
    def arrived(self, method: str, params: dict[str, Json]) -> Work | None:
        raise breach(f"sent {method} although no session was ever opened; wait for session/open")

    def served(self) -> None:
        pass

    def broken(self) -> None:
        pass


class _Pending:
    """A request of ours that waits for its answer."""

    __slots__ = ("done", "method", "on_result", "result", "sent")

    def __init__(self, method: str, on_result: Callable[[Json], None] | None) -> None:
        self.method = method
        self.on_result = on_result
        self.result: Json = None
        self.sent = time.monotonic()
        self.done = threading.Lock()  # held until there is an answer: cheaper than an Event
        self.done.acquire()


class Peer:
    """The connection to one adapter, from its start to its end."""

    def __init__(self, command: str | list[str], env: dict[str, str] | None, timeout: float, strict: bool) -> None:
        self.receiver: Receiver = _Nobody()
        self.trouble: Exception | None = None
        self.patience_ends: float | None = None
        self._timeout = timeout
        self._strict = strict
        self._lock = threading.Lock()
        self._pending: dict[str, _Pending] = {}
        self._sent = 0
        self._theirs: set[str] = set()
        self._said = ""
        self._told = ""  # what we sent last, while nothing has come since
        self._heard = time.monotonic()
        self._holds = 0
        self._workers = Workers(self.fail)
        self._prompt = Workers(self.fail, most=1)
        self._transport = open_transport(command, env, self._on_line, self._on_end)

    # -- asking ------------------------------------------------------------------------------------------------------

    def request(
        self,
        method: str,
        params: dict[str, Json],
        timeout: float | None = None,
        on_result: Callable[[Json], None] | None = None,
    ) -> Json:
        """The result; raises AdapterFault. `on_result` gets it on the reading thread, before any later message."""
        pending = _Pending(method, on_result)
        self._outgoing(f"{method}.params", params)
        with self._lock:
            self._sent += 1
            name = f"r{self._sent}"
            self._pending[name] = pending
        if self.trouble is None:
            self._send(f"our {method} ({name})", {"jsonrpc": "2.0", "id": name, "method": method, "params": params})
            self._await(pending, self._timeout if timeout is None else timeout)
        if self.trouble is not None and pending.result is None:
            raise self.trouble
        return pending.result

    def _await(self, pending: _Pending, timeout: float) -> None:
        left = timeout
        while self.trouble is None and not pending.done.acquire(timeout=max(left, 0.001)):
            left = self._patience(pending, timeout)
            if left <= 0:
                self.fail(self._hung(pending, timeout))

    def _patience(self, pending: _Pending, timeout: float) -> float:
        """Seconds left: counted from the adapter's last message, and not while we are the ones who hold it up."""
        now = time.monotonic()
        left = timeout if self._holds else max(self._heard, pending.sent) + timeout - now
        return left if self.patience_ends is None else min(left, self.patience_ends - now)

    def _hung(self, pending: _Pending, timeout: float) -> AdapterFault:
        ended = self._transport.died()
        if ended is not None:
            return AdapterFault("died", f"the adapter {ended} and left {pending.method} unanswered", self._said)
        silent = self._told and self._said and not self._transport.half_line
        last = f"; nothing came since it was sent {self._told}" if silent else self._last_words()
        waited = self._waited(timeout)
        return AdapterFault("hung", f"no answer to {pending.method} {waited}{last} (--timeout waits longer)")

    def _waited(self, timeout: float) -> str:
        if self.patience_ends is not None and self.patience_ends <= time.monotonic():
            return "although messages kept coming for as long as a play may take"
        return f"within {timeout:g} s"

    def _last_words(self) -> str:
        half = self._transport.half_line
        if half:
            return f"; its last words were half a line: {excerpt(half)}"
        return f"; the last line it wrote: {excerpt(self._said)}" if self._said else "; it wrote nothing at all"

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """While we hold something back on purpose, the adapter's silence is no hang."""
        with self._lock:
            self._holds += 1
        try:
            yield
        finally:
            with self._lock:
                self._holds -= 1
                self._heard = time.monotonic()

    # -- hearing -----------------------------------------------------------------------------------------------------

    def _on_line(self, line: bytes) -> None:
        if self.trouble is not None:
            return
        try:
            self._heard = time.monotonic()
            message = decode(line)
            self._said, self._told = line[:1000].decode("utf-8", "replace"), ""
            self._sort(message)
        except AdapterFault as fault:
            fault.seen = fault.seen or line[:1000].decode("utf-8", "replace")
            self.fail(fault)
        except Exception as error:
            self.fail(suite_error(error))

    def _on_end(self, kind: FaultKind, how: str, half: bytes) -> None:
        if half.strip():
            said = half[:1000].decode("utf-8", "replace")
            self.fail(AdapterFault(kind, f"the adapter {how} in the middle of a line: {excerpt(said)}", said))
        elif not self._said:
            self.fail(AdapterFault("died", f"the adapter {how} without having written anything"))
        else:
            asked = [pending.method for pending in list(self._pending.values())]
            waiting = f" while {asked[-1]} was unanswered" if asked else ""
            self.fail(AdapterFault("died", f"the adapter {how}{waiting}{self._last_words()}", self._said))

    def _sort(self, message: dict[str, Json]) -> None:
        if message.get("jsonrpc") != "2.0":
            raise breach('a message without "jsonrpc": "2.0"; each one has it')
        name = message.get("id")
        if name is not None and not isinstance(name, str):
            raise breach(f"the id {name!r} is not a text; ids are texts")
        if "method" not in message:
            return self._on_answer(name, message)
        method, params = message["method"], message.get("params", {})
        kind, known = ("notification", NOTIFICATIONS) if name is None else ("request", REQUESTS)
        if not isinstance(method, str) or method not in known:
            if name in self._pending:
                raise breach(f"the adapter sent our own request {method!r} back; send an answer, with its id")
            what = f"the adapter sent the {kind} {method!r}, which is none that it may send"
            raise breach(f"{what}; PROTOCOL.md, section 1, has the list")
        self._check(f"{method}.params", params, f"{method} params")
        if name is not None and name in self._theirs:
            raise breach(f"two open requests with the id {name!r}; count them up")
        receiver = self.receiver
        work = receiver.arrived(method, params)
        if name is not None and work is not None:
            self._theirs.add(name)
            workers = self._workers if work.waits else self._prompt
            workers.run(lambda: self._serve(name, method, work.job, receiver))

    def _on_answer(self, name: str | None, message: dict[str, Json]) -> None:
        pending = self._pending.get(name) if name is not None else None
        if name is None or pending is None:
            ours = name is not None and name[:1] == "r" and name[1:].isdigit() and 0 < int(name[1:]) <= self._sent
            what = f"{name!r}, which was answered before" if ours else f"{name!r}, which nobody asked"
            why = f" ({_reason(message['error'])})" if "error" in message else ""
            raise breach(f"an answer to {what}{why}; answer each request once, with its id")
        if "error" in message:
            said = f"answered {pending.method} with an error: {_reason(message['error'])}"
            raise breach(f"{said}; what the implementation raises belongs into the result, as 'raised'")
        if "result" not in message:
            raise breach(f"answered {pending.method} with neither result nor error; it has one of them")
        self._check(f"{pending.method}.result", message["result"], f"the answer to {pending.method}")
        if pending.on_result is not None:
            pending.on_result(message["result"])
        pending.result = message["result"]
        if self._pending.pop(name, None) is not None:  # it is still waited for
            pending.done.release()

    def _check(self, definition: str, value: Json, what: str) -> None:
        problem = schema.problem(definition, value, strict=self._strict)
        if problem is not None:
            raise breach(f"{what}: {problem}")

    # -- answering ---------------------------------------------------------------------------------------------------

    def _serve(self, name: str, method: str, job: Job, receiver: Receiver) -> None:
        try:
            result = job()
        except Refusal as refusal:
            self._theirs.discard(name)
            error = {"code": -32000, "message": str(refusal)}
            return self._send(f"the refusal of {method} ({name})", {"jsonrpc": "2.0", "id": name, "error": error})
        self._outgoing(f"{method}.result", result)
        self._theirs.discard(name)  # before it is sent: the adapter may use the id again at once
        self._send(f"the answer to {method} ({name})", {"jsonrpc": "2.0", "id": name, "result": result})
        receiver.served()

    def _outgoing(self, definition: str, value: Json) -> None:
        problem = schema.problem(definition, value, strict=True) if self._strict else None
        if problem is not None:
            raise SuiteError(f"the runner was about to send {definition}: {problem}")

    def _send(self, what: str, message: dict[str, Json]) -> None:
        self._told = what
        try:
            line = json.dumps(message, allow_nan=False, separators=(",", ":"))
        except ValueError as error:
            raise SuiteError(f"what the scenario hands over is not JSON: {error}") from error
        try:
            self._transport.send(line)
        except Exception as error:
            self.fail(AdapterFault("died", f"the adapter does not take lines any more: {error!r}"))

    # -- ending ------------------------------------------------------------------------------------------------------

    def fail(self, trouble: Exception) -> None:
        """Ends the connection's usefulness: the first trouble stands, and whoever waits for an answer raises it."""
        with self._lock:
            if self.trouble is None:
                self.trouble = trouble if isinstance(trouble, AdapterFault | SuiteError) else suite_error(trouble)
        while self._pending:
            with contextlib.suppress(KeyError):  # answered at this moment
                self._pending.popitem()[1].done.release()
        self.receiver.broken()

    def close(self, grace: float) -> bool:
        """Asks the adapter to end, then makes it; says whether it ended by itself within `grace` seconds."""
        deadline = time.monotonic() + grace
        if self.trouble is None:
            try:
                self.request("shutdown", {}, timeout=grace)
            except AdapterFault:
                deadline = 0.0
        ended = self._transport.close(max(deadline - time.monotonic(), 0.0) if self.trouble is None else 0.0)
        self._workers.close()
        self._prompt.close()
        return ended

    @property
    def stderr_tail(self) -> str:
        return self._transport.stderr_tail


def decode(line: bytes) -> dict[str, Json]:
    """The message in a line; raises AdapterFault (`garbage`) when it is none."""
    if not line.strip():
        raise AdapterFault("garbage", f"an empty line; {OUTPUT}")
    if line.startswith(codecs.BOM_UTF8):
        raise AdapterFault("garbage", "a line that begins with a byte order mark; write UTF-8 without one")
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        message = f"a line that is not UTF-8 (byte {error.start}): {excerpt(repr(line)[2:-1])}"
        raise AdapterFault("garbage", message) from error
    except (ValueError, RecursionError) as error:
        message = f"a line that is no JSON ({error}): {excerpt(line.decode())}; {OUTPUT}"
        raise AdapterFault("garbage", message) from error
    if not isinstance(message, dict):
        raise AdapterFault("garbage", f"a line that is no JSON object: {excerpt(line.decode())}; {OUTPUT}")
    return message


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _reason(error: Json) -> str:
    return str(error.get("message", error)) if isinstance(error, dict) else repr(error)


def suite_error(error: Exception) -> SuiteError:
    """An unexpected exception of our own code as what it is."""
    if isinstance(error, SuiteError):
        return error
    wrapped = SuiteError(f"{type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped
