"""Refuses scenarios that could not fail, or that say something other than they seem to.

Flows in: all scenarios and the rules of SPEC.md. Flows out: one line for each problem, `<scenario id>: what is wrong`.
The checks are the table at the end: a docstring each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from . import schema
from .match import compare, named
from .naming import TAGS, events_of, unknown
from .pattern import OPERATORS, PatternError, operator
from .scenario import Scenario, objects
from .spec import Rule, family
from .trace import Trace
from .words import HOOKS, LANES, RULE, SIX, WORK, Json

NAME = re.compile(rf"({RULE.pattern})-[a-z0-9]+(-[a-z0-9]+)*")
NEGATIVE = ("$absent", "$not")


def lint(scenarios: Sequence[Scenario], spec: dict[str, Rule]) -> list[str]:
    """Every problem of every scenario, and of all together."""
    found = [f"{scenario.id}: {problem}" for scenario in scenarios for problem in _of_one(scenario, spec)]
    whole = [scenario for scenario in scenarios if not schema.scenario_problem(scenario.raw)]
    return found + _twins(whole) + _doubles(whole)


def _of_one(scenario: Scenario, spec: dict[str, Rule]) -> list[str]:
    """The problems of one scenario. Where it is not as schemas/scenario.json says, that is the first."""
    form = schema.scenario_problem(scenario.raw, strict=True)
    found = [form] if form else []
    try:
        for check in CHECKS:
            found.extend(check(scenario))
        found.extend(_rules(scenario, spec))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if not found:  # else it has been said, and better
            found.append(f"it is not in the form of a scenario: {type(error).__name__}: {error}")
    return found


def _name(scenario: Scenario) -> Iterator[str]:
    """The file is called after its first rule."""
    match = NAME.fullmatch(scenario.id)
    if not match or match[1] != scenario.rule:
        yield f"its name is not {scenario.rule or '<RULE>'}-<words-with-hyphens>"


def _rules(scenario: Scenario, spec: dict[str, Rule]) -> Iterator[str]:
    """Its rules are in SPEC.md, and hold in the revisions it is for."""
    for rule in scenario.rules:
        if rule not in spec:
            yield f"SPEC.md has no rule {rule}"
        elif not set(scenario.revisions) <= set(spec[rule].revisions):
            yield f"{rule} holds in {' and '.join(spec[rule].revisions)} only; say so in 'revision'"


def _title(scenario: Scenario) -> Iterator[str]:
    """The title says what holds, and `why` what a user suffers where it does not."""
    if not scenario.title or re.search(r"\bshould\b", scenario.title, re.I) or scenario.title.endswith("."):
        yield "its title says what holds, without 'should' and without a full stop"
    if not scenario.raw.get("why"):
        yield "'why' is missing: what a user suffers where this is broken"


def _can_fail(scenario: Scenario) -> Iterator[str]:
    """In every mode something is expected that an empty trace lacks."""
    if len(scenario.expect) != len(scenario.calls):
        yield f"it has {len(scenario.calls)} runs and {len(scenario.expect)} expectations"
        return
    for mode in scenario.modes:
        try:
            if compare(scenario, Trace(scenario.id, mode)).divergence is None:
                yield f"in mode {mode} a trace without any event fits it; expect something that must come"
        except PatternError as error:
            yield str(error)


def _lens(scenario: Scenario) -> Iterator[str]:
    """Each lane that is compared has a lens, and nothing is expected outside it."""
    lens = scenario.lens
    yield from (f"lens: there is no work event {name!r}" for name in lens.get("work", ()) if name not in WORK)
    for key, lane in (("work", "work"), ("chunks", "client"), ("spans", "spans")):
        expected = [event for run in scenario.expect for event in events_of(run.get(lane, []))]
        if any(lane in run for run in scenario.expect) and key not in lens:
            yield f"it expects something of the {lane} lane, but its lens has no {key!r}"
        elif lane == "client" and "stream" not in scenario.modes and expected:
            yield "the client lane is compared in mode stream only, in which it is not played"
        owners = [event.get("processor") for event in expected]
        for key in (key for key in scenario.built_ins if key in owners):
            yield f"no hook of {key!r} is ever seen: it is a built-in, whose hooks call nobody"
        for name in {_selected_by(event) for event in expected} - {None, *lens.get(key, ())} if key in lens else ():
            yield f"{name!r} is expected but not in its lens, so it is never seen"


def _selected_by(event: dict[str, Json]) -> str | None:
    """The name under which a lens selects such an event, where the pattern fixes it."""
    if "tool" in event:
        return "tool"
    if "opened" in event:
        return "opened"
    if "store" in event:
        return f"store/{event['store']}"
    if "warning" in event:
        return "warning"
    if "kind" in event:
        return str(event["kind"])
    name = event.get("hook", event.get("callback", event.get("type")))
    return name if isinstance(name, str) else None


def _patterns(scenario: Scenario) -> Iterator[str]:
    """No pattern matches whatever comes."""
    for inner in objects([*_expected(scenario), scenario.lens.get("when", {})]):
        for key in inner:
            if key.startswith("$") and key not in OPERATORS and key not in TAGS:
                yield f"{key} is no pattern"
        word = operator(inner)
        if word in ("$contains", "$oneOf", "$unordered") and not inner[word]:
            yield f"{json.dumps(inner)} says nothing"
        if word in ("$oneOf", "$unordered") and not isinstance(inner[word], list):
            yield f"{word} takes a list of patterns, not {json.dumps(inner[word])}"
        if word in ("$bind", "$differs") and not isinstance(inner[word], str):
            yield f"{word} takes a name, not {json.dumps(inner[word])}"
        if word in ("$any", "$absent") and inner[word] is not True:
            yield f"{word} is written {{{word!r}: true}}"
    for value in _bare_values(_expected(scenario)):
        if value == {}:
            yield "{} matches any object; write {'$any': true} or {'$exact': {}}"


def _bare_values(value: Json) -> Iterator[Json]:
    """Every value inside, but those below `$exact`, where an object means no more and no less than it says."""
    yield value
    if isinstance(value, dict) and "$exact" not in value:
        for inner in value.values():
            yield from _bare_values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _bare_values(inner)


def _names(scenario: Scenario) -> Iterator[str]:
    """Every label that `after` names is there, and every bound name is used again."""
    events = [event for run in scenario.expect for lane in LANES for event in events_of(run.get(lane, []))]
    labels = [event["label"] for event in events if "label" in event]
    after = {label for event in events for label in named(event.get("after", ()))}
    yield from (f"after: there is no label {label!r}" for label in sorted(after - set(labels)))
    yield from (f"label {label!r} is used by nothing" for label in sorted(set(labels) - after))
    yield from (f"label {label!r} is given twice" for label in {label for label in labels if labels.count(label) > 1})
    inside = list(objects(_expected(scenario)))
    bound = [inner["$bind"] for inner in inside if "$bind" in inner]
    apart = {inner["$differs"] for inner in inside if "$differs" in inner}
    yield from (
        f"'$bind': {name!r} stands alone and so matches anything"
        for name in sorted(set(bound) - apart)
        if bound.count(name) < 2
    )
    yield from (f"'$differs': {name!r} is bound nowhere" for name in sorted(apart - set(bound)))


def _modes(scenario: Scenario) -> Iterator[str]:
    """A scripted reader is for mode stream."""
    if "generate" in scenario.modes and any("reading" in call for call in scenario.calls):
        yield "'reading' is for mode stream only; say so in 'modes'"


def _revision(scenario: Scenario) -> Iterator[str]:
    """What is for the six-hook revision uses nothing that only the nine-hook one has."""
    if SIX not in scenario.revisions:
        return
    expected = [event for run in scenario.expect for event in events_of(run.get("work", []))]
    for name, hook in HOOKS.items():
        scripts = [one[name] for one in scenario.raw["given"].get("processors", {}).values() if name in one]
        events = [event for event in expected if event.get("hook") == name]
        whens = [clause.get("when", {}) for clauses in scripts for clause in clauses]
        if not hook.in_six and (name in scenario.hooks or name in scenario.lens.get("work", ())):
            yield f"{name} is not in the {SIX} revision; say so in 'revision'"
        for key in hook.later:
            if any(key in place for place in (*events, *whens)):
                yield f"{name} has no {key} in the {SIX} revision; say so in 'revision'"
        if hook.plain_abort and any({"retry", "metadata"} & abort.keys() for abort in _aborts(scripts)):
            yield f"abort takes a reason only, in {name} of the {SIX} revision; say so in 'revision'"


def _aborts(scripts: Json) -> Iterator[dict[str, Json]]:
    """What is said to `abort`, wherever the clauses call it."""
    for inner in objects(scripts):
        if "$abort" in inner or inner.get("op") == "abort":
            yield inner.get("$abort", inner)


def negative(scenario: Scenario) -> bool:
    """Whether it expects that something is not there."""
    expected = _expected(scenario)
    return any(key in inner for inner in objects(expected) for key in NEGATIVE) or [] in list(_bare_values(expected))


def _expected(scenario: Scenario) -> list[Json]:
    """All that is expected, as one value."""
    return [scenario.raw[key] for key in ("expect", "stored") if key in scenario.raw]


def _twins(scenarios: Sequence[Scenario]) -> list[str]:
    """A negative scenario has a positive control that differs from it by one edit, or is its own."""
    known = {scenario.id: scenario for scenario in scenarios}
    found = []
    for scenario in scenarios:
        twin = scenario.raw.get("twin")
        if twin is None and negative(scenario):
            found.append(
                f"{scenario.id}: it expects that something is absent and names no 'twin' that shows it present"
            )
        if twin and "self" not in twin:
            found += [f"{scenario.id}: {problem}" for problem in _twin(scenario, known.get(twin.get("of", "")), twin)]
    return found


def _twin(scenario: Scenario, twin: Scenario | None, said: dict[str, str]) -> Iterator[str]:
    if twin is None:
        yield f"its twin {said.get('of')!r} is not there"
        return
    if negative(twin) and "self" not in twin.raw.get("twin", {}):
        yield f"its twin {twin.id} expects an absence itself"
    if not said.get("edit"):
        yield "its twin's 'edit' is missing: what differs, in words"
    count = sum(edits(scenario.raw.get(part), twin.raw.get(part)) for part in ("given", "run"))
    if count != 1:
        yield f"its twin {twin.id} differs by {count} edits of 'given' and 'run', not by one"


def edits(one: Json, other: Json) -> int:
    """How many subtrees have to be added, removed or changed to make the one value the other."""
    if one == other:
        return 0
    if isinstance(one, dict) and isinstance(other, dict):
        shared = sum(edits(one[key], other[key]) for key in one.keys() & other.keys())
        count = shared + len(one.keys() ^ other.keys())
        return count if any(one[key] == other.get(key) for key in one) else 1
    if isinstance(one, list) and isinstance(other, list):
        return _list_edits(one, other)
    return 1


def _list_edits(one: list[Json], other: list[Json]) -> int:
    """The least number of edits between two lists: elements added, removed or edited."""
    before = list(range(len(other) + 1))
    for count, element in enumerate(one, 1):
        row = [count]
        for place, candidate in enumerate(other):
            row.append(min(before[place + 1] + 1, row[place] + 1, before[place] + edits(element, candidate)))
        before = row
    return before[-1]


def _doubles(scenarios: Sequence[Scenario]) -> list[str]:
    """No two scenarios say the same, and a folder has one family."""
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    found = []
    for scenario in scenarios:
        said = json.dumps(
            [scenario.raw.get(key) for key in ("given", "run", "lens", "expect", "stored", "modes")], sort_keys=True
        )
        if seen.setdefault(said, scenario.id) != scenario.id:
            found.append(f"{scenario.id}: it says the same as {seen[said]}")
        own = family(scenario.rule)
        if folders.setdefault(scenario.family, own) != own:
            found.append(f"{scenario.id}: the folder {scenario.family} is for {folders[scenario.family]}, not {own}")
    return found


CHECKS: tuple[Callable[[Scenario], Iterator[str]], ...] = (
    _name, _title, _patterns, _can_fail, _lens, _names, _modes, _revision, unknown,
)  # fmt: skip
