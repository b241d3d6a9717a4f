"""Mutants of the family TRI: aborted runs that report too much or too little, and errors that win over an abort."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop, results, stream
from processor_contract.data import add_usage, clone
from processor_contract.errors import RunEnded
from processor_contract.run import Attempt, Run
from processor_contract.stream import RunResult

from . import Patch, mutant
from .abort import Chunks, ending

# -- what an aborted run reports ---------------------------------------------------------------------------------------


@mutant("TRI-16")
def an_aborted_run_keeps_its_text(patch: Patch) -> None:
    """Text that was accepted is in the result, abort or not."""

    def result_of(original: Any, run: Run) -> RunResult:
        result: RunResult = original(run)
        result.text = "".join(step["text"] for step in run.steps)
        return result

    patch.around(stream.result_of, result_of)


@mutant("TRI-16")
def an_aborted_step_is_reported(patch: Patch) -> None:
    """The step that was cut off is the last of the run."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        if run.in_step and run.attempt.begun:
            run.accept_step()
        yield from ended_by()

    ending(patch, around)


@mutant("TRI-16")
def a_step_counts_when_its_answer_has_passed(patch: Patch) -> None:
    """A step counts once processOutputStep has let it pass."""

    def examine(original: Any, run: Run, attempt: Attempt) -> None:
        original(run, attempt)
        if results.open_calls(run):
            run.steps.append(run.current_step())

    def accept(original: Any, run: Run) -> None:
        calls = run.current_step().get("toolCalls")
        if calls and run.steps and run.steps[-1].get("toolCalls") == calls:
            run.steps.pop()
        original(run)

    patch.around(loop.examine, examine)
    patch.wrap(Run, "accept_step", accept)


@mutant("TRI-16")
def an_aborted_run_has_no_steps(patch: Patch) -> None:
    """Nothing of a run that was refused is reported."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        run.steps.clear()
        yield from ended_by()

    ending(patch, around)


@mutant("TRI-16")
def a_refused_answer_is_free(patch: Patch) -> None:
    """The usage of a run is that of its accepted steps."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        run.usage = clone(run.steps[-1]["usage"]) if run.steps else run.usage
        yield from ended_by()

    ending(patch, around)


@mutant("TRI-16")
def the_usage_of_half_an_answer_is_made_up(patch: Patch) -> None:
    """A call that was cut off is counted like the one before it."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        if run.steps and hook == "processOutputStream":
            add_usage(run.usage, dict(run.steps[-1]["usage"]))
        yield from ended_by()

    ending(patch, around)


# -- an error that surfaces --------------------------------------------------------------------------------------------


@mutant("TRI-18")
def an_error_wins_over_an_abort(patch: Patch) -> None:
    """generate() raises the provider's error, whatever was said of it."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        error = run.error
        yield from ended_by()
        run.error = error

    ending(patch, around)


@mutant("TRI-18")
def a_failed_run_has_no_verdict(patch: Patch) -> None:
    """processOutputResult of a failed run is told what happened; it is not asked."""

    def chain(original: Any, run: Run, slate: Any) -> Any:
        try:
            return original(run, slate)
        except RunEnded:
            if run.error is None:
                raise
            run.go_on()
            return slate

    patch.chain("process_output_result", chain)


@mutant("TRI-18")
def an_error_chunk_can_be_tried_again(patch: Patch) -> None:
    """A retry is granted on any chunk of a step, the error included."""

    def surface(original: Any, run: Run, attempt: Attempt, error: BaseException) -> Chunks:
        try:
            yield from original(run, attempt, error)
        except RunEnded as ended:
            if not ended.tripwire.retry:
                raise
            run.go_on()
            run.error = None
            run.retries += 1
            yield run.chunk("step-finish", {"finishReason": "retry"})
            yield from loop.steps(run)

    patch.around(loop.surface, surface)
