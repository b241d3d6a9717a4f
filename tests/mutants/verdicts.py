"""Mutants of the family TRI: verdicts taken for failures, verdicts on data, and violations that nobody hears of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop, pipeline, request, tools
from processor_contract.errors import AttemptRejected, CallFailed, HookFailed, RunEnded, TripWire
from processor_contract.processor import HookArgs
from processor_contract.run import Link, Run
from processor_contract.tools import Outcome

from . import Patch, mutant, stream_parts
from .abort import CHAINS, Chunks, ending, methods, named

# -- neither a cancellation nor a failure ------------------------------------------------------------------------------


@mutant("TRI-6")
def a_cancellation_is_a_tripwire(patch: Patch) -> None:
    """A run that is cut off has been aborted, by whomever."""

    def aborted(original: Any, run: Run, cancelled: Any) -> Chunks:
        for _ in original(run, cancelled):
            yield run.chunk("tripwire", {"reason": "cancelled", "processorId": "caller"})

    patch.around(loop.aborted, aborted)


@mutant("TRI-19")
def an_abort_before_the_call_is_a_failed_call(patch: Patch) -> None:
    """Whatever is raised while a call is made is an error of the call."""

    def ask(original: Any, run: Run, attempt: Any) -> Any:
        try:
            return original(run, attempt)
        except AttemptRejected:
            raise
        except RunEnded as ended:
            run.go_on()
            raise CallFailed(ended) from ended

    patch.around(request.ask, ask)


@mutant("TRI-19")
def an_abort_on_a_chunk_is_a_failed_call(patch: Patch) -> None:
    """Whatever is raised while an answer is read is an error of the call."""

    def answer(original: Any, run: Run, attempt: Any, request: Any) -> Chunks:
        try:
            yield from original(run, attempt, request)
        except AttemptRejected:
            raise
        except RunEnded as ended:
            run.go_on()
            raise CallFailed(ended) from ended

    patch.around(loop.answer, answer)


# -- while data is handled ---------------------------------------------------------------------------------------------


@mutant("TRI-17")
def an_abort_on_data_is_the_senders(patch: Patch) -> None:
    """Data is handled while its sender's hook runs, so the sender is the one that aborts."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        returned = method(args)
        if run.ending is not None and isinstance(run.ending, RunEnded):
            run.ending.tripwire.processor_id = link.processor.id
        return returned

    methods(patch, around)


