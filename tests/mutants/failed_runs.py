"""Mutants of the family ERR, rules 30 to 38: how a run ends that nobody could mend, and a model's own retries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import agent, errors, loop, pipeline, results, stream
from processor_contract.data import Chunk, clone
from processor_contract.errors import APICallError, ProviderFailed, RunEnded
from processor_contract.models import calling
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Run

from . import Patch, mutant
from .errors import Failure, unasked
from .order import Chunks


@mutant("ERR-30")
def no_output_result_of_a_failed_run(patch: Patch) -> None:
    """There is no result to process."""
    patch.chain(
        "process_output_result",
        lambda chain, run, slate: slate if run.finish_reason == "error" else chain(run, slate),
    )


@mutant("ERR-30")
def failed_run_has_the_reason_of_its_last_step(patch: Patch) -> None:
    """The finish reason is that of the last step which finished."""

    def summary(run: Run, slate: Slate) -> None:
        if run.steps:
            slate["result"] = {**slate["result"], "finishReason": run.steps[-1]["finishReason"]}

    patch.derived("process_output_result", summary)


@mutant("ERR-31")
def generate_raises_a_wrapper(patch: Patch) -> None:
    """Whatever a provider raises, callers see one type."""

    def generate(original: Any, own: Any, *given: Any, **options: Any) -> Any:
        try:
            return original(own, *given, **options)
        except Exception as error:
            raise ProviderFailed(str(error)) from error

    patch.wrap(agent.Agent, "generate", generate)


@mutant("ERR-31")
def generate_returns_a_failure(patch: Patch) -> None:
    """The error stands in the result, as for a stream."""

    def generate(original: Any, own: Any, *given: Any, **options: Any) -> Any:
        return own.stream(*given, **options).result()

    patch.wrap(agent.Agent, "generate", generate)


@mutant("ERR-31")
def stream_raises_a_failure(patch: Patch) -> None:
    """A stream raises what generate() raises."""

    def result(original: Any, own: Any) -> Any:
        made = original(own)
        if made.error is not None:
            raise made.error
        return made

    patch.wrap(stream.Stream, "result", result)


@mutant("ERR-31")
def errors_in_mid_stream_are_made_anew(patch: Patch) -> None:
    """An error part has a text, and that is what it is about."""

    def part(original: Any, run: Run, attempt: Attempt, payload: Any) -> Chunks:
        return iter(original(run, attempt, {"error": str(payload.get("error"))}))

    patch.around(loop.failed_part, part)


def error_chunks(patch: Patch, then: Callable[[Run, Chunk | None], None]) -> None:
    """Reads something into what processors make of the error chunk."""

    def through(original: Any, run: Run, chunk: Chunk, **slate: Any) -> Chunk | None:
        passed: Chunk | None = original(run, chunk, **slate)
        if chunk["type"] == "error":
            then(run, passed)
        return passed

    patch.around(pipeline.through_stream, through)


@mutant("ERR-32")
def changed_error_becomes_the_error(patch: Patch) -> None:
    """What the client reads is what generate() raises."""

    def then(run: Run, chunk: Chunk | None) -> None:
        if chunk is not None and chunk["payload"]["error"]["message"] != str(run.error):
            run.error = ProviderFailed(chunk["payload"]["error"]["message"])

    error_chunks(patch, then)


@mutant("ERR-32")
def dropped_error_is_mended(patch: Patch) -> None:
    """Who drops an error has dealt with it."""

    def then(run: Run, chunk: Chunk | None) -> None:
        if chunk is None:
            run.error, run.finish_reason = None, "stop"
            run.attempt.finish_reason = "stop"

    error_chunks(patch, then)


def calls(patch: Patch, around: Callable[..., Chunks]) -> None:
    """Puts another loop of retries around the model."""
    patch.around(calling.called, around)


@mutant("ERR-33")
def model_retries_are_ignored(patch: Patch) -> None:
    """Retrying is the error processors' business."""
    calls(patch, lambda called, model, request, retries, clock: called(model, request, 0, clock))


@mutant("ERR-33")
def model_retries_by_default(patch: Patch) -> None:
    """Everybody wants two retries."""
    calls(patch, lambda called, model, request, retries, clock: called(model, request, retries or 2, clock))


class Hopeful:
    """A model all of whose errors may pass."""

    def __init__(self, model: Any) -> None:
        self.id = model.id
        self._model = model

    def stream(self, request: Any) -> Chunks:
        try:
            yield from self._model.stream(request)
        except APICallError as error:
            error.is_retryable = True
            raise


