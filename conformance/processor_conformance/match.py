"""Compares what came with what a scenario expects.

Flows in: a scenario and the trace of one play. Flows out: a `Comparison`, with the first `Divergence` (None when
everything fits) and the events that were expected and came. Lanes are compared one by one through the scenario's lens:
work, client, provider and spans of the first run, its outcome, the next run, then the store, and last what stands in
relation across lanes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from .pattern import NOTHING, Bindings, Mismatch, assign, fit, fits, operator
from .scenario import Scenario
from .trace import Event, Trace
from .words import LANES, Json, Lane

Kind = Literal["expectation", "late", "stuck-gate", "invariant"]
# Without a lens a lane is looked at as a whole, but that a provider was told to stop only where a lens asks for it.
DEFAULTS: dict[str, list[str] | None] = {"provider": ["model"]}


@dataclass(slots=True)
class Divergence:
    """The first place where a trace leaves its expectation.

    `lane` is a lane, `outcome`, `stored` or `trace`; `index` counts what the lens shows of it, `place` the patterns
    expected in it. Of the store, `stored` is the thread and the resource, and `place` counts the scenario's entries.
    `last` is the last event that both have, `expected` the pattern of the next one and `came` what came instead, each
    NOTHING where there is none; `path` leads to the place inside `came`, where `wanted` and `got` differ. `rule` is the
    one broken.
    """

    kind: Kind
    rule: str
    run: str
    lane: str
    index: int = 0
    last: Json = NOTHING
    expected: Json = NOTHING
    came: Json = NOTHING
    path: str = ""
    wanted: Json = NOTHING
    got: Json = NOTHING
    note: str = ""
    place: int = 0
    stored: tuple[str, str] | None = None


@dataclass(slots=True)
class Match:
    """An expected event that came: its pattern, and the event."""

    pattern: Json
    event: Event


@dataclass(slots=True)
class Comparison:
    """The outcome of comparing one trace."""

    divergence: Divergence | None = None
    matches: list[Match] = field(default_factory=list)


def compare(scenario: Scenario, trace: Trace, *, across: bool = True) -> Comparison:
    """Compares `trace` with what `scenario` expects up to the first divergence; raises PatternError.

    Without `across` the order across lanes is left out, for traces that do not have it.
    """
    comparing = _Comparing(scenario, trace)
    divergence = next((found for found in comparing.divergences(across) if found), None)
    return Comparison(divergence, comparing.matches)


class _Comparing:
    """One comparison: the bindings and the matches that its lanes share."""

    def __init__(self, scenario: Scenario, trace: Trace) -> None:
        self.scenario = scenario
        self.trace = trace
        self.bindings: Bindings = {}
        self.matches: list[Match] = []

    def divergences(self, across: bool) -> Iterator[Divergence | None]:
        """One entry for each thing compared, in order; the caller stops at the first that is no None."""
        for gate in self.trace.stuck_gates:
            note = f"gate {gate!r} never opened: what waits for it and what opens it did not overlap"
            yield Divergence("stuck-gate", self.scenario.rule, "", "trace", note=note)
        for run, expected in zip(self.scenario.run_names, self.scenario.expect, strict=True):
            for lane in LANES:
                if lane in expected and not (lane == "client" and self.trace.mode == "generate"):
                    yield self._lane(run, lane, expected[lane])
            if "outcome" in expected:
                yield self._value(run, "outcome", expected["outcome"], self.trace.outcomes.get(run, NOTHING))
        for place, entry in enumerate(self.scenario.stored):
            stored = entry["thread"], entry["resource"]
            found = self._value("", "stored", entry["messages"], self.trace.stored.get(stored, []))
            yield replace(found, place=place, stored=stored) if found else None
        if across:
            yield self._across()

    def _lane(self, run: str, lane: Lane, expected: Json) -> Divergence | None:
        """Events against patterns one by one; a pattern `$unordered` takes as many events as it lists."""
        events = select(self.scenario.lens, self.trace.lane(run, lane))
        patterns = [expected] if isinstance(expected, dict) else expected
        index = 0
        for place, pattern in enumerate(patterns):
            group = pattern["$unordered"] if operator(pattern) == "$unordered" else [pattern]
            missed = self._group(group, events[index : index + len(group)])
            if missed:
                at, wanted, found = missed
                return self._diverged(run, lane, events, (place, index + at), wanted, found)
            index += len(group)
        if index < len(events):
            extra = Mismatch("", NOTHING, events[index].data)
            return self._diverged(run, lane, events, (len(patterns), index), NOTHING, extra)
        return None

    def _group(self, patterns: list[Json], events: list[Event]) -> tuple[int, Json, Mismatch] | None:
        """None when each pattern has an event of its own; else the place of the first bad event, and how it misses."""
        order = assign(
            patterns, events, self.bindings, lambda one, event, bound: fit(bare(one), event.data, bound) is None
        )
        if order is not None:
            self.matches += [Match(one, events[place]) for one, place in zip(patterns, order, strict=True)]
            return None
        if len(patterns) == 1:
            wanted, came = patterns[0], events[0].data if events else NOTHING
            return 0, wanted, fit(bare(wanted), came, self.bindings) or Mismatch("", wanted, came)
        for at, event in enumerate(events):
            if all(fit(bare(one), event.data, dict(self.bindings)) for one in patterns):
                return at, {"$oneOf": patterns}, Mismatch("", {"$oneOf": patterns}, event.data)
        return len(events), {"$unordered": patterns}, Mismatch("", {"$unordered": patterns}, NOTHING)

    def _diverged(
        self, run: str, lane: Lane, events: list[Event], places: tuple[int, int], expected: Json, found: Mismatch
    ) -> Divergence:
        place, index = places
        came = events[index] if index < len(events) else None
        return Divergence(
            "late" if came and came.late else "expectation", self.scenario.rule, run, lane, index,
            last=events[index - 1].data if index else NOTHING, expected=expected, came=came.data if came else NOTHING,
            path=found.path, wanted=found.expected, got=found.came, place=place,
        )  # fmt: skip

    def _value(self, run: str, lane: str, pattern: Json, value: Json) -> Divergence | None:
        found = fit(pattern, value, self.bindings)
        if found is None:
            return None
        return Divergence(
            "expectation", self.scenario.rule, run, lane, expected=pattern, came=value, path=found.path,
            wanted=found.expected, got=found.came,
        )  # fmt: skip

    def _across(self) -> Divergence | None:
        """Events that stand in relation: each must have arrived after those whose labels it names."""
        labels = {match.pattern["label"]: match.event for match in self.matches if "label" in match.pattern}
        for match in self.matches:
            for label in named(match.pattern.get("after", ())):
                earlier = labels.get(label)
                if earlier and earlier.at > match.event.at:
                    return Divergence(
                        "expectation", self.scenario.rule, match.event.run, match.event.lane, last=NOTHING,
                        expected=match.pattern, came=match.event.data,
                        note=f"it came before {label!r} (in run {earlier.run!r}), after which it was expected",
                    )  # fmt: skip
        return None


def select(lens: dict[str, Json], events: list[Event]) -> list[Event]:
    """The events of one lane that the lens shows: by name, calls and spans by `when` too."""
    return [event for event in events if _shows(lens, event)]


def _shows(lens: dict[str, Json], event: Event) -> bool:
    names = lens.get("chunks" if event.lane == "client" else event.lane, DEFAULTS.get(event.lane))
    if names is not None and event.name not in names:
        return False
    wanted = lens.get("when", {}) if event.lane in ("work", "spans") else {}
    return fits({key: part for key, part in wanted.items() if key in event.data}, event.data)


def bare(pattern: Json) -> Json:
    """An event's pattern without what relates it to other events."""
    if operator(pattern) == "$oneOf":
        return {"$oneOf": [bare(one) for one in pattern["$oneOf"]]}
    return {key: part for key, part in pattern.items() if key not in ("label", "after")}


def named(labels: str | list[str]) -> list[str]:
    """One name or several, as a list."""
    return [labels] if isinstance(labels, str) else list(labels)
