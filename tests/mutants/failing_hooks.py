"""Mutants of the family ERR, the rules on exceptions in hooks: what a run does when a processor crashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import agent, errors, loop, message_list, pipeline, results, stream
from processor_contract.data import Chunk, clone
from processor_contract.errors import ContractError, HookFailed, RunFailed, TripWire
from processor_contract.hooks import HOOKS
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Run

from . import Patch, mutant
from .errors import Failure
from .order import Chunks


def swallowing(hook: str) -> Callable[[Patch], None]:
    """A mutant that takes an exception in one hook for the neutral answer."""

    def change(patch: Patch) -> None:
        def plan(original: Any, run: Run) -> None:
            original(run)
            for link in run.plan[hook]:
                link.method = guarded(link.method)

        patch.around(pipeline.plan, plan)

    def guarded(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def called(args: Any) -> Any:
            try:
                return method(args)
            except TripWire:
                raise
            except Exception:
                return getattr(args, "part", None)

        return called

    change.__name__ = f"exception_in_{hook.removeprefix('process_')}_is_swallowed"
    change.__doc__ = f"An exception in {HOOKS[hook].wire} is logged, and the run goes on."
    return change


for _hook in HOOKS:
    mutant("ERR-9")(swallowing(_hook))


@mutant("ERR-9")
def exception_ends_its_chain_only(patch: Patch) -> None:
    """The rest of the chain is left out, and the next hook follows."""

    def call(original: Any, run: Run, name: str, slate: Slate) -> Slate:
        try:
            result: Slate = original(run, name, slate)
        except HookFailed:
            run.ending = None
            return slate
        return result

    patch.around(pipeline.call, call)


def after_the_error(patch: Patch, change: Callable[[Run, Chunk], Chunks]) -> None:
    """Changes what goes out in place of the error chunk of a hook's exception."""

    def ended(original: Any, run: Run, ending: Any) -> Chunks:
        for chunk in original(run, ending):
            yield from change(run, chunk) if chunk["type"] == "error" else [chunk]

    patch.around(loop.ended_by, ended)


@mutant("ERR-10")
def crashed_step_finishes(patch: Patch) -> None:
    """A step that was started is finished, and so is the stream."""

    def change(run: Run, chunk: Chunk) -> Chunks:
        payload = {"finishReason": "error", "usage": dict(run.usage)}
        if run.attempt.begun:
            yield from (chunk, run.chunk("step-finish", payload))
        else:
            yield from (chunk, run.chunk("finish", payload))

    after_the_error(patch, change)


@mutant("ERR-10")
def crash_is_kept_from_the_client(patch: Patch) -> None:
    """The stream just ends; the accessors raise."""
    after_the_error(patch, lambda run, chunk: iter(()))


@mutant("ERR-10")
def crash_passes_the_stream_hooks(patch: Patch) -> None:
    """An error chunk is a chunk like others."""

    def change(run: Run, chunk: Chunk) -> Chunks:
        run.ending = None
        passed = pipeline.through_stream(run, chunk)
        yield from [passed] if passed is not None else []

    after_the_error(patch, change)


@mutant("ERR-10")
def accessors_resolve_after_a_crash(patch: Patch) -> None:
    """The result says what there is, and the error is one of its fields."""

    def result(original: Any, own: Any) -> Any:
        own.drain()
        return stream.result_of(own._run)

    patch.wrap(stream.Stream, "result", result)


@mutant("ERR-11")
def api_error_is_forgotten(patch: Patch) -> None:
    """What surfaces is the exception, with what caused it."""
    patch.around(errors.caused_by, lambda caused_by, later, earlier: later)


@mutant("ERR-11")
def api_error_is_forgotten_in_the_first_step(patch: Patch) -> None:
    """The cause is what happened before, and before the first step nothing has."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        try:
            return (yield from original(run, attempt, error))
        except HookFailed as failed:
            if attempt.number == 0 and failed.__cause__ is not None:
                failed.__cause__.__cause__ = None
            raise

    patch.around(loop.recover, recover)


@mutant("ERR-11")
def crash_of_a_recovery_is_forgotten(patch: Patch) -> None:
    """A recovery that crashes has not recovered: the API error surfaces."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        try:
            return (yield from original(run, attempt, error))
        except HookFailed:
            run.ending = None
            return False

    patch.around(loop.recover, recover)


@mutant("ERR-16")
def wrong_answer_names_nobody(patch: Patch) -> None:
    """A wrong return is raised as it is."""
    bare(patch, "process_api_error")


def bare(patch: Patch, *hooks: str) -> None:
    """Raises what is wrong with a return without saying whose it is."""

    def call(original: Any, run: Run, name: str, slate: Slate) -> Slate:
        try:
            result: Slate = original(run, name, slate)
        except HookFailed as failed:
            if name in hooks and isinstance(failed.__cause__, ContractError):
                raise failed.__cause__ from None
            raise
        return result

    patch.around(pipeline.call, call)


