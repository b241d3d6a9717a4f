"""`python -m mutants`: breaks the reference in every known way and looks whether the suite notices.

A mutant is killed when a scenario of its own rule fails, by its own expectation or by an invariant of that rule, at
something the rule governs: a play that only hangs, crashes or cannot be judged does not count. `--write` plays every
scenario on the mutants, those named or all, and notes in fixtures/mutants.json which ones fail; what is known of the
other mutants stays. `serve NAME` is an adapter to a broken reference, for any runner.
"""

from __future__ import annotations

import argparse
import builtins
import difflib
import json
import multiprocessing
import sys
from collections.abc import Sequence
from pathlib import Path

from processor_conformance import locate, player
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
    """Notes which items fail for which mutant; of those that were not played now, what was noted before."""
    path = locate.find("fixtures") / "mutants.json"
    table = merged(json.loads(path.read_text("utf-8"))["mutants"] if path.exists() else {}, failing_by)
    path.write_text(json.dumps({"mutants": table}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def merged(before: dict[str, Json], failing_by: dict[str, list[str]]) -> dict[str, Json]:
    """The table anew, by name: without the mutants that are no more, and without those never played."""
    killed_by = {**{name: row["killed_by"] for name, row in before.items()}, **failing_by}
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
    options = parser.parse_args(arguments)
    serving = options.names[:1] == ["serve"]
    names = options.names[1:] if serving else options.names
    if serving and len(names) != 1:
        parser.error("serve takes the name of one mutant: python -m mutants serve NAME")
    for name in names:
        if name not in MUTANTS:
            parser.error(unknown(name))
    if serving:
        return serve(names[0])
    failing_by = report(names or list(MUTANTS), options.write)
    survivors = failing_by.pop("")
    if options.write:
        print(f"written: {write(failing_by).name}")
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
