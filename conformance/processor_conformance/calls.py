"""What is open, or was, in one play: its runs, the calls of its hooks, tools and callbacks, and those of its model.

Flows in: what arrives from the adapter. Flows out: `Run`, `Call` and `ModelCall`, which the answers to it are made
for, and the call that an `of` of the scenario describes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .faults import SuiteError
from .scripts import Clause
from .trace import Event
from .words import Json


@dataclass(slots=True)
class Run:
    """One run of the play: its name in the scenario and on the wire, its model's turns, whether it has ended."""

    name: str
    wire: str
    turns: list[dict[str, Json]]
    model_calls: int = 0
    over: bool = False


@dataclass(slots=True)
class Call:
    """One call of a hook, a tool, a callback or the store, and the clause that answers it."""

    run: Run
    kind: str
    owner: str
    event: Event
    clause: Clause
    handle: str = ""
    tokens: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ModelCall:
    """One call of the model, the `number`th of its run; `parts` are those still to be pulled."""

    run: Run
    number: int
    model: str
    mode: str
    turn: dict[str, Json]
    parts: list[Json] = field(default_factory=list)
    error: dict[str, Json] | None = None


def described(calls: Sequence[Call], of: dict[str, Json], by: Call, runs: Iterable[Run]) -> Call | None:
    """The last of these calls, but `by` itself, that `of` describes: `run`, `hook` or `tool` or `callback`,
    `processor`."""
    run = of.get("run", by.run.name)
    if all(known.name != run for known in runs):
        raise SuiteError(f"a reference to the run {run!r}, which the scenario does not have; name one of its 'run'")
    kind = "tool" if "tool" in of else of.get("hook", of.get("callback"))
    owner = of.get("tool", of.get("processor"))
    fitting = (
        one for one in reversed(calls)
        if one is not by and one.run.name == run and one.kind == kind and owner in (None, one.owner)
    )  # fmt: skip
    return next(fitting, None)