@mutant("ERR-27")
def crash_in_the_input_goes_into_the_stream(patch: Patch) -> None:
    """`stream()` always gives a stream; what went wrong stands in it."""
    failed: dict[str, HookFailed] = {}

    def phase(original: Any, run: Run) -> None:
        try:
            original(run)
        except HookFailed as failure:
            failed[run.id] = failure

    def stream_of(original: Any, run: Run) -> Chunks:
        return iter(loop.ended_by(run, failed[run.id]) if run.id in failed else original(run))

    patch.around(loop.input_phase, phase)
    patch.around(loop.stream_of, stream_of)


@mutant("ERR-27")
def broken_array_function_names_nobody(patch: Patch) -> None:
    """A function that fails has no processors to offer."""

    def array(original: Any, own: Any, name: str, override: Any, context: Any) -> list[Any]:
        try:
            resolved: list[Any] = original(own, name, override, context)
        except Exception:
            return []
        return resolved

    patch.wrap(agent.Agent, "_array", array)


@mutant("ERR-28")
def crash_in_stop_when_goes_on(patch: Patch) -> None:
    """Nobody has said that the run stops."""
    stops(patch, goes_on=True)


@mutant("ERR-28")
def crash_in_stop_when_stops(patch: Patch) -> None:
    """A run that cannot be judged ends as if it were over."""
    stops(patch, goes_on=False)


def stops(patch: Patch, *, goes_on: bool) -> None:
    """Takes an exception in stopWhen for an answer."""

    def stop(original: Any, run: Run) -> bool:
        try:
            return bool(original(run))
        except HookFailed:
            run.ending = None
            return not goes_on

    patch.around(loop.stops, stop)


@mutant("ERR-28")
def crash_in_prepare_step_changes_nothing(patch: Patch) -> None:
    """A callback that fails has prepared nothing."""

    def init(original: Any, own: Any, prepare_step: Callable[[Any], Any]) -> None:
        def prepared(args: Any) -> Any:
            try:
                return prepare_step(args)
            except TripWire:
                raise
            except Exception:
                return None

        original(own, prepared)

    patch.wrap(agent.PrepareStep, "__init__", init)


@mutant("ERR-29")
def wrong_return_names_nobody(patch: Patch) -> None:
    """The error says what is wrong with the value."""
    bare(patch, *HOOKS)


@mutant("ERR-29")
def crash_names_nobody(patch: Patch) -> None:
    """The error says which hook it was."""

    def init(original: Any, own: Any, processor: str, hook: str, cause: BaseException) -> None:
        original(own, "", hook, cause)

    patch.wrap(HookFailed, "__init__", init)


@mutant("ERR-29")
def crash_loses_its_cause(patch: Patch) -> None:
    """The text of the cause is enough."""

    def ended(original: Any, run: Run, ending: Any) -> Chunks:
        if isinstance(ending, HookFailed):
            ending.__cause__ = ContractError(str(ending.__cause__))
        yield from original(run, ending)

    patch.around(loop.ended_by, ended)


@mutant("ERR-37")
def crashing_filter_lets_its_chunk_through(patch: Patch) -> None:
    """A chunk that could not be filtered goes out as it is, and then the run ends."""

    def through(original: Any, run: Run, chunk: Chunk, **slate: Any) -> Any:
        before = clone(chunk)
        try:
            return original(run, chunk, **slate)
        except HookFailed:
            run.outbox.append(before)
            raise

    patch.around(pipeline.through_stream, through)


@mutant("ERR-37")
def crashing_redactor_lets_its_result_through(patch: Patch) -> None:
    """The tool has run; its result goes out, and then the run ends."""

    def examine(original: Any, run: Run, info: Any, result: Any, provider_executed: Any) -> Any:
        try:
            return original(run, info, result, provider_executed)
        except HookFailed:
            run.outbox.append(run.chunk("tool-result", {**info, "result": clone(result)}))
            raise

    patch.around(results.examine_result, examine)


@mutant("ERR-37")
def later_filters_see_what_one_crashed_on(patch: Patch) -> None:
    """The chain is run to its end before the exception counts."""
    crashed: dict[str, HookFailed] = {}

    def plan(original: Any, run: Run) -> None:
        original(run)
        for link in run.plan["process_output_stream"]:
            link.method = postponed(run, link.processor.id, link.method)

    def postponed(run: Run, processor: str, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def called(args: Any) -> Any:
            try:
                return method(args)
            except TripWire:
                raise
            except Exception as error:
                crashed[run.id] = HookFailed(processor, "processOutputStream", error)
                return args.part

        return called

    def chain(original: Any, run: Run, slate: Slate) -> Slate:
        result: Slate = original(run, slate)
        if run.id in crashed:
            raise run.end_with(crashed.pop(run.id))
        return result

    patch.around(pipeline.plan, plan)
    patch.chain("process_output_stream", chain)


@mutant("MSG-53")
def broken_messages_blame_nobody(patch: Patch) -> None:
    """A message is nobody's; who broke it is not known when it is found."""
    patch.around(pipeline.blamed, lambda original, run, error: RunFailed(original(run, error).__cause__ or error))


@mutant("MSG-53")
def a_message_is_known_by_its_head(patch: Patch) -> None:
    """What has id, role and content is a message still; what is in it is looked at by whoever needs it."""
    patch.set(message_list, "fault_of_message", lambda one: None)
