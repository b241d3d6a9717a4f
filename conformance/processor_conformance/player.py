"""Plays one scenario against an adapter.

Flows in: an adapter and a scenario in its raw JSON. Flows out: the `Trace` of everything that was seen, in the
scenario's own words. Opens a session, makes the calls, lets `answers` play the other side, waits until all is quiet,
reads the store, closes the session.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from functools import partial

from . import opening
from .answers import Answers, Run
from .connection import Adapter
from .faults import AdapterFault, SuiteError
from .peer import suite_error
from .rename import Renaming
from .scripts import Scripts
from .trace import Trace
from .words import Json

QUIET_TICKS = 2
LONGEST = 20  # times the timeout: the most that one play may take, however talkative the adapter
READ_COUNT = 100


def play(
    adapter: Adapter, scenario_id: str, scenario: dict[str, Json], mode: str, *, seed: int = 0, timeout: float = 10.0
) -> Trace:
    """The trace of the scenario in one mode; raises AdapterFault (with the trace so far) and SuiteError."""
    adapter.start()
    trace = Trace(scenario_id, mode)
    peer = adapter.peer
    peer.patience_ends = time.monotonic() + LONGEST * timeout
    try:
        renaming = Renaming(seed, opening.names(scenario["given"]))
        playing = _Play(adapter, scenario, mode, renaming, trace, timeout)
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

    def __init__(
        self, adapter: Adapter, scenario: dict[str, Json], mode: str, renaming: Renaming, trace: Trace, timeout: float
    ) -> None:
        given = scenario["given"]
        self.answers = Answers(adapter, Scripts(given), renaming, trace, timeout)
        self._adapter = adapter
        self._scenario = scenario
        self._mode = mode
        self._renaming = renaming
        self._trace = trace
        self._timeout = timeout
        self._session = adapter.fresh_name("session")
        self._calls = list(zip(self._runs(given), scenario["run"], strict=True))
        self.answers.runs = {run.wire: run for run, _ in self._calls}

    def _runs(self, given: dict[str, Json]) -> list[Run]:
        runs = []
        for index, call in enumerate(self._scenario["run"]):
            turns = call.get("model", given.get("model"))
            if not turns:
                raise SuiteError(f"the scenario gives the model of run {index} no turn")
            runs.append(Run(str(call.get("name", index)), self._adapter.fresh_name("run"), turns))
        return runs

    def whole(self) -> None:
        """The play from the first to the last message."""
        agent = opening.agent(self._scenario["given"], self._renaming)
        self._ask("session/open", {"session": self._session, "agent": agent})
        for _, group in itertools.groupby(enumerate(self._calls), key=lambda one: one[1][1].get("together", (one[0],))):
            self._start([one for _, one in group])
            self._settle()
        for place in self._scenario.get("stored", []):
            self._read_store(place["thread"], place["resource"])
        self.answers.closed = True
        self._adapter.past_runs.update(self.answers.runs)
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
        params = {"session": self._session, "run": run.wire, **opening.start(call, self._mode, self._renaming)}
        result = self._ask("run/start", params, partial(self._started, run))
        for step in call.get("reading", []) if "opened" in result else []:
            for name, value in step.items():
                self._read(run, name, value)

    def _started(self, run: Run, result: dict[str, Json]) -> None:
        if "outcome" in result:
            self.answers.note_outcome(run, result["outcome"])
        else:
            self.answers.note(run, "client", "opened", {"opened": True})

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
            raise SuiteError(f"{name!r} is nothing a reader can do")

    def _read_chunks(self, run: Run, count: int) -> bool:
        """Reads up to `count` chunks; says whether that was the end."""
        result = self._ask("run/read", {"run": run.wire, "count": count}, partial(self._chunks, run))
        got = len(result["chunks"])
        if got > count or (got < count and not result["done"]):
            raise AdapterFault("breach", f"run/read of {count} chunks brought {got}, and not the end of the stream")
        return bool(result["done"])

    def _chunks(self, run: Run, result: dict[str, Json]) -> None:
        for chunk in result["chunks"]:
            self.answers.note_chunk(run, chunk)
        run.over = run.over or result["done"]

    def _settle(self) -> None:
        """Returns when nothing more comes: no call is open, and two ticks in a row bring nothing."""
        quiet = 0
        while quiet < QUIET_TICKS:
            self.answers.wait_until_all_answered()
            before = self.answers.arrivals
            self._ask("tick", {})
            quiet = quiet + 1 if self.answers.arrivals == before else 0
        self.answers.wait_until_all_answered()

    def _read_store(self, thread: str, resource: str) -> None:
        place = self._renaming.to_wire({"thread": thread, "resource": resource})
        result = self._ask("storage/read", {"session": self._session, **place})
        self._trace.stored[thread, resource] = self._renaming.from_wire(result["messages"])

    def _ask(self, method: str, params: dict[str, Json], arrived: Callable[[Json], None] | None = None) -> Json:
        return self._adapter.peer.request(method, params, self._timeout, arrived)
