"""What the suite shows of each rule: in which mode, at which step, at which place of a chain, and which mutants it
kills.

Flows in: SPEC.md, the scenarios, the reference's recordings, and `fixtures/mutants.json`. Flows out: the matrix as
text, the holes in it, and SPEC.md with its `*Shown by*` and `*Broken by*` lines, its table of endings and its appendix
brought up to date.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import appendix, endings
from .match import Match, compare
from .recording import Recording, replay
from .report import Mutants
from .scenario import Item, Scenario
from .spec import HEADING, Rule
from .telling import WIDTH
from .words import HOOKS, MODES, Json

Cell = tuple[str, ...]  # mode, and step and place where the rule has them
WHEN = ("first", "later")
GENERATED = re.compile(r"^\*(Shown|Broken) by\*.*(?:\n(?![*#\n]).+)*\n", re.M)


@dataclass(slots=True)
class Coverage:
    """The three-sided matrix: rule, scenario, mutant."""

    rules: dict[str, Rule]
    scenarios: Sequence[Scenario]
    lines: dict[str, Json]
    mutants: Mutants

    def shown_by(self, rule: str) -> list[str]:
        return [scenario.id for scenario in self.scenarios if rule in scenario.rules]

    def broken_by(self, rule: str) -> list[str]:
        return sorted(name for name, own in self.mutants.rules.items() if own == rule)

    def filled(self) -> dict[str, Counter[Cell]]:
        """For each rule how often each of its cells is shown by an expected event that came."""
        found: dict[str, Counter[Cell]] = {rule: Counter() for rule in self.rules}
        for scenario in self.scenarios:
            for item in scenario.items:
                places = set(places_of(item, self.lines.get(item.id)))
                for rule in scenario.rules:
                    if rule in found:
                        found[rule].update({_narrow(place, self.rules[rule]) for place in places} - {()})
        return found


def load_lines(folder: Path) -> dict[str, Json]:
    """Every recorded line of an implementation, by item."""
    return {item: line for path in sorted(folder.glob("*.jsonl")) for item, line in Recording.read(path).lines.items()}


def wanted(rule: Rule) -> list[Cell]:
    """The cells in which a rule has to be shown, by its `*Seen at*` line."""
    axes = [MODES if not rule.seen_at else _words(rule.seen_at[0])]
    axes += [_words(piece.split(" ", 1)[1]) for piece in rule.seen_at if piece.startswith(("step ", "place "))]
    return list(itertools.product(*axes))


def _words(piece: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in piece.split(","))


def _narrow(place: tuple[str, str, str], rule: Rule) -> Cell:
    """A place as a cell of this rule: without the dimensions it does not have; () where it lacks one it has."""
    mode, *rest = place
    kept = [word for axis, word in zip(("step", "place"), rest, strict=True) if _has(rule, axis)]
    return () if "" in kept else (mode, *kept)


def _has(rule: Rule, axis: str) -> bool:
    return any(piece.startswith(f"{axis} ") for piece in rule.seen_at)


def places_of(item: Item, line: Json) -> Iterator[tuple[str, str, str]]:
    """Mode, step and place of every expected event that came, by the recording; nothing where it does not pass."""
    if line is None:
        return
    trace, steps = replay(line)
    comparison = compare(item.scenario, trace, across=False)
    if comparison.divergence:
        return
    yield item.mode, "", ""
    for match in comparison.matches:
        yield item.mode, _when(steps.get(match.event.at)), _when(_index(item.scenario, match))


def _when(number: int | None) -> str:
    return "" if number is None else WHEN[min(number, 1)]


def _index(scenario: Scenario, match: Match) -> int | None:
    """The place of the processor in the array that the hook's chain walks."""
    hook, key = match.event.data.get("hook"), match.event.data.get("processor")
    if hook is None:
        return None
    name = HOOKS[hook].array
    call = scenario.calls[scenario.run_names.index(match.event.run)]
    array = call.get("options", {}).get(name, scenario.raw["given"].get(name, ()))
    return array.index(key) if isinstance(array, list) and key in array else None