@mutant("ERR-33")
def rejections_are_repeated(patch: Patch) -> None:
    """Every call is worth a second try."""
    calls(patch, lambda called, model, request, retries, clock: called(Hopeful(model), request, retries, clock))


@mutant("ERR-33")
def model_retries_of_the_whole_run(patch: Patch) -> None:
    """The number of retries is that of the request."""
    left: dict[int, int] = {}

    def once(called: Any, model: Any, request: Any, retries: int, clock: Any) -> Chunks:
        run = id(request.abort_signal)
        retries = left.get(run, retries)
        left[run] = 0
        return iter(called(model, request, retries, clock))

    calls(patch, once)


@mutant("ERR-33")
def model_retries_are_attempts(patch: Patch) -> None:
    """A repeated call is a new attempt at the step."""
    made: dict[str, int] = {}

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        if isinstance(error, APICallError) and error.is_retryable:
            made[run.id] = made.get(run.id, 0) + 1
            if made[run.id] <= 3:
                run.reject_attempt()
                return True
        return (yield from original(run, attempt, error))

    calls(patch, lambda called, model, request, retries, clock: called(model, request, 0, clock))
    patch.around(loop.recover, recover)


@mutant("ERR-34")
def abort_on_an_error_lets_it_surface(patch: Patch) -> None:
    """An abort in processAPIError says that there is nothing to mend."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        try:
            return (yield from original(run, attempt, error))
        except RunEnded:
            run.ending = None
            return False

    patch.around(loop.recover, recover)


@mutant("ERR-34")
def error_goes_out_before_the_tripwire(patch: Patch) -> None:
    """The client learns of both."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        try:
            return (yield from original(run, attempt, error))
        except RunEnded:
            yield run.chunk("error", {"error": errors.described(error)})
            raise

    patch.around(loop.recover, recover)


@mutant("ERR-36")
def failed_attempts_have_a_response(patch: Patch) -> None:
    """processLLMResponse gets what there is of an answer."""

    def recover(original: Any, run: Run, attempt: Attempt, error: Failure) -> Any:
        slate = {
            "chunks": clone(attempt.chunks),
            "model": attempt.model,
            "step_number": attempt.number,
            "steps": list(run.steps),
            "from_cache": False,
            "warnings": None,
            "request": None,
            "raw_response": None,
        }
        pipeline.call(run, "process_llm_response", slate)
        return (yield from original(run, attempt, error))

    patch.around(loop.recover, recover)


@mutant("ERR-38")
def failed_calls_use_up_the_step_limit(patch: Patch) -> None:
    """Every call of the model is a step."""
    failures: dict[str, int] = {}

    def beyond(run: Run, attempt: Attempt, error: Failure) -> bool:
        failures[run.id] = failures.get(run.id, 0) + 1
        return attempt.number + failures[run.id] >= run.settings.max_steps

    unasked(patch, beyond)


@mutant("TOOL-5")
def calls_have_the_model_s_arguments(patch: Patch) -> None:
    """Processors see the call; what the model asked for is executed."""
    asked: dict[str, Any] = {}

    def through(original: Any, run: Run, chunk: Chunk, **given: Any) -> Chunk | None:
        if chunk["type"] == "tool-call":
            asked[run.id] = clone(chunk["payload"]["args"])
        passed: Chunk | None = original(run, chunk, **given)
        return passed

    def calls_of(original: Any, run: Run) -> Any:
        return [{**call, "args": asked.get(run.id, call["args"])} for call in original(run)]

    patch.around(pipeline.through_stream, through)
    patch.around(results.open_calls, calls_of)


@mutant("RES-2")
def empty_text_is_no_text(patch: Patch) -> None:
    """Where processors leave no text, that of the model stands."""
    said: dict[str, str] = {}

    def accept(original: Any, run: Run) -> None:
        original(run)
        said[run.id] = run.steps[-1]["text"]

    def follow(original: Any, run: Run) -> None:
        original(run)
        if run.steps and not run.steps[-1]["text"]:
            run.steps[-1]["text"] = said[run.id]

    patch.wrap(Run, "accept_step", accept)
    patch.wrap(Run, "follow_response", follow)


@mutant("ERR-31")
def failed_run_has_no_steps(patch: Patch) -> None:
    """A run that failed has come to nothing."""

    def result(original: Any, run: Run) -> Any:
        made = original(run)
        if run.finish_reason == "error":
            made.steps, made.text = [], ""
        return made

    patch.around(stream.result_of, result)
