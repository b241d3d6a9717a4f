"""Mutants of the family TRI: tripwires that say too little, come too early, or are taken for something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop, pipeline, results, tools
from processor_contract.errors import RunEnded, TripWire
from processor_contract.run import Run
from processor_contract.stream import RunResult, Stream
from processor_contract.tools import Outcome

from . import Patch, mutant, stream_parts
from .abort import Chunks, ending

# -- what the stream reports -------------------------------------------------------------------------------------------


def reported(patch: Patch, change: Callable[[RunResult], None]) -> None:
    """What a stream reports of an aborted run is changed."""

    def result(original: Any, own: Stream) -> RunResult:
        made: RunResult = original(own)
        if made.tripwire is not None:
            change(made)
        return made

    patch.wrap(Stream, "result", result)


@mutant("TRI-7")
def the_stream_reports_the_reason_only(patch: Patch) -> None:
    """The stream has said everything already; its result has the reason."""

    def change(result: RunResult) -> None:
        result.tripwire = {"reason": (result.tripwire or {})["reason"]}

    reported(patch, change)


@mutant("TRI-7")
def the_stream_keeps_the_last_finish_reason(patch: Patch) -> None:
    """The finish reason of a stream is that of its last step."""

    def change(result: RunResult) -> None:
        if result.steps:
            result.finish_reason = result.steps[-1]["finishReason"]

    reported(patch, change)


@mutant("TRI-7")
def a_refused_input_is_not_reported(patch: Patch) -> None:
    """A stream that never started has nothing to report."""

    def change(result: RunResult) -> None:
        if not result.steps and not result.usage["totalTokens"]:
            result.tripwire = None

    reported(patch, change)


# -- what a tripwire says ----------------------------------------------------------------------------------------------


def chunk_payload(patch: Patch, change: Callable[[dict[str, Any]], Any]) -> None:
    """The tripwire chunk is changed."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        for chunk in ended_by():
            change(chunk)
            yield chunk

    ending(patch, around)


@mutant("TRI-12")
def a_tripwire_without_its_run(patch: Patch) -> None:
    """The last chunk belongs to the stream, not to a run."""
    chunk_payload(patch, lambda chunk: chunk.pop("runId", None))


@mutant("TRI-12")
def a_tripwire_of_a_chunk_is_bare(patch: Patch) -> None:
    """The chunk that takes the place of a refused one has its type and its payload."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        for chunk in ended_by():
            yield {key: chunk[key] for key in ("type", "payload")} if hook == "processOutputStream" else chunk

    ending(patch, around)


@mutant("TRI-12")
def a_tripwire_from_its_processor(patch: Patch) -> None:
    """A tripwire is from the processor that aborted."""
    chunk_payload(patch, lambda chunk: chunk.update({"from": "PROCESSOR"}))


@mutant("TRI-12")
def a_tripwire_without_its_processor(patch: Patch) -> None:
    """The reason is all that a client needs."""
    chunk_payload(patch, lambda chunk: chunk["payload"].pop("processorId", None))


def saying(patch: Patch, change: Callable[[TripWire, dict[str, Any]], None]) -> None:
    """What a tripwire says, in the chunk and in the result."""

    def payload(original: Any, own: TripWire) -> dict[str, Any]:
        said: dict[str, Any] = original(own)
        change(own, said)
        return said

    patch.wrap(TripWire, "payload", payload)


@mutant("TRI-12")
def retry_false_is_left_out(patch: Patch) -> None:
    """A retry that is not asked for need not be mentioned."""

    def change(tripwire: TripWire, said: dict[str, Any]) -> None:
        if not tripwire.retry:
            said.pop("retry", None)

    saying(patch, change)


@mutant("TRI-12")
def metadata_is_left_out(patch: Patch) -> None:
    """Metadata is for the runtime's log."""
    saying(patch, lambda tripwire, said: said.pop("metadata", None))


@mutant("TRI-13")
def retry_is_always_there(patch: Patch) -> None:
    """A retry that was not asked for is false."""
    saying(patch, lambda tripwire, said: said.update(retry=bool(tripwire.retry)))


@mutant("TRI-13")
def metadata_is_always_there(patch: Patch) -> None:
    """Metadata that was not given is null."""
    saying(patch, lambda tripwire, said: said.update(metadata=tripwire.metadata))


@mutant("TRI-13")
def the_chunk_says_retry_false(patch: Patch) -> None:
    """The chunk has all its keys: a client need not test for them."""
    chunk_payload(patch, lambda chunk: chunk["payload"].setdefault("retry", False))


# -- the last chunk ----------------------------------------------------------------------------------------------------


def around_the_tripwire(
    patch: Patch,
    before: Callable[[Run, str], list[Any]] = lambda run, hook: [],
    after: Callable[[Run, str], list[Any]] = lambda run, hook: [],
) -> None:
    """Other chunks stand before or behind the tripwire."""

    def around(ended_by: Callable[[], Chunks], run: Run, ended: RunEnded, hook: str) -> Chunks:
        yield from before(run, hook)
        yield from ended_by()
        yield from after(run, hook)

    ending(patch, around)


def finish_of(run: Run) -> Any:
    return run.chunk("finish", {"finishReason": "other"})