def holes(coverage: Coverage) -> list[str]:
    """What is missing, and every id that is not known."""
    filled = coverage.filled()
    items = {item.id for scenario in coverage.scenarios for item in scenario.items}
    controls = {scenario.raw.get("twin", {}).get("of") for scenario in coverage.scenarios}
    found = [line for rule in coverage.rules.values() for line in _of_rule(coverage, rule, filled)]
    for scenario in coverage.scenarios:
        found += [f"{scenario.id}: there is no rule {rule}" for rule in scenario.rules if rule not in coverage.rules]
        found += [f"{item.id}: {problem}" for item in scenario.items for problem in _of_item(coverage, item)]
        if not _killing(coverage, scenario, controls):
            whose = "" if scenario.id in controls else " of its rule"
            found.append(f"{scenario.id}: no mutant{whose} fails it")
    for name, rule in coverage.mutants.rules.items():
        found += [f"mutant {name}: there is no rule {rule}"] if rule not in coverage.rules else []
        own = {item.id for scenario in coverage.scenarios if rule in scenario.rules for item in scenario.items}
        found += [] if own & coverage.mutants.killed_by[name] else [f"mutant {name}: no scenario of {rule} fails it"]
        found += [f"mutant {name}: there is no {item}" for item in sorted(coverage.mutants.killed_by[name] - items)]
    return found


def _of_rule(coverage: Coverage, rule: Rule, filled: dict[str, Counter[Cell]]) -> Iterator[str]:
    shown = coverage.shown_by(rule.id)
    if not shown:
        yield f"{rule.id}: no scenario shows it"
    if not coverage.broken_by(rule.id):
        yield f"{rule.id}: no mutant breaks it"
    for revision in rule.revisions if shown else ():
        if not any(rule.id in one.rules and revision in one.revisions for one in coverage.scenarios):
            yield f"{rule.id}: it holds in {revision} too, and no scenario of that revision shows it"
    missing = [cell for cell in wanted(rule) if not filled[rule.id][cell]] if shown else []
    yield from (f"{rule.id}: not seen at {' / '.join(cell)}" for cell in missing)


def _of_item(coverage: Coverage, item: Item) -> Iterator[str]:
    line = coverage.lines.get(item.id)
    if line is None:
        yield "it is not recorded; run processor-conformance record"
    elif not next(places_of(item, line), None):
        yield "by its recording it does not pass"


def _killing(coverage: Coverage, scenario: Scenario, controls: set[str]) -> bool:
    """Whether a mutant of its own rule fails it; for a control, which is there to pass, any will do."""
    items = {item.id for item in scenario.items}
    rules = coverage.mutants.rules
    return any(
        killed & items and (rules[name] in scenario.rules or scenario.id in controls)
        for name, killed in coverage.mutants.killed_by.items()
    )


def matrix(coverage: Coverage) -> list[str]:
    """A row for each rule: how often each cell is shown, how many scenarios and mutants it has."""
    filled = coverage.filled()
    lines = [
        f"{'mode':<9}{'generate':<26}{'stream':<26}",
        f"{'step':<9}" + f"{'first':<13}{'later':<13}" * 2,
        f"{'place':<9}" + f"{'first later':<13}" * 4 + "scenarios mutants",
    ]
    for rule in coverage.rules.values():
        cells = "".join(f"{_cells(rule, filled[rule.id], mode, step):<13}" for mode in MODES for step in WHEN)
        counts = f"{len(coverage.shown_by(rule.id)):>9} {len(coverage.broken_by(rule.id)):>7}"
        lines.append(f"{rule.id:<9}{cells}{counts}")
    return lines


def _cells(rule: Rule, filled: Counter[Cell], mode: str, step: str) -> str:
    """The numbers of one mode and step: for the first and later places, or one where the rule has no place."""
    wants = wanted(rule)
    steps = [step] if _has(rule, "step") else [] if step == "first" else None
    if steps is None:
        return ""
    places: list[list[str]] = [[word] for word in WHEN] if _has(rule, "place") else [[]]
    cells: list[Cell] = [(mode, *steps, *place) for place in places]
    return " ".join(f"{filled[cell] or ('HOLE' if cell in wants else '-'):>4}" for cell in cells)


def written(text: str, coverage: Coverage) -> str:
    """SPEC.md with every rule's generated lines and the table of endings as they are now."""
    pieces = HEADING.split(text)
    out = [pieces[0]]
    for rule, title, body in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        out.append(f"### {rule} · {title}{_generated(body, coverage.shown_by(rule), coverage.broken_by(rule))}")
    text = endings.written("".join(out), coverage.scenarios, coverage.lines)
    return appendix.written(text, coverage.rules.values())


def _generated(body: str, shown: list[str], broken: list[str]) -> str:
    """A rule's body with its two lines after the last of its own."""
    own, *after = re.split(r"(?=^#)", GENERATED.sub("", body), maxsplit=1, flags=re.M)
    lines = [f"*{label} by* {', '.join(names)}." for label, names in (("Shown", shown), ("Broken", broken)) if names]
    wrapped = [
        piece for line in lines for piece in textwrap.wrap(line, WIDTH, break_on_hyphens=False, break_long_words=False)
    ]
    return "\n".join([own.rstrip("\n"), *wrapped]) + "\n\n" + "".join(after)
