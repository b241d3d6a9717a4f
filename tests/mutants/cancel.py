"""Mutants of the family RES, rules 4 to 8: what a cancelled run still does, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from processor_contract import agent, loop, results, stream, tools
from processor_contract.context import AbortSignal
from processor_contract.errors import Cancelled
from processor_contract.hooks import HOOKS
from processor_contract.returns import Slate
from processor_contract.run import Run

from . import Patch, mutant
from .order import Chunks

HEEDING = ("process_input", "process_input_step", "process_output_stream", "process_output_step",
           "process_tool_result", "process_output_result")  # fmt: skip


@contextmanager
def deaf(run: Run) -> Iterator[None]:
    """The run does not hear the signal as long as this lasts."""
    before, run.committed = run.committed, True
    try:
        yield
    finally:
        run.committed = before


def deaf_in(hook: str) -> Callable[[Patch], None]:
    """A mutant that looks at the signal before and after a chain only."""

    def change(patch: Patch) -> None:
        def chain(original: Any, run: Run, slate: Slate) -> Slate:
            with deaf(run):
                result: Slate = original(run, slate)
            return result

        patch.chain(hook, chain)

    change.__name__ = f"signal_unheeded_in_{hook.removeprefix('process_')}"
    change.__doc__ = f"The chain of {HOOKS[hook].wire} is run to its end."
    return change


for _hook in HEEDING:
    mutant("RES-4")(deaf_in(_hook))


@mutant("RES-4")
def signal_unheeded_while_the_model_answers(patch: Patch) -> None:
    """An answer that has begun is taken in."""

    def answer(original: Any, run: Run, *given: Any) -> Chunks:
        with deaf(run):
            yield from original(run, *given)

    patch.around(loop.answer, answer)


@mutant("RES-4")
def signal_unheeded_between_chunks(patch: Patch) -> None:
    """The signal is looked at by whoever is at work when it fires."""

    def pull(original: Any, own: Any, chunks: Any) -> Any:
        if not own._run.signal.aborted:
            return original(own, chunks)
        with deaf(own._run):
            return next(chunks)

    patch.wrap(stream.Stream, "_pull", pull)


@mutant("RES-4")
def results_of_cancelled_tools_are_taken_in(patch: Patch) -> None:
    """A tool that has run has a result."""

    def run_tools(original: Any, run: Run, calls: Any) -> Any:
        with deaf(run):
            return (yield from original(run, calls))

    def examine(original: Any, run: Run, *given: Any) -> Any:
        with deaf(run):
            return original(run, *given)

    patch.around(tools.run_tools, run_tools)
    patch.around(results.examine_result, examine)


def at_the_end(patch: Patch, change: Callable[[Run, Any], Chunks]) -> None:
    """Changes what goes out in place of the abort chunk."""

    def aborted(original: Any, run: Run, cancelled: Cancelled) -> Chunks:
        return iter(list(change(run, next(original(run, cancelled)))))

    patch.around(loop.aborted, aborted)


@mutant("RES-6")
def abort_is_followed_by_finish(patch: Patch) -> None:
    """Every stream ends in finish."""
    at_the_end(patch, lambda run, chunk: iter([chunk, run.chunk("finish", {"finishReason": "aborted"})]))


@mutant("RES-6")
def cancelled_stream_just_ends(patch: Patch) -> None:
    """Who cancels knows that it is over."""
    at_the_end(patch, lambda run, chunk: iter(()))


@mutant("RES-6")
def the_last_reason_counts(patch: Patch) -> None:
    """Who fires the signal last knows best why."""

    def fire(original: Any, own: Any, reason: Any = None) -> None:
        original(own, reason)
        own.reason = reason

    def change(run: Run, chunk: Any) -> Chunks:
        reason = None if run.caller_signal is None else run.caller_signal.reason
        yield run.chunk("abort", chunk["payload"] if reason is None else {"reason": reason})

    patch.wrap(AbortSignal, "abort", fire)
    at_the_end(patch, change)


@mutant("RES-6")
def cancelled_step_finishes(patch: Patch) -> None:
    """A step that was started is finished."""

    def change(run: Run, chunk: Any) -> Chunks:
        if run.attempt.begun:
            yield run.chunk("step-finish", {"finishReason": "aborted"})
        yield chunk

    at_the_end(patch, change)


@mutant("RES-7")
def generate_returns_what_it_has(patch: Patch) -> None:
    """The result says that it was aborted; there is nothing to raise."""

    def generate(original: Any, own: Any, *given: Any, **options: Any) -> Any:
        return own.stream(*given, **options).result()

    patch.wrap(agent.Agent, "generate", generate)


@mutant("RES-7")
def accessors_of_a_cancelled_stream_raise(patch: Patch) -> None:
    """A stream raises what generate() raises."""

    def result(original: Any, own: Any) -> Any:
        made = original(own)
        if isinstance(made.error, Cancelled):
            raise made.error
        return made

    patch.wrap(stream.Stream, "result", result)


@mutant("RES-7")
def cancelled_run_reports_other(patch: Patch) -> None:
    """Whoever cancels has aborted the run."""

    def change(run: Run, chunk: Any) -> Chunks:
        run.finish_reason = "other"
        yield chunk

    at_the_end(patch, change)


@mutant("RES-8")
def fired_signal_is_noticed_after_the_input(patch: Patch) -> None:
    """The signal is for the loop; the input is processed in any case."""

    def phase(original: Any, run: Run) -> None:
        with deaf(run):
            original(run)

    patch.around(loop.input_phase, phase)


@mutant("RES-8")
def signal_counts_as_fired(patch: Patch) -> None:
    """A run with a signal is one that was stopped."""

    def opened(original: Any, run: Run) -> Any:
        if run.caller_signal is not None:
            run.signal.abort()
        return original(run)

    patch.around(agent.opened, opened)
