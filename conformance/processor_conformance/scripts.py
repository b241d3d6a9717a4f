"""The scripted answers of a scenario: which clause answers a call, and the gates that calls wait at.

Flows in: `given` of a scenario, and each call that arrives. Flows out: the `Clause` that answers it, in the
scenario's words.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from .faults import SuiteError
from .pattern import fits
from .words import ARRAYS, HOOKS, STORE, UNDEFINED, Json

# What answers where no clause says otherwise.
NEUTRAL: dict[str, Json] = {"processOutputStream": {"$ref": "part"}, "tool": {"ok": True}}
# Members of a clause's `do` that are no operations of the protocol: the runner does them between operations.
STEPS = ("open", "wait", "cancel", "close")
READING = ("read", "rest", "result", "close", "cancel", "open", "wait")  # what a scripted reader does


@dataclass(slots=True)
class Clause:
    """One scripted answer, and how often it has answered."""

    script: dict[str, Json]
    used: int = 0

    def answers(self, call: dict[str, Json]) -> bool:
        times = self.script.get("times")
        if times is not None and self.used >= times:
            return False
        return "when" not in self.script or fits(self.script["when"], call)

    @property
    def steps(self) -> list[dict[str, Json]]:
        """What happens while the call is open, in order: `do`, then `open`, `cancel`, `close`, `wait`."""
        after = [{name: self.script[name]} for name in ("open", "cancel", "close", "wait") if name in self.script]
        return [*self.script.get("do", []), *after]

    @property
    def waits(self) -> bool:
        """Whether it does something before it answers, or hands over another call's object."""
        return bool(self.steps) or _refers(self.script.get("return"))


SILENT = Clause({})


class Scripts:
    """Every scripted clause of a scenario, by who is called."""

    def __init__(self, given: dict[str, Json]) -> None:
        self._clauses: dict[tuple[str, str], list[Clause]] = {}
        for key, processor in given.get("processors", {}).items():
            for name in (*HOOKS, "onViolation"):
                if isinstance(processor.get(name), list):
                    self._add(name, key, processor[name])
        for name, tool in [*given.get("tools", {}).items(), *given.get("otherTools", {}).items()]:
            execute = tool.get("execute", [])
            self._add("tool", tool.get("name", name), execute if isinstance(execute, list) else [])
        for name in ARRAYS:
            if isinstance(given.get(name), dict) and "$callback" in given[name]:
                self._add(name, "", given[name]["$callback"])
        for name, clauses in given.get("callbacks", {}).items():
            self._add(name, "", clauses)
        for name in STORE:
            self._add(name, "", given.get("memory", {}).get(name.removeprefix("store/"), []))

    def _add(self, kind: str, owner: str, clauses: list[dict[str, Json]]) -> None:
        self._clauses[kind, owner] = [Clause(clause) for clause in clauses]

    def knows(self, kind: str, owner: str) -> bool:
        """Whether the scenario has a script, an empty one too, for this."""
        return (kind, owner) in self._clauses

    def choose(self, kind: str, owner: str, call: dict[str, Json]) -> Clause:
        """The first clause that fits and is not used up, now used once more; a silent one where none fits."""
        for clause in self._clauses.get((kind, owner), ()):
            if clause.answers(call):
                clause.used += 1
                return clause
        return SILENT


@dataclass(slots=True)
class Gates:
    """Named gates of one play: once open, they stay open. One that nobody opens in time is given up, noted as stuck."""

    timeout: float
    holding: Callable[[], AbstractContextManager[None]]
    stuck: list[str]
    _open: set[str] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _abandoned: bool = False

    def open(self, name: str) -> None:
        with self._changed:
            self._open.add(name)
            self._changed.notify_all()

    def wait(self, name: str) -> None:
        """Returns when the gate is open, is given up, or the play is abandoned."""
        with self.holding(), self._changed:
            deadline = time.monotonic() + self.timeout
            while not (self._abandoned or name in self._open or name in self.stuck):
                left = deadline - time.monotonic()
                if left <= 0:
                    self.stuck.append(name)
                    self._changed.notify_all()
                else:
                    self._changed.wait(left)

    def abandon(self) -> None:
        """The play is over, one way or the other: nobody waits any more."""
        with self._changed:
            self._abandoned = True
            self._changed.notify_all()


def _refers(template: Json) -> bool:
    if isinstance(template, dict):
        return "of" in template or any(map(_refers, template.values()))
    return isinstance(template, list) and any(map(_refers, template))


def referred(template: Json, token_of: Callable[[dict[str, Json]], str | None]) -> Json:
    """The template with each reference to another call's object (`$ref` with `of`) turned into that object's token."""
    if isinstance(template, list):
        return [referred(inner, token_of) for inner in template]
    if not isinstance(template, dict):
        return template
    if "$ref" in template and "of" in template:
        token = token_of(template)
        return UNDEFINED if token is None else {"$token": token}
    return {key: referred(inner, token_of) for key, inner in template.items()}


def failure(error: dict[str, Json], fresh: Callable[[str], str]) -> dict[str, Json]:
    """An error that the runner hands in, with its token."""
    if not isinstance(error.get("message"), str):
        raise SuiteError(f"an error without a message cannot be handed in: {error}; give it a 'message'")
    return error if "token" in error else {**error, "token": fresh("error")}
