"""`python -m mutants`: breaks the reference in every known way and looks whether the suite notices.

A mutant is killed when a scenario of its own rule fails, by its own expectation or by an invariant of that rule, at
something the rule governs: a play that only hangs, crashes or cannot be judged does not count. `--write` plays every
scenario on the mutants, those named or all, and notes in fixtures/mutants.json which ones fail; `--on` only some
scenarios (an id, a rule, a family). What is known of other mutants, or of how a mutant does on other scenarios, stays.
`serve NAME` is an adapter to a broken reference, for any runner.
"""

from __future__ import annotations

import argparse
import builtins
import difflib
import json
import multiprocessing
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from processor_conformance import locate, player
from processor_conformance.commands import UsageError, chosen
from processor_conformance.connection import Adapter
from processor_conformance.faults import AdapterFault
from processor_conformance.scenario import Item, load_all
from processor_conformance.trace import Trace
from processor_conformance.verdict import Result, judge
from processor_conformance.words import Json

from . import MUTANTS, Mutant

IMPLEMENTATION = "python:processor_contract.adapter:connect"
PATIENCE = 2.0  # seconds; a mutant that hangs is no quick kill, and not one that counts


def play(mutant: Mutant, items: Sequence[Item]) -> list[Result]:
    """The verdicts on a broken reference, within this process."""
    results = []
    with mutant.applied():
        adapter = Adapter(IMPLEMENTATION, timeout=PATIENCE)
        adapter.start()
        for item in items:
            try:
                trace = player.play(adapter, item, seed=0, timeout=PATIENCE)
                crash = crashed(trace)
                results.append(Result(item, "adapter-fault", message=crash) if crash else judge(item, trace))
            except AdapterFault as fault:
                results.append(Result(item, "adapter-fault", message=fault.message))
                adapter.restart()
        adapter.close()
    return results


def crashed(trace: Trace) -> str:
    """How the mutant itself broke down, if it did: an exception of Python's own, which no scenario raises."""
    for outcome in trace.outcomes.values():
        for error in [*outcome.get("raised", ()), *([outcome["error"]] if "error" in outcome else ())]:
            if isinstance(getattr(builtins, error.get("name", ""), None), type):
                return f"{error['name']}: {error.get('message')}"
    return ""


def kills(mutant: Mutant, results: Sequence[Result]) -> list[str]:
    """The items of the mutant's own rule that fail for that rule."""
    own = (result for result in results if result.kind == "fail" and result.item.scenario.rule == mutant.rule)
    return [result.item.id for result in own if mutant.rule in result.broken]


def _played(name: str, items: Sequence[Item]) -> tuple[str, list[str], list[str], list[str]]:
    """(name, own kills, all items that fail, what could not be judged)."""
    mutant = MUTANTS[name]
    results = play(mutant, items)
    failing = [result.item.id for result in results if result.kind == "fail"]
    odd = [
        f"{result.item.id}: {result.message}" for result in results if result.kind in ("adapter-fault", "suite-error")
    ]
    return name, kills(mutant, results), failing, odd


def items_by_rule() -> defaultdict[str, list[Item]]:
    """The items of each rule's scenarios."""
    found: defaultdict[str, list[Item]] = defaultdict(list)
    for scenario in load_all():
        found[scenario.rule] += scenario.items
    return found


def report(names: Sequence[str], items: Sequence[Item] | None = None) -> dict[str, list[str]]:
    """Plays the mutants side by side and prints a line for each; returns what fails, by mutant, and "" for the
    survivors.
    """
    failing_by: dict[str, list[str]] = {"": []}
    by_rule = items_by_rule()
    jobs = [(name, by_rule[MUTANTS[name].rule] if items is None else items) for name in names]
    # A process for each: a mutant that never ends goes on eating memory where it was given up.
    with multiprocessing.Pool(min(len(names), multiprocessing.cpu_count()), maxtasksperchild=1) as pool:
        for name, own, failing, odd in pool.starmap(_played, jobs, chunksize=1):
            failing_by[name] = failing
            asked = items is None or any(item.scenario.rule == MUTANTS[name].rule for item in items)
            verdict = f"fails {len(failing)}, none of its own rule asked"
            if own:
                verdict = f"killed by {own[0]}" + (f" and {len(own) - 1} more" if len(own) > 1 else "")
            elif asked:
                failing_by[""].append(name)
                verdict = "SURVIVES"
            print(f"{MUTANTS[name].rule:8} {name:60} {verdict}", flush=True)
            if verdict == "SURVIVES":
                print(f"{'':8} {MUTANTS[name].mistake}")
                print(*(f"{'':8} {line}" for line in odd[:3]), sep="\n")
    return failing_by


def write(failing_by: dict[str, list[str]], items: Sequence[Item]) -> Path:
    """Notes which of the items played fail for which mutant; of what was not played now, what was noted before."""
    path = locate.find("fixtures") / "mutants.json"
    before = json.loads(path.read_text("utf-8"))["mutants"] if path.exists() else {}
    known = frozenset(item.id for scenario in load_all() for item in scenario.items)
    table = merged(before, failing_by, elsewhere=known.difference(item.id for item in items))
    path.write_text(json.dumps({"mutants": table}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def merged(
    before: dict[str, Json], failing_by: dict[str, list[str]], elsewhere: frozenset[str] = frozenset()
) -> dict[str, Json]:
    """The table anew, by name: without the mutants that are no more, and without those never played; what was noted of
    items `elsewhere` stays.
    """
    killed_by = {name: list(row["killed_by"]) for name, row in before.items()}
    for name, failing in failing_by.items():
        killed_by[name] = [*failing, *elsewhere.intersection(killed_by.get(name, ()))]
    return {
        name: {"rule": mutant.rule, "mistake": mutant.mistake, "killed_by": sorted(killed_by[name])}
        for name, mutant in sorted(MUTANTS.items())
        if name in killed_by
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these mutants (or: serve NAME)")
    parser.add_argument("--write", action="store_true", help="play every scenario and note it in fixtures/mutants.json")
    parser.add_argument("--on", nargs="+", metavar="SCENARIOS", help="with --write: play only these")
    options = parser.parse_args(arguments)
    if options.on and not options.write:
        parser.error("--on says what --write plays; without it a mutant is played on the scenarios of its own rule")
    serving = options.names[:1] == ["serve"]
    names = options.names[1:] if serving else options.names
    if serving and len(names) != 1:
        parser.error("serve takes the name of one mutant: python -m mutants serve NAME")
    for name in names:
        if name not in MUTANTS:
            parser.error(unknown(name))
    if serving:
        return serve(names[0])
    try:
        items = chosen(load_all(), options.on or (), None) if options.write else None
    except UsageError as error:
        parser.error(str(error))
    failing_by = report(names or list(MUTANTS), items)
    survivors = failing_by.pop("")
    if items is not None:
        print(f"written: {write(failing_by, items).name}")
    if not options.on:
        print(f"{len(failing_by) - len(survivors)} of {len(failing_by)} mutants killed by a scenario of their own rule")
    return 1 if survivors else 0


def unknown(name: str) -> str:
    """That there is no such mutant, and which ones are near."""
    near = difflib.get_close_matches(name, sorted(MUTANTS), 3, 0.5)
    return f"there is no mutant {name!r}; " + (f"did you mean {', '.join(near)}?" if near else "see tests/mutants/")


def serve(name: str) -> int:
    """An adapter to the broken reference, on stdin and stdout."""
    from processor_contract.adapter.__main__ import main as adapter

    with MUTANTS[name].applied():
        adapter()
    return 0


if __name__ == "__main__":
    sys.exit(main())
