"""The adapter as the rest of the suite holds it: started, spoken to, restarted after a fault, and always ended.

Flows in: a command (or `python:module:function` for one in this process). Flows out: a `Hello`, answers to requests,
and `AdapterFault`. A fault makes the connection useless; the next `start` begins a new one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import schema
from .faults import AdapterDidNotStart, AdapterFault, SuiteError, breach
from .peer import Peer
from .trace import Trace
from .words import HOOKS, PROTOCOL, REVISION, Json

if TYPE_CHECKING:
    from .notes import Notes
    from .scenario import Item

START_PATIENCE = 3  # times the timeout: a runtime that has to load itself may take longer than to answer
GRACE = 5.0  # PROTOCOL.md section 6: after `shutdown` an adapter ends within five seconds


@dataclass(frozen=True, slots=True)
class Hello:
    """What the adapter said of itself when it was initialised."""

    implementation: str
    version: str
    revisions: tuple[str, ...]
    capabilities: frozenset[str]
    hooks: frozenset[str] = frozenset(HOOKS)  # those it calls; an implementation in part has some of them

    def undeclared(self, item: Item) -> set[str]:
        """The capabilities that the item needs and the adapter has not declared."""
        return item.scenario.capabilities(item.mode) - self.capabilities

    def lacking(self, item: Item) -> set[str]:
        """The hooks that the item needs and the implementation has not."""
        return item.scenario.hooks - self.hooks


class Adapter:
    """One implementation behind the protocol. Not for several plays at the same time."""

    def __init__(
        self,
        command: str | list[str],
        *,
        timeout: float = 10.0,
        strict: bool = False,
        env: dict[str, str] | None = None,
        revision: str = REVISION,
    ) -> None:
        self.command = command
        self.timeout = timeout
        self.strict = strict
        self.ended_by_itself = True
        self.past_runs: dict[str, tuple[Notes, str]] = {}  # by its name on the wire: where it is noted, and as what
        self.stragglers: list[Trace] = []  # the plays for which something came when their session was closed
        self._env = env
        self._revision = revision
        self._peer: Peer | None = None
        self._hello: Hello | None = None
        self._last_words = ""
        self._names = 0

    def start(self) -> Hello:
        """Starts and initialises the adapter, unless it runs; raises AdapterDidNotStart."""
        if self._hello is None or self.trouble is not None:
            self.close()
            self._hello = self._initialise()
        return self._hello

    def restart(self) -> Hello:
        """A new connection (for a command: a new process), whatever state the old one is in."""
        self.close()
        return self.start()

    def close(self) -> None:
        """Ends the adapter: politely, then by force; never waits longer than a few seconds."""
        peer, self._peer, self._hello = self._peer, None, None
        if peer is not None:
            self.ended_by_itself = peer.close(min(GRACE, max(self.timeout, 1.0)))
            self._last_words = peer.stderr_tail

    def request(
        self,
        method: str,
        params: dict[str, Json],
        timeout: float | None = None,
        on_result: Callable[[Json], None] | None = None,
    ) -> Json:
        """The adapter's result; raises AdapterFault. `on_result` sees the result before any later message is read."""
        return self.peer.request(method, params, timeout, on_result)

    @property
    def peer(self) -> Peer:
        """The connection; the adapter must have been started."""
        if self._peer is None:
            raise SuiteError("the adapter is not started; call start() first")
        return self._peer

    @property
    def trouble(self) -> Exception | None:
        """What ended the connection, or None while it is sound."""
        return None if self._peer is None else self._peer.trouble

    @property
    def stderr_tail(self) -> str:
        """The last lines the adapter wrote to stderr (after its end: those of the last process)."""
        return self._last_words if self._peer is None else self._peer.stderr_tail

    def fresh_name(self, kind: str) -> str:
        """A name that this adapter has not had before."""
        self._names += 1
        return f"{kind}-{self._names}"

    def _initialise(self) -> Hello:
        self._peer = Peer(self.command, self._env, self.timeout, self.strict)
        try:
            offer = {"protocols": [PROTOCOL], "revision": self._revision}
            answer = self._peer.request("initialize", offer, START_PATIENCE * self.timeout)
            return self._checked(_hello(answer))
        except AdapterFault as fault:
            self._peer.fail(fault)
            raise AdapterDidNotStart(fault.kind, f"the adapter did not start: {fault.message}", fault.seen) from fault

    def _checked(self, hello: Hello) -> Hello:
        if self._revision not in hello.revisions:
            listed = ", ".join(hello.revisions)
            message = f"it does not speak the revision {self._revision}; ask for one it lists: --revision {listed}"
            raise breach(message)
        return hello


def _hello(answer: Json) -> Hello:
    if answer["protocol"] != PROTOCOL:
        spoken = answer["protocol"]
        raise breach(f"it speaks protocol {spoken!r}, this runner speaks {PROTOCOL}: choose among 'protocols'")
    unknown = sorted(set(answer["capabilities"]) - schema.capabilities())
    if unknown:
        message = f"it declares what is no capability of the protocol: {', '.join(unknown)}; PROTOCOL.md has the list"
        raise breach(message, json.dumps(answer))
    return Hello(
        answer["implementation"]["name"],
        str(answer["implementation"].get("version", "")),
        tuple(answer["revisions"]),
        frozenset(answer["capabilities"]),
        frozenset(answer.get("hooks", HOOKS)),
    )
