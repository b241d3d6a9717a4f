"""Small scenarios and traces by hand, for the tests of the runner's verdicts."""

from __future__ import annotations

import itertools

from processor_conformance.scenario import Item, Scenario
from processor_conformance.spec import Rule
from processor_conformance.trace import Event, Trace
from processor_conformance.words import LANES, Json

NAMED_BY = ("hook", "callback", "type")


def scenario(expect: list[Json], *, name: str = "ORD-3-in-order", **members: Json) -> Scenario:
    """A scenario of as many runs as `expect` has entries; `members` of its JSON are added or replaced."""
    raw = {
        "title": "It holds",
        "rules": [name.rsplit("-", name.count("-") - 1)[0]],
        "why": "It hurts.",
        "given": {"processors": {"a": {}, "b": {}}, "outputProcessors": ["a", "b"], "model": [{"text": ["hi"]}]},
        "run": [{"input": "hello"} for _ in expect],
        "expect": expect,
        **members,
    }
    return Scenario(name, "ordering", raw)


def trace(*runs: dict[str, Json], mode: str = "stream", **more: Json) -> Trace:
    """A trace of these runs, each `{lane: [event data], "outcome": ...}`; events arrive lane by lane."""
    found = Trace("any", mode, **more)
    count = itertools.count()
    for number, lanes in enumerate(runs):
        for lane in LANES:
            for data in lanes.get(lane, ()):
                late = data.pop("late", False)
                found.events.append(Event(next(count), str(number), lane, _name(data), data, late))
        if "outcome" in lanes:
            found.outcomes[str(number)] = lanes["outcome"]
    return found


ENDING = {"finishReason": "stop", "usage": {}}
CALL = {"toolCallId": "c1", "toolName": "look"}
TEXT = {"id": "t", "text": "hi"}
PAYLOADS: dict[str, Json] = {
    "text-start": {"id": "t"},
    "text-delta": TEXT,
    "text-end": {"id": "t"},
    "tool-call": {**CALL, "args": {}},
    "tool-result": {**CALL, "result": 1},
    "step-finish": ENDING,
    "finish": ENDING,
    "error": {"error": {}},
    "tripwire": {"reason": "no", "processorId": "a"},
}
STEP = ("step-start", "text-start", "text-delta", "text-end", "step-finish")


def chunk(kind: str, **payload: Json) -> Json:
    """A chunk that a client gets, with all that its type needs; `payload` adds to it."""
    return {"type": kind, "runId": "r", "from": "AGENT", "payload": {**PAYLOADS.get(kind, {}), **payload}}


def _name(data: Json) -> str:
    if "kind" in data:
        return str(data["kind"])
    if "model" in data or "tool" in data:
        return "tool" if "tool" in data else "model"
    return next((data[key] for key in NAMED_BY if key in data), f"store/{data.get('store')}")


def hook(processor: str, name: str = "processOutputStep", **members: Json) -> dict[str, Json]:
    """A work event, or its pattern."""
    return {"hook": name, "processor": processor, **members}


def rule(name: str = "ORD-3", level: str = "MUST", sources: tuple[str, ...] = ("document S-001",)) -> Rule:
    return Rule(name, f"Title of {name}", level, sources, ("nine-hook", "six-hook"), f"What {name} says.", "What for.")


def item(of: Scenario, mode: str = "stream") -> Item:
    return Item(of, mode)
