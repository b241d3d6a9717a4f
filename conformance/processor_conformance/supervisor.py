"""Plays item after item on one adapter, and judges each.

Flows in: what to play on, and the deviations that are known. Flows out: a `Result` for each item, what the adapter
said of itself, and why there was none. A fault costs the adapter its process, and the next play gets a new one; an
adapter that only hangs is given up.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass

from . import player
from .connection import Adapter, Hello
from .faults import AdapterDidNotStart, AdapterFault, SuiteError, excerpt
from .keeper import Keeper
from .scenario import Item
from .trace import Trace
from .verdict import Result, judge
from .words import REVISION

STARTS = 3  # so many starts that fail in a row end the run
HANGS = 5  # and so many plays in a row that hang
ENDLESS = 3.0  # seconds until a run that is known not to end has not


@dataclass(frozen=True, slots=True)
class Subject:
    """What is played on, and how: what starts it, the revision asked of it, the seed of the names."""

    command: str | list[str]
    timeout: float = 10.0
    strict: bool = False
    seed: int = 0
    revision: str = REVISION


class Supervisor:
    """The adapter's life during a run, and the verdicts."""

    def __init__(self, subject: Subject, keeper: Keeper) -> None:
        self.subject = subject
        self.results: list[Result] = []
        self.missing: set[str] = set()  # capabilities that items needed and the adapter has not declared
        self.lacks: set[str] = set()  # hooks that items needed and the implementation has not: the verdict is partial
        self.hello: Hello | None = None
        self.did_not_start: AdapterDidNotStart | None = None
        self.adapter = Adapter(
            subject.command, timeout=subject.timeout, strict=subject.strict, revision=subject.revision
        )
        self._keeper = keeper
        self._traces: dict[int, tuple[int, Trace]] = {}  # by identity: the place of its result, the trace
        self._failed_starts = 0
        self.hung = 0  # plays in a row

    @property
    def gave_up(self) -> bool:
        """Whether so many plays in a row hung that the others would only take time."""
        return self.hung >= HANGS

    def start(self) -> Hello | None:
        """Starts the adapter; None where it does not."""
        try:
            self.hello = self.adapter.start()
        except AdapterDidNotStart as fault:
            self.did_not_start = fault
        return self.hello

    def close(self) -> None:
        """Ends the adapter; what it still said on its way is judged too."""
        self.adapter.close()
        self._look_back()

    def verdict(self, item: Item) -> Result:
        """Plays one item and judges it."""
        self._look_back()
        began = time.monotonic()
        before, self.hung = self.hung, 0
        result = self._verdict(item)
        if result.kind == "unsupported" or self.hung:  # one that is not played says nothing of hanging
            self.hung += before
        result.seconds = time.monotonic() - began
        self.results.append(result)
        return result

    def _verdict(self, item: Item) -> Result:
        try:
            hello = self.adapter.start()
            self._failed_starts = 0
            undeclared, lacking = hello.undeclared(item), hello.lacking(item)
            self.missing |= undeclared
            self.lacks |= lacking
            if undeclared or lacking:
                return Result(item, "unsupported", message=f"needs {', '.join(sorted(undeclared | lacking))}")
            trace = self._played(item)
            self._traces[id(trace)] = len(self.results), trace
            return self._judged(item, trace)
        except AdapterDidNotStart as fault:
            self._failed_starts += 1
            self.did_not_start = fault if self._failed_starts >= STARTS else None
            return self._fault(item, fault)
        except AdapterFault as fault:
            return self._fault(item, fault)
        except SuiteError as error:
            return Result(item, "suite-error", message=str(error))
        except Exception:
            return Result(item, "suite-error", message=traceback.format_exc())

    def _played(self, item: Item) -> Trace:
        """The trace of a play; what there is of it where the run is known not to end, and does not."""
        seed, timeout = self.subject.seed, self.subject.timeout
        if not any(entry.endless for entry in self._keeper.known.of(item)):
            return player.play(self.adapter, item, seed=seed, timeout=timeout)
        try:
            return player.play(self.adapter, item, seed=seed, timeout=min(timeout, ENDLESS))
        except AdapterFault as fault:
            if fault.kind != "hung" or fault.trace is None:
                raise
            self.adapter.close()
            return fault.trace

    def _judged(self, item: Item, trace: Trace) -> Result:
        result = judge(item, trace, self._keeper.known.of(item))
        self._keeper.note(result, trace)
        return result

    def _look_back(self) -> None:
        """Judges those plays anew for which something came when their session was closed."""
        while self.adapter.stragglers:
            place, trace = self._traces.get(id(self.adapter.stragglers.pop()), (-1, None))
            if trace is not None:
                before = self.results[place]
                again = judge(before.item, trace, self._keeper.known.of(before.item))
                again.seconds = before.seconds
                self.results[place] = again

    def _fault(self, item: Item, fault: AdapterFault) -> Result:
        self.adapter.close()
        self.hung = int(fault.kind == "hung")
        said = f"{fault.kind}: {fault.message}"
        seen = f"; seen: {fault.seen}" if fault.seen and excerpt(fault.seen) not in said else ""
        return Result(item, "adapter-fault", message=f"{said}{seen}", stderr=self.adapter.stderr_tail)
