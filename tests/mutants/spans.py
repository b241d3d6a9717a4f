"""Mutants of the family CTX, rules 8 to 12: traces with the wrong shape or the wrong end, and who a span speaks of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import run_trace
from processor_contract.errors import AttemptRejected, Cancelled, RunEnded
from processor_contract.run_trace import RunTrace
from processor_contract.tracing import Span

from . import Patch, mutant


def outcomes(patch: Patch, choose: Any) -> None:
    """Every ending counts as what `choose(ending, the right outcome)` says."""
    patch.around(run_trace.outcome_of, lambda original, ending: choose(ending, original(ending)))


@mutant("CTX-8")
def everything_stands_below_the_run(patch: Patch) -> None:
    """A trace is a list."""
    patch.set(RunTrace, "_here", property(lambda trace: trace._root))


@mutant("CTX-8")
def attempts_share_a_step(patch: Patch) -> None:
    """A step is one span, however often it is tried."""

    def step(original: Any, trace: RunTrace, number: int, retry_count: int) -> None:
        if not retry_count:
            original(trace, number, retry_count)

    def ended(original: Any, trace: RunTrace, outcome: str, *given: Any) -> None:
        if outcome != "retry":
            original(trace, outcome, *given)

    patch.wrap(RunTrace, "step", step)
    patch.wrap(RunTrace, "step_ended", ended)


@mutant("CTX-8")
def steps_stand_in_each_other(patch: Patch) -> None:
    """What comes later stands below what came before."""

    def ended(original: Any, trace: RunTrace, outcome: str, *given: Any) -> None:
        step = trace._step
        original(trace, outcome, *given)
        trace._root = step or trace._root

    patch.wrap(RunTrace, "step_ended", ended)


@mutant("CTX-8")
def replays_are_model_calls(patch: Patch) -> None:
    """A replayed answer is a call like another."""

    def step(original: Any, trace: RunTrace, *given: Any) -> None:
        original(trace, *given)
        assert trace._step is not None
        trace._step.child("call", kind="model").end()

    patch.wrap(RunTrace, "step", step)
    patch.set(RunTrace, "model", lambda trace, model: model)


def never_ended(patch: Patch, which: str) -> None:
    """Runs with this outcome leave their trace open."""

    def end(original: Any, trace: RunTrace, outcome: str, **attributes: Any) -> None:
        if outcome != which:
            original(trace, outcome, **attributes)

    patch.wrap(RunTrace, "end", end)


@mutant("CTX-9")
def traces_of_aborted_runs_stay_open(patch: Patch) -> None:
    """A trace ends with `finish`; a tripwire is not one."""
    never_ended(patch, "aborted")


@mutant("CTX-9")
def traces_of_failed_runs_stay_open(patch: Patch) -> None:
    """An error takes the way out past the trace."""
    never_ended(patch, "error")


@mutant("CTX-9")
def traces_of_cancelled_runs_stay_open(patch: Patch) -> None:
    """Nobody is left to end the trace of a run that was given up."""
    never_ended(patch, "cancelled")


@mutant("CTX-9")
def every_end_is_told(patch: Patch) -> None:
    """A span ends as often as somebody ends it, and a run's are all ended once more at its end."""

    def end(original: Any, span: Span, outcome: str = "ok", **attributes: Any) -> None:
        before = span.ended
        original(span, outcome, **attributes)
        if not before and span.kind != "run" and span._tree is not None:
            span._tree.tracer.export(span._described(outcome, 0.0))

    patch.wrap(Span, "end", end)


@mutant("CTX-9")
def what_is_left_open_is_never_told(patch: Patch) -> None:
    """A span ends alone, whatever is still open in it."""

    def end(original: Any, span: Span, outcome: str = "ok", **attributes: Any) -> None:
        span._open.clear()
        original(span, outcome, **attributes)

    patch.wrap(Span, "end", end)


@mutant("CTX-9")
def a_later_end_is_told_too(patch: Patch) -> None:
    """What a call came to in the end is worth telling, whenever that is."""

    def end(original: Any, span: Span, outcome: str = "ok", **attributes: Any) -> None:
        again = span.ended and span._tree is not None and span.kind == "model"
        original(span, outcome, **attributes)
        if again and span._tree is not None:
            span._tree.tracer.export(span._described(outcome, 0.0))

    patch.wrap(Span, "end", end)


@mutant("CTX-9")
def a_trace_is_never_complete(patch: Patch) -> None:
    """A span is open until it ends, whatever it stands in."""

    def child(original: Any, span: Span, name: str, **attributes: Any) -> Span:
        made: Span = original(span, name, **attributes)
        made.ended = made._tree is None
        return made

    patch.wrap(Span, "child", child)


def about_processors(patch: Patch, change: Any) -> None:
    """The span of a hook says what `change(span, link)` makes of it."""

    def processor(original: Any, trace: RunTrace, link: Any) -> Span:
        span: Span = original(trace, link)
        change(span, link)
        return span

    patch.wrap(RunTrace, "_processor", processor)


@mutant("CTX-10")
def spans_are_called_by_their_ids(patch: Patch) -> None:
    """A display name is for displays."""
    about_processors(patch, lambda span, link: setattr(span, "name", link.processor.id))


