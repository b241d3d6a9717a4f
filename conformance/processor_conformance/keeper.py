"""Keeps the deviations file during a run: which there is, whether it is right, and what the run changes in it.

Flows in: the file that was asked for and the implementation's name, then results. Flows out: the deviations to judge
by, and with `--update-deviations` the file rewritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import deviations, locate
from .deviations import DeviationError, Deviations
from .proposals import propose
from .scenario import Scenario
from .trace import Trace
from .updating import Updates, update
from .verdict import Result
from .words import MODES


class Keeper:
    """The deviations of one run. `file` is a path, `none`, or empty: the suite's own by the implementation's name."""

    def __init__(self, scenarios: Sequence[Scenario], file: str = "", *, updating: bool = False) -> None:
        self.known = Deviations()
        self.misguided: DeviationError | None = None
        self.updating = updating
        self._scenarios = scenarios
        self._file = file
        self._updates = Updates()

    def load(self, implementation: str) -> bool:
        """Loads the file; says whether it can be judged by. For an update, what it takes out need not be right."""
        try:
            self.known = self._load(implementation)
            if not self.updating:
                self.known.check(self._scenarios)
        except DeviationError as error:
            self.misguided = error
            return False
        if self.updating:
            usable = self.known.usable(self._scenarios)
            broken = [entry for entry in self.known.entries if entry not in usable.entries]
            self._updates.stale += [(entry, mode) for entry in broken for mode in MODES]
            self.known = usable
        return True

    def note(self, result: Result, trace: Trace) -> None:
        """What this result changes in the file."""
        if self.updating and result.kind == "fail":
            self._updates.add(propose(result.item, trace, result.entries), result.entries)
        elif self.updating and result.kind == "stale":
            self._updates.stale += [(entry, result.item.mode) for entry in result.entries]

    def update(self) -> list[str]:
        """Rewrites the file; says what was done."""
        return update(self.known, self._scenarios, self._updates)

    def _load(self, implementation: str) -> Deviations:
        if self._file == "none":
            return Deviations()
        own = locate.find("fixtures") / "deviations" / f"{implementation}.toml"
        if self.updating and not self._file and locate.PACKAGE in own.parents:
            raise DeviationError(f"an update needs a file of your own: --deviations {own.name}")
        path = Path(self._file) if self._file else own
        if not path.exists() and (self.updating or not self._file):
            return Deviations(path)
        return deviations.load(path)
