"""Plays the model, the tools, the callbacks, the store and the processors of one scenario.

Flows in: the adapter's requests and notifications, in order of arrival. Flows out: events in the trace, and the
answers that the scenario's scripts give. What a message shows is noted on the reading thread, so that the order of
events is the order of arrival; what answers it (operations, gates, the answer itself) runs on a worker.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from . import model_script
from .connection import Adapter
from .faults import AdapterFault, SuiteError
from .peer import Refusal, Work
from .rename import Renaming
from .scripts import NEUTRAL, STEPS, Clause, Gates, Scripts, failure, referred
from .trace import Event, Trace
from .words import ARRAYS, UNDEFINED, Json, Lane

MOST_EVENTS = 50_000
MOST_MODEL_CALLS = 100
ENOUGH: Json = {"text": ["enough"]}


@dataclass(slots=True)
class Run:
    """One run of the play: its name in the scenario and on the wire, its model's turns, whether it has ended."""

    name: str
    wire: str
    turns: list[dict[str, Json]]
    model_calls: int = 0
    over: bool = False


@dataclass(slots=True)
class Call:
    """One call of a hook, a tool or a callback."""

    run: Run
    kind: str
    owner: str
    handle: str
    tokens: dict[str, str]
    event: Event
    clause: Clause


@dataclass(slots=True)
class ModelCall:
    """One call of the model; `parts` are those still to be pulled."""

    model: str
    parts: list[Json] = field(default_factory=list)
    error: dict[str, Json] | None = None


