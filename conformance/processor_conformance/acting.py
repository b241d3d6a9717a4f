"""Does what the scenario's clauses and turns say, and makes the answers out of it.

Flows in: a call that was noted, with its clause; a call of the model, with its turn. Flows out: operations on the
call's objects, gates opened and waited for, and the result that the adapter gets, in the wire's words. Runs on worker
threads: it may wait.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import model_script
from .calls import Call, ModelCall, Run, described
from .connection import Adapter
from .faults import SuiteError, breach
from .rename import Renaming
from .scripts import NEUTRAL, STEPS, Gates, failure, referred
from .words import ARRAYS, UNDEFINED, Json

NO_SUCH_CALL = {"error": {"name": "NoSuchCall", "message": "that call never came"}}


class Acting:
    """The acting side of one play; `calls` and `runs` are those of the play, kept by who notes them."""

    def __init__(
        self,
        adapter: Adapter,
        renaming: Renaming,
        gates: Gates,
        timeout: float,
        calls: list[Call],
        runs: Iterable[Run],
    ) -> None:
        self._adapter = adapter
        self._renaming = renaming
        self._gates = gates
        self._timeout = timeout
        self._calls = calls
        self._runs = runs

    def call(self, call: Call) -> dict[str, Json]:
        """The answer to a hook, a tool or a callback."""
        self._steps(call)
        template = call.clause.script.get("return", NEUTRAL.get(call.kind, UNDEFINED))
        if call.kind in ARRAYS:
            return {"return": template}  # keys of processors, which keep their names
        if isinstance(template, dict) and "$throw" in template:
            template = {"$throw": failure(template["$throw"], self._adapter.fresh_name)}
        return {"return": self._for_wire(call, template)}

    def store(self, call: Call) -> dict[str, Json]:
        """The answer to the scripted store."""
        self._steps(call)
        template = call.clause.script.get("return", {})
        if "$throw" not in template:
            return {}
        return {"error": self._renaming.to_wire(failure(template["$throw"], self._adapter.fresh_name))}

    def model(self, call: ModelCall) -> dict[str, Json]:
        """The answer to a call of the model; what is to be pulled is left in `call`."""
        for name in STEPS:
            if name in call.turn:
                self._step(call.run, name, call.turn[name])
        answer = model_script.answer(call.turn, call.mode, call.model, call.number, self._adapter.fresh_name)
        if answer.get("pull"):
            call.parts = model_script.parts(call.turn, call.model, call.number)
            call.error = call.turn.get("error")
        return dict(self._renaming.to_wire(answer))

    def next_part(self, call: ModelCall) -> dict[str, Json]:
        """The next part of a pulled turn, after the steps that stand before it."""
        while call.parts:
            part = call.parts.pop(0)
            if "type" in part:
                return dict(self._renaming.to_wire({"part": part}))
            for name, value in part.items():
                self._step(call.run, name, value)
        if call.error is not None:
            return dict(self._renaming.to_wire({"error": failure(call.error, self._adapter.fresh_name)}))
        return {"done": True}

    # -- steps and operations ----------------------------------------------------------------------------------------

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
            self._gates.open(value)
        elif name == "wait":
            self._gates.wait(value)
        elif name == "cancel":
            reason = value if isinstance(value, str) else "cancelled"
            self._ask("run/cancel", {"run": run.wire, "reason": self._renaming.to_wire(reason)})
        elif name == "close":
            self._ask("run/close", {"run": run.wire})
        else:
            raise SuiteError(f"{name!r} is no step of a clause; write one of {', '.join(STEPS)}")

    def _do(self, call: Call, operations: list[dict[str, Json]]) -> None:
        """Does operations on the call, or those with `of` on another call, and notes their answers as `did`."""
        while operations:
            of = operations[0].get("of")
            count = next((at for at, one in enumerate(operations) if one.get("of") != of), len(operations))
            batch, operations = operations[:count], operations[count:]
            target = call if of is None else described(self._calls, of, call, self._runs)
            did = [NO_SUCH_CALL] * count if target is None else self._done(call, target, batch)
            call.event.data.setdefault("did", []).extend(did)

    def _done(self, call: Call, target: Call, operations: list[dict[str, Json]]) -> list[Json]:
        plain = [{key: one[key] for key in one if key != "of"} for one in operations]
        params = {"handle": target.handle, "operations": self._for_wire(call, plain)}
        results = self._ask("object/do", params)["results"]
        if len(results) != len(operations):
            message = f"answered {len(operations)} operations with {len(results)} results; give one for each, in order"
            raise breach(message)
        return list(self._renaming.from_wire(results))

    # -- objects of other calls --------------------------------------------------------------------------------------

    def _for_wire(self, call: Call, template: Json) -> Json:
        return self._renaming.to_wire(referred(template, lambda reference: self._token(call, reference)))

    def _token(self, call: Call, reference: dict[str, Json]) -> str | None:
        """The token of another call's object; None when that call never came."""
        other = described(self._calls, reference["of"], call, self._runs)
        path = reference["$ref"]
        if other is None or path in other.tokens:
            return None if other is None else other.tokens[path]
        operation = {"op": "token", "at": path}
        result = self._ask("object/do", {"handle": other.handle, "operations": [operation]})["results"][0]
        token: str | None = result.get("value")
        return token

    def _ask(self, method: str, params: dict[str, Json]) -> Json:
        return self._adapter.peer.request(method, params, self._timeout)
