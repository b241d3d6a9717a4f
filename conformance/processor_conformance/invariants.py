"""What holds in every trace, whatever its scenario is about.

Flows in: a scenario and its trace. Flows out: a `Divergence` of kind `invariant` for each one broken, under the rule
that it belongs to (`INVARIANTS`, the table at the end). An invariant never judges what the scenario's own processors
could have caused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from .match import Divergence
from .pattern import NOTHING
from .scenario import Scenario
from .trace import Event, Trace

Json = Any
Finding = tuple[str, str, Json, Json, str]  # run, lane, the event before, the event, what is wrong
TERMINAL = ("finish", "tripwire", "abort")
AFTER_ERROR = ("step-finish", "finish", "tripwire", "abort")
FRAME = ("start", "step-start", "step-finish", "finish", "tripwire", "abort", "error", "opened")


def violations(scenario: Scenario, trace: Trace) -> Iterator[Divergence]:
    """Every invariant that `trace` breaks, in the order of the table."""
    for rule, check in INVARIANTS.items():
        for run, lane, last, came, note in check(scenario, trace):
            yield Divergence("invariant", rule, run, lane, last=last, came=came, note=note)


def _ended(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """Nothing follows a terminal chunk, and only the end of the run follows an error."""
    for run in scenario.run_names:
        chunks = trace.lane(run, "client")
        for earlier, chunk in pairwise(chunks):
            if earlier.name in TERMINAL or (earlier.name == "error" and not _closes(chunk)):
                yield (
                    run,
                    "client",
                    earlier.data,
                    chunk.data,
                    f"the chunk {chunk.name!r} follows {earlier.name!r}, which ends the stream",
                )


def _closes(chunk: Event) -> bool:
    return chunk.name in AFTER_ERROR or chunk.name.startswith("data-")


def _framed(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """Content stands between a `step-start` and its `step-finish`."""
    if _rewrites_stream(scenario):
        return
    for run in scenario.run_names:
        inside = False
        last: Json = NOTHING
        for chunk in trace.lane(run, "client"):
            wrong = _misplaced(chunk.name, inside)
            if wrong:
                yield run, "client", last, chunk.data, wrong
                break
            inside = {"step-start": True, "step-finish": False}.get(chunk.name, inside)
            last = chunk.data


def _misplaced(name: str, inside: bool) -> str | None:
    if name == "step-start" and inside:
        return "a step starts before the one before it has finished"
    if name == "step-finish" and not inside:
        return "a step finishes that has not started"
    if name == "finish" and inside:
        return "the stream finishes before its step has"
    if name not in FRAME and not name.startswith("data-") and not inside:
        return f"the chunk {name!r} stands outside a step"
    return None


def _rewrites_stream(scenario: Scenario) -> bool:
    """Whether a processor of the scenario drops or changes chunks, and so may have taken a step's frame away."""
    hooks = [spec.get("processOutputStream", []) for spec in scenario.raw["given"].get("processors", {}).values()]
    return any("return" in clause or "do" in clause for clauses in hooks for clause in clauses)


def _one_state_each(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """One `state` object for each processor id of a run."""
    seen: dict[tuple[str, str], str] = {}
    for event, owner, token in _states(scenario, trace):
        if seen.setdefault((event.run, owner), token) != token:
            yield (
                event.run,
                "work",
                NOTHING,
                event.data,
                f"processor {owner!r} has another state object than before in this run",
            )


def _own_state(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """No `state` object under two processor ids of one run."""
    yield from _shared(scenario, trace, lambda event, owner: (event.run, owner), same_run=True)


def _fresh_state(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """No `state` object in two runs."""
    yield from _shared(scenario, trace, lambda event, owner: (event.run, owner), same_run=False)


def _shared(
    scenario: Scenario, trace: Trace, place: Callable[[Event, str], tuple[str, str]], *, same_run: bool
) -> Iterator[Finding]:
    first: dict[str, tuple[str, str]] = {}
    for event, owner, token in _states(scenario, trace):
        run, other = first.setdefault(token, place(event, owner))
        if (run == event.run) == same_run and (run, other) != (event.run, owner):
            note = f"the state of processor {owner!r} in run {event.run!r} is that of {other!r} in run {run!r}"
            yield event.run, "work", NOTHING, event.data, note


def _states(scenario: Scenario, trace: Trace) -> Iterator[tuple[Event, str, str]]:
    processors = scenario.raw["given"].get("processors", {})
    for event in trace.events:
        token = event.data.get("tokens", {}).get("state") if event.lane == "work" else None
        if token is not None and "hook" in event.data:
            key = event.data["processor"]
            yield event, processors.get(key, {}).get("id", key), token


def _one_result(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """processOutputResult once for each place a processor has in the output array."""
    for run, call in zip(scenario.run_names, scenario.calls, strict=True):
        array = call.get("options", {}).get("outputProcessors", scenario.raw["given"].get("outputProcessors", []))
        calls: Counter[str] = Counter()
        for event in trace.lane(run, "work"):
            if event.name == "processOutputResult":
                key = event.data["processor"]
                calls[key] += 1
                if isinstance(array, list) and calls[key] > max(array.count(key), 1):
                    yield run, "work", NOTHING, event.data, f"processOutputResult of {key!r} is called again"


def _unique_ids(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """No two messages of one list with one id, in the store and in what a run reports."""
    lists = [("/".join(place), "stored", messages) for place, messages in trace.stored.items()]
    lists += [(run, "outcome", outcome.get("messages") or []) for run, outcome in trace.outcomes.items()]
    for run, lane, messages in lists:
        ids = Counter(message["id"] for message in messages if isinstance(message, dict) and "id" in message)
        for name, count in ids.items():
            if count > 1:
                yield run, lane, NOTHING, messages, f"{count} messages have the id {name!r}"


def _in_time(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """Nothing of a run comes after its outcome, but that a provider hears that it may stop."""
    for event in trace.events:
        if event.late and event.name != "model/aborted":
            yield event.run, event.lane, NOTHING, event.data, f"{event.name} came after the run's outcome"


# Which rule each invariant belongs to.
INVARIANTS: dict[str, Callable[[Scenario, Trace], Iterator[Finding]]] = {
    "STA-1": _one_state_each,
    "STA-2": _own_state,
    "STA-3": _fresh_state,
    "ORD-16": _one_result,
    "STR-1": _framed,
    "TRI-1": _ended,
    "RES-1": _in_time,
    "MSG-1": _unique_ids,
}
