"""The pytest plugin: scenarios as test items.

Flows in: the items to play, and the supervisor that plays and judges them. Flows out: what pytest makes of the verdicts
(`-x`, `-k`, `--lf`, JUnit files). It collects nothing unless it is registered by hand, as the command does, and nothing
but its own items then.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from .keeper import Keeper
from .report import failure
from .scenario import Item
from .spec import Rule
from .supervisor import Supervisor
from .verdict import fails

NEWS = 200  # characters of a fault that are said as it happens


class Unkept(Exception):
    """A result that makes the run fail."""


class Plugin:
    """What pytest calls."""

    def __init__(self, items: Sequence[Item], supervisor: Supervisor, keeper: Keeper, spec: dict[str, Rule]) -> None:
        self.supervisor = supervisor
        self.spec = spec
        self.selected = 0
        self._items = items
        self._keeper = keeper

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Our items and no others, whatever files lie about."""
        items: list[pytest.Item] = [ScenarioItem.of(session, self, item) for item in self._items]
        session.config.hook.pytest_collection_modifyitems(session=session, config=session.config, items=items)
        played = {item.nodeid for item in items}
        if played and session.config.getoption("lf") and not _remembered(session.config) & played:
            print("--lf: no failure of these is remembered of this implementation; all are played", file=sys.stderr)
        session.items, session.testscollected = items, len(items)
        session.config.hook.pytest_collection_finish(session=session)
        self.selected = len(items)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Starts the adapter; without one, or with a wrong deviations file, there is nothing to play."""
        hello = self.supervisor.start() if session.items else None
        return None if hello and self._keeper.load(hello.implementation) else True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        progress("")
        self.supervisor.close()


class ScenarioItem(pytest.Item):
    """One scenario in one mode, as pytest sees it."""

    plugin: Plugin
    played: Item

    @classmethod
    def of(cls, session: pytest.Session, plugin: Plugin, item: Item) -> ScenarioItem:
        node: ScenarioItem = cls.from_parent(session, name=item.id, nodeid=item.id)
        node.plugin, node.played = plugin, item
        node.extra_keyword_matches |= {item.mode, item.scenario.family, *item.scenario.rules}
        return node

    def runtest(self) -> None:
        supervisor, spec = self.plugin.supervisor, self.plugin.spec
        progress(f"{len(supervisor.results) + 1}/{self.plugin.selected} {self.name}")
        result = supervisor.verdict(self.played)
        if result.kind == "adapter-fault":  # said at once, for somebody who waits
            progress("")
            print(f"{self.name}: adapter fault, {' '.join(result.message.split())[:NEWS]}", file=sys.stderr, flush=True)
        if supervisor.did_not_start:
            self.session.shouldstop = "the adapter does not start any more"
        if supervisor.gave_up:
            self.session.shouldfail = "it only hangs"
        if fails(result, spec):
            raise Unkept("\n".join(failure(result, spec)))
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


def _remembered(config: pytest.Config) -> set[str]:
    return set(config.cache.get("cache/lastfailed", {})) if config.cache else set()


def progress(text: str) -> None:
    """One line that is overwritten, where a person watches; nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
