"""Mutants of the family ERR, rules 1 to 13: which failures reach the error processors, and as what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import errors, loop, pipeline
from processor_contract.errors import APICallError, ProviderFailed
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Link, Run

from . import Patch, mutant
from .order import Chunks

Failure = BaseException


def unasked(patch: Patch, skipped: Callable[[Run, Attempt, Failure], bool]) -> None:
    """Lets some failures surface without asking the error processors."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        if skipped(run, attempt, error):
            run.reject_attempt()
            return False
        return (yield from original(run, attempt, error))

    patch.around(loop.recover, recover)


def answers(patch: Patch, take: Callable[[Any, Run, Link, Slate, Any], bool]) -> None:
    """Reads what processAPIError returns otherwise; `take` gets the reading of the reference first."""
    patch.returned("process_api_error", take)


@mutant("ERR-1")
def only_400_is_a_rejection(patch: Patch) -> None:
    """A rejection is an error with status 400."""
    unasked(patch, lambda run, attempt, error: getattr(error, "status_code", 400) == 422)


@mutant("ERR-1")
def later_rejections_surface(patch: Patch) -> None:
    """Requests are refused at their beginning or not at all."""
    unasked(patch, lambda run, attempt, error: isinstance(error, APICallError) and attempt.number > 0)


@mutant("ERR-3")
def retry_true_is_ignored(patch: Patch) -> None:
    """processAPIError is told of errors; what it returns is of no interest."""
    answers(patch, lambda before, run, link, slate, returned: False)


@mutant("ERR-3")
def only_the_first_call_is_repeated(patch: Patch) -> None:
    """What has already answered once is not asked again."""

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        return bool(before(run, link, slate, returned if run.attempt.number == 0 else None))

    answers(patch, take)


@mutant("ERR-3")
def any_answer_is_a_retry(patch: Patch) -> None:
    """A processor that returns something has handled the error."""

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        return bool(before(run, link, slate, {"retry": True} if isinstance(returned, dict) else returned))

    answers(patch, take)


@mutant("ERR-3")
def no_answer_is_a_retry(patch: Patch) -> None:
    """A processor that raises nothing has handled the error."""

    def take(before: Any, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        return bool(before(run, link, slate, {"retry": True} if returned is None else returned))

    answers(patch, take)


@mutant("ERR-4")
def errors_go_out_at_once(patch: Patch) -> None:
    """The error chunk goes out as it comes; a retry follows it."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        yield run.chunk("error", {"error": errors.described(error)})
        return (yield from original(run, attempt, error))

    patch.around(loop.recover, recover)


@mutant("ERR-4")
def stream_hooks_see_every_error(patch: Patch) -> None:
    """The error is kept from the client, but stream filters are told at once."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        pipeline.through_stream(run, run.chunk("error", {"error": errors.described(error)}))
        return (yield from original(run, attempt, error))

    patch.around(loop.recover, recover)


def not_rejected(patch: Patch, afterwards: bool) -> None:
    """Leaves the response of a failed attempt as it is while the hook runs; `afterwards`: takes it back then."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        run.response.close_texts()
        begun, attempt.begun = attempt.begun, False
        try:
            return (yield from original(run, attempt, error))
        finally:
            attempt.begun = begun
            if afterwards:
                run.reject_attempt()

    patch.around(loop.recover, recover)


@mutant("ERR-5")
def half_answer_stays(patch: Patch) -> None:
    """What the model has said it has said; the repeated call goes on from there."""
    not_rejected(patch, afterwards=False)


@mutant("ERR-5")
def half_answer_leaves_after_the_hook(patch: Patch) -> None:
    """The attempt is cleared away when it is clear what follows."""
    not_rejected(patch, afterwards=True)


@mutant("ERR-5")
def failed_attempt_leaves_an_empty_message(patch: Patch) -> None:
    """Each attempt has a message of its own, a failed one without parts."""
    failed: set[str] = set()

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        failed.add(run.id)
        return (yield from original(run, attempt, error))

    def result(chain: Any, run: Run, slate: Slate) -> Slate:
        if run.id in failed:
            run.message_list.add({"role": "assistant", "content": {"format": 2, "parts": []}}, "response")
        passed: Slate = chain(run, slate)
        return passed

    patch.around(loop.recover, recover)
    patch.chain("process_output_result", result)


@mutant("ERR-6")
def no_step_finish_after_an_error(patch: Patch) -> None:
    """A step that has failed has not finished."""

    def surface(original: Any, run: Run, attempt: Attempt, error: Failure) -> Chunks:
        yield from (chunk for chunk in original(run, attempt, error) if chunk["type"] != "step-finish")

    patch.around(loop.surface, surface)


@mutant("ERR-6")
def failed_runs_finish_like_others(patch: Patch) -> None:
    """`finish` has the reason of the last step that was accepted."""

    def surface(original: Any, run: Run, attempt: Attempt, error: Failure) -> Chunks:
        yield from original(run, attempt, error)
        run.finish_reason = run.steps[-1]["finishReason"] if run.steps else "error"

    patch.around(loop.surface, surface)


@mutant("ERR-6")
def errors_need_an_error_processor(patch: Patch) -> None:
    """Without error processors nobody is interested in an error chunk."""

    def surface(original: Any, run: Run, attempt: Attempt, error: Failure) -> Chunks:
        chunks = original(run, attempt, error)
        yield from (chunk for chunk in chunks if run.settings.errors or chunk["type"] != "error")

    patch.around(loop.surface, surface)


def replaced(patch: Patch, other: Callable[[Failure], Failure]) -> None:
    """Hands another error to the error processors."""

    def take(chain: Any, run: Run, slate: Slate) -> Slate:
        slate["error"] = other(slate["error"])
        result: Slate = chain(run, slate)
        return result

    patch.chain("process_api_error", take)


@mutant("ERR-12")
def error_is_wrapped(patch: Patch) -> None:
    """Every failure is one of ours, with the provider's as its cause."""
    replaced(patch, lambda error: ProviderFailed(str(error)))


@mutant("ERR-12")
def other_errors_become_api_errors(patch: Patch) -> None:
    """Error processors get API errors; what is none is made one."""
    replaced(patch, lambda error: error if isinstance(error, APICallError) else APICallError(str(error)))


@mutant("ERR-12")
def second_processor_gets_a_copy(patch: Patch) -> None:
    """Each processor gets an error of its own."""

    def copied(run: Run, slate: Slate) -> None:
        error = slate["error"]
        if isinstance(error, APICallError):
            given = {name: getattr(error, name) for name in ("status_code", "is_retryable", "url", "response_body")}
            slate["error"] = APICallError(str(error), **given)

    patch.derived("process_api_error", copied)


def forgetful(patch: Patch, **known: Any) -> None:
    """API errors lose some of what they say."""

    def take(error: Failure) -> Failure:
        for name, value in known.items():
            if isinstance(error, APICallError):
                setattr(error, name, value)
        return error

    replaced(patch, take)


@mutant("ERR-13")
def api_error_without_status(patch: Patch) -> None:
    """The message says it all."""
    forgetful(patch, status_code=None)


@mutant("ERR-13")
def api_error_without_body(patch: Patch) -> None:
    """What the provider wrote is not handed on."""
    forgetful(patch, response_body=None, url=None)


@mutant("ERR-13")
def api_error_is_never_retryable(patch: Patch) -> None:
    """An error that gets here can no longer be retried, so its flag is off."""
    forgetful(patch, is_retryable=False)
