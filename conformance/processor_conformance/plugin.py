"""The pytest plugin: scenarios as test items, played on one adapter.

Flows in: `Settings` and the scenarios to play. Flows out: a `Result` for each item, and what pytest makes of it (`-x`,
`-k`, `--lf`, JUnit files). It collects nothing unless it is registered by hand, as the command does, and nothing but
its own items then.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from . import deviations, locate, player
from .connection import Adapter, Hello
from .deviations import DeviationError, Deviations
from .faults import AdapterDidNotStart, AdapterFault, SuiteError
from .proposals import propose
from .report import failure
from .scenario import Item, Scenario
from .spec import Rule
from .trace import Trace
from .updating import Updates
from .verdict import Result, fails, judge
from .words import MODES

STARTS = 3  # so many starts that fail in a row end the run


@dataclass(slots=True)
class Settings:
    """What to play on, and how. `known` is a deviations file, `none`, or empty: that of the implementation's name."""

    command: str | list[str]
    timeout: float = 10.0
    strict: bool = False
    seed: int = 0
    known: str = ""
    update: bool = False


class Unkept(Exception):
    """A result that makes the run fail."""


@dataclass(slots=True)
class Suite:
    """The plugin, and afterwards all that the run found."""

    settings: Settings
    items: Sequence[Item]
    scenarios: Sequence[Scenario]
    spec: dict[str, Rule]
    results: list[Result] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    known: Deviations = field(default_factory=Deviations)
    updates: Updates = field(default_factory=Updates)
    hello: Hello | None = None
    did_not_start: AdapterDidNotStart | None = None
    misguided: DeviationError | None = None
    selected: int = 0
    adapter: Adapter = field(init=False)
    _unstarted: int = 0

    def __post_init__(self) -> None:
        self.adapter = Adapter(self.settings.command, timeout=self.settings.timeout, strict=self.settings.strict)

    def __hash__(self) -> int:
        return id(self)  # pytest keeps plugins in a set

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Our items and no others, whatever files lie about."""
        items: list[pytest.Item] = [ScenarioItem.of(session, self, item) for item in self.items]
        session.config.hook.pytest_collection_modifyitems(session=session, config=session.config, items=items)
        session.items, session.testscollected = items, len(items)
        session.config.hook.pytest_collection_finish(session=session)
        self.selected = len(items)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Starts the adapter; without one there is nothing to play."""
        if not session.items:
            return True
        try:
            self.hello = self.adapter.start()
        except AdapterDidNotStart as fault:
            self.did_not_start = fault
            return True
        try:
            self._know(self.hello.implementation)
        except DeviationError as error:
            self.misguided = error
            return True
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        _progress("")
        self.adapter.close()

    def _know(self, implementation: str) -> None:
        """Loads the deviations; those that an update will take out anyway need not be right."""
        self.known = known_deviations(self.settings, implementation)
        if not self.settings.update:
            return self.known.check(self.scenarios)
        usable = self.known.usable(self.scenarios)
        broken = [entry for entry in self.known.entries if entry not in usable.entries]
        self.updates.stale += [(entry, mode) for entry in broken for mode in MODES]
        self.known = usable

    def play(self, item: Item) -> Result:
        """Plays one item and judges it; a fault of the adapter is a verdict, and costs it its process."""
        began = time.monotonic()
        _progress(f"{len(self.results) + 1}/{self.selected} {item.id}")
        result = self._verdict(item)
        result.seconds = time.monotonic() - began
        self.results.append(result)
        return result

    def _verdict(self, item: Item) -> Result:
        try:
            hello = self.adapter.start()
            self._unstarted = 0
            undeclared = item.scenario.capabilities(item.mode) - hello.capabilities
            if undeclared:
                self.missing |= undeclared
                return Result(item, "unsupported", message=f"needs {', '.join(sorted(undeclared))}")
            trace = player.play(self.adapter, item, seed=self.settings.seed, timeout=self.settings.timeout)
            result = judge(item, trace, self.known.of(item))
            if self.settings.update:
                self._note(result, trace)
            return result
        except AdapterDidNotStart as fault:
            self._unstarted += 1
            self.did_not_start = fault if self._unstarted >= STARTS else None
            return self._fault(item, fault)
        except AdapterFault as fault:
            return self._fault(item, fault)
        except SuiteError as error:
            return Result(item, "suite-error", message=str(error))
        except Exception:
            return Result(item, "suite-error", message=traceback.format_exc())

    def _note(self, result: Result, trace: Trace) -> None:
        """What this result changes in the deviations file."""
        if result.kind == "fail":
            self.updates.new.append(propose(result.item, trace, result.entries))
        elif result.kind == "stale":
            self.updates.stale += [(entry, result.item.mode) for entry in result.entries]

    def _fault(self, item: Item, fault: AdapterFault) -> Result:
        self.adapter.close()
        seen = f"; seen: {fault.seen}" if fault.seen else ""
        return Result(
            item, "adapter-fault", message=f"{fault.kind}: {fault.message}{seen}", stderr=self.adapter.stderr_tail
        )


class ScenarioItem(pytest.Item):
    """One scenario in one mode, as pytest sees it."""

    suite: Suite
    played: Item

    @classmethod
    def of(cls, session: pytest.Session, suite: Suite, item: Item) -> ScenarioItem:
        node: ScenarioItem = cls.from_parent(session, name=item.id, nodeid=item.id)
        node.suite, node.played = suite, item
        node.extra_keyword_matches |= {item.mode, item.scenario.family, *item.scenario.rules}
        return node

    def runtest(self) -> None:
        result = self.suite.play(self.played)
        if self.suite.did_not_start:
            self.session.shouldstop = "the adapter does not start any more"
        if fails(result, self.suite.spec):
            raise Unkept("\n".join(failure(result, self.suite.spec)))
        if result.kind == "unsupported":
            pytest.skip(result.message)
        if result.kind != "pass":
            pytest.xfail(
                "; ".join(f"{entry.cause}: {entry.reason}" for entry in result.entries) or f"breaks {result.broken[0]}"
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return Path(self.played.scenario.id), None, self.played.id


def known_deviations(settings: Settings, implementation: str) -> Deviations:
    """The deviations file to judge by: the one named, none, or the suite's own for this implementation."""
    if settings.known == "none":
        return Deviations()
    own = locate.find("fixtures") / "deviations" / f"{implementation}.toml"
    if settings.update and not settings.known and locate.PACKAGE in own.parents:
        raise DeviationError(f"an update needs a file of your own: --deviations {own.name}")
    path = Path(settings.known) if settings.known else own
    if not path.exists() and (settings.update or not settings.known):
        return Deviations(path)
    return deviations.load(path)


def _progress(text: str) -> None:
    """One line that is overwritten, where a person watches; nothing elsewhere."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{text}", end="", flush=True)


def selection(scenarios: Iterable[Scenario], revision: str, mode: str | None) -> list[Item]:
    """The items of these scenarios that exist in the revision and, if one is named, the mode."""
    return [
        item
        for scenario in scenarios
        if revision in scenario.revisions
        for item in scenario.items
        if mode in (None, item.mode)
    ]
