"""`python -m mutants`: breaks the reference in every known way and looks whether the suite notices.

A mutant is killed when a scenario of its own rule fails, by its own expectation or by an invariant of that rule, at
something the rule governs: a play that only hangs, crashes or cannot be judged does not count. `--write` plays every
scenario on every mutant and notes in fixtures/mutants.json which ones fail. `serve NAME` is an adapter to a broken
reference, for any runner.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Sequence
from pathlib import Path

from processor_conformance import locate, player
from processor_conformance.connection import Adapter
from processor_conformance.faults import AdapterFault
from processor_conformance.scenario import Item, load_all
from processor_conformance.verdict import Result, judge

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
                trace = player.play(adapter, item.scenario.id, item.scenario.raw, item.mode, seed=0, timeout=PATIENCE)
                results.append(judge(item, trace))
            except AdapterFault as fault:
                results.append(Result(item, "adapter-fault", message=fault.message))
                adapter.restart()
        adapter.close()
    return results


def kills(mutant: Mutant, results: Sequence[Result]) -> list[str]:
    """The items of the mutant's own rule that fail for that rule."""
    own = (result for result in results if result.kind == "fail" and result.item.scenario.rule == mutant.rule)
    return [result.item.id for result in own if mutant.rule in result.broken]


def _played(name: str, everything: bool) -> tuple[str, list[str], list[str], list[str]]:
    """(name, own kills, all items that fail, what could not be judged)."""
    mutant = MUTANTS[name]
    items = [item for scenario in load_all() if everything or scenario.rule == mutant.rule for item in scenario.items]
    results = play(mutant, items)
    failing = [result.item.id for result in results if result.kind == "fail"]
    odd = [
        f"{result.item.id}: {result.message}" for result in results if result.kind in ("adapter-fault", "suite-error")
    ]
    return name, kills(mutant, results), failing, odd


def report(names: Sequence[str], everything: bool) -> dict[str, list[str]]:
    """Plays the mutants side by side and prints a line for each; returns what fails, by mutant, and "" for the
    survivors.
    """
    failing_by: dict[str, list[str]] = {"": []}
    with multiprocessing.Pool(min(len(names), multiprocessing.cpu_count())) as pool:
        for name, own, failing, odd in pool.starmap(_played, [(name, everything) for name in names], chunksize=1):
            failing_by[name] = failing
            if not own:
                failing_by[""].append(name)
            verdict = (
                f"killed by {own[0]}" + (f" and {len(own) - 1} more" if len(own) > 1 else "") if own else "SURVIVES"
            )
            print(f"{MUTANTS[name].rule:8} {name:60} {verdict}", flush=True)
            if not own:
                print(f"{'':8} {MUTANTS[name].mistake}")
                print(*(f"{'':8} {line}" for line in odd[:3]), sep="\n")
    return failing_by


def write(failing_by: dict[str, list[str]]) -> Path:
    """Notes which items fail for which mutant."""
    path = locate.find("fixtures") / "mutants.json"
    table = {
        name: {"rule": mutant.rule, "mistake": mutant.mistake, "killed_by": sorted(failing_by[name])}
        for name, mutant in sorted(MUTANTS.items())
    }
    path.write_text(json.dumps({"mutants": table}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these mutants (or: serve NAME)")
    parser.add_argument("--write", action="store_true", help="play everything and rewrite fixtures/mutants.json")
    options = parser.parse_args()
    if options.names[:1] == ["serve"]:
        return serve(options.names[1])
    unknown = [name for name in options.names if name not in MUTANTS]
    if unknown:
        print(f"there is no mutant {unknown[0]!r}; there are: {', '.join(sorted(MUTANTS))}", file=sys.stderr)
        return 2
    failing_by = report(options.names or list(MUTANTS), options.write)
    survivors = failing_by.pop("")
    if options.write:
        print(f"written: {write(failing_by).name}")
    print(f"{len(failing_by) - len(survivors)} of {len(failing_by)} mutants killed by a scenario of their own rule")
    return 1 if survivors else 0


def serve(name: str) -> int:
    """An adapter to the broken reference, on stdin and stdout."""
    from processor_contract.adapter.__main__ import main as adapter

    with MUTANTS[name].applied():
        adapter()
    return 0


if __name__ == "__main__":
    sys.exit(main())
