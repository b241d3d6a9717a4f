"""What each command does.

Flows in: parsed arguments. Flows out: text, files on request, and an exit code. `UsageError` says that something asked
for is not there, with the nearest names.
"""

from __future__ import annotations

import difflib
import importlib.util
import itertools
import random
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from . import appendix, coverage, explain, lint, locate, recording, scenario, spec
from .connection import Adapter
from .exits import Exit
from .faults import AdapterDidNotStart, AdapterFault
from .keeper import Keeper
from .plugin import Plugin
from .report import Mutants
from .running import mutants, run_suite
from .scenario import Item, Scenario
from .supervisor import Subject, Supervisor
from .words import REVISION


class UsageError(Exception):
    """The command was asked for something that is not there."""


def run_command(options: Namespace) -> int:
    _needs_jsonschema("--strict", options.strict)
    for path in (options.json, options.junitxml):
        _needs_folder(path)
    scenarios = scenario.load_all(options.scenarios)
    items = chosen(scenarios, options.names, options.mode, options.revision)
    keeper = Keeper(scenarios, options.deviations, updating=options.update_deviations)
    seed = random.randrange(1, 10**6) if options.seed is None else options.seed
    subject = Subject(options.impl, options.timeout, options.strict, seed, options.revision)
    arguments = ["-k", options.k] if options.k else []
    arguments += ["-x"] if options.x else []
    arguments += ["--lf"] if options.lf else []
    arguments += [f"--junitxml={options.junitxml.resolve()}"] if options.junitxml else []
    return run_suite(Plugin(items, Supervisor(subject, keeper), keeper, spec.load()), keeper, arguments, options.json)


def list_command(options: Namespace) -> int:
    items = chosen(scenario.load_all(options.scenarios), options.names, options.mode, options.revision)
    width = max((len(item.scenario.id) for item in items), default=0)
    for one, group in itertools.groupby(items, key=lambda item: item.scenario):
        also = f" (also {', '.join(one.rules[1:])})" if one.rules[1:] else ""
        print(f"{one.id:<{width}}  {'+'.join(item.mode for item in group):<15}  {one.title}{also}")
    return Exit.CONFORMANT


def show_command(options: Namespace) -> int:
    known = {one.id: one for one in scenario.load_all(options.scenarios)}
    name = options.scenario.partition("[")[0]
    if name not in known and name.upper() in spec.load():
        print("\n".join(explain.scenarios_of(name.upper(), list(known.values()))))
        return Exit.CONFORMANT
    if name not in known:
        raise UsageError(unknown(name, set(known)))
    print("\n".join(explain.show(known[name], spec.load())))
    return Exit.CONFORMANT


def explain_command(options: Namespace) -> int:
    rules = spec.load()
    known = mutants() or Mutants({}, {})
    name, mistake = options.name.upper(), options.name.lower()
    if name in spec.FAMILIES:
        lines = explain.family(name, rules)
    elif mistake in known.rules:
        lines = explain.mistake(mistake, known, rules)
    elif name in rules:
        lines = explain.explain(rules[name], scenario.load_all(), known)
    else:
        raise UsageError(unknown(options.name, {*rules, *spec.FAMILIES, *known.rules}, "rule, family or mistake"))
    print("\n".join(lines))
    return Exit.CONFORMANT


def lint_command(options: Namespace) -> int:
    _needs_jsonschema("lint")
    scenarios = scenario.load_all(options.scenarios, check=False)
    problems = lint.lint(scenarios, spec.load())
    print("\n".join(problems) if problems else f"{len(scenarios)} scenarios, nothing to say against them")
    return Exit.NOT_CONFORMANT if problems else Exit.CONFORMANT


