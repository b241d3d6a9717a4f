"""Refuses what a scenario names and is not there: misspelt, it is called, waited for or looked at in vain.

Flows in: a scenario. Flows out: one line for each such name, with the names that there are. The checks are the table at
the end: a docstring each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from . import schema
from .grammar import KINDS
from .pattern import OPERATORS, operator
from .scenario import Scenario, objects
from .words import ARGUMENTS, ARRAYS, CALLBACKS, HOOKS, METHODS, Json

SCHEMAS = ("parameters", "schema", "$literal")  # what is in them is spelt in other words
TEMPLATES = ("$ref", "$spread", "$token", "$list", "$model", "$tool", "$abort", "$throw", "$callback", "$value")
MARKS = {"label", "after", "did", "tokens"}  # of an event, beside what it is


def _is_date(value: Json) -> bool:
    try:
        return bool(datetime.fromisoformat(value.replace("Z", "+00:00")))
    except (AttributeError, ValueError):
        return False


# The tags of values: what each may hold, and how that is said.
TAGS: dict[str, tuple[Callable[[Json], bool], str]] = {
    "$undefined": (lambda value: value is True, "true"),
    "$date": (_is_date, "a date in ISO 8601"),
    "$bigint": (lambda value: isinstance(value, str) and bool(re.fullmatch(r"-?\d+", value)), "digits, as a text"),
    "$number": (lambda value: value in ("NaN", "Infinity", "-Infinity"), "NaN, Infinity or -Infinity"),
    "$circular": (lambda value: value is True, "true"),
    "$function": (lambda value: isinstance(value, str), "a name"),
    "$object": (lambda value: isinstance(value, str), "a token"),
    "$error": (lambda value: isinstance(value, dict), "an error"),
    "$literal": (lambda value: isinstance(value, dict), "an object"),
}


def unknown(scenario: Scenario) -> Iterator[str]:
    """Every name in it that stands for nothing."""
    for check in CHECKS:
        yield from check(scenario)


def events_of(lane: Json) -> Iterator[Json]:
    """The event patterns of a lane, those inside `$unordered` and `$oneOf` too."""
    for pattern in [lane] if isinstance(lane, dict) else lane:
        word = operator(pattern)
        if word in ("$unordered", "$oneOf"):
            yield from events_of(pattern[word])
        else:
            yield pattern


def _lane(scenario: Scenario, lane: str) -> Iterator[Json]:
    return (event for run in scenario.expect for event in events_of(run.get(lane, [])))


def _missing(where: str, names: Iterable[Json], known: Iterable[str]) -> Iterator[str]:
    """The texts among the names that are not known; what is no text is another check's affair."""
    for name in dict.fromkeys(name for name in names if isinstance(name, str)):
        if name not in known:
            yield f"{where}: there is no {name!r}; there is {', '.join(sorted(known)) or 'none'}"


def _given(scenario: Scenario) -> list[Json]:
    return [scenario.raw["given"], scenario.calls]


def _processors(scenario: Scenario) -> Iterator[str]:
    """Arrays, and the functions that give them, hold keys of processors; so do events and `of`."""
    known = scenario.raw["given"].get("processors", {})
    for name in ARRAYS:
        yield from _missing(name, _keys(scenario, name), known)
    yield from _missing("an event's 'processor'", (event.get("processor") for event in _lane(scenario, "work")), known)
    scripted = known.keys() - scenario.built_ins.keys()  # of a built-in nobody sees a call
    yield from _missing("of", (of.get("processor") for of in _others(scenario)), scripted)


def _keys(scenario: Scenario, name: str) -> Iterator[Json]:
    given = scenario.raw["given"]
    answers = list(given.get("callbacks", {}).get(name, ()))
    for place in (given, *(call.get("options", {}) for call in scenario.calls)):
        array = place.get(name, [])
        if isinstance(array, list):
            yield from array
        elif isinstance(array.get("$callback"), list):
            answers += array["$callback"]
    for clause in answers:
        yield from clause["return"] if isinstance(clause.get("return"), list) else ()


def _others(scenario: Scenario) -> Iterator[dict[str, Json]]:
    """Each `of`: another call that is meant."""
    return (inner["of"] for inner in objects(_given(scenario)) if isinstance(inner.get("of"), dict))


def _tools(scenario: Scenario) -> Iterator[str]:
    """Options, templates, events and `of` name tools of `tools` or `otherTools`."""
    tools = {**scenario.raw["given"].get("tools", {}), **scenario.raw["given"].get("otherTools", {})}
    known = {name for key, tool in tools.items() for name in (key, tool.get("name", key))}
    named = [name for call in scenario.calls for name in call.get("options", {}).get("tools", ())]
    yield from _missing("the option tools", named, known)
    yield from _missing("$tool", (inner.get("$tool") for inner in objects(_given(scenario))), known)
    yield from _missing("an event's 'tool'", (event.get("tool") for event in _lane(scenario, "work")), known)
    yield from _missing("of", (of.get("tool") for of in _others(scenario)), known)


