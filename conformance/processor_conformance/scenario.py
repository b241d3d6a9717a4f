"""Scenarios: files of the fixtures as values, and the items to play.

Flows in: `fixtures/scenarios/<family>/<RULE>-<slug>.json`. Flows out: `Scenario` (the raw JSON and what follows from
it) and `Item` (a scenario in one mode), in the order of rules and names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from . import locate, schema
from .faults import SuiteError
from .spec import family_order
from .words import ARRAYS, BUILT_INS, HOOKS, MODES, REVISIONS, SETTINGS, Json

OVERRIDES = {*ARRAYS, "maxProcessorRetries", "maxSteps"}


class ScenarioError(SuiteError):
    """A scenario file that is not in its form: nobody is judged by it."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario: its id (the file's name), its family (the folder's) and its raw JSON."""

    id: str
    family: str
    raw: dict[str, Json]

    @property
    def title(self) -> str:
        return str(self.raw.get("title", ""))

    @property
    def rules(self) -> list[str]:
        return list(self.raw.get("rules", []))

    @property
    def rule(self) -> str:
        """The scenario's own rule."""
        return self.rules[0] if self.rules else ""

    @property
    def modes(self) -> list[str]:
        return list(self.raw.get("modes", MODES))

    @property
    def revisions(self) -> list[str]:
        return list(self.raw.get("revision", REVISIONS))

    @property
    def calls(self) -> list[dict[str, Json]]:
        return list(self.raw.get("run", []))

    @property
    def run_names(self) -> list[str]:
        """The name of each run: its own, else its number, counted from 0 as in `expect`."""
        return [str(call.get("name", index)) for index, call in enumerate(self.calls)]

    @property
    def lens(self) -> dict[str, Json]:
        return dict(self.raw.get("lens", {}))

    @property
    def expect(self) -> list[dict[str, Json]]:
        return list(self.raw.get("expect", []))

    @property
    def stored(self) -> list[dict[str, Json]]:
        return list(self.raw.get("stored", []))

    @property
    def hooks(self) -> set[str]:
        """The hooks that its processors have: an implementation without one of them cannot be asked."""
        processors = self.raw["given"].get("processors", {}).values()
        return {name for one in processors for name in BUILT_INS.get(one.get("builtIn"), one) if name in HOOKS}

    @property
    def built_ins(self) -> dict[str, str]:
        """The processors that the implementation brings itself: the built-in's name, by key."""
        processors = self.raw["given"].get("processors", {})
        return {key: one["builtIn"] for key, one in processors.items() if "builtIn" in one}

    @property
    def items(self) -> list[Item]:
        return [Item(self, mode) for mode in self.modes]

    def patched(self, raw: dict[str, Json]) -> Scenario:
        """The same scenario with other contents."""
        return Scenario(self.id, self.family, raw)

    def capabilities(self, mode: str) -> set[str]:
        """What an implementation must have declared for this scenario to be asked of it in this mode."""
        implied = {name for name, needed in IMPLIED.items() if needed(self.raw)}
        return {mode, *implied, *self.built_ins.values(), *self.raw.get("requires", [])}


@dataclass(frozen=True, slots=True)
class Item:
    """A scenario in one mode: what is played and judged."""

    scenario: Scenario
    mode: str

    @property
    def id(self) -> str:
        return f"{self.scenario.id}[{self.mode}]"


def load_all(root: Path | None = None, *, check: bool = True) -> list[Scenario]:
    """Every scenario below `root` (default: the suite's own), by rule, number and name.

    Raises ScenarioError where some are not in their form; `check` false leaves that to who reads them.
    """
    root = root or locate.find("fixtures/scenarios")
    found = sorted(
        (load(path) for path in root.glob("*/*.json")),
        key=lambda scenario: (family_order(scenario.id), natural(scenario.id)),
    )
    if check:
        _check(found)
    return found


def _check(scenarios: Iterable[Scenario]) -> None:
    problems = [f"{one.id}: {found}" for one in scenarios if (found := schema.scenario_problem(one.raw))]
    if problems:
        raise ScenarioError(
            "\n  ".join(["these scenarios are not in the form that fixtures/scenarios/README.md gives:", *problems])
        )


def load(path: Path) -> Scenario:
    """The scenario in one file; raises ScenarioError."""
    try:
        raw = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ScenarioError(f"scenario {path.stem} is no JSON: {error}") from error
    if not isinstance(raw, dict):
        raise ScenarioError(f"scenario {path.stem} holds {type(raw).__name__}, not an object")
    return Scenario(path.stem, path.parent.name, raw)


def selected(scenarios: Iterable[Scenario], revision: str, mode: str | None = None) -> list[Item]:
    """The items of these scenarios that exist in the revision and, if one is named, the mode."""
    return [
        item for one in scenarios if revision in one.revisions for item in one.items if mode in (None, item.mode)
    ]