class Answers:
    """The receiver of one play."""

    def __init__(self, adapter: Adapter, scripts: Scripts, renaming: Renaming, trace: Trace, timeout: float) -> None:
        self.trace = trace
        self.runs: dict[str, Run] = {}
        self.arrivals = 0
        self.gates = Gates(timeout, adapter.peer.holding, trace.stuck_gates)
        self.closed = False
        self._adapter = adapter
        self._peer = adapter.peer
        self._scripts = scripts
        self._renaming = renaming
        self._timeout = timeout
        self._calls: list[Call] = []
        self._handles: set[str] = set()
        self._model_calls: dict[tuple[str, str], ModelCall] = {}
        self._open = 0
        self._changed = threading.Condition()

    # -- as a Receiver -----------------------------------------------------------------------------------------------

    def arrived(self, method: str, params: dict[str, Json]) -> Work | None:
        run = self.runs.get(params["run"])
        if run is None or self.closed:
            return self._stranger(method, params["run"])
        self.arrivals += 1
        if self.arrivals > MOST_EVENTS:
            raise AdapterFault("hung", f"the run {run.name!r} does not come to an end: {MOST_EVENTS} messages so far")
        work = ARRIVALS[method](self, run, params)
        if work is not None:
            with self._changed:
                self._open += 1
        return work

    def answered(self) -> None:
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    def broken(self) -> None:
        self.gates.abandon()
        with self._changed:
            self._changed.notify_all()

    def wait_until_all_answered(self) -> None:
        """Returns when no call of the adapter is open; gates bound the time. Raises what has ended the connection."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0 or self._peer.trouble is not None)
        if self._peer.trouble is not None:
            raise self._peer.trouble

    def _stranger(self, method: str, run: str) -> Work | None:
        if run not in self.runs and run not in self._adapter.past_runs:
            raise AdapterFault("breach", f"{method} names the run {run!r}, which was never started")
        self._adapter.stragglers.append((method, run))

        def refuse() -> Json:
            raise Refusal(f"the run {run} is over and its session closed")

        return Work(refuse, waits=False)

    # -- what arrives ------------------------------------------------------------------------------------------------

    def note(self, run: Run, lane: Lane, name: str, data: dict[str, Json]) -> Event:
        """Appends an event; only ever called on the reading thread."""
        event = Event(len(self.trace.events), run.name, lane, name, data, late=run.over)
        self.trace.events.append(event)
        if len(self.trace.events) > MOST_EVENTS:
            raise AdapterFault("hung", f"the run {run.name!r} does not come to an end: {MOST_EVENTS} events so far")
        return event

    def note_chunk(self, run: Run, chunk: dict[str, Json]) -> None:
        self.note(run, "client", str(chunk["type"]), self._renaming.from_wire(chunk))

    def note_outcome(self, run: Run, outcome: dict[str, Json]) -> None:
        self.trace.outcomes[run.name] = self._renaming.from_wire(outcome)
        run.over = True

    def _hook(self, run: Run, params: dict[str, Json]) -> Work:
        hook, key = params["hook"], params["processor"]
        if not self._scripts.knows(hook, key):
            raise AdapterFault("breach", f"calls {hook} of processor {key!r}, which has no such hook")
        arguments = self._renaming.from_wire(params["arguments"])
        seen = {"hook": hook, "processor": key, **arguments, "tokens": params["tokens"]}
        return self._called(run, hook, key, params, self.note(run, "work", hook, seen), arguments)

    def _tool(self, run: Run, params: dict[str, Json]) -> Work:
        named = {key: self._renaming.from_wire(params[key]) for key in ("tool", "toolCallId", "args")}
        if not self._scripts.knows("tool", named["tool"]):
            raise AdapterFault("breach", f"calls the tool {named['tool']!r}, which the agent does not have")
        event = self.note(run, "work", "tool", {**named, "tokens": params["tokens"]})
        return self._called(run, "tool", named["tool"], params, event, named)

    def _callback(self, run: Run, params: dict[str, Json]) -> Work:
        name, owner = params["callback"], params.get("processor", "")
        arguments = self._renaming.from_wire(params["arguments"])
        whose = {"processor": owner} if owner else {}
        seen = {"callback": name, **whose, **arguments, "tokens": params["tokens"]}
        return self._called(run, name, owner, params, self.note(run, "work", name, seen), arguments)

    def _called(
        self, run: Run, kind: str, owner: str, params: dict[str, Json], event: Event, arguments: dict[str, Json]
    ) -> Work:
        handle = params["handle"]
        if handle in self._handles:
            raise AdapterFault("breach", f"the handle {handle!r} is used twice")
        self._handles.add(handle)
        clause = self._scripts.choose(kind, owner, {"run": run.name, **arguments})
        call = Call(run, kind, owner, handle, params["tokens"], event, clause)
        self._calls.append(call)
        return Work(lambda: self._act(call), clause.waits)

    def _store(self, name: str) -> Callable[[Run, dict[str, Json]], Work]:
        def arrived(run: Run, params: dict[str, Json]) -> Work:
            seen = self._renaming.from_wire({key: params[key] for key in params if key != "run"})
            event = self.note(run, "work", name, {"store": name.removeprefix("store/"), **seen})
            clause = self._scripts.choose(name, "", {"run": run.name, **seen})
            call = Call(run, name, "", "", {}, event, clause)
            return Work(lambda: self._act_store(call), clause.waits)

        return arrived

    def _model(self, run: Run, params: dict[str, Json]) -> Work:
        name = (run.wire, params["call"])
        if name in self._model_calls:
            raise AdapterFault("breach", f"the model call {params['call']!r} is made twice")
        turn = self._turn(run)
        run.model_calls += 1
        number, call = run.model_calls, ModelCall(params["model"])
        self._model_calls[name] = call
        seen = {key: params[key] for key in params if key not in ("run", "call")}
        self.note(run, "provider", "model", self._renaming.from_wire(seen))
        waits = any(name in turn for name in STEPS)
        return Work(lambda: self._act_model(run, turn, call, params["mode"], number), waits)

    def _turn(self, run: Run) -> dict[str, Json]:
        """The turn that answers; after very many calls one that ends any sound loop, to have a trace to judge."""
        if run.model_calls < MOST_MODEL_CALLS:
            return run.turns[min(run.model_calls, len(run.turns) - 1)]
        if run.model_calls < 2 * MOST_MODEL_CALLS:
            return dict(ENOUGH)
        raise AdapterFault("hung", f"the run {run.name!r} does not come to an end: {run.model_calls} model calls")

    def _next(self, run: Run, params: dict[str, Json]) -> Work:
        call = self._model_call(run, params)
        return Work(lambda: self._act_next(run, call), waits=any("type" not in part for part in call.parts[:1]))

    def _aborted(self, run: Run, params: dict[str, Json]) -> None:
        call = self._model_call(run, params)
        self.note(run, "provider", "model/aborted", {"aborted": True, "model": call.model})

    def _chunk(self, run: Run, params: dict[str, Json]) -> None:
        self.note_chunk(run, params["chunk"])

    def _model_call(self, run: Run, params: dict[str, Json]) -> ModelCall:
        call = self._model_calls.get((run.wire, params["call"]))
        if call is None:
            raise AdapterFault("breach", f"names the model call {params['call']!r}, which was never made")
        return call

    # -- what is answered --------------------------------------------------------------------------------------------

    def _act(self, call: Call) -> dict[str, Json]:
        self._steps(call)
        template = call.clause.script.get("return", NEUTRAL.get(call.kind, UNDEFINED))
        if call.kind in ARRAYS:
            return {"return": template}  # keys of processors, which keep their names
        if isinstance(template, dict) and "$throw" in template:
            template = {"$throw": failure(template["$throw"], self._adapter.fresh_name)}
        return {"return": self._for_wire(call, template)}

    def _act_store(self, call: Call) -> dict[str, Json]:
        self._steps(call)
        template = call.clause.script.get("return", {})
        if "$throw" not in template:
            return {}
        return {"error": self._renaming.to_wire(failure(template["$throw"], self._adapter.fresh_name))}

    def _act_model(self, run: Run, turn: dict[str, Json], call: ModelCall, mode: str, number: int) -> dict[str, Json]:
        for name in STEPS:
            if name in turn:
                self._step(run, name, turn[name])
        answer = model_script.answer(turn, mode, call.model, number, self._adapter.fresh_name)
        if answer.get("pull"):
            call.parts = model_script.parts(turn, call.model, number)
            call.error = turn.get("error")
        return dict(self._renaming.to_wire(answer))

    def _act_next(self, run: Run, call: ModelCall) -> dict[str, Json]:
        while call.parts:
            part = call.parts.pop(0)
            if "type" in part:
                return dict(self._renaming.to_wire({"part": part}))
            for name, value in part.items():
                self._step(run, name, value)
        if call.error is not None:
            return dict(self._renaming.to_wire({"error": failure(call.error, self._adapter.fresh_name)}))
        return {"done": True}

    def _steps(self, call: Call) -> None:
        batch: list[dict[str, Json]] = []
        for step in call.clause.steps:
            if "op" in step:
                batch.append(step)
                continue
            self._do(call, batch)
            batch = []
            for name, value in step.items():
                self._step(call.run, name, value)
        self._do(call, batch)

    def _step(self, run: Run, name: str, value: Json) -> None:
        if name == "open":
            self.gates.open(value)
        elif name == "wait":
            self.gates.wait(value)
        elif name == "cancel":
            reason = value if isinstance(value, str) else "cancelled"
            self._ask("run/cancel", {"run": run.wire, "reason": self._renaming.to_wire(reason)})
        elif name == "close":
            self._ask("run/close", {"run": run.wire})
        else:
            raise SuiteError(f"{name!r} is no step of a clause; steps are {', '.join(STEPS)}")

    def _do(self, call: Call, operations: list[dict[str, Json]]) -> None:
        """Does operations on the call, or those with `of` on another call, and notes their answers as `did`."""
        while operations:
            of = operations[0].get("of")
            count = next((at for at, one in enumerate(operations) if one.get("of") != of), len(operations))
            batch, operations = operations[:count], operations[count:]
            target = call if of is None else self._other(call, of)
            did = [{"error": {"name": "NoSuchCall", "message": "that call never came"}}] * count
            if target is not None:
                did = self._done(call, target, batch)
            call.event.data.setdefault("did", []).extend(did)

    def _done(self, call: Call, target: Call, operations: list[dict[str, Json]]) -> list[Json]:
        plain = [{key: one[key] for key in one if key != "of"} for one in operations]
        params = {"handle": target.handle, "operations": self._for_wire(call, plain)}
        results = self._ask("object/do", params)["results"]
        if len(results) != len(operations):
            raise AdapterFault("breach", f"answered {len(operations)} operations with {len(results)} results")
        return list(self._renaming.from_wire(results))

    def _for_wire(self, call: Call, template: Json) -> Json:
        return self._renaming.to_wire(referred(template, lambda reference: self._token(call, reference)))

    def _token(self, call: Call, reference: dict[str, Json]) -> str | None:
        """The token of another call's object; None when that call never came."""
        other = self._other(call, reference["of"])
        path = reference["$ref"]
        if other is None or path in other.tokens:
            return None if other is None else other.tokens[path]
        operation = {"op": "token", "at": path}
        result = self._ask("object/do", {"handle": other.handle, "operations": [operation]})["results"][0]
        token: str | None = result.get("value")
        return token

    def _other(self, call: Call, of: dict[str, Json]) -> Call | None:
        """The last call, before this one, that `of` describes: `run`, `hook` or `tool` or `callback`, `processor`."""
        run = of.get("run", call.run.name)
        if all(known.name != run for known in self.runs.values()):
            raise SuiteError(f"a reference to the run {run!r}, which the scenario does not have")
        kind = "tool" if "tool" in of else of.get("hook", of.get("callback"))
        owner = of.get("tool", of.get("processor"))
        fitting = (
            one for one in reversed(self._calls)
            if one is not call and one.run.name == run and one.kind == kind and owner in (None, one.owner)
        )  # fmt: skip
        return next(fitting, None)

    def _ask(self, method: str, params: dict[str, Json]) -> Json:
        return self._peer.request(method, params, self._timeout)


ARRIVALS: dict[str, Callable[[Answers, Run, dict[str, Json]], Work | None]] = {
    "hook/call": Answers._hook,
    "tool/call": Answers._tool,
    "callback/call": Answers._callback,
    "model/call": Answers._model,
    "model/next": Answers._next,
    "model/aborted": Answers._aborted,
    "stream/chunk": Answers._chunk,
    "store/read": lambda answers, run, params: answers._store("store/read")(run, params),
    "store/write": lambda answers, run, params: answers._store("store/write")(run, params),
}
