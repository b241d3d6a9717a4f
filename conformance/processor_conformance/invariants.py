"""What holds in every trace, whatever its scenario is about.

Flows in: a scenario and its trace. Flows out: a `Divergence` of kind `invariant` for each one broken, under the rule
that it belongs to (`INVARIANTS`, the table at the end). An invariant never judges what the scenario's own processors
could have caused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from . import grammar
from .match import Divergence
from .pattern import NOTHING
from .scenario import Scenario
from .trace import Event, Trace
from .words import Json

# Its rule, its run (or the thread and the resource of the store), its lane, the event before, the event, what is wrong.
Finding = tuple[str, "str | tuple[str, str]", str, Json, Json, str]
# The hooks to which a decision of ours gives the state; the documents name the others (STA-4).
STATE_RULES = {"processInput": "STA-5", "processInputStep": "STA-5", "processToolResult": "STA-15"}


def violations(scenario: Scenario, trace: Trace) -> Iterator[Divergence]:
    """Every invariant that `trace` breaks, in the order of the table."""
    for check in INVARIANTS:
        for rule, run, lane, last, came, note in check(scenario, trace):
            name, stored = (run, None) if isinstance(run, str) else ("", run)
            yield Divergence("invariant", rule, name, lane, last=last, came=came, note=note, stored=stored)


def _grammar(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """The client's chunks keep the grammar of a stream."""
    for run, call in zip(scenario.run_names, scenario.calls, strict=True):
        chunks = trace.lane(run, "client")
        whole = "reading" not in call and run in trace.outcomes and not trace.stuck_gates
        for rule, last, chunk, note in grammar.faults(scenario, chunks, whole=whole and trace.mode == "stream"):
            yield rule, run, "client", last, chunk, note


def _one_state(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """One `state` object for each processor id of a run, whatever the hook and whichever the processor."""
    first: dict[tuple[str, ...], str] = {}
    for event, owner, token in sorted(_states(scenario, trace), key=lambda state: state[0].name in STATE_RULES):
        key, hook = event.data["processor"], event.name
        if first.setdefault((event.run, owner, key), token) != token:
            note = f"{hook} of processor {key!r} has another state object than its other hooks in this run"
            yield STATE_RULES.get(hook, "STA-4"), event.run, "work", NOTHING, event.data, note
        elif first.setdefault((event.run, owner), token) != token and hook not in STATE_RULES:
            note = f"processor {key!r} has another state object than another of the id {owner!r} in this run"
            yield "STA-2", event.run, "work", NOTHING, event.data, note


def _own_state(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """No `state` object under two processor ids, or in two runs."""
    together = dict(zip(scenario.run_names, (call.get("together") for call in scenario.calls), strict=True))
    first: dict[str, tuple[str, str]] = {}
    for event, owner, token in _states(scenario, trace):
        run, other = first.setdefault(token, (event.run, owner))
        note = f"the state of processor {owner!r} in run {event.run!r} is that of {other!r} in run {run!r}"
        if run != event.run:
            at_once = together[run] is not None and together[run] == together[event.run]
            yield "STA-7" if at_once else "STA-3", event.run, "work", NOTHING, event.data, note
        elif other != owner:
            yield "STA-1", event.run, "work", NOTHING, event.data, note


def _states(scenario: Scenario, trace: Trace) -> Iterator[tuple[Event, str, str]]:
    """Each hook call that has a state: its event, the processor's id, the state's token."""
    processors = scenario.raw["given"].get("processors", {})
    for event in trace.events:
        token = event.data.get("tokens", {}).get("state") if "hook" in event.data else None
        if token is not None:
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
                    yield "ORD-15", run, "work", NOTHING, event.data, f"processOutputResult of {key!r} is called again"


def _unique_ids(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """No two messages of one list with one id, in the store and in what a run reports."""
    lists: list[tuple[str | tuple[str, str], str, list[Json]]] = [
        (place, "stored", messages) for place, messages in trace.stored.items()
    ]
    lists += [(run, "outcome", outcome.get("messages") or []) for run, outcome in trace.outcomes.items()]
    for run, lane, messages in lists:
        ids = Counter(message["id"] for message in messages if isinstance(message, dict) and "id" in message)
        for name, count in ids.items():
            if count > 1:
                yield "MSG-5", run, lane, NOTHING, messages, f"{count} messages have the id {name!r}"


def _quiet(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """No span of the runtime's own holds a text of the conversation. Texts of one word are not looked for: a name may
    be the same.
    """
    spans = [event for event in trace.events if event.lane == "spans" and event.name != "custom"]
    if not spans:
        return
    given = scenario.raw["given"]
    members = [member for each in given.get("processors", {}).values() for member in each.values()]
    scripts = [member for member in members if isinstance(member, list)]
    places = [scenario.calls, *(given.get(name) for name in ("model", "tools", "instructions", "memory"))]
    said = {text for text in _texts([*places, *scripts]) if " " in text}
    for span in spans:
        found = [text for held in _texts(span.data) for text in said if text in held]
        if found:
            yield "CTX-14", span.run, "spans", NOTHING, span.data, f"the span holds {max(found, key=len)!r}"


def _texts(value: Json) -> Iterator[str]:
    """Every text inside a value."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(inner)


def _in_time(scenario: Scenario, trace: Trace) -> Iterator[Finding]:
    """Nothing of a run comes after its outcome, but that a provider hears that it may stop."""
    for event in trace.events:
        if event.late and event.name != "model/aborted":
            rule = _late_rule(scenario, event, trace.outcomes.get(event.run, {}))
            yield rule, event.run, event.lane, NOTHING, event.data, f"{event.name} came after the run's outcome"


def _late_rule(scenario: Scenario, event: Event, outcome: dict[str, Json]) -> str:
    """Which rule says that this event does not come any more, by how the run ended."""
    if outcome.get("tripwire"):
        return "ORD-25"
    if outcome.get("finishReason") == "aborted" or {"close", "cancel"} & scenario.capabilities(scenario.modes[0]):
        return "RES-4"
    if event.name.startswith("store/"):
        return "PER-2"
    if "raised" in outcome:
        return "ERR-9"
    return "STR-1" if event.lane == "client" else "ORD-30"


INVARIANTS: tuple[Callable[[Scenario, Trace], Iterator[Finding]], ...] = (
    _one_state,
    _own_state,
    _one_result,
    _grammar,
    _in_time,
    _unique_ids,
    _quiet,
)