@mutant("CTX-10")
def nameless_processors_are_nameless(patch: Patch) -> None:
    """A processor without a name has none in the trace."""
    about_processors(patch, lambda span, link: setattr(span, "name", link.processor.name or ""))


@mutant("CTX-10")
def spans_have_the_name_alone(patch: Patch) -> None:
    """Whoever has a name needs no id."""

    def change(span: Span, link: Any) -> None:
        span.attributes["processorId"] = span.name

    about_processors(patch, change)


@mutant("CTX-11")
def places_count_from_one(patch: Patch) -> None:
    """The first processor is number one."""
    about_processors(patch, lambda span, link: span.set(processorIndex=link.index + 1))


@mutant("CTX-11")
def places_are_read_off_the_object(patch: Patch) -> None:
    """The place is what was written on the object, by whichever array came last."""
    about_processors(patch, lambda span, link: span.set(processorIndex=link.processor.processor_index))


@mutant("CTX-11")
def places_count_the_users_only(patch: Patch) -> None:
    """The runtime's own processors have no place."""

    def place(span: Span, link: Any) -> None:
        for array in users:
            theirs = [each for each in array if type(each).__name__ not in ("MessageHistory", "PrepareStep")]
            if any(each is link.processor for each in theirs):
                span.set(processorIndex=[id(each) for each in theirs].index(id(link.processor)))
                return

    users: list[Any] = []
    patch.settled(lambda own, options, settings: users.extend([settings.inputs, settings.outputs, settings.errors]))
    about_processors(patch, place)


@mutant("CTX-12")
def retries_are_aborts(patch: Patch) -> None:
    """Whoever asks for another attempt has aborted this one."""
    outcomes(patch, lambda ending, right: "aborted" if isinstance(ending, AttemptRejected) else right)


def told_as_ok(patch: Patch, which: str) -> None:
    """Steps with this outcome are ok."""

    def ended(original: Any, trace: RunTrace, outcome: str, *given: Any) -> None:
        original(trace, "ok" if outcome == which else outcome, *given)

    patch.wrap(RunTrace, "step_ended", ended)


@mutant("CTX-12")
def rejected_attempts_are_ok(patch: Patch) -> None:
    """An attempt that ended in order is ok."""
    told_as_ok(patch, "retry")


@mutant("CTX-12")
def aborts_are_errors(patch: Patch) -> None:
    """What ends a run before its end is an error."""
    outcomes(patch, lambda ending, right: "error" if type(ending) is RunEnded else right)

    def end(original: Any, trace: RunTrace, outcome: str, **attributes: Any) -> None:
        original(trace, "error" if outcome == "aborted" else outcome, **attributes)

    patch.wrap(RunTrace, "end", end)


@mutant("CTX-12")
def hooks_that_fail_are_ok(patch: Patch) -> None:
    """A hook has ended when it has ended."""

    def returned(original: Any, trace: RunTrace, link: Any, args: Any, ending: Any = None) -> None:
        original(trace, link, args, None if run_trace.outcome_of(ending or Cancelled()) == "error" else ending)

    patch.wrap(RunTrace, "returned", returned)


@mutant("CTX-12")
def wrong_returns_are_ok(patch: Patch) -> None:
    """A hook that returned did not fail."""

    def returned(original: Any, trace: RunTrace, link: Any, args: Any, ending: Any = None) -> None:
        cause = getattr(ending, "__cause__", None)
        original(trace, link, args, None if type(cause).__name__ == "WrongReturn" else ending)

    patch.wrap(RunTrace, "returned", returned)


def ending(patch: Patch, kind: str, choose: Callable[[str], str]) -> None:
    """Spans of this kind end as `choose(outcome)` says."""

    def end(original: Any, span: Span, outcome: str = "ok", **attributes: Any) -> None:
        original(span, choose(outcome) if span.kind == kind else outcome, **attributes)

    patch.wrap(Span, "end", end)


@mutant("CTX-12")
def failed_tools_are_ok(patch: Patch) -> None:
    """An error is an answer, so the tool has ended well."""
    ending(patch, "tool", lambda outcome: "ok")


@mutant("CTX-12")
def failed_calls_are_ok(patch: Patch) -> None:
    """A model call that was refused has ended."""
    ending(patch, "model", lambda outcome: "ok" if outcome == "error" else outcome)


@mutant("CTX-12")
def only_refused_calls_are_errors(patch: Patch) -> None:
    """A provider that answers has not failed, whatever it says in mid-stream."""
    patch.around(run_trace.ended_with, lambda original, part, span: "ok" if original(part, span) else None)


@mutant("CTX-12")
def broken_off_calls_are_ok(patch: Patch) -> None:
    """A model call that nobody waits for any more has ended."""
    ending(patch, "model", lambda outcome: "ok" if outcome == "cancelled" else outcome)


@mutant("CTX-12")
def cancellations_are_errors(patch: Patch) -> None:
    """A run that was given up has failed."""
    outcomes(patch, lambda ending, right: "error" if isinstance(ending, Cancelled) else right)


@mutant("CTX-12")
def failed_steps_are_ok(patch: Patch) -> None:
    """A step that ended with its step-finish is ok."""
    told_as_ok(patch, "error")
