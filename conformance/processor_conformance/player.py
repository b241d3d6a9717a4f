"""Plays one scenario against an adapter.

Flows in: an adapter and an item. Flows out: the `Trace` of everything that was seen, in the scenario's own words. Opens
a session, makes the calls, lets `answers` play the other side, waits until all is quiet,
reads the traces and the store, closes the session.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from . import opening
from .answers import Answers
from .calls import Run
from .connection import Adapter
from .faults import AdapterFault, SuiteError, breach
from .peer import suite_error
from .rename import Renaming
from .scenario import Item
from .scripts import READING, Scripts
from .trace import Trace
from .words import Json

QUIET_TICKS = 2
LONGEST = 20  # times the timeout: the most that one play may take, however talkative the adapter
READ_COUNT = 100


def play(adapter: Adapter, item: Item, *, seed: int = 0, timeout: float = 10.0) -> Trace:
    """The trace of a scenario in one mode; raises AdapterFault (with the trace so far) and SuiteError."""
    adapter.start()
    trace = Trace(item.scenario.id, item.mode)
    peer = adapter.peer
    peer.patience_ends = time.monotonic() + LONGEST * timeout
    try:
        playing = _Play(adapter, item, seed, trace, timeout)
        peer.receiver = playing.answers
        playing.whole()
    except AdapterFault as fault:
        fault.trace = trace
        raise
    except Exception as error:
        bug = suite_error(error)
        peer.fail(bug)  # the session is in no known state: the next play gets a new connection
        raise bug from error
    finally:
        peer.patience_ends = None
    return trace


class _Play:
    """The client's side of one play."""

    def __init__(self, adapter: Adapter, item: Item, seed: int, trace: Trace, timeout: float) -> None:
        self._given = item.scenario.raw["given"]
        self._renaming = Renaming(seed, opening.names(self._given))
        self._adapter = adapter
        self._item = item
        self._trace = trace
        self._timeout = timeout
        self._session = adapter.fresh_name("session")
        self._runs = [
            Run(name, adapter.fresh_name("run"), call.get("model", self._given.get("model", [])))
            for name, call in zip(item.scenario.run_names, item.scenario.calls, strict=True)
        ]
        self.answers = Answers(adapter, self._runs, Scripts(self._given), self._renaming, trace, timeout)

    def whole(self) -> None:
        """The play from the first to the last message."""
        self._ask("session/open", {"session": self._session, "agent": opening.agent(self._given, self._renaming)})
        for group in _together(zip(self._runs, self._item.scenario.calls, strict=True)):
            self._start(group)
            self._settle()
            if self._given.get("tracing"):
                self._read_spans(run for run, _ in group)
        for place in self._item.scenario.stored:
            self._read_store(place["thread"], place["resource"])
        self.answers.close()
        self._ask("session/close", {"session": self._session})

    def _start(self, group: list[tuple[Run, dict[str, Json]]]) -> None:
        """Makes the calls of a group, at once where there are several, and returns when all have come to their end."""
        if len(group) == 1:
            return self._run(*group[0])
        troubles: list[Exception] = []
        threads = [threading.Thread(target=self._run_beside, args=(*one, troubles), daemon=True) for one in group]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if troubles:
            raise troubles[0]

    def _run_beside(self, run: Run, call: dict[str, Json], troubles: list[Exception]) -> None:
        try:
            self._run(run, call)
        except Exception as error:
            troubles.append(error)
            self._adapter.peer.fail(error)

    def _run(self, run: Run, call: dict[str, Json]) -> None:
        params = {"session": self._session, "run": run.wire, **opening.start(call, self._item.mode, self._renaming)}
        result = self._ask("run/start", params, partial(self._started, run))
        for step in call.get("reading", []) if "opened" in result else []:
            for name, value in step.items():
                self._read(run, name, value)

    def _started(self, run: Run, result: dict[str, Json]) -> None:
        if "outcome" in result:
            self.answers.notes.outcome(run.name, result["outcome"])
            run.over = True
        else:
            self.answers.notes.opened(run.name)

    def _read(self, run: Run, name: str, value: Json) -> None:
        """One step of a scripted reader."""
        if name == "read":
            self._read_chunks(run, value)
        elif name == "rest":
            while not self._read_chunks(run, READ_COUNT):
                pass
        elif name == "result":
            self._ask("run/result", {"run": run.wire}, partial(self._started, run))
        elif name == "close":
            self._ask("run/close", {"run": run.wire})
        elif name == "cancel":
            self._ask("run/cancel", {"run": run.wire, "reason": self._renaming.to_wire(value)})
        elif name == "open":
            self.answers.gates.open(value)
        elif name == "wait":
            self.answers.gates.wait(value)
        else:
            raise SuiteError(f"{name!r} is nothing a reader can do; write one of {', '.join(READING)}")

    def _read_chunks(self, run: Run, count: int) -> bool:
        """Reads up to `count` chunks; says whether that was the end."""
        result = self._ask("run/read", {"run": run.wire, "count": count}, partial(self._chunks, run))
        got = len(result["chunks"])
        if got > count or (got < count and not result["done"]):
            raise breach(f"run/read of {count} chunks brought {got}, not the end of the stream; give all, or 'done'")
        return bool(result["done"])

    def _chunks(self, run: Run, result: dict[str, Json]) -> None:
        for chunk in result["chunks"]:
            self.answers.notes.message(run.name, "stream/chunk", {"chunk": chunk}, late=run.over)
        run.over = run.over or result["done"]

    def _settle(self) -> None:
        """Returns when nothing more comes: no call is open, and two ticks in a row bring nothing."""
        quiet = 0
        while quiet < QUIET_TICKS:
            self.answers.wait_until_all_served()
            before = self.answers.arrivals
            self._ask("tick", {})
            quiet = quiet + 1 if self.answers.arrivals == before else 0
        self.answers.wait_until_all_served()

    def _read_spans(self, runs: Iterable[Run]) -> None:
        for run in runs:
            for span in self._ask("run/spans", {"run": run.wire})["spans"]:
                self.answers.notes.span(run.name, span)

    def _read_store(self, thread: str, resource: str) -> None:
        place = self._renaming.to_wire({"thread": thread, "resource": resource})
        result = self._ask("storage/read", {"session": self._session, **place})
        self._trace.stored[thread, resource] = self._renaming.from_wire(result["messages"])

    def _ask(self, method: str, params: dict[str, Json], on_result: Callable[[Json], None] | None = None) -> Json:
        return self._adapter.peer.request(method, params, self._timeout, on_result)


def _together(calls: Iterable[tuple[Run, dict[str, Json]]]) -> Iterator[list[tuple[Run, dict[str, Json]]]]:
    """The calls in groups: those next to each other with one `together` start at once, every other one alone."""
    group: list[tuple[Run, dict[str, Json]]] = []
    for run, call in calls:
        if group and (call.get("together") is None or call.get("together") != group[-1][1].get("together")):
            yield group
            group = []
        group.append((run, call))
    if group:
        yield group
