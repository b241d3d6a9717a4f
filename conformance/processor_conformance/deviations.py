"""What an implementation is known to break, and how.

Flows in: `fixtures/deviations/<implementation>.toml` with `[[cause]]` and `[[deviation]]` tables. Flows out:
`Deviations`, whose entries change a scenario's expectation into what that implementation does, so that all the rest
must still match.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .scenario import Item, Scenario
from .words import MODES, Json

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PATCHED = ("/expect/", "/stored/")
OPERATIONS = ("to", "remove", "insert")


class DeviationError(ValueError):
    """The deviations file is wrong: it says what and where."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an implementation deviates: what its user sees, which rules it breaks, a file that shows it by itself."""

    id: str
    shows: str
    rules: tuple[str, ...]
    reproduction: str = ""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One accepted difference: in which scenario and modes, from which cause, and what comes instead.

    `instead` patches the scenario's JSON; `invariants` names rules whose invariant may break, `gates` gates that may
    stay shut. `sometimes`: a race, which may as well not happen. `endless`: the run does not end, and is judged by what
    came until then.
    """

    scenario: str
    cause: str
    reason: str
    modes: tuple[str, ...] = ()
    instead: tuple[dict[str, Json], ...] = ()
    invariants: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    sometimes: bool = False
    endless: bool = False

    def concerns(self, item: Item) -> bool:
        return self.scenario == item.scenario.id and (not self.modes or item.mode in self.modes)


@dataclass(frozen=True, slots=True)
class Deviations:
    """A deviations file; an empty one where an implementation has none."""

    path: Path | None = None
    causes: dict[str, Cause] = field(default_factory=dict)
    entries: tuple[Deviation, ...] = ()

    def of(self, item: Item) -> list[Deviation]:
        return [entry for entry in self.entries if entry.concerns(item)]

    def usable(self, scenarios: Iterable[Scenario]) -> Deviations:
        """Without the entries that `check` would refuse for their scenario, mode or patches."""
        known = {scenario.id: scenario for scenario in scenarios}
        entries = tuple(entry for entry in self.entries if not self._problems(entry, known, causes=False))
        return Deviations(self.path, self.causes, entries)

    def check(self, scenarios: Iterable[Scenario]) -> None:
        """Raises DeviationError where an entry names what is not there, or patches what it must not."""
        known = {scenario.id: scenario for scenario in scenarios}
        problems = [problem for entry in self.entries for problem in self._problems(entry, known)]
        used = {entry.cause for entry in self.entries}
        problems += [f"cause {cause!r} explains no deviation; remove it" for cause in self.causes if cause not in used]
        if problems:
            raise DeviationError("\n  ".join([f"{self.path}:", *problems]))

    def _problems(self, entry: Deviation, known: dict[str, Scenario], *, causes: bool = True) -> list[str]:
        scenario = known.get(entry.scenario)
        if scenario is None:
            return [f"there is no scenario {entry.scenario!r}"]
        problems = [
            f"{entry.scenario}: it is not played in mode {mode!r}" for mode in entry.modes if mode not in scenario.modes
        ]
        if causes and entry.cause not in self.causes:
            problems.append(
                f"{entry.scenario}: there is no cause {entry.cause!r}; write a [[cause]] table that explains it"
            )
        try:
            apply(scenario, [entry])
        except DeviationError as error:
            problems.append(str(error))
        return problems


def load(path: Path) -> Deviations:
    """The deviations in one file; raises DeviationError."""
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
        causes = [_cause(table) for table in raw.get("cause", [])]
        entries = tuple(_deviation(table) for table in raw.get("deviation", []))
    except FileNotFoundError:
        raise DeviationError(f"there is no deviations file {path}; name one that is there, or 'none'") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"a table lacks {error}" if isinstance(error, KeyError) else error
        raise DeviationError(f"{path}: {what}") from error
    if doubles := _doubles(entries):
        raise DeviationError("\n  ".join([f"{path}:", *doubles]))
    return Deviations(path, {cause.id: cause for cause in causes}, entries)


def _doubles(entries: Sequence[Deviation]) -> list[str]:
    """What is said twice: of two such entries the second would be judged as if it were stale."""
    problems: list[str] = []
    first: dict[tuple[str, str, str], int] = {}
    for number, entry in enumerate(entries, 1):
        for mode in entry.modes or MODES:
            other = first.setdefault((entry.scenario, mode, entry.cause), number)
            if other != number:
                reasons = f"number {other} ({entries[other - 1].reason!r}) and {number} ({entry.reason!r})"
                same = f"are both of the cause {entry.cause!r} in mode {mode}"
                problems.append(f"{entry.scenario}: the deviations {reasons} {same}; make one of them")
    return problems


def _cause(table: dict[str, Any]) -> Cause:
    return Cause(table["id"], table["shows"], tuple(table["rules"]), table.get("reproduction", ""))


def _deviation(table: dict[str, Any]) -> Deviation:
    return Deviation(
        table["scenario"],
        table["cause"],
        table["reason"],
        modes=tuple(table.get("modes", ())),
        instead=tuple(map(_decoded, table.get("instead", ()))),
        invariants=_several(table.get("invariant", ())),
        gates=_several(table.get("gate", ())),
        sometimes=table.get("sometimes", False),
        endless=table.get("endless", False),
    )


def _decoded(patch: dict[str, Json]) -> dict[str, Json]:
    """A patch whose value stands as a text of JSON (`to-json`, `insert-json`: TOML has no null), with the value."""
    return {
        name.removesuffix("-json"): json.loads(value) if name.endswith("-json") else value
        for name, value in patch.items()
    }


def _several(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def apply(scenario: Scenario, entries: Sequence[Deviation]) -> Scenario:
    """The scenario with what the entries say in place of what it expects; raises DeviationError."""
    raw = copy.deepcopy(scenario.raw)
    for entry in entries:
        for patch in entry.instead:
            try:
                _patch(raw, patch)
            except (LookupError, ValueError, TypeError, AttributeError) as error:
                raise DeviationError(f"{scenario.id}: instead {patch} leads nowhere: {error}") from error
    return scenario.patched(raw)


def _patch(raw: Json, patch: dict[str, Json]) -> None:
    """One change at a JSON pointer: `to` sets, `remove` deletes, `insert` puts into a list (`-`: at its end)."""
    at = patch["at"]
    if not at.startswith(PATCHED) or sum(name in patch for name in OPERATIONS) != 1:
        raise ValueError(f"'at' begins with one of {PATCHED}, and one of {OPERATIONS} says what to do")
    *way, last = [name.replace("~1", "/").replace("~0", "~") for name in at.split("/")[1:]]
    for name in way:
        raw = raw[int(name)] if isinstance(raw, list) else raw[name]
    key = last if isinstance(raw, dict) else len(raw) if last == "-" else int(last)
    if "insert" in patch:
        raw.insert(key, copy.deepcopy(patch["insert"]))
    elif "remove" in patch:
        del raw[key]
    else:
        raw[key] = copy.deepcopy(patch["to"])
