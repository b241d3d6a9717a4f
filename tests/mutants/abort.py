"""Mutants of the family TRI: aborts that are lost, undone, or not reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop, pipeline, stream
from processor_contract.agent import Agent
from processor_contract.errors import ContractError, RunEnded, TripWire
from processor_contract.hooks import HOOKS
from processor_contract.processor import HookArgs
from processor_contract.run import Link, Run
from processor_contract.stream import RunResult

from . import Patch, mutant

Chunks = Any
CHAINS = {hook.wire: name for name, hook in HOOKS.items()}


def methods(patch: Patch, around: Callable[[Callable[[Any], Any], Run, Link, Any], Any]) -> None:
    """Every hook method is called by `around(method, run, link, args)`."""
    plan = pipeline.plan

    def planned(run: Run) -> None:
        plan(run)
        for links in run.plan.values():
            for link in links:
                link.method = _around(around, link.method, run, link)

    patch.function(plan, planned)


def _around(around: Callable[..., Any], method: Callable[[Any], Any], run: Run, link: Link) -> Callable[[Any], Any]:
    return lambda args: around(method, run, link, args)


def ending(patch: Patch, around: Callable[[Callable[[], Chunks], Run, RunEnded, str], Chunks]) -> None:
    """A run that is aborted ends by `around(ended_by, run, ending, wire name of the hook)`."""
    where: dict[str, str] = {}

    def stopped(original: Any, run: Run, link: Link, tripwire: TripWire) -> Any:
        where.setdefault(run.id, link.hook.wire)
        return original(run, link, tripwire)

    def ended_by(original: Any, run: Run, ended: Any) -> Chunks:
        if isinstance(ended, RunEnded) and not run.ended:
            yield from around(lambda: original(run, ended), run, ended, where.get(run.id, ""))
        else:
            yield from original(run, ended)

    patch.around(pipeline.stopped, stopped)
    patch.around(loop.ended_by, ended_by)


def named(name: str, mistake: str, rule: str, change: Callable[[Patch], None]) -> None:
    """Registers one mutant of several that differ by a hook."""
    change.__name__, change.__doc__ = name, mistake
    mutant(rule)(change)


def _slug(wire: str) -> str:
    return CHAINS[wire].removeprefix("process_")


def without_its_chunk(wire: str) -> Callable[[Patch], None]:
    """An abort in this hook ends the stream like any other end."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        for chunk in ended_by():
            yield run.chunk("finish", {"finishReason": "other"}) if hook == wire else chunk

    return lambda patch: ending(patch, around)


def without_its_report(wire: str) -> Callable[[Patch], None]:
    """An abort in this hook is in no result."""
    where: dict[str, str] = {}

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        where[run.id] = hook
        yield from ended_by()

    def change(patch: Patch) -> None:
        ending(patch, around)
        patch.around(stream.result_of, lambda original, run: forgetting(original(run), where.get(run.id) == wire))

    return change


def forgetting(result: RunResult, forgets: bool) -> RunResult:
    if forgets:
        result.tripwire = None
    return result


for _wire in CHAINS:
    named(
        f"no_tripwire_chunk_from_{_slug(_wire)}",
        f"An abort in {_wire} ends the stream with finish, like any other end.",
        "TRI-1",
        without_its_chunk(_wire),
    )
    named(
        f"no_tripwire_reported_from_{_slug(_wire)}",
        f"An abort in {_wire} is in the stream and in no result.",
        "TRI-3",
        without_its_report(_wire),
    )


@mutant("TRI-3")
def aborted_run_keeps_its_finish_reason(patch: Patch) -> None:
    """The finish reason is that of the model's last answer, abort or not."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        reason = run.attempt.finish_reason
        yield from ended_by()
        run.finish_reason = reason if reason != "other" else "stop"

    ending(patch, around)


@mutant("TRI-3")
def generate_reports_the_reason_only(patch: Patch) -> None:
    """What generate() returns has the reason and the processor of a tripwire, and nothing that the caller added."""

    def generate(original: Any, own: Agent, input: Any, **options: Any) -> RunResult:
        result: RunResult = original(own, input, **options)
        if result.tripwire is not None:
            result.tripwire = {key: result.tripwire[key] for key in ("reason", "processorId")}
        return result

    patch.wrap(Agent, "generate", generate)


# -- an abort is final -------------------------------------------------------------------------------------------------


def undone(patch: Patch, when: Callable[[Link, Any], bool]) -> None:
    """An abort that the hook caught is forgotten where `when(link, returned)` says so."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        returned = method(args)
        if args._tripwire is not None and when(link, returned):
            args._tripwire, run.silent = None, False
        return returned

    methods(patch, around)


