"""Mutants of the family RES, rules 1, 2, 15 to 17 and 24: reports that leave out, keep or make up something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import data, loop, stream
from processor_contract.data import clone, no_usage
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Run
from processor_contract.stream import RunResult

from . import Patch, mutant

Reporting = Callable[[Run, RunResult], None]


def reported(patch: Patch, change: Reporting) -> None:
    """Changes what a caller is told in the end."""

    def result_of(original: Any, run: Run) -> RunResult:
        result: RunResult = original(run)
        change(run, result)
        return result

    patch.around(stream.result_of, result_of)


# -- both modes --------------------------------------------------------------------------------------------------------


@mutant("RES-1")
def a_stream_reports_its_last_text(patch: Patch) -> None:
    """What a stream has said last is its text."""

    def change(run: Run, result: RunResult) -> None:
        if run.closable and result.steps:
            result.text = result.steps[-1]["text"]

    reported(patch, change)


@mutant("RES-1")
def a_stream_reports_no_messages(patch: Patch) -> None:
    """Who has read the chunks has the messages."""

    def change(run: Run, result: RunResult) -> None:
        if run.closable:
            result.messages = []

    reported(patch, change)


@mutant("RES-1")
def generate_reports_the_last_call(patch: Patch) -> None:
    """generate() returns what the provider returned last."""

    def change(run: Run, result: RunResult) -> None:
        if not run.closable and result.steps:
            result.usage = clone(result.steps[-1]["usage"])

    reported(patch, change)


@mutant("RES-1")
def a_stream_s_steps_are_brief(patch: Patch) -> None:
    """The steps of a stream have what its step-finish chunks have."""

    def change(run: Run, result: RunResult) -> None:
        if run.closable:
            result.steps = [
                {key: step[key] for key in ("text", "toolResults", "finishReason", "usage")}  # type: ignore[misc]
                for step in result.steps
            ]

    reported(patch, change)


# -- the response and its report ---------------------------------------------------------------------------------------


@mutant("RES-2")
def the_answer_is_what_was_streamed(patch: Patch) -> None:
    """processOutputResult changes what is stored; the caller has had its answer."""
    patch.wrap(Run, "follow_response", lambda original, own: None)


def reported_as_accepted(patch: Patch, name: str, now: Callable[[Run], Any]) -> None:
    """A caller is told under this name what `now(run)` was when the last step was accepted."""
    kept: dict[str, Any] = {}

    def accept(original: Any, own: Run) -> None:
        original(own)
        kept[own.id] = clone(now(own))

    patch.wrap(Run, "accept_step", accept)
    reported(patch, lambda run, result: setattr(result, name, kept.get(run.id, getattr(result, name))))


@mutant("RES-2")
def the_messages_are_those_before_the_last_hooks(patch: Patch) -> None:
    """The response messages are those that the model made."""
    reported_as_accepted(patch, "messages", lambda run: run.message_list.response())


def summary_of_old(patch: Patch, *names: str) -> None:
    """processOutputResult gets some members of `result` as they were when its chain began."""
    kept: dict[str, Any] = {}

    def change(run: Run, slate: Slate) -> None:
        first = kept.setdefault(run.id, clone(slate["result"]))
        for name in names:
            slate["result"][name] = clone(first[name])

    patch.derived("process_output_result", change)


@mutant("RES-15")
def the_text_is_read_once_a_chain(patch: Patch) -> None:
    """result.text is what the model said."""
    summary_of_old(patch, "text")


@mutant("RES-15")
def the_steps_are_read_once_a_chain(patch: Patch) -> None:
    """result.steps are history, and history does not change."""
    summary_of_old(patch, "steps")


@mutant("RES-15")
def the_caller_s_steps_are_history(patch: Patch) -> None:
    """The text follows the response; the steps are what happened."""
    reported_as_accepted(patch, "steps", lambda run: run.steps)


@mutant("RES-15")
def added_text_is_no_step_s(patch: Patch) -> None:
    """What a processor added no step has said."""

    def follow(original: Any, own: Run) -> None:
        *parts, _ = own.response.by_step()
        original(own)
        if own.steps:
            own.steps[-1]["text"] = data.joined_text(parts[-1])

    patch.wrap(Run, "follow_response", follow)


@mutant("RES-15")
def results_of_tools_are_history(patch: Patch) -> None:
    """What a tool gave it gave."""
    kept: dict[str, list[Any]] = {}

    def accept(original: Any, own: Run) -> None:
        original(own)
        kept.setdefault(own.id, []).append(clone(own.steps[-1]["toolResults"]))

    def follow(original: Any, own: Run) -> None:
        original(own)
        for step, before in zip(own.steps, kept.get(own.id, []), strict=False):
            step["toolResults"] = clone(before)

    patch.wrap(Run, "accept_step", accept)
    patch.wrap(Run, "follow_response", follow)


# -- usage -------------------------------------------------------------------------------------------------------------


@mutant("RES-16")
def a_missing_total_is_none(patch: Patch) -> None:
    """Each number is what the provider gave."""
    patch.around(
        data.add_usage,
        lambda original, total, more: original(total, {"totalTokens": 0, **more} if isinstance(more, dict) else more),
    )


@mutant("RES-16")
def missing_numbers_count_as_the_total(patch: Patch) -> None:
    """Where a number is missing the others tell nothing."""

    def add(original: Any, total: Any, more: Any) -> None:
        whole = isinstance(more, dict) and all(
            isinstance(more.get(key), int) for key in ("inputTokens", "outputTokens")
        )
        original(total, more if whole else None)

    patch.around(data.add_usage, add)


@mutant("RES-16")
def an_answer_without_end_is_estimated(patch: Patch) -> None:
    """A call that says nothing of its usage has used what the one before it used."""

    def accept(original: Any, own: Run) -> None:
        if own.steps and not any(own.attempt.usage.values()):
            own.attempt.usage = clone(own.steps[-1]["usage"])
        original(own)

    patch.wrap(Run, "accept_step", accept)


@mutant("RES-24")
def an_aborted_run_has_the_usage_of_its_steps(patch: Patch) -> None:
    """What was refused is not paid for."""

    def change(run: Run, result: RunResult) -> None:
        if run.tripwire is not None:
            result.usage = no_usage()
            for step in result.steps:
                data.add_usage(result.usage, step["usage"])

    reported(patch, change)


@mutant("RES-24")
def a_failed_run_has_no_usage(patch: Patch) -> None:
    """Usage is known when an answer is there."""

    def change(run: Run, result: RunResult) -> None:
        if run.error is not None:
            result.usage = no_usage()

    reported(patch, change)


@mutant("RES-24")
def a_cancelled_run_has_no_steps(patch: Patch) -> None:
    """Nobody asks for what he has called off."""

    def change(run: Run, result: RunResult) -> None:
        if result.finish_reason == "aborted":
            result.steps = []

    reported(patch, change)


# -- reasons -----------------------------------------------------------------------------------------------------------


def reason(patch: Patch, change: Callable[[Any, str], str]) -> None:
    """Changes the finish reason of a call: `change(given, made)`."""

    def finished(original: Any, own: Run, attempt: Attempt, payload: Any) -> Any:
        yield from original(own, attempt, payload)
        attempt.finish_reason = change(payload.get("finishReason"), attempt.finish_reason)

    patch.around(loop.finished, finished)


@mutant("RES-17")
def every_end_is_a_stop(patch: Patch) -> None:
    """An answer that came has stopped."""
    reason(patch, lambda given, made: made if made in ("tool-calls", "error") else "stop")


@mutant("RES-17")
def the_provider_s_own_words(patch: Patch) -> None:
    """A reason is whatever the provider says."""
    reason(patch, lambda given, made: given if isinstance(given, str) else made)


@mutant("RES-17")
def no_reason_is_a_stop(patch: Patch) -> None:
    """Where nothing is said all is well."""

    def begin(original: Any, own: Run, number: int) -> Attempt:
        attempt: Attempt = original(own, number)
        attempt.finish_reason = "stop"
        return attempt

    patch.wrap(Run, "begin_attempt", begin)


@mutant("RES-17")
def dropped_calls_make_it_a_stop(patch: Patch) -> None:
    """A step whose calls are gone has just said something."""

    def examine(original: Any, own: Run, attempt: Attempt) -> None:
        if attempt.finish_reason == "tool-calls" and not own.current_step().get("toolCalls"):
            attempt.finish_reason = "stop"
        original(own, attempt)

    patch.around(loop.examine, examine)


@mutant("RES-17")
def the_run_has_its_first_reason(patch: Patch) -> None:
    """A run ended as its first step did."""

    def change(run: Run, result: RunResult) -> None:
        if result.steps:
            result.finish_reason = result.steps[0]["finishReason"]

    reported(patch, change)