def record_command(options: Namespace) -> int:
    _needs_jsonschema("--strict", options.strict)
    items = chosen(scenario.load_all(options.scenarios), options.names, options.mode)
    folder = options.out or locate.find("fixtures") / "recordings"
    if not options.check and locate.PACKAGE in folder.parents:
        raise UsageError("the suite's own recordings are not for writing here; say where: --out DIR")
    whole = not (options.names or options.mode or options.scenarios)
    adapter = Adapter(options.impl, timeout=options.timeout, strict=options.strict)
    try:
        said, changed = recording.keep(
            adapter, items, folder, timeout=options.timeout, check=options.check, whole=whole
        )
    except AdapterFault as fault:
        print(f"{fault.kind}: {fault.message}\n{adapter.stderr_tail}", file=sys.stderr)
        return Exit.NO_ADAPTER if isinstance(fault, AdapterDidNotStart) else Exit.NOT_CONFORMANT
    finally:
        adapter.close()
    print("\n".join(said))
    return Exit.NOT_CONFORMANT if options.check and changed else Exit.CONFORMANT


def coverage_command(options: Namespace) -> int:
    path = locate.find("SPEC.md")
    if options.write and locate.PACKAGE in path.parents:
        raise UsageError("the suite's own SPEC.md is not for writing here; work in a checkout")
    lines = coverage.load_lines(locate.find("fixtures") / "recordings" / "reference")
    known = mutants()
    if options.write and known is None:
        raise UsageError(
            "fixtures/mutants.json is not there, and every 'Broken by' would go; do make mutants ARGS=--write"
        )
    found = coverage.Coverage(spec.load(path), scenario.load_all(), lines, known or Mutants({}, {}))
    text = path.read_text("utf-8")
    if options.unmapped:
        return _unmapped(text, found)
    today = coverage.written(text, found)
    if options.write:
        path.write_text(today, "utf-8")
    print("\n".join(coverage.matrix(found)))
    holes = [*coverage.holes(found), *appendix.faults(text, list(found.rules.values()))]
    if today != text and not options.write:
        holes.append("SPEC.md: its generated parts are not those of today; do coverage --write")
    print("\n".join(["", *holes, "", f"{len(holes)} holes" if holes else "no hole"]))
    return Exit.NOT_CONFORMANT if holes else Exit.CONFORMANT


def _unmapped(text: str, found: coverage.Coverage) -> int:
    """Says which rows of the documents and decisions have neither a rule nor a reason for having none."""
    left = appendix.unmapped(text, found.rules.values())
    for kind, rows in left.items():
        print(f"{kind} ({len(rows)} of {len(appendix.KINDS[kind])}): {', '.join(rows) or 'none left over'}")
    return Exit.NOT_CONFORMANT if any(left.values()) else Exit.CONFORMANT


def _needs_jsonschema(what: str, wanted: bool = True) -> None:
    if wanted and importlib.util.find_spec("jsonschema") is None:
        raise UsageError(f"{what} needs the package jsonschema: pip install jsonschema")


def _needs_folder(path: Path | None) -> None:
    """A report that cannot be written is no news for the end of a run."""
    if path is not None and (path.is_dir() or not path.resolve().parent.is_dir()):
        raise UsageError(f"{path} cannot be written: name a file in a folder that is there")


def chosen(
    scenarios: Sequence[Scenario], names: Sequence[str], mode: str | None, revision: str = REVISION
) -> list[Item]:
    """The items that the names mean, all without any; raises UsageError for a name that means none."""
    items = scenario.selected(scenarios, revision, mode)
    meant = {name: [item for item in items if name in _names(item)] for name in names}
    for name, found in meant.items():
        if not found:
            raise UsageError(_not_meant(name, scenarios, mode, revision))
    wanted = {item.id for found in meant.values() for item in found}
    return [item for item in items if item.id in wanted or not names]


def _not_meant(name: str, scenarios: Sequence[Scenario], mode: str | None, revision: str) -> str:
    known = {word for one in scenario.selected(scenarios, revision) for word in _names(one)}
    if name in known:
        return f"{name} is not played in mode {mode}"
    if any(name in _names(item) for one in scenarios for item in one.items):
        return f"{name} is not for the revision {revision}"
    return unknown(name, known)


def _names(item: Item) -> set[str]:
    own = item.scenario
    return {own.id, item.id, own.family, *own.rules, spec.family(own.rule)}


def unknown(name: str, known: set[str], kinds: str = "scenario, rule or family") -> str:
    """That a name means nothing, and which ones are near."""
    near = difflib.get_close_matches(name, sorted(known), 3, 0.5)
    return f"there is no {kinds} {name!r}" + (f"; did you mean {', '.join(near)}?" if near else "")
