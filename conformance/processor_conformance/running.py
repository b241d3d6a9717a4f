"""The command `run`: pytest as the engine, apart from whatever pytest settings lie around, then the summary.

Flows in: the plugin, the deviations' keeper, and pytest arguments (`-k`, `-x`, `--lf`, `--junitxml`). Flows out: text,
a JSON report on request, and the exit code.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from . import __version__, locate, report
from .exits import Exit
from .keeper import Keeper
from .match import Divergence
from .pattern import NOTHING
from .plugin import Plugin
from .supervisor import Subject, Supervisor
from .verdict import Conclusion, Result
from .words import PROTOCOL, Json

FOREIGN = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG")


def run_suite(plugin: Plugin, keeper: Keeper, arguments: list[str], json_file: Path | None = None) -> Exit:
    """Plays the plugin's items and prints what came of them; the exit code."""
    began = time.monotonic()
    supervisor = plugin.supervisor
    with _apart():
        ended = int(pytest.main([*_own(supervisor.subject.command), *arguments], plugins=[plugin]))
    conclusion = Conclusion(supervisor.results, plugin.spec, frozenset(supervisor.lacks), supervisor.subject.revision)
    code = _exit_code(plugin, keeper, conclusion, ended)
    if json_file and plugin.selected:
        said = json.dumps(as_json(plugin, conclusion, code), indent=2, ensure_ascii=False)
        json_file.write_text(said + "\n", "utf-8", "backslashreplace")  # an implementation may say half a character
    if supervisor.hello and supervisor.results:
        failures = report.failures(conclusion, mutants())
        _print([*failures, ""] if failures else [])
        _print([_stopped(plugin), ""] if supervisor.gave_up else [])
        print(f"{_heading(supervisor)} · {time.monotonic() - began:.1f} s")
        _print(report.summary(conclusion, _who(supervisor), keeper.known, supervisor.missing))
    if keeper.updating and supervisor.results:
        _print(keeper.update())
    if ended != pytest.ExitCode.USAGE_ERROR:
        _explain(plugin, keeper, code)
    return code


def _own(command: str | list[str]) -> list[str]:
    """Our own settings in place of anybody's, nothing written where we stand, and a terminal that is ours."""
    cache = _cache_folder() / hashlib.sha256(str(command).encode()).hexdigest()[:16]
    ours = ["-c", str(locate.PACKAGE / "suite.ini"), "--rootdir", str(locate.PACKAGE), "-o", f"cache_dir={cache}"]
    off = [f"-pno:{plugin}" for plugin in ("terminal", "logging", "warnings", "doctest")]
    return [*ours, "--noconftest", "--capture=no", *off]


def _cache_folder() -> Path:
    """Where --lf remembers what failed: the user's cache, never the folder we are called in."""
    base = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "processor-conformance"


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """Runs without the plugins and options that somebody's environment would add."""
    before = {name: os.environ.pop(name, None) for name in (*FOREIGN, "PYTEST_DISABLE_PLUGIN_AUTOLOAD")}
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a cache that cannot be written is no news
            yield
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        os.environ.update({name: value for name, value in before.items() if value is not None})


def _exit_code(plugin: Plugin, keeper: Keeper, conclusion: Conclusion, ended: int) -> Exit:
    if plugin.supervisor.did_not_start:
        return Exit.NO_ADAPTER
    if ended == pytest.ExitCode.INTERNAL_ERROR:
        return Exit.SUITE_BUG
    if ended == pytest.ExitCode.INTERRUPTED:
        return Exit.INTERRUPTED
    if keeper.misguided or all(result.kind == "unsupported" for result in conclusion.results):
        return Exit.USAGE
    return conclusion.exit_code


def _explain(plugin: Plugin, keeper: Keeper, code: Exit) -> None:
    """Why there is no verdict, where there is none."""
    supervisor = plugin.supervisor
    if keeper.misguided:
        print(f"the deviations file is wrong: {keeper.misguided}", file=sys.stderr)
    elif supervisor.did_not_start:
        _print([str(supervisor.did_not_start), *supervisor.adapter.stderr_tail.splitlines()], sys.stderr)
    elif code == Exit.USAGE and supervisor.results:
        print("nothing was asked: every scenario selected needs what is not declared", file=sys.stderr)
    elif code == Exit.USAGE:
        print("nothing is selected; `processor-conformance list` shows what there is", file=sys.stderr)
    elif code == Exit.INTERRUPTED:
        print(f"interrupted after {len(supervisor.results)} of {plugin.selected} plays", file=sys.stderr)


def _stopped(plugin: Plugin) -> str:
    left, hung = plugin.selected - len(plugin.supervisor.results), plugin.supervisor.hung
    return f"stopped after {hung} plays in a row that hung; {left} of {plugin.selected} plays not played"


def _print(lines: list[str], stream: TextIO | None = None) -> None:
    for line in lines:
        print(line, file=stream)


def _heading(supervisor: Supervisor) -> str:
    subject = supervisor.subject
    words = f"protocol {PROTOCOL}, {subject.revision} · seed {subject.seed}"
    return f"{_who(supervisor)} · {_command(subject)} · {words}"


def _who(supervisor: Supervisor) -> str:
    """Name and version of what was played on."""
    hello = supervisor.hello
    return f"{hello.implementation} {hello.version}".strip() if hello else "the implementation"


def _command(subject: Subject) -> str:
    return subject.command if isinstance(subject.command, str) else " ".join(subject.command)


def mutants() -> report.Mutants | None:
    """What is known of the reference's mutants, where the suite has it."""
    path = locate.find_or_none("fixtures/mutants.json")
    return report.Mutants.parse(json.loads(path.read_text("utf-8"))) if path else None


def as_json(plugin: Plugin, conclusion: Conclusion, code: Exit) -> Json:
    """The report of a run, in the form of schemas/report.json."""
    supervisor = plugin.supervisor
    subject, hello = supervisor.subject, supervisor.hello
    return {
        "suite": __version__,
        "protocol": PROTOCOL,
        "revision": subject.revision,
        "implementation": {"name": hello.implementation, "version": hello.version} if hello else None,
        "command": _command(subject),
        "seed": subject.seed,
        "exit": int(code),
        "message": str(supervisor.did_not_start or (_stopped(plugin) if supervisor.gave_up else "")),
        "documents": conclusion.documents_alone,
        "full": conclusion.in_full,
        "lacks": sorted(conclusion.lacks),
        "rules": {
            rule: {"standing": standing, **_source(conclusion, rule)}
            for rule, standing in sorted(conclusion.standings.items())
        },
        "results": [_result(result) for result in conclusion.results],
    }


def _source(conclusion: Conclusion, rule: str) -> dict[str, Json]:
    known = conclusion.spec.get(rule)
    return {"level": known.level, "sources": list(known.sources)} if known else {}


def _result(result: Result) -> dict[str, Json]:
    found = {
        "item": result.item.id,
        "rule": result.item.scenario.rule,
        "verdict": result.kind,
        "broken": list(result.broken),
        "deviations": [entry.cause for entry in result.entries],
        "message": result.message,
        "seconds": round(result.seconds, 4),
    }
    return {**found, **({"divergence": _divergence(result.divergence)} if result.divergence else {})}


def _divergence(found: Divergence) -> dict[str, Json]:
    """Its fields, without those where there is nothing."""
    fields = {name: getattr(found, name) for name in Divergence.__slots__}
    return {name: value for name, value in fields.items() if value is not NOTHING and value is not None}
