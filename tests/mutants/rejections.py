"""Mutants of the family RTY: what a client, a processor or a provider sees of a rejected attempt."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from processor_contract import loop, results
from processor_contract.data import add_usage
from processor_contract.errors import AttemptRejected, RunEnded, TripWire
from processor_contract.run import Attempt, Run
from processor_contract.tools import Outcome

from . import Patch, mutant, stream_parts
from .abort import Chunks
from .repeats import is_retry, passing

# -- what the client sees ----------------------------------------------------------------------------------------------


def retrying(patch: Patch, change: Callable[[Run, Any], list[Any]]) -> None:
    """In the place of a rejected attempt's `step-finish` the client gets `change(run, chunk)`."""

    def around(passed: Callable[..., Chunks], run: Run, chunk: Any, plainly: bool) -> Chunks:
        for sent in passed():
            yield from change(run, sent) if is_retry(sent) else [sent]

    passing(patch, around)


@mutant("RTY-26")
def a_rejected_attempt_does_not_finish(patch: Patch) -> None:
    """An attempt that is given up just ends."""
    retrying(patch, lambda run, chunk: [])


@mutant("RTY-26")
def a_rejected_attempt_finishes_like_any_other(patch: Patch) -> None:
    """The finish reason of an attempt is that of the model."""
    retrying(patch, lambda run, chunk: [run.chunk("step-finish", {"finishReason": "stop", "usage": {}})])


@mutant("RTY-26")
def a_granted_retry_sends_a_tripwire(patch: Patch) -> None:
    """Every abort puts a tripwire chunk into the stream."""
    retrying(patch, lambda run, chunk: [run.chunk("tripwire", {"reason": "", "processorId": ""}), chunk])


@mutant("RTY-26")
def every_rejected_attempt_finishes(patch: Patch) -> None:
    """An attempt ends in step-finish, however far it has come."""

    def reject(original: Any, run: Run, attempt: Attempt) -> Chunks:
        begun = attempt.begun
        yield from original(run, attempt)
        if not begun and not run.plan["process_output_stream"]:
            yield run.chunk("step-finish", {"finishReason": "retry"})

    patch.around(loop.reject, reject)


@mutant("RTY-26")
def a_refused_step_start_has_gone_out(patch: Patch) -> None:
    """A step has begun when its step-start is on its way."""

    def reject(original: Any, run: Run, attempt: Attempt) -> Chunks:
        attempt.begun = attempt.begun or bool(run.plan["process_output_stream"])
        yield from original(run, attempt)

    patch.around(loop.reject, reject)


@mutant("RTY-26")
def a_rejected_chunk_goes_out(patch: Patch) -> None:
    """The chunk on which an attempt is rejected is the last of it."""

    def reject(original: Any, run: Run, attempt: Attempt) -> Chunks:
        if stream_parts(run) and stream_parts(run)[-1]["type"] == "text-delta":
            yield dict(stream_parts(run)[-1])
        yield from original(run, attempt)

    patch.around(loop.reject, reject)


@mutant("RTY-26")
def a_rejected_result_goes_out(patch: Patch) -> None:
    """A tool's result goes out when it is there."""

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        try:
            yield from original(run, outcome)
        except AttemptRejected:
            yield run.chunk("tool-result", {**outcome.call, "result": outcome.result})
            raise

    patch.around(results.settle, settle)


@mutant("RTY-26")
def a_failed_call_does_not_finish(patch: Patch) -> None:
    """A call that failed has no step that could finish."""

    def recover(original: Any, run: Run, attempt: Attempt, error: BaseException) -> Chunks:
        inner = original(run, attempt, error)
        while True:
            try:
                chunk = next(inner)
            except StopIteration as done:
                return done.value
            if not is_retry(chunk):
                yield chunk

    patch.around(loop.recover, recover)


@mutant("RTY-27")
def the_end_of_an_attempt_goes_past_the_processors(patch: Patch) -> None:
    """The end of an attempt is between the runtime and the client."""

    def around(passed: Callable[..., Chunks], run: Run, chunk: Any, plainly: bool) -> Chunks:
        yield from [chunk] if is_retry(chunk) else passed()

    passing(patch, around)


@mutant("RTY-27")
def the_end_of_an_attempt_counts_as_the_next(patch: Patch) -> None:
    """The retry is counted when it is granted: the chunk that ends the attempt has the new count."""

    def around(passed: Callable[..., Chunks], run: Run, chunk: Any, plainly: bool) -> Chunks:
        run.retries += is_retry(chunk)
        try:
            yield from passed()
        finally:
            run.retries -= is_retry(chunk)

    passing(patch, around)


@mutant("RTY-27")
def a_hidden_retry_does_not_happen(patch: Patch) -> None:
    """A processor that drops the end of a rejected attempt keeps the attempt."""

    def around(passed: Callable[..., Chunks], run: Run, chunk: Any, plainly: bool) -> Chunks:
        sent = list(passed())
        yield from sent
        if is_retry(chunk) and not sent:
            raise RunEnded(TripWire("the attempt was kept", processor_id="runtime"))

    passing(patch, around)


# -- the provider ------------------------------------------------------------------------------------------------------


@mutant("RTY-28")
def the_provider_runs_on(patch: Patch) -> None:
    """A stream that nobody reads any more ends by itself."""
    kept: list[Any] = []

    @contextlib.contextmanager
    def left_open(parts: Any) -> Any:
        kept.append(parts)
        yield parts

    patch.set(loop, "closing", left_open)


@mutant("RTY-29")
def rejected_answers_are_free(patch: Patch) -> None:
    """The usage of a run is that of its accepted steps."""

    def reject(original: Any, own: Run) -> None:
        for key, value in own.attempt.usage.items():
            own.usage[key] -= value  # type: ignore[literal-required]
        original(own)

    patch.wrap(Run, "reject_attempt", reject)


@mutant("RTY-29")
def an_attempt_pays_for_those_before_it(patch: Patch) -> None:
    """The usage of a step is that of all attempts at it."""

    def begin(original: Any, own: Run, number: int) -> Attempt:
        spent = dict(own.attempt.usage) if own.retries else {}
        attempt: Attempt = original(own, number)
        add_usage(attempt.usage, spent)
        return attempt

    patch.wrap(Run, "begin_attempt", begin)


@mutant("RTY-29")
def half_an_answer_is_estimated(patch: Patch) -> None:
    """An answer that was stopped in its middle has cost something."""

    def reject(original: Any, own: Run) -> None:
        if not own.attempt.usage["totalTokens"]:
            add_usage(own.usage, {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2})
        original(own)

    patch.wrap(Run, "reject_attempt", reject)
