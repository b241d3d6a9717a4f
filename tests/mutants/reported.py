"""Mutants of RES-3, RES-5 and TOOL-5: costs that do not show, blocked text in the result, blocked calls that are
carried out.
"""

from __future__ import annotations

from typing import Any

from processor_contract import loop, results
from processor_contract.data import Chunk, add_usage, no_usage
from processor_contract.run import Run
from processor_contract.stream import RunResult

from . import Patch, mutant
from .reports import reported
from .stream_chunks import passing


@mutant("RES-3")
def usage_of_accepted_steps(patch: Patch) -> None:
    """The usage of a run is the sum of its steps'."""

    def change(run: Run, result: RunResult) -> None:
        result.usage = no_usage()
        for step in run.steps:
            add_usage(result.usage, step["usage"])

    reported(patch, change)


@mutant("RES-3")
def usage_of_the_last_call(patch: Patch) -> None:
    """The usage of a run is that of the call which ended it."""

    def count(original: Any, run: Run, usage: Any) -> None:
        run.usage = no_usage()
        original(run, usage)

    patch.wrap(Run, "count_usage", count)


@mutant("RES-5")
def text_of_the_last_hooks_survives_an_abort(patch: Patch) -> None:
    """Text that processOutputResult made has passed everything else."""
    accepted: dict[str, str] = {}

    def accept(original: Any, run: Run) -> None:
        original(run)
        accepted[run.id] = "".join(step["text"] for step in run.steps)

    def change(run: Run, result: RunResult) -> None:
        text = "".join(step["text"] for step in run.steps)
        if run.tripwire is not None and text != accepted.get(run.id, ""):
            result.text = text

    patch.wrap(Run, "accept_step", accept)
    reported(patch, change)


@mutant("RES-5")
def an_abort_takes_the_steps_back(patch: Patch) -> None:
    """A run without a text has no steps."""

    def change(run: Run, result: RunResult) -> None:
        if run.tripwire is not None:
            result.steps = []

    reported(patch, change)


@mutant("TOOL-5")
def dropped_calls_are_executed(patch: Patch) -> None:
    """What goes to the client is one thing, what the model asked for another."""
    asked: dict[tuple[str, int], list[dict[str, Any]]] = {}

    def noted(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if came["type"] == "tool-call" and left is None:
            asked.setdefault((run.id, run.attempt.number), []).append(came["payload"])
        return left

    passing(patch, noted)
    patch.around(
        results.open_calls, lambda original, run: [*asked.get((run.id, run.attempt.number), ()), *original(run)]
    )


@mutant("TOOL-5")
def calls_are_noted_before_the_step_is_examined(patch: Patch) -> None:
    """The calls of an answer are known when it is complete; what is taken out of the message later is only hidden."""
    noted: dict[str, Any] = {}

    def examine(original: Any, run: Run, attempt: Any) -> None:
        noted[run.id] = results.open_calls(run)
        original(run, attempt)

    patch.around(loop.examine, examine)
    patch.around(results.open_calls, lambda original, run: noted.pop(run.id, None) or original(run))