def step_finish_of(run: Run) -> Any:
    return run.chunk("step-finish", {"finishReason": "other", "usage": {}})


@mutant("TRI-14")
def an_aborted_step_finishes(patch: Patch) -> None:
    """A step that has begun is closed before the tripwire goes out."""
    around_the_tripwire(patch, before=lambda run, hook: [step_finish_of(run)] * (run.in_step and run.attempt.begun))


@mutant("TRI-14")
def a_step_finishes_after_the_tripwire(patch: Patch) -> None:
    """A step that has begun is closed in any case, at the very end."""
    around_the_tripwire(patch, after=lambda run, hook: [step_finish_of(run)] * (run.in_step and run.attempt.begun))


@mutant("TRI-14")
def finish_follows_the_tripwire(patch: Patch) -> None:
    """Every stream ends with finish."""
    around_the_tripwire(patch, after=lambda run, hook: [finish_of(run)])


@mutant("TRI-14")
def the_tripwire_comes_twice(patch: Patch) -> None:
    """The chain sends the tripwire, and so does the run."""
    around_the_tripwire(patch, after=lambda run, hook: [run.chunk("tripwire", {"reason": "", "processorId": ""})])


@mutant("TRI-14")
def a_refused_result_is_finished(patch: Patch) -> None:
    """When processOutputResult runs, the stream has ended: finish goes out before what it says."""
    around_the_tripwire(patch, before=lambda run, hook: [finish_of(run)] * (hook == "processOutputResult"))


@mutant("TRI-14")
def the_last_step_finishes_with_its_run(patch: Patch) -> None:
    """The end of the last step is held back until the result has passed."""

    def stream_of(original: Any, run: Run) -> Chunks:
        held: list[Any] = []
        for chunk in original(run):
            if chunk["type"] != "tripwire":
                yield from held
            held = [chunk] if chunk["type"] == "step-finish" else []
            if not held:
                yield chunk

    patch.around(loop.stream_of, stream_of)


@mutant("TRI-14")
def a_refused_prompt_opens_its_step(patch: Patch) -> None:
    """A tripwire stands in a step: one is opened for it."""
    opens = ("processInputStep", "processLLMRequest")
    around_the_tripwire(patch, before=lambda run, hook: [run.chunk("step-start", {})] * (hook in opens))


@mutant("TRI-14")
def a_refused_input_has_a_step(patch: Patch) -> None:
    """A question that was refused is answered in a step of its own."""

    def step(run: Run, hook: str) -> list[Any]:
        return [run.chunk("step-start", {}), step_finish_of(run)] * (hook == "processInput")

    around_the_tripwire(patch, before=step)


@mutant("TRI-14")
def a_refused_chunk_goes_out(patch: Patch) -> None:
    """The chunk on which a processor aborts is the last one that goes out."""

    def chunk(run: Run, hook: str) -> list[Any]:
        return [dict(stream_parts(run)[-1])] if hook == "processOutputStream" else []

    around_the_tripwire(patch, before=chunk)


@mutant("TRI-14")
def a_refused_tool_result_goes_out(patch: Patch) -> None:
    """A tool's result is sent when it is there; its hook decides what the model gets."""

    def chunk(run: Run, hook: str) -> list[Any]:
        return [run.chunk("tool-result", {"toolCallId": "c1"})] if hook == "processToolResult" else []

    around_the_tripwire(patch, before=chunk)


# -- tools side by side ------------------------------------------------------------------------------------------------


@mutant("TRI-15")
def other_results_go_out_after_an_abort(patch: Patch) -> None:
    """Results that nobody refused go out behind the one that was."""

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        try:
            yield from original(run, outcome)
        except RunEnded:
            calls = [part["toolInvocation"] for part in run.response.parts() if "toolInvocation" in part]
            for call in [call for call in calls if call["state"] == "call"][1:]:
                yield run.chunk("tool-result", {"toolCallId": call["toolCallId"]})
            raise

    patch.around(results.settle, settle)


@mutant("TRI-15")
def results_go_out_together(patch: Patch) -> None:
    """The results of a step go out when all have passed their hook."""
    kept: dict[str, list[Any]] = {}

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        kept.setdefault(run.id, []).extend(original(run, outcome))
        if not results.open_calls(run):
            yield from kept.pop(run.id)

    patch.around(results.settle, settle)


@mutant("TRI-15")
def calls_run_as_their_results_are_settled(patch: Patch) -> None:
    """Each call is executed when its turn comes, so that nothing runs after a refusal."""

    def run_tools(original: Any, run: Run, calls: Any) -> Any:
        yield from ()
        return [Outcome(call) for call in calls]

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        tools._execute(run, outcome)
        yield from original(run, outcome)

    patch.around(tools.run_tools, run_tools)
    patch.around(results.settle, settle)


@mutant("TRI-15")
def tools_send_on_after_an_abort(patch: Patch) -> None:
    """A tool that runs may send what it has to say."""

    def send(original: Any, run: Run, chunk: Any, message_id: Any, **options: Any) -> None:
        if isinstance(run.ending, RunEnded):
            run.outbox.append(chunk)
        else:
            original(run, chunk, message_id, **options)

    patch.around(pipeline.send_data, send)