def natural(name: str) -> list[tuple[int, str]]:
    """A sorting key by which ORD-2 stands before ORD-10."""
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.split(r"(\d+)", name)]


def objects(value: Json) -> Iterator[dict[str, Json]]:
    """Every object inside a JSON value, the outermost first."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


def _options(raw: Json) -> Iterator[dict[str, Json]]:
    return (call.get("options", {}) for call in raw.get("run", []))


def _settled(raw: Json) -> list[dict[str, Json]]:
    """Where settings stand: those of the agent, and of each call."""
    return [raw["given"], *_options(raw)]


def _arrays(raw: Json) -> list[Json]:
    return [place[name] for place in _settled(raw) for name in ARRAYS if name in place]


def _odd(raw: Json) -> bool:
    """Whether something stands there that nobody should write."""
    given = raw["given"]
    processors, *tools = (given.get(name, {}).values() for name in ("processors", "tools", "otherTools"))
    odd = any("methods" in one or "values" in one or not one.get("id", "id") for one in processors)
    odd = odd or any("asynchronous" in one for each in (processors, *tools) for one in each)
    return odd or _has([given, *_options(raw)], "$value") or any("others" in one for one in _options(raw))


def _reading(raw: Json) -> list[dict[str, Json]]:
    return [step for call in raw.get("run", []) for step in call.get("reading", [])]


def _scripts(raw: Json) -> list[Json]:
    """Everything that answers calls: processors, tools, callbacks."""
    return [raw["given"].get(name) for name in ("processors", "tools", "callbacks")]


def _tools(raw: Json) -> list[Json]:
    return [tool.get("execute") for tool in raw["given"].get("tools", {}).values()]


def _has(values: Iterable[Json], *keys: str) -> bool:
    return any(key in inner for value in values for inner in objects(value) for key in keys)


def _calls_back(name: str) -> Callable[[Json], bool]:
    return lambda raw: any(name in place.get("callbacks", ()) for place in (raw["given"], *_options(raw)))


def _overlap(raw: Json) -> bool:
    names = [call.get("together") for call in raw.get("run", [])]
    return any(one is not None and one == two for one, two in pairwise(names))


def _uses(raw: Json, argument: str) -> bool:
    """Whether an operation calls a method of this argument."""
    return any(inner.get("on") == argument for inner in objects(raw["given"]))


def _watches_store(raw: Json) -> bool:
    return any(name.startswith("store/") for name in raw.get("lens", {}).get("work", ())) or _has(
        [raw["given"].get("memory", {})], "read", "write"
    )


def _expects(*members: str) -> Callable[[Json], bool]:
    """Whether an outcome is expected to have, or not to have, one of these members."""
    return lambda raw: any(not one.get("outcome", {}).keys().isdisjoint(members) for one in raw.get("expect", []))


# What of a scenario's content implies which capability.
IMPLIED: dict[str, Callable[[Json], bool]] = {
    "memory": lambda raw: "memory" in raw["given"] or _has(_options(raw), "memory"),
    "error-processors": lambda raw: _has([raw["given"], *_options(raw)], "errorProcessors"),
    "call-overrides": lambda raw: any(OVERRIDES & options.keys() for options in _options(raw)),
    "pull": lambda raw: bool(_reading(raw)),
    "close": lambda raw: _has([*_scripts(raw), _reading(raw)], "close"),
    "cancel": lambda raw: _has([*_scripts(raw), _reading(raw)], "cancel") or _has(_options(raw), "signal"),
    "pulled-model": lambda raw: _has([raw["given"].get("model"), *(call.get("model") for call in raw["run"])], "pull"),
    "concurrent-runs": _overlap,
    "prepare-step": _calls_back("prepareStep"),
    "stop-when": _calls_back("stopWhen"),
    "on-violation": lambda raw: _has([raw["given"].get("processors")], "onViolation"),
    "function-arrays": lambda raw: any("$callback" in array for array in _arrays(raw)),
    "parallel-tools": lambda raw: _has(_tools(raw), "wait"),
    "data-chunks": lambda raw: _uses(raw, "writer"),
    "context-messages": lambda raw: _has(_options(raw), "context"),
    "scripted-store": _watches_store,
    "tracing": lambda raw: "tracing" in raw["given"] or _uses(raw, "tracingContext"),
    "model-retries": lambda raw: "maxRetries" in raw["given"],
    "settings": lambda raw: any(name in place for place in _settled(raw) for name in SETTINGS),
    "call-model": lambda raw: any("model" in options for options in _options(raw)),
    "call-tools": lambda raw: any("tools" in options for options in _options(raw)),
    "tool-lists": lambda raw: _has([raw["given"].get("tools")], "name"),
    "odd-values": _odd,
    "objects": _expects("object", "objectError", "usedFallback"),
    "gathered": _expects("reasoning", "sources", "files", "toolResults"),
    "warnings": lambda raw: "warning" in raw.get("lens", {}).get("work", ()),
}
