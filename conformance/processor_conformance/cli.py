"""The command `processor-conformance`: a thin front door.

Flows in: arguments. Flows out: text on stdout, what went wrong on stderr, and the exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import __version__, commands, exits
from .exits import Exit
from .faults import SuiteError
from .scenario import ScenarioError
from .spec import SpecError
from .words import MODES, REVISION, REVISIONS


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code = int(options.does(options))
        sys.stdout.flush()
        return code
    except commands.UsageError as error:
        print(f"processor-conformance: {error}", file=sys.stderr)
        return Exit.USAGE
    except ScenarioError as error:
        print(f"processor-conformance: {error}", file=sys.stderr)
        return Exit.SUITE_BUG
    except (SuiteError, SpecError, FileNotFoundError) as error:
        print(f"processor-conformance: a bug of the suite: {error}", file=sys.stderr)
        return Exit.SUITE_BUG
    except BrokenPipeError:  # who reads our output, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python says so when it ends
        return Exit.INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "processor-conformance",
        description="Plays scenarios on an implementation of the processor contract and says which rules it keeps.",
        epilog=exits.TEXT,
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (does, about, groups) in COMMANDS.items():
        command = subparsers.add_parser(
            name, help=about, description=about, epilog=exits.TEXT if name == "run" else None
        )
        for group in groups:
            group(command)
        command.set_defaults(does=does)
    return parser


def _selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="scenario, scenario[mode], rule or family (default: all)"
    )
    parser.add_argument("--mode", choices=MODES, help="only this mode")
    _scenarios(parser)


def _revision(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--revision", choices=REVISIONS, default=REVISION, help=f"of the contract (default: {REVISION})"
    )


def _scenarios(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scenarios", type=Path, metavar="DIR", help="scenarios of your own, in place of the suite's")


def _one_scenario(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario")
    _scenarios(parser)


def _one_rule(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="a rule, a family of rules, or a known mistake")


def _implementation(parser: argparse.ArgumentParser) -> None:
    impl = "what starts the adapter, or python:module:function for one in this process (default: the reference)"
    parser.add_argument(
        "--impl", default=[sys.executable, "-m", "processor_contract.adapter"], metavar="CMD", help=impl
    )
    parser.add_argument(
        "--timeout", type=float, default=10.0, metavar="S", help="seconds until silence counts as hanging"
    )
    parser.add_argument("--strict", action="store_true", help="check every message in full (needs jsonschema)")


def _running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-k", metavar="EXPR", help="only plays whose name, rule or mode fits: 'ORD and not stream'")
    parser.add_argument("-x", action="store_true", help="stop at the first failure")
    parser.add_argument("--lf", action="store_true", help="only what failed last time on this implementation")
    parser.add_argument("--seed", type=int, help="which names are played with (default: new ones; 0: as written)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a report as JSON")
    parser.add_argument("--junitxml", type=Path, metavar="FILE", help="write a report as JUnit XML")
    parser.add_argument("--deviations", default="", metavar="FILE|none", help="what it is known to break")
    parser.add_argument("--update-deviations", action="store_true", help="rewrite that file to what was found")


def _recording(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, metavar="DIR", help="where recordings lie (default: the suite's own)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a recording changes")


def _covering(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="bring what is generated in SPEC.md up to date")
    parser.add_argument("--unmapped", action="store_true", help="only list the documents' rows that no rule names")


COMMANDS: dict[
    str, tuple[Callable[[argparse.Namespace], int], str, list[Callable[[argparse.ArgumentParser], None]]]
] = {
    "run": (
        commands.run_command,
        "play scenarios on an implementation and judge it",
        [_selection, _revision, _implementation, _running],
    ),
    "list": (commands.list_command, "the scenarios: modes and title", [_selection, _revision]),
    "show": (commands.show_command, "a scenario as a readable timeline", [_one_scenario]),
    "explain": (commands.explain_command, "a rule: what holds, what for, on whose word, what shows it", [_one_rule]),
    "record": (commands.record_command, "keep what an implementation does", [_selection, _implementation, _recording]),
    "coverage": (commands.coverage_command, "what is shown of each rule; exit 1 on a hole", [_covering]),
    "lint": (commands.lint_command, "check the scenarios themselves (needs jsonschema)", [_scenarios]),
}
