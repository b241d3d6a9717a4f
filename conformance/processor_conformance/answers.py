"""Plays the model, the tools, the callbacks, the store and the processors of one scenario.

Flows in: the adapter's requests and notifications, in order of arrival. Flows out: events, written down by `notes`,
and for each request the work that answers it, done by `acting`. What a message shows and which clause answers it is
settled on the reading thread, so that both follow the order of arrival; the answer itself is made on a worker.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from .acting import Acting
from .calls import Call, ModelCall, Run
from .connection import Adapter
from .faults import AdapterFault, breach
from .notes import MOST_EVENTS, Notes
from .peer import Refusal, Work
from .rename import Renaming
from .scripts import STEPS, Gates, Scripts
from .trace import Event, Trace
from .words import Json

MOST_MODEL_CALLS = 100
ENOUGH: Json = {"text": ["enough"]}


class Answers:
    """The receiver of one play."""

    def __init__(
        self,
        adapter: Adapter,
        runs: Sequence[Run],
        scripts: Scripts,
        renaming: Renaming,
        trace: Trace,
        timeout: float,
    ) -> None:
        self.notes = Notes(trace, renaming)
        self.gates = Gates(timeout, adapter.peer.holding, trace.stuck_gates)
        self.arrivals = 0
        self._runs = {run.wire: run for run in runs}
        self._closed = False
        self._adapter = adapter
        self._scripts = scripts
        self._calls: list[Call] = []
        self._acting = Acting(adapter, renaming, self.gates, timeout, self._calls, runs)
        self._handles: set[str] = set()
        self._model_calls: dict[tuple[str, str], ModelCall] = {}
        self._open = 0
        self._changed = threading.Condition()

    # -- as a Receiver -----------------------------------------------------------------------------------------------

    def arrived(self, method: str, params: dict[str, Json]) -> Work | None:
        run = self._runs.get(params["run"])
        if run is None or self._closed:
            return self._straggler(method, params)
        self.arrivals += 1
        if self.arrivals > MOST_EVENTS:
            raise AdapterFault("hung", f"the run {run.name!r} does not come to an end: {MOST_EVENTS} messages so far")
        work = ARRIVALS[method](self, run, method, params)
        if work is not None:
            with self._changed:
                self._open += 1
        return work

    def served(self) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def broken(self) -> None:
        self.gates.abandon()
        with self._changed:
            self._changed.notify_all()

    # -- for the play ------------------------------------------------------------------------------------------------

    def wait_until_all_served(self) -> None:
        """Returns when no call of the adapter is open; gates bound the time. Raises what has ended the connection."""
        peer = self._adapter.peer
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0 or peer.trouble is not None)
        if peer.trouble is not None:
            raise peer.trouble

    def close(self) -> None:
        """From here on, whatever comes for these runs comes too late."""
        self._adapter.past_runs |= {wire: (self.notes, run.name) for wire, run in self._runs.items()}
        self._closed = True

    def _straggler(self, method: str, params: dict[str, Json]) -> Work:
        """A message for a run whose session is closed: it is refused, and noted where it belongs."""
        wire = params["run"]
        past = self._adapter.past_runs.get(wire)
        if past is None:
            raise breach(f"{method} names the run {wire!r}, which was never started; name the one of run/start")
        notes, name = past
        notes.message(name, method, params, late=True)
        self._adapter.stragglers.append(notes.trace)

        def refuse() -> Json:
            raise Refusal(f"the run {wire} is over and its session closed")

        return Work(refuse, waits=False)

    # -- what arrives ------------------------------------------------------------------------------------------------

    def _note(self, run: Run, method: str, params: dict[str, Json]) -> Event:
        return self.notes.message(run.name, method, params, late=run.over)

    def _hook(self, run: Run, method: str, params: dict[str, Json]) -> Work:
        hook, key = params["hook"], params["processor"]
        if not self._scripts.knows(hook, key):
            message = f"calls {hook} of processor {key!r}, which has no such hook; session/open lists those it has"
            raise breach(message)
        return self._called(run, hook, key, params, self._note(run, method, params))

    def _tool(self, run: Run, method: str, params: dict[str, Json]) -> Work:
        event = self._note(run, method, params)
        name = event.data["tool"]
        if not self._scripts.knows("tool", name):
            message = f"calls the tool {name!r}, which the agent does not have; session/open lists its tools"
            raise breach(message)
        return self._called(run, "tool", name, params, event)

    def _callback(self, run: Run, method: str, params: dict[str, Json]) -> Work:
        event = self._note(run, method, params)
        return self._called(run, event.name, params.get("processor", ""), params, event)

    def _called(self, run: Run, kind: str, owner: str, params: dict[str, Json], event: Event) -> Work:
        handle = params["handle"]
        if handle in self._handles:
            raise breach(f"the handle {handle!r} is used twice; make up a new one for each call")
        self._handles.add(handle)
        clause = self._scripts.choose(kind, owner, {"run": run.name, **event.data})
        call = Call(run, kind, owner, event, clause, handle, params["tokens"])
        self._calls.append(call)
        return Work(lambda: self._acting.call(call), clause.waits)

    def _store(self, run: Run, method: str, params: dict[str, Json]) -> Work:
        event = self._note(run, method, params)
        clause = self._scripts.choose(method, "", {"run": run.name, **event.data})
        call = Call(run, method, "", event, clause)
        return Work(lambda: self._acting.store(call), clause.waits)

    def _model(self, run: Run, method: str, params: dict[str, Json]) -> Work:
        name = (run.wire, params["call"])
        if name in self._model_calls:
            message = f"the model call {params['call']!r} is made twice; make up a new name for each"
            raise breach(message)
        turn = self._turn(run)
        run.model_calls += 1
        call = ModelCall(run, run.model_calls, params["model"], params["mode"], turn)
        self._model_calls[name] = call
        self._note(run, method, params)
        return Work(lambda: self._acting.model(call), waits=any(name in turn for name in STEPS))

    def _turn(self, run: Run) -> dict[str, Json]:
        """The turn that answers; after very many calls one that ends any sound loop, to have a trace to judge."""
        if run.model_calls < MOST_MODEL_CALLS:
            return run.turns[min(run.model_calls, len(run.turns) - 1)]
        if run.model_calls < 2 * MOST_MODEL_CALLS:
            return dict(ENOUGH)
        raise AdapterFault("hung", f"the run {run.name!r} does not come to an end: {run.model_calls} model calls")

    def _next(self, run: Run, method: str, params: dict[str, Json]) -> Work:
        call = self._model_call(run, params)
        return Work(lambda: self._acting.next_part(call), waits=any("type" not in part for part in call.parts[:1]))

    def _aborted(self, run: Run, method: str, params: dict[str, Json]) -> None:
        self._note(run, method, {**params, "model": self._model_call(run, params).model})

    def _told(self, run: Run, method: str, params: dict[str, Json]) -> None:
        self._note(run, method, params)

    def _model_call(self, run: Run, params: dict[str, Json]) -> ModelCall:
        call = self._model_calls.get((run.wire, params["call"]))
        if call is None:
            message = f"names the model call {params['call']!r}, which was never made; name one of model/call"
            raise breach(message)
        return call


ARRIVALS: dict[str, Callable[[Answers, Run, str, dict[str, Json]], Work | None]] = {
    "hook/call": Answers._hook,
    "tool/call": Answers._tool,
    "callback/call": Answers._callback,
    "model/call": Answers._model,
    "model/next": Answers._next,
    "model/aborted": Answers._aborted,
    "stream/chunk": Answers._told,
    "warning": Answers._told,
    "store/read": Answers._store,
    "store/write": Answers._store,
}