def surviving(patch: Patch, when: Callable[[str], bool]) -> None:
    """An abort on data goes no further than the sender lets it, where `when(name of the sender's hook or tool)`."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        returned = method(args)
        if link.hook.wire != "processOutputStream" and when(link.hook.wire):
            run.go_on()
        return returned

    methods(patch, around)


@mutant("TRI-17")
def a_sender_may_catch_an_abort_on_its_data(patch: Patch) -> None:
    """What writer.custom raises is for the sender to deal with."""
    surviving(patch, lambda wire: True)


@mutant("TRI-17")
def a_tool_may_catch_an_abort_on_its_data(patch: Patch) -> None:
    """A tool that returns has a result, whatever became of its data."""

    def run_tools(original: Any, run: Run, calls: Any) -> Any:
        inner = original(run, calls)
        try:
            return (yield from inner)
        except RunEnded:
            run.go_on()
            return [Outcome(call, result=None) for call in calls]

    patch.around(tools.run_tools, run_tools)


def granting_on_data(patch: Patch, grants: Callable[[Run], bool]) -> None:
    """Whether a retry asked for on data is granted is `grants(run)`."""

    def judged(original: Any, run: Run, link: Link, tripwire: TripWire) -> RunEnded:
        ended: RunEnded = original(run, link, tripwire)
        on_data = link.hook.wire == "processOutputStream" and str(stream_parts(run)[-1]["type"]).startswith("data-")
        if not on_data or not tripwire.retry:
            return ended
        return AttemptRejected(tripwire) if grants(run) else RunEnded(tripwire)

    patch.around(pipeline.verdict, judged)


@mutant("TRI-17")
def no_retry_on_data(patch: Patch) -> None:
    """Data is no part of the answer: nothing can be repeated because of it."""
    granting_on_data(patch, lambda run: False)


@mutant("TRI-17")
def a_retry_on_data_at_any_time(patch: Patch) -> None:
    """The hook that handles data grants retries, so a retry is granted whoever sent it."""

    def ended_by(original: Any, run: Run, ended: Any) -> Chunks:
        if isinstance(ended, AttemptRejected):
            run.go_on()
            yield from loop.steps(run)
            yield run.chunk("finish", {"finishReason": run.finish_reason})
            return
        yield from original(run, ended)

    granting_on_data(patch, lambda run: True)
    patch.around(loop.ended_by, ended_by)


# -- violations --------------------------------------------------------------------------------------------------------


def reporting(patch: Patch, around: Callable[[Callable[[], None], Any, TripWire], None]) -> None:
    """A violation is reported by `around(report, processor, tripwire)`."""
    patch.around(pipeline.report, lambda report, *args: around(lambda: report(*args), *args))


@mutant("TRI-5")
def violations_go_unreported(patch: Patch) -> None:
    """onViolation is for processors that only warn; who aborts is seen anyway."""
    reporting(patch, lambda report, processor, tripwire: None)


@mutant("TRI-5")
def a_violation_has_no_message(patch: Patch) -> None:
    """A violation says who; what for is in the detail."""

    def around(report: Callable[[], None], processor: Any, tripwire: TripWire) -> None:
        reason, tripwire.reason = tripwire.reason, ""
        report()
        tripwire.reason = reason

    reporting(patch, around)


def raising(patch: Patch, failed: Callable[[Run, Link, Exception], None]) -> None:
    """What onViolation raises comes to `failed(run, link, error)`."""

    def stopped(original: Any, run: Run, link: Link, tripwire: TripWire) -> Any:
        callback = getattr(link.processor, "on_violation", None)
        errors: list[Exception] = []

        def watched(violation: Any) -> None:
            try:
                if callback is not None:
                    callback(violation)
            except Exception as error:
                errors.append(error)

        link.processor.on_violation = watched
        ended = original(run, link, tripwire)
        link.processor.on_violation = callback
        if errors:
            failed(run, link, errors[0])
        return ended

    patch.around(pipeline.stopped, stopped)


@mutant("TRI-8")
def a_broken_alert_ends_the_run(patch: Patch) -> None:
    """What onViolation raises is an exception of its processor."""

    def failed(run: Run, link: Link, error: Exception) -> None:
        run.go_on()
        raise run.end_with(HookFailed(link.processor.id, link.hook.wire, error))

    raising(patch, failed)


@mutant("TRI-8")
def a_broken_alert_undoes_its_abort(patch: Patch) -> None:
    """An abort whose alert fails has not happened."""

    def call(original: Any, run: Run, name: str, slate: Any) -> Any:
        try:
            return original(run, name, slate)
        except BrokenAlert:
            run.go_on()
            return slate

    def failed(run: Run, link: Link, error: Exception) -> None:
        raise BrokenAlert from error

    raising(patch, failed)
    patch.around(pipeline.call, call)


class BrokenAlert(Exception):
    """Inside a mutant: onViolation has raised."""


def unreported_from(wire: str) -> Callable[[Patch], None]:
    """An abort in this hook is not reported."""

    def stopped(original: Any, run: Run, link: Link, tripwire: TripWire) -> Any:
        if link.hook.wire != wire:
            return original(run, link, tripwire)
        ended = pipeline.verdict(run, link, tripwire)
        return run.end_with(ended) if type(ended) is RunEnded else ended

    return lambda patch: patch.around(pipeline.stopped, stopped)


for _wire in CHAINS:
    named(
        f"no_violation_from_{CHAINS[_wire].removeprefix('process_')}",
        f"An abort in {_wire} is not reported to onViolation.",
        "TRI-9",
        unreported_from(_wire),
    )


@mutant("TRI-9")
def a_violation_without_detail(patch: Patch) -> None:
    """The metadata of an abort is for the client only."""

    def around(report: Callable[[], None], processor: Any, tripwire: TripWire) -> None:
        metadata, tripwire.metadata = tripwire.metadata, None
        report()
        tripwire.metadata = metadata

    reporting(patch, around)


@mutant("TRI-9")
def violations_are_reported_at_the_end(patch: Patch) -> None:
    """onViolation is called when the stream has ended."""
    waiting: list[Callable[[], None]] = []
    reporting(patch, lambda report, processor, tripwire: waiting.append(report))

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        yield from ended_by()
        while waiting:
            waiting.pop()()

    ending(patch, around)


@mutant("TRI-9")
def every_call_of_abort_is_a_violation(patch: Patch) -> None:
    """abort itself reports the violation, each time it is called."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        told.append(link.processor)
        try:
            return method(args)
        finally:
            told.pop()

    def abort(original: Any, own: HookArgs, *args: Any, **options: Any) -> None:
        try:
            original(own, *args, **options)
        except TripWire as tripwire:
            if own._tripwire is not tripwire:
                pipeline.report(told[-1], tripwire)
            raise

    told: list[Any] = []
    methods(patch, around)
    patch.wrap(HookArgs, "abort", abort)


