"""Mutants of the family ERR, rules 14 to 17: what error processors are asked, what they answer, what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from processor_contract import loop, pipeline, request
from processor_contract.errors import APICallError, CallFailed, ProviderFailed, RunEnded
from processor_contract.models import calling
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Link, Run

from . import Patch, mutant
from .errors import Failure, answers, unasked
from .order import Chunks


@mutant("ERR-14")
def network_failures_surface(patch: Patch) -> None:
    """Only an answer can be an API error."""
    unasked(patch, lambda run, attempt, error: isinstance(error, APICallError) and error.status_code is None)


@mutant("ERR-14")
def retryable_errors_surface(patch: Patch) -> None:
    """Errors that may pass by themselves are no business of the error processors."""
    unasked(patch, lambda run, attempt, error: isinstance(error, APICallError) and error.status_code == 429)


def noted(patch: Patch, function: Any) -> list[Failure]:
    """The failures that came out of a part of the reference."""
    seen: list[Failure] = []

    def part(original: Any, *given: Any) -> Chunks:
        try:
            yield from original(*given)
        except CallFailed as failed:
            seen.append(failed.error)
            raise

    patch.around(function, part)
    return seen


@mutant("ERR-14")
def exceptions_of_the_provider_surface(patch: Patch) -> None:
    """Error processors are for API errors; anything else is a bug of the provider."""
    later = noted(patch, calling.followed), noted(patch, loop.failed_part)
    kinds = (APICallError, ProviderFailed)
    unasked(
        patch,
        lambda run, attempt, error: not isinstance(error, kinds) and not any(error in seen for seen in later),
    )


@mutant("ERR-14")
def error_parts_surface(patch: Patch) -> None:
    """A call that has begun to answer has not failed."""
    seen = noted(patch, loop.failed_part)
    unasked(patch, lambda run, attempt, error: error in seen)


@mutant("ERR-14")
def exceptions_in_mid_stream_surface(patch: Patch) -> None:
    """What breaks while the answer comes is a matter of the stream."""
    seen = noted(patch, calling.followed)
    unasked(patch, lambda run, attempt, error: error in seen)


@mutant("ERR-14")
def finish_with_error_surfaces(patch: Patch) -> None:
    """An answer that finishes has not failed."""
    unasked(patch, lambda run, attempt, error: "finished" in str(error))


@mutant("ERR-15")
def all_error_processors_are_asked(patch: Patch) -> None:
    """Every error processor hears of the error; one that wants a retry is enough."""

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        before(run, link, slate, returned)
        return False

    answers(patch, take)


@mutant("ERR-15")
def first_answer_ends_the_chain(patch: Patch) -> None:
    """The first processor that answers at all decides."""
    answers(
        patch,
        lambda before, run, link, slate, returned: before(run, link, slate, returned) or returned is not None,
    )


@mutant("ERR-15")
def last_answer_wins(patch: Patch) -> None:
    """Each processor may overrule the one before it."""

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        before(run, link, slate, returned)
        if returned is not None:
            run.attempt.recovered = returned["retry"]
        return False

    answers(patch, take)


@mutant("ERR-16")
def wrong_answers_are_ignored(patch: Patch) -> None:
    """What is no retry is nothing."""

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        with suppress(Exception):
            return bool(before(run, link, slate, returned))
        return False

    answers(patch, take)


@mutant("ERR-16")
def whatever_is_true_is_a_retry(patch: Patch) -> None:
    """`retry` is tested for truth."""

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if isinstance(returned, dict) and returned.get("retry"):
            returned = {"retry": True}
        return bool(before(run, link, slate, returned))

    answers(patch, take)


@mutant("ERR-16")
def arrays_are_taken_for_nothing(patch: Patch) -> None:
    """An empty array changes nothing, here as elsewhere."""
    answers(patch, lambda before, run, link, slate, returned: before(run, link, slate, returned or None))


@mutant("ERR-17")
def retry_sends_the_request_again(patch: Patch) -> None:
    """The call is repeated, and only the call."""
    failed: dict[str, Attempt] = {}
    made: dict[str, Any] = {}

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        failed[run.id] = attempt
        return (yield from original(run, attempt, error))

    def ask(original: Any, run: Run, attempt: Attempt) -> Any:
        before = failed.pop(run.id, None)
        if before is None:
            made[run.id] = original(run, attempt)
        else:
            attempt.model, attempt.offered = before.model, before.offered
        return made[run.id]

    patch.around(loop.recover, recover)
    patch.around(request.ask, ask)


def also_after_a_failure(patch: Patch, act: Callable[[Run], Any]) -> None:
    """Does something more when a failed call is to be repeated."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        mended = yield from original(run, attempt, error)
        if mended:
            with suppress(RunEnded):
                act(run)
        return mended

    patch.around(loop.recover, recover)


@mutant("ERR-17")
def retry_runs_process_input_again(patch: Patch) -> None:
    """A retry starts the request anew."""
    also_after_a_failure(patch, lambda run: pipeline.call(run, "process_input", {}))


@mutant("ERR-17")
def failed_attempts_take_a_number(patch: Patch) -> None:
    """Every call of the model is a step."""
    failures: dict[str, int] = {}

    def note(run: Run) -> None:
        failures[run.id] = failures.get(run.id, 0) + 1

    also_after_a_failure(patch, note)
    patch.wrap(
        Run,
        "begin_attempt",
        lambda original, run, number: original(run, number + failures.get(run.id, 0)),
    )


@mutant("ERR-17")
def failed_attempts_leave_their_system_messages(patch: Patch) -> None:
    """System messages are set back when a step is over, and this one is not."""

    def keep(run: Run) -> None:
        run.system_before = run.message_list.system_state()

    also_after_a_failure(patch, keep)