@mutant("TRI-2")
def a_caught_abort_is_undone(patch: Patch) -> None:
    """An abort is what leaves the hook; what the hook catches it deals with itself."""
    undone(patch, lambda link, returned: True)


@mutant("TRI-2")
def a_chunk_returned_after_an_abort_goes_out(patch: Patch) -> None:
    """A chunk that processOutputStream returns is let through, whatever was called before."""
    undone(patch, lambda link, returned: link.hook.wire == "processOutputStream")


@mutant("TRI-2")
def a_judge_may_change_its_mind(patch: Patch) -> None:
    """processOutputStep that returns has let the answer pass."""
    undone(patch, lambda link, returned: link.hook.wire == "processOutputStep")


@mutant("TRI-2")
def returned_messages_beat_an_abort(patch: Patch) -> None:
    """A hook that returns messages wants them to be used."""
    undone(patch, lambda link, returned: isinstance(returned, list))


@mutant("TRI-2")
def a_returned_retry_beats_an_abort(patch: Patch) -> None:
    """An error processor that returns a retry wants it."""
    undone(patch, lambda link, returned: link.hook.wire == "processAPIError" and returned is not None)


@mutant("TRI-2")
def an_exception_beats_an_abort(patch: Patch) -> None:
    """What leaves the hook counts: an exception after an abort is an exception."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        try:
            return method(args)
        except TripWire:
            raise
        except Exception:
            args._tripwire = None
            raise

    methods(patch, around)


@mutant("TRI-2")
def the_last_abort_decides(patch: Patch) -> None:
    """Each abort of a call takes the place of the one before."""

    def abort(original: Any, own: HookArgs, *args: Any, **options: Any) -> None:
        own._tripwire = None
        original(own, *args, **options)

    patch.wrap(HookArgs, "abort", abort)


@mutant("TRI-2")
def an_abort_beats_a_retry(patch: Patch) -> None:
    """A later abort for good takes the place of an earlier one that asked for a retry: safety first."""

    def abort(original: Any, own: HookArgs, *args: Any, **options: Any) -> None:
        if own._tripwire is not None and own._tripwire.retry and not options.get("retry"):
            own._tripwire = None
        original(own, *args, **options)

    patch.wrap(HookArgs, "abort", abort)


@mutant("TRI-2")
def data_goes_out_after_an_abort(patch: Patch) -> None:
    """The abort is looked at when the hook has ended; until then its writer writes."""
    patch.set(Run, "silence", lambda run: None)


@mutant("TRI-2")
def a_tripwire_by_hand_is_an_exception(patch: Patch) -> None:
    """Only what abort itself raised is an abort."""

    def around(method: Callable[[Any], Any], run: Run, link: Link, args: Any) -> Any:
        try:
            return method(args)
        except TripWire as tripwire:
            if args._tripwire is None:
                raise ContractError(str(tripwire)) from tripwire
            raise

    methods(patch, around)


# -- no reason ---------------------------------------------------------------------------------------------------------


def reasoned(patch: Patch, text: Callable[[str | None, str | None], str | None]) -> None:
    """The reason of a tripwire made by abort is `text(given, made up)`."""

    def abort(original: Any, own: HookArgs, reason: str | None = None, **options: Any) -> None:
        try:
            original(own, reason, **options)
        except TripWire as tripwire:
            tripwire.reason = text(reason, tripwire.reason) or ""
            raise

    patch.wrap(HookArgs, "abort", abort)


@mutant("TRI-4")
def a_missing_reason_stays_missing(patch: Patch) -> None:
    """No reason is an empty text."""
    reasoned(patch, lambda given, made: made if given == "" else given)


@mutant("TRI-4")
def an_empty_reason_is_a_reason(patch: Patch) -> None:
    """An empty text is a text."""
    reasoned(patch, lambda given, made: made if given is None else given)


@mutant("TRI-4")
def a_made_up_reason_names_nobody(patch: Patch) -> None:
    """Where there is no reason the text says that something was blocked."""
    reasoned(patch, lambda given, made: given or "blocked")


@mutant("TRI-4")
def a_tripwire_by_hand_keeps_its_empty_reason(patch: Patch) -> None:
    """What abort does for the reason is not done for an error raised by hand."""

    def judged(original: Any, run: Run, link: Link, tripwire: TripWire) -> RunEnded:
        by_hand = tripwire.processor_id is None
        ended: RunEnded = original(run, link, tripwire)
        if by_hand and not str(tripwire):
            ended.tripwire.reason = ""
        return ended

    patch.around(pipeline.verdict, judged)