@mutant("TRI-9")
def a_tripwire_by_hand_is_no_violation(patch: Patch) -> None:
    """Who raises the error itself has reported it itself."""
    by_hand: list[str] = []

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        try:
            return method(args)
        except TripWire:
            if args._tripwire is None:
                by_hand.append(args.processor_id)
            raise

    methods(patch, around)
    reporting(patch, lambda report, processor, tripwire: None if processor.id in by_hand else report())


@mutant("TRI-9")
def all_processors_hear_of_a_violation(patch: Patch) -> None:
    """onViolation is an event of the run: every processor that has it is told."""

    def stopped(original: Any, run: Run, link: Link, tripwire: TripWire) -> Any:
        ended = original(run, link, tripwire)
        for other in run.plan[CHAINS[link.hook.wire]]:
            if other.processor is not link.processor:
                pipeline.report(other.processor, tripwire)
        return ended

    patch.around(pipeline.stopped, stopped)


def unreported_retries(patch: Patch, wires: tuple[str, ...]) -> None:
    """A retry that is granted in these hooks is no violation."""

    def stopped(original: Any, run: Run, link: Link, tripwire: TripWire) -> Any:
        ended = pipeline.verdict(run, link, tripwire)
        if type(ended) is RunEnded or link.hook.wire not in wires:
            return original(run, link, tripwire)
        return ended

    patch.around(pipeline.stopped, stopped)


@mutant("TRI-10")
def granted_retries_are_no_violations(patch: Patch) -> None:
    """An answer that is made better has violated nothing."""
    unreported_retries(patch, tuple(CHAINS))


@mutant("TRI-10")
def recoveries_are_no_violations(patch: Patch) -> None:
    """An error processor that asks for another call has found no violation."""
    unreported_retries(patch, ("processAPIError",))


@mutant("TRI-10")
def only_the_first_retry_is_a_violation(patch: Patch) -> None:
    """A step that is repeated has violated something once."""

    def stopped(original: Any, run: Run, link: Link, tripwire: TripWire) -> Any:
        ended = pipeline.verdict(run, link, tripwire)
        return original(run, link, tripwire) if type(ended) is RunEnded or not run.retries else ended

    patch.around(pipeline.stopped, stopped)


@mutant("TRI-11")
def a_change_is_a_violation(patch: Patch) -> None:
    """A processor that returns something has found something."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        returned = method(args)
        if isinstance(returned, dict) and "messages" in returned:
            pipeline.report(link.processor, TripWire("changed", processor_id=link.processor.id))
        return returned

    methods(patch, around)


@mutant("TRI-6")
def a_cancellation_is_a_violation(patch: Patch) -> None:
    """A run that ends early has violated something; the processor that was at work is told."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        returned = method(args)
        if run.signal.aborted:
            pipeline.report(link.processor, TripWire("cancelled", processor_id=link.processor.id))
        return returned

    methods(patch, around)
