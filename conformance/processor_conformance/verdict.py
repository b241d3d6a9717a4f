"""Verdicts: on one play, and on an implementation.

Flows in: an item, its trace, and what the implementation is known to break. Flows out: a `Result` for the item, and
from all results a `Conclusion` with two verdicts, by the documents alone and in full, and the exit code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from . import deviations
from .deviations import Deviation
from .exits import Exit
from .invariants import violations
from .match import Divergence, compare
from .pattern import PatternError
from .scenario import Item, Scenario
from .spec import Rule
from .trace import Trace
from .words import REVISION

Kind = Literal["pass", "fail", "deviation", "stale", "adapter-fault", "suite-error", "unsupported"]
Standing = Literal["kept", "broken", "deviating", "undecided", "not asked"]


@dataclass(slots=True)
class Result:
    """The verdict on one item.

    `broken` are the rules it shows broken, the divergence's first. `message` is the text of a fault, an error, a
    missing capability or a stale entry. `entries` are the deviations that the file accepts for it.
    """

    item: Item
    kind: Kind
    broken: tuple[str, ...] = ()
    divergence: Divergence | None = None
    entries: tuple[Deviation, ...] = ()
    message: str = ""
    stderr: str = ""
    seconds: float = 0.0


def judge(item: Item, trace: Trace, entries: Sequence[Deviation] = ()) -> Result:
    """The verdict on a play that came to its end."""
    try:
        return _judge(item, trace, entries)
    except (PatternError, ValueError, LookupError, TypeError) as error:
        return Result(item, "suite-error", message=f"{type(error).__name__}: {error}")


def _judge(item: Item, trace: Trace, entries: Sequence[Deviation]) -> Result:
    found = divergences(item.scenario, trace)
    broken = tuple(dict.fromkeys(divergence.rule for divergence in found))
    if not entries:
        return Result(item, "fail", broken, found[0]) if found else Result(item, "pass")
    if not found:
        stale = tuple(entry for entry in entries if not entry.sometimes)
        return Result(item, "stale", entries=stale, message=_stale(stale)) if stale else Result(item, "pass")
    left = _left(item.scenario, trace, entries)
    if left:
        return Result(item, "fail", broken, left[0], tuple(entries), "it also differs from its known deviation")
    needless = [
        one
        for one in entries
        if not one.sometimes and not _left(item.scenario, trace, [other for other in entries if other is not one])
    ]
    if needless:
        return Result(item, "stale", broken, entries=tuple(needless), message=_stale(needless))
    return Result(item, "deviation", broken, found[0], tuple(entries))


def divergences(scenario: Scenario, trace: Trace) -> list[Divergence]:
    """The scenario's own divergence, if there is one, and then every broken invariant."""
    own = compare(scenario, trace).divergence
    return ([own] if own else []) + list(violations(scenario, trace))


def _left(scenario: Scenario, trace: Trace, entries: Sequence[Deviation]) -> list[Divergence]:
    """The divergences that these entries do not account for."""
    accepted = {rule for entry in entries for rule in entry.invariants}
    gates = {gate for entry in entries for gate in entry.gates}
    trace = Trace(
        trace.scenario, trace.mode, trace.events, trace.outcomes, trace.stored,
        [gate for gate in trace.stuck_gates if gate not in gates],
    )  # fmt: skip
    found = divergences(deviations.apply(scenario, entries), trace)
    return [one for one in found if one.kind != "invariant" or one.rule not in accepted]


def _stale(entries: Sequence[Deviation]) -> str:
    causes = ", ".join(sorted({entry.cause for entry in entries}))
    return f"its known deviation ({causes}) does not happen any more; remove the entry, or run with --update-deviations"


def level(rule: str, spec: dict[str, Rule]) -> str:
    """The level of a rule; one that SPEC.md does not have counts as MUST."""
    return spec[rule].level if rule in spec else "MUST"


def fails(result: Result, spec: dict[str, Rule]) -> bool:
    """Whether this result makes the run fail: rules of level SHOULD and MAY do not."""
    if result.kind == "fail":
        return any(level(rule, spec) == "MUST" for rule in result.broken)
    return result.kind in ("stale", "adapter-fault", "suite-error")


@dataclass(slots=True)
class Conclusion:
    """What all results say together about the rules they are for.

    `lacks` are the hooks that the implementation has not and scenarios needed: with some, what is said is partial.
    """

    results: list[Result]
    spec: dict[str, Rule]
    lacks: frozenset[str] = frozenset()
    revision: str = REVISION
    standings: dict[str, Standing] = field(init=False)

    def __post_init__(self) -> None:
        self.standings = _standings(self.results)

    def failing(self) -> list[Result]:
        return [result for result in self.results if fails(result, self.spec)]

    def reported(self) -> list[Result]:
        """Failures of SHOULD and MAY rules: worth a line, no reason to fail."""
        return [result for result in self.results if result.kind == "fail" and not fails(result, self.spec)]

    def documented(self, rule: str) -> bool:
        """Whether the document of the revision that was played states the rule."""
        return rule in self.spec and self.spec[rule].documented(self.revision)

    @property
    def documents_alone(self) -> bool:
        """Whether every MUST rule that the document of the revision states is kept."""
        return self._keeps(rule for rule in self.standings if self.documented(rule))

    @property
    def in_full(self) -> bool:
        """Whether every MUST rule is kept, our decisions included."""
        return self._keeps(self.standings)

    def _keeps(self, rules: Iterable[str]) -> bool:
        musts = [rule for rule in rules if level(rule, self.spec) == "MUST"]
        return bool(self.results) and all(self.standings[rule] in ("kept", "not asked") for rule in musts)

    @property
    def exit_code(self) -> Exit:
        if any(result.kind == "suite-error" for result in self.results):
            return Exit.SUITE_BUG
        return Exit.NOT_CONFORMANT if self.failing() else Exit.CONFORMANT


# What a result says about its rule; the first that any result says is the rule's standing.
SAYS: dict[Standing, tuple[Kind, ...]] = {
    "broken": ("fail",),
    "deviating": ("deviation",),
    "undecided": ("adapter-fault", "suite-error"),
    "kept": ("pass", "stale"),
    "not asked": ("unsupported",),
}


def _standings(results: list[Result]) -> dict[str, Standing]:
    said: dict[str, set[Kind]] = {}
    for result in results:
        for rule in result.broken or (result.item.scenario.rule,):
            said.setdefault(rule, set()).add(result.kind)
        if result.broken and result.item.scenario.rule not in result.broken:
            said.setdefault(result.item.scenario.rule, set()).add("pass")
    return {rule: next(word for word, kinds in SAYS.items() if said[rule] & set(kinds)) for rule in said}