def _runs(scenario: Scenario) -> Iterator[str]:
    """Each run has a name of its own, and `of` names one."""
    names = scenario.run_names
    yield from (f"two runs are called {name!r}" for name in dict.fromkeys(names) if names.count(name) > 1)
    yield from _missing("of", (of.get("run") for of in _others(scenario)), names)


def _functions(scenario: Scenario) -> Iterator[str]:
    """Callbacks are those of a call, and calls name those that there are; so are hooks and methods."""
    known = scenario.raw["given"].get("callbacks", {})
    options = [call.get("options", {}) for call in scenario.calls]
    arrays = [one[name] for one in options for name in ARRAYS if isinstance(one.get(name), dict)]
    named = [array["$callback"] for array in arrays if "$callback" in array]
    yield from _missing("$callback", named, known)
    named += [name for one in options for name in one.get("callbacks", ())]
    yield from (f"no call names the callback {name!r} in its options" for name in known if name not in named)
    yield from _missing("of", (of.get("hook") for of in _others(scenario)), HOOKS)
    yield from _missing("of", (of.get("callback") for of in _others(scenario)), CALLBACKS)
    for inner in (inner for inner in objects(_given(scenario)) if inner.get("op") == "call"):
        on, method = inner["on"], inner["method"]
        yield from _missing("on", [on], METHODS)
        yield from _missing(f"method of {on}", [method], METHODS.get(on, [method]))


def _gates(scenario: Scenario) -> Iterator[str]:
    """What waits for a gate waits for one that something opens."""
    steps = list(_in_our_words(_given(scenario)))
    opened = {inner["open"] for inner in steps if isinstance(inner.get("open"), str)}
    yield from _missing("wait", (inner.get("wait") for inner in steps), opened)


def _chunks(scenario: Scenario) -> Iterator[str]:
    """The lens names types of chunks that there are, or that the scenario makes up."""
    made = {inner["type"] for inner in objects(_given(scenario)) if isinstance(inner.get("type"), str)}
    named = (name for name in scenario.lens.get("chunks", ()) if not name.startswith("data-"))
    yield from _missing("the lens's chunks", named, KINDS | made)


def _members(scenario: Scenario) -> Iterator[str]:
    """What is expected of hooks, model calls, spans and outcomes are members that they may have: a misspelt one is
    always absent.
    """
    shapes = schema.document("protocol")["$defs"]
    calls = {*shapes["model/call.params"]["properties"], "aborted"}
    hooks = (event for event in _lane(scenario, "work") if "hook" in event)
    outcomes = [run["outcome"] for run in scenario.expect if isinstance(run.get("outcome"), dict)]
    steps = [outcome["steps"] for outcome in outcomes if isinstance(outcome.get("steps"), list)]
    for what, values, known in (
        ("a hook's event", hooks, {"hook", "processor", *ARGUMENTS}),
        ("a model call", _lane(scenario, "provider"), calls),
        ("a span", _lane(scenario, "spans"), set(shapes["span"]["properties"])),
        ("the outcome", outcomes, set(shapes["outcome"]["properties"])),
        ("a step of the outcome", (step for one in steps for step in one), set(shapes["step"]["properties"])),
    ):
        named = (key for value in values if isinstance(value, dict) for key in value if key not in OPERATORS)
        yield from _missing(what, (name for name in named if what.startswith("the") or name not in MARKS), known)


def _tags(scenario: Scenario) -> Iterator[str]:
    """What begins with `$` is a tag, a template or a pattern, and a tag holds what it is for."""
    raw = scenario.raw
    for inner in _in_our_words(_given(scenario)):
        named = (key for key in inner if key.startswith("$"))
        yield from _missing("a tag", named, {*TAGS, *TEMPLATES, *OPERATORS})
    for inner in _in_our_words([*_given(scenario), *(raw[key] for key in ("expect", "stored", "lens") if key in raw)]):
        for tag in TAGS.keys() & inner.keys():
            good, holds = TAGS[tag]
            if operator(inner[tag]) is None and not good(inner[tag]):
                yield f"{tag} holds {holds}, not {inner[tag]!r}"
            if len(inner) > 1:
                yield f"{tag} stands beside other members: {', '.join(sorted(inner.keys() - {tag}))}"


def _in_our_words(value: Json) -> Iterator[dict[str, Json]]:
    """Every object inside that is in the words of scenarios: not in a JSON schema's, and nothing literal."""
    if isinstance(value, dict):
        yield value
        value = [inner for key, inner in value.items() if key not in SCHEMAS]
    for inner in value if isinstance(value, list) else ():
        yield from _in_our_words(inner)


def _places(scenario: Scenario) -> Iterator[str]:
    """What is expected of a store or a trace is expected where there is one."""
    given = scenario.raw["given"]
    if scenario.stored and "memory" not in given:
        yield "it expects something 'stored' of an agent without 'memory'"
    if "tracing" not in given and any(True for _ in _lane(scenario, "spans")):
        yield "it expects spans of an agent without 'tracing'"


CHECKS: tuple[Callable[[Scenario], Iterator[str]], ...] = (
    _processors, _tools, _runs, _functions, _gates, _chunks, _members, _tags, _places,
)  # fmt: skip
