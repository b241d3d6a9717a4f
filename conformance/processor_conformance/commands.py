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

from . import coverage as covering
from . import explain as explaining
from . import lint as linting
from . import locate, recording, scenario, spec
from .connection import Adapter
from .faults import AdapterDidNotStart, AdapterFault
from .plugin import Settings, Suite, selection
from .report import Mutants
from .run import CONFORMANT, NO_ADAPTER, NOT_CONFORMANT, mutants
from .run import run as play
from .scenario import Item, Scenario
from .words import REVISION


class UsageError(Exception):
    """The command was asked for something that is not there."""


def run(options: Namespace) -> int:
    _needs_jsonschema("--strict", options.strict)
    scenarios = scenario.load_all(options.scenarios)
    settings = Settings(
        options.impl,
        timeout=options.timeout,
        strict=options.strict,
        seed=random.randrange(1, 10**6) if options.seed is None else options.seed,
        known=options.deviations,
        update=options.update_deviations,
    )
    suite = Suite(settings, chosen(scenarios, options.names, options.mode), scenarios, spec.load())
    arguments = ["-k", options.k] if options.k else []
    arguments += ["-x"] if options.x else []
    arguments += ["--lf"] if options.lf else []
    arguments += [f"--junitxml={options.junitxml.resolve()}"] if options.junitxml else []
    return play(suite, arguments, options.json)


def list_(options: Namespace) -> int:
    items = chosen(scenario.load_all(options.scenarios), options.names, options.mode)
    width = max((len(item.scenario.id) for item in items), default=0)
    for one, group in itertools.groupby(items, key=lambda item: item.scenario):
        also = f" (also {', '.join(one.rules[1:])})" if one.rules[1:] else ""
        print(f"{one.id:<{width}}  {'+'.join(item.mode for item in group):<15}  {one.title}{also}")
    return CONFORMANT


def show(options: Namespace) -> int:
    known = {one.id: one for one in scenario.load_all(options.scenarios)}
    name = options.scenario.partition("[")[0]
    if name not in known:
        raise UsageError(unknown(name, set(known)))
    print("\n".join(explaining.show(known[name], spec.load())))
    return CONFORMANT


def explain(options: Namespace) -> int:
    rules = spec.load()
    rule = options.rule.upper()
    if rule not in rules:
        raise UsageError(unknown(rule, set(rules)))
    print("\n".join(explaining.explain(rules[rule], scenario.load_all(), mutants())))
    return CONFORMANT


def lint(options: Namespace) -> int:
    _needs_jsonschema("lint")
    scenarios = scenario.load_all(options.scenarios, check=False)
    problems = linting.lint(scenarios, spec.load())
    print("\n".join(problems) if problems else f"{len(scenarios)} scenarios, nothing to say against them")
    return NOT_CONFORMANT if problems else CONFORMANT


def record(options: Namespace) -> int:
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
        return NO_ADAPTER if isinstance(fault, AdapterDidNotStart) else NOT_CONFORMANT
    finally:
        adapter.close()
    print("\n".join(said))
    return NOT_CONFORMANT if options.check and changed else CONFORMANT


def coverage(options: Namespace) -> int:
    path = locate.find("SPEC.md")
    if options.write and locate.PACKAGE in path.parents:
        raise UsageError("the suite's own SPEC.md is not for writing here; work in a checkout")
    lines = covering.load_lines(locate.find("fixtures") / "recordings" / "reference")
    found = covering.Coverage(spec.load(path), scenario.load_all(), lines, mutants() or Mutants({}, {}))
    if options.write:
        path.write_text(covering.written(path.read_text("utf-8"), found), "utf-8")
    print("\n".join(covering.matrix(found)))
    holes = covering.holes(found)
    print("\n".join(["", *holes, "", f"{len(holes)} holes" if holes else "no hole in ORD, STA and PER"]))
    return NOT_CONFORMANT if holes else CONFORMANT


def _needs_jsonschema(what: str, wanted: bool = True) -> None:
    if wanted and importlib.util.find_spec("jsonschema") is None:
        raise UsageError(f"{what} needs the package jsonschema: pip install jsonschema")


def chosen(scenarios: Sequence[Scenario], names: Sequence[str], mode: str | None) -> list[Item]:
    """The items that the names mean, all without any; raises UsageError for a name that means none."""
    items = selection(scenarios, REVISION, mode)
    meant = {name: [item for item in items if name in _names(item)] for name in names}
    for name, found in meant.items():
        if not found:
            known = {word for one in selection(scenarios, REVISION, None) for word in _names(one)}
            raise UsageError(f"{name} is not played in mode {mode}" if name in known else unknown(name, known))
    wanted = {item.id for found in meant.values() for item in found}
    return [item for item in items if item.id in wanted or not names]


def _names(item: Item) -> set[str]:
    own = item.scenario
    return {own.id, item.id, own.family, *own.rules, spec.family(own.rule)}


def unknown(name: str, known: set[str]) -> str:
    """That a name means nothing, and which ones are near."""
    near = difflib.get_close_matches(name, sorted(known), 3, 0.5)
    return f"there is no scenario, rule or family {name!r}" + (f"; did you mean {', '.join(near)}?" if near else "")
