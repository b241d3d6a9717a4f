"""The command `run`: pytest as the engine, apart from whatever pytest settings lie around, then the summary.

Flows in: a `Suite` and pytest arguments (`-k`, `-x`, `--lf`, `--junitxml`). Flows out: text, a JSON report on request,
and the exit code: 0 conformant (or deviating only as known), 1 not, 2 usage or empty selection, 3 the adapter did not
start, 4 a bug of the suite.
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
from typing import Any

import pytest

from . import __version__, locate, report
from .match import Divergence
from .pattern import NOTHING
from .plugin import Suite
from .updating import update
from .verdict import Conclusion, Result
from .words import PROTOCOL, REVISION, Json

CONFORMANT, NOT_CONFORMANT, USAGE, NO_ADAPTER, SUITE_BUG, INTERRUPTED = 0, 1, 2, 3, 4, 130
FOREIGN = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG")


def run(suite: Suite, arguments: list[str], json_file: Path | None = None) -> int:
    """Plays the suite's items and prints what came of them; the exit code."""
    began = time.monotonic()
    with _apart():
        ended = pytest.main([*_own(suite.settings.command), *arguments], plugins=[suite])
    conclusion = Conclusion(suite.results, suite.spec)
    code = _exit_code(suite, conclusion, int(ended))
    if suite.hello and suite.results:
        failures = report.failures(conclusion, mutants())
        _print([*failures, ""] if failures else [])
        print(f"{who(suite)} · {_command(suite)} · protocol {PROTOCOL}, {REVISION} · seed {suite.settings.seed}"
              f" · {time.monotonic() - began:.1f} s")  # fmt: skip
        _print(report.summary(conclusion, who(suite), suite.known, suite.missing))
        if json_file:
            json_file.write_text(
                json.dumps(as_json(suite, conclusion, code), indent=2, ensure_ascii=False) + "\n", "utf-8"
            )
    if suite.settings.update and suite.results:
        _print(update(suite.known, suite.scenarios, suite.updates))
    if ended != pytest.ExitCode.USAGE_ERROR:
        _explain(suite, code)
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


def _exit_code(suite: Suite, conclusion: Conclusion, ended: int) -> int:
    if suite.did_not_start:
        return NO_ADAPTER
    if ended == pytest.ExitCode.INTERNAL_ERROR:
        return SUITE_BUG
    if ended == pytest.ExitCode.INTERRUPTED:
        return INTERRUPTED
    if not any(result.kind != "unsupported" for result in suite.results):
        return USAGE
    return conclusion.exit_code


def _explain(suite: Suite, code: int) -> None:
    """Why there is no verdict, where there is none."""
    if suite.misguided:
        print(f"the deviations file is wrong: {suite.misguided}", file=sys.stderr)
    elif suite.did_not_start:
        _print([str(suite.did_not_start), *suite.adapter.stderr_tail.splitlines()], sys.stderr)
    elif code == USAGE and suite.results:
        print("nothing was asked: every scenario selected needs a capability that is not declared", file=sys.stderr)
    elif code == USAGE:
        print("nothing is selected; `processor-conformance list` shows what there is", file=sys.stderr)
    elif code == INTERRUPTED:
        print(f"interrupted after {len(suite.results)} of {suite.selected} plays", file=sys.stderr)


def _print(lines: list[str], stream: Any = None) -> None:
    for line in lines:
        print(line, file=stream)


def who(suite: Suite) -> str:
    """Name and version of what was played on."""
    return f"{suite.hello.implementation} {suite.hello.version}".strip() if suite.hello else "the implementation"


def _command(suite: Suite) -> str:
    command = suite.settings.command
    return command if isinstance(command, str) else " ".join(command)


def mutants() -> report.Mutants | None:
    """What is known of the reference's mutants, where the suite has it."""
    path = locate.find_or_none("fixtures/mutants.json")
    return report.Mutants.parse(json.loads(path.read_text("utf-8"))) if path else None


def as_json(suite: Suite, conclusion: Conclusion, code: int) -> Json:
    """The report of a run, in the form of schemas/report.json."""
    return {
        "suite": __version__,
        "protocol": PROTOCOL,
        "revision": REVISION,
        "implementation": {"name": suite.hello.implementation, "version": suite.hello.version} if suite.hello else None,
        "command": _command(suite),
        "seed": suite.settings.seed,
        "exit": code,
        "documents": conclusion.documents_alone,
        "full": conclusion.in_full,
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
    return {name: value for name, value in fields.items() if value is not NOTHING}
