"""The command `processor-conformance`: a thin front door.

Flows in: arguments. Flows out: text on stdout, what went wrong on stderr, and the exit code.
"""

from __future__ import annotations

import argparse
import difflib
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from . import __version__, explain, lint, scenario, spec
from .connection import REVISION
from .faults import SuiteError
from .plugin import Settings, Suite, selection
from .run import SUITE_BUG, USAGE, mutants, run
from .scenario import MODES, Item, Scenario, ScenarioError

EXIT_CODES = (
    "exit codes: 0 conformant (or deviating only as known), 1 not conformant, 2 usage or nothing selected, "
    "3 the adapter did not start, 4 a bug of the suite"
)


class UsageError(Exception):
    """The command was asked for something that is not there."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.does(options))
    except UsageError as error:
        print(f"processor-conformance: {error}", file=sys.stderr)
        return USAGE
    except (SuiteError, ScenarioError, spec.SpecError, FileNotFoundError) as error:
        print(f"processor-conformance: a bug of the suite: {error}", file=sys.stderr)
        return SUITE_BUG


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("processor-conformance", description=__doc__.split("\n")[0], epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _run_command(commands.add_parser("run", help="play scenarios on an implementation and judge it", epilog=EXIT_CODES))
    listing = commands.add_parser("list", help="the scenarios: rule, modes, title")
    _selecting(listing)
    listing.set_defaults(does=_list)
    showing = commands.add_parser("show", help="a scenario as a readable timeline")
    showing.add_argument("scenario")
    showing.add_argument("--scenarios", type=Path, metavar="DIR", help="scenarios of your own, in place of the suite's")
    showing.set_defaults(does=_show)
    explaining = commands.add_parser("explain", help="a rule: what holds, why, on whose word, what shows it")
    explaining.add_argument("rule")
    explaining.set_defaults(does=_explain)
    linting = commands.add_parser("lint", help="check scenarios, before they check anything else (needs jsonschema)")
    linting.add_argument("--scenarios", type=Path, metavar="DIR", help="scenarios of your own, in place of the suite's")
    linting.set_defaults(does=_lint)
    return parser


def _selecting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="scenario, play (scenario[mode]), rule or family; default: all"
    )
    parser.add_argument("--mode", choices=MODES, help="only this mode")
    parser.add_argument("--scenarios", type=Path, metavar="DIR", help="scenarios of your own, in place of the suite's")


def _playing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--impl", default=[sys.executable, "-m", "processor_contract.adapter"], metavar="CMD",
                        help="command that starts the adapter; python:module:function runs one in this process "
                        "(default: the reference)")  # fmt: skip
    parser.add_argument(
        "--timeout", type=float, default=10.0, metavar="S", help="seconds until a silent adapter counts as hung"
    )
    parser.add_argument(
        "--strict", action="store_true", help="check every message in full against the protocol's schema"
    )


def _run_command(parser: argparse.ArgumentParser) -> None:
    _selecting(parser)
    _playing(parser)
    parser.add_argument(
        "-k", metavar="EXPR", help="only plays whose name, rule or mode fits, as in pytest: 'ORD and not stream'"
    )
    parser.add_argument("-x", action="store_true", help="stop at the first failure")
    parser.add_argument("--lf", action="store_true", help="only what failed last time on this implementation")
    parser.add_argument(
        "--seed", type=int, help="the seed of the names that are played with (default: a new one; 0: as written)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON")
    parser.add_argument("--junitxml", type=Path, metavar="FILE", help="write the report as JUnit XML")
    parser.add_argument(
        "--deviations", default="", metavar="FILE|none", help="what the implementation is known to break"
    )
    parser.add_argument("--update-deviations", action="store_true", help="rewrite that file to what was found")
    parser.set_defaults(does=_run)


def _run(options: argparse.Namespace) -> int:
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
    return run(suite, arguments, options.json)


def _list(options: argparse.Namespace) -> int:
    items = chosen(scenario.load_all(options.scenarios), options.names, options.mode)
    modes: dict[str, list[str]] = {}
    for item in items:
        modes.setdefault(item.scenario.id, []).append(item.mode)
    width = max(map(len, modes), default=0)
    for one in dict.fromkeys(item.scenario.id for item in items):
        played = next(item.scenario for item in items if item.scenario.id == one)
        print(f"{one:<{width}}  {'+'.join(modes[one]):<15}  {played.title}")
    return 0


def _show(options: argparse.Namespace) -> int:
    known = {one.id: one for one in scenario.load_all(options.scenarios)}
    name = options.scenario.partition("[")[0]
    if name not in known:
        raise UsageError(_unknown(name, set(known), None))
    print("\n".join(explain.show(known[name], spec.load())))
    return 0


def _explain(options: argparse.Namespace) -> int:
    rules = spec.load()
    rule = options.rule.upper()
    if rule not in rules:
        raise UsageError(_unknown(rule, set(rules), None))
    print("\n".join(explain.explain(rules[rule], scenario.load_all(), mutants())))
    return 0


def _lint(options: argparse.Namespace) -> int:
    scenarios = scenario.load_all(options.scenarios)
    problems = lint.lint(scenarios, spec.load())
    print("\n".join(problems) if problems else f"{len(scenarios)} scenarios, nothing to say against them")
    return 1 if problems else 0


def chosen(scenarios: Sequence[Scenario], names: Sequence[str], mode: str | None) -> list[Item]:
    """The items that the names mean, all without any; raises UsageError for a name that means none."""
    items = selection(scenarios, REVISION, mode)
    meant = {name: [item for item in items if name in _names(item)] for name in names}
    for name, found in meant.items():
        if not found:
            known = {word for one in selection(scenarios, REVISION, None) for word in _names(one)}
            raise UsageError(_unknown(name, known, mode))
    wanted = {item.id for found in meant.values() for item in found}
    return [item for item in items if item.id in wanted or not names]


def _names(item: Item) -> set[str]:
    own = item.scenario
    return {own.id, item.id, own.family, *own.rules, spec.family(own.rule)}


def _unknown(name: str, known: set[str], mode: str | None) -> str:
    if name in known:
        return f"{name} is not played in mode {mode}"
    near = difflib.get_close_matches(name, sorted(known), 3, 0.5)
    return f"there is no scenario, rule or family {name!r}" + (f"; did you mean {', '.join(near)}?" if near else "")
