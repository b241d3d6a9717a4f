"""Proposes an entry of a deviations file for what a trace has other than expected.

Flows in: an item, its trace and the entries there are. Flows out: a `Deviation` whose patches make the expectation fit
the trace. It names the cause `unexplained`, which no file has: somebody has to explain it before it counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from .deviations import Deviation, DeviationError, apply
from .invariants import violations
from .match import Divergence, bare, compare, select
from .normal import Normaliser
from .pattern import NOTHING, PatternError, fits, operator
from .scenario import Item, Scenario
from .telling import IDENTITY
from .trace import Trace
from .words import LANES, Json

UNEXPLAINED = "unexplained"
MOST = 400  # patches to one scenario


def propose(item: Item, trace: Trace, entries: Sequence[Deviation]) -> Deviation:
    """An entry that, with those there are, accounts for all that this trace has other than expected."""
    known = entries[-1] if entries else None
    trace_in_time = Trace(trace.scenario, trace.mode, trace.events, trace.outcomes, trace.stored)
    return Deviation(
        item.scenario.id,
        known.cause if known else UNEXPLAINED,
        known.reason if known else "",
        modes=(item.mode,),
        instead=tuple(_instead_of(apply(item.scenario, entries), trace_in_time)),
        invariants=tuple(dict.fromkeys(found.rule for found in violations(item.scenario, trace))),
        gates=tuple(trace.stuck_gates),
    )


def _instead_of(scenario: Scenario, trace: Trace) -> list[dict[str, Json]]:
    try:
        return _patches(scenario, trace)
    except PatternError:  # a name lost its first place: say anew what comes
        return _patches(scenario, trace, _lanes(scenario, trace))


def _lanes(scenario: Scenario, trace: Trace) -> list[dict[str, Json]]:
    """Every lane that is expected, as it came."""
    normal = Normaliser.of(scenario.raw)
    return [
        {"at": f"/expect/{place}/{lane}", "to": [_gist(one.data, expected[lane], normal) for one in events]}
        for place, (run, expected) in enumerate(zip(scenario.run_names, scenario.expect, strict=True))
        for lane in LANES
        if lane in expected and (lane != "client" or trace.mode == "stream")
        for events in [select(scenario.lens, trace.lane(run, lane))]
    ]


def _patches(scenario: Scenario, trace: Trace, first: Sequence[dict[str, Json]] = ()) -> list[dict[str, Json]]:
    patches = list(first)
    normal = Normaliser.of(scenario.raw)
    while len(patches) < MOST:
        patched = apply(scenario, [Deviation(scenario.id, "", "", instead=tuple(patches))])
        found = compare(patched, trace).divergence
        if found is None:
            return patches
        patches.append(_patch(patched, trace, found, normal))
    return patches


def _patch(scenario: Scenario, trace: Trace, found: Divergence, normal: Normaliser) -> dict[str, Json]:
    """The change to the expectation that takes this divergence away."""
    if found.note:
        return {"at": f"{_where(scenario, found.expected)}/after", "remove": True}
    if found.lane == "stored":
        return _inside(f"/stored/{found.place}/messages", scenario.stored[found.place]["messages"], found, normal)
    run = scenario.run_names.index(found.run)
    if found.lane == "outcome":
        return _inside(f"/expect/{run}/outcome", scenario.expect[run]["outcome"], found, normal)
    lane = f"/expect/{run}/{found.lane}"
    wanted = scenario.expect[run][found.lane]
    if isinstance(wanted, dict) or any(operator(one) == "$unordered" for one in wanted[found.place : found.place + 1]):
        came = select(scenario.lens, trace.lane(found.run, next(one for one in LANES if one == found.lane)))
        return {"at": lane, "to": [_gist(event.data, wanted, normal) for event in came]}
    if found.came is NOTHING:
        return {"at": f"{lane}/{found.place}", "remove": True}
    if found.expected is NOTHING:
        return {"at": f"{lane}/-", "insert": _gist(found.came, wanted, normal)}
    return _event(lane, wanted, found, normal)


def _event(lane: str, wanted: list[Json], found: Divergence, normal: Normaliser) -> dict[str, Json]:
    """An event came that does not fit: another one, one too many, one too few, or the right one with other contents."""
    at = f"{lane}/{found.place}"
    if _same_subject(found.expected, found.came):
        return _inside(at, found.expected, found, normal)
    if any(
        _same_subject(one, found.came) and fits(bare(one), found.came)
        for one in wanted[found.place + 1 :]
        if not operator(one)
    ):
        return {"at": at, "remove": True}
    return {"at": at, "insert": _gist(found.came, wanted, normal)}


def _same_subject(wanted: Json, came: Json) -> bool:
    return all(fits(wanted[key], came.get(key, NOTHING)) for key in IDENTITY if key in wanted and key != "payload")


def _inside(at: str, wanted: Json, found: Divergence, normal: Normaliser) -> dict[str, Json]:
    """The patch at the place in the pattern that the path inside the value leads to."""
    for name in found.path.split("/")[1:]:
        if operator(wanted) == "$exact":
            at, wanted = f"{at}/$exact", wanted["$exact"]
        if operator(wanted):
            break
        inner = _member(wanted, name)
        at, wanted = f"{at}/{name}", inner
        if inner is NOTHING:
            break
    rest, _, last = at.rpartition("/")
    if found.got is NOTHING:
        return {"at": at, "remove": True} if last.isdigit() else {"at": at, "to": {"$absent": True}}
    if wanted is NOTHING and last.isdigit():
        return {"at": f"{rest}/-", "insert": normal.stable(found.got)}
    return {"at": at, "to": _instead(wanted, found.got, normal, last)}


def _member(wanted: Json, name: str) -> Json:
    if isinstance(wanted, list):
        return wanted[int(name)] if int(name) < len(wanted) else NOTHING
    return wanted.get(name.replace("~1", "/").replace("~0", "~"), NOTHING) if isinstance(wanted, dict) else NOTHING


def _instead(wanted: Json, got: Json, normal: Normaliser, key: str) -> Json:
    """A pattern for what came; what is made up anew each time cannot be named, only told apart."""
    word = operator(wanted) if wanted is not NOTHING else None
    if word in ("$bind", "$differs"):
        return {"$differs" if word == "$bind" else "$bind": wanted[word]}
    return normal.stable(got, key)


def _gist(came: dict[str, Json], wanted: Json, normal: Normaliser) -> Json:
    """An event as a pattern: who is called, and as much as the lane's other patterns say about theirs."""
    others = [bare(one) for one in wanted if isinstance(one, dict)] if isinstance(wanted, list) else []
    subject: Json = {key: {} for key in IDENTITY if key != "payload"}
    return _like({key: came[key] for key in came if key != "tokens"}, [subject, *others], normal)


def _like(value: Json, patterns: list[Json], normal: Normaliser, key: str = "") -> Json:
    """A value with no more members than any of these patterns looks at."""
    plain = [one for one in patterns if isinstance(one, dict) and not operator(one)]
    if isinstance(value, dict) and plain:
        return {
            name: _like(inner, [one[name] for one in plain if name in one], normal, name)
            for name, inner in value.items()
            if any(name in one for one in plain)
        }
    return normal.stable(value, key)


def _where(scenario: Scenario, pattern: Json) -> str:
    """The pointer to this very pattern."""
    for run, expected in enumerate(scenario.expect):
        for lane in LANES:
            for place, one in enumerate(expected.get(lane, ())):
                if one is pattern:
                    return f"/expect/{run}/{lane}/{place}"
                for inner, member in enumerate(one.get("$unordered", ()) if isinstance(one, dict) else ()):
                    if member is pattern:
                        return f"/expect/{run}/{lane}/{place}/$unordered/{inner}"
    raise DeviationError(f"{scenario.id}: the order across lanes differs in a way that no entry can say")
