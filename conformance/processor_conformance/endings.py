"""The table of endings in SPEC.md: what an abort, a retry and an exception in each hook come to, in both modes.

Flows in: the scenarios of the rules in `ENDINGS`, and what the reference was recorded to do in them. Flows out: the
table as Markdown, and SPEC.md with it between its two markers. A cell says what `generate()` does, then how a stream
ends; where no scenario shows it the cell is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from .recording import replay
from .scenario import Item, Scenario
from .trace import Trace
from .words import HOOKS, MODES, TERMINAL, Json

MARKERS = ("<!-- endings -->", "<!-- /endings -->")
TABLE = re.compile(f"(?<={MARKERS[0]}\n).*?(?={MARKERS[1]})", re.S)
HEADER = "| hook | abort | retry, within the budget | exception |\n|---|---|---|---|\n"
ENDS = (*TERMINAL, "error")
# Which rules show an ending in the plain case: one processor, one answer, nothing else in its way.
ENDINGS = {
    "abort": ("TRI-1", "TRI-3"),
    "retry": ("RTY-1", "RTY-2", "RTY-9", "RTY-10", "RTY-11"),
    "exception": ("ERR-9", "ERR-27"),
}


def written(text: str, scenarios: Sequence[Scenario], lines: Mapping[str, Json]) -> str:
    """SPEC.md with the table as it is now; as it was where it has no markers."""
    return TABLE.sub(lambda _: table(scenarios, lines), text)


def table(scenarios: Sequence[Scenario], lines: Mapping[str, Json]) -> str:
    """The table, a row for each hook in the order of the contract."""
    cells: dict[tuple[str, str, str], set[str]] = {}
    for scenario in scenarios:
        for hook, kind in _shown(scenario):
            for item in scenario.items:
                if item.id in lines:
                    cells.setdefault((hook, kind, item.mode), set()).add(came_to(item, replay(lines[item.id])[0]))
    rows = [[hook, *(_cell(cells, hook, kind) for kind in ENDINGS)] for hook in HOOKS]
    return HEADER + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(cells: Mapping[tuple[str, str, str], set[str]], hook: str, kind: str) -> str:
    """What `generate()` does, then what a stream does, once where it is the same."""
    said = [" or ".join(sorted(cells.get((hook, kind, mode), ()))) for mode in MODES]
    return "; ".join(word for word in dict.fromkeys(said) if word)


def _shown(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """(hook, ending) where the scenario has one run, and one answer that ends anything, of the kind of its rule."""
    found = [
        (hook, _kind(clause.get("return")))
        for processor in scenario.raw["given"].get("processors", {}).values()
        for hook in HOOKS.keys() & processor.keys()
        for clause in processor[hook]
    ]
    ends = [(hook, kind) for hook, kind in found if kind]
    if len(ends) == len(scenario.calls) == 1 and scenario.rule in ENDINGS[ends[0][1]]:
        yield ends[0]


def _kind(returned: Json) -> str:
    """What a scripted answer asks for; empty where it ends nothing."""
    if not isinstance(returned, dict):
        return ""
    if "$abort" in returned:
        return "retry" if returned["$abort"].get("retry") else "abort"
    return "exception" if "$throw" in returned else ""


def came_to(item: Item, trace: Trace) -> str:
    """What became of a play's only run, in words."""
    outcome = next(iter(trace.outcomes.values()))
    ends = [event.name for event in trace.lane(item.scenario.run_names[0], "client") if event.name in ENDS]
    if outcome.get("at") == "start" or (item.mode == "generate" and "raised" in outcome):
        return "raises"
    if (item.mode == "generate" and "tripwire" not in outcome) or ends[-1:] == ["finish"]:
        return "the step is repeated"
    how = "returns `tripwire`" if item.mode == "generate" else f"ends in `{ends[-1]}`"
    return how + " with `retry`" * bool(outcome.get("tripwire", {}).get("retry"))
