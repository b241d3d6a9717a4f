"""Mutants of the family ORD, rules 13 to 20: results, numbers and chunks at the wrong place of a step."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import sleep
from typing import Any

from processor_contract import agent, loop, pipeline, results, tools
from processor_contract.data import Chunk
from processor_contract.errors import Cancelled, HookFailed, RunEnded
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Run
from processor_contract.stream import RunResult, result_of
from processor_contract.tools import Outcome

from . import Patch, mutant
from .order import STREAM, Chunks


def chunks_skip(patch: Patch, *kinds: str) -> None:
    """Lets chunks of some types reach the client without passing processOutputStream."""
    patch.around(
        pipeline.through_stream,
        lambda through, run, chunk, **slate: chunk if chunk["type"] in kinds else through(run, chunk, **slate),
    )


def sender() -> Callable[[Run, Chunk], None]:
    """What passes a chunk, as it is passed now, and puts it on its way to the client."""
    through_stream = pipeline.through_stream

    def send(run: Run, chunk: Chunk) -> None:
        passed = through_stream(run, chunk)
        if passed is not None:
            run.outbox.append(passed)

    return send


@mutant("ORD-13")
def results_in_completion_order(patch: Patch) -> None:
    """Results are taken in the order in which the tools end."""
    ended: list[Outcome] = []
    places: dict[str, int] = {}

    def execute(original: Any, run: Run, outcome: Outcome) -> None:
        sleep(0.02 * places[outcome.call["toolCallId"]])  # so that tools that wait for none keep their order
        original(run, outcome)
        ended.append(outcome)

    def ran(run_tools: Any, run: Run, calls: Any) -> Any:
        places.update((call["toolCallId"], place) for place, call in enumerate(calls))
        outcomes = yield from run_tools(run, calls)
        return [outcome for outcome in ended if any(outcome is one for one in outcomes)]

    patch.around(tools._execute, execute)
    patch.around(tools.run_tools, ran)


@mutant("ORD-13")
def hook_as_soon_as_its_tool_ends(patch: Patch) -> None:
    """Calls are handled one by one: a tool, its processToolResult and its chunk, then the next tool."""

    def one_by_one(run_tools: Any, run: Run, calls: Any) -> Any:
        for call in calls:
            outcomes = yield from run_tools(run, [call])
            yield from results.settle(run, outcomes[0])
        return []

    patch.around(tools.run_tools, one_by_one)


@mutant("ORD-13")
def errors_before_results(patch: Patch) -> None:
    """What failed is reported first: it has no processToolResult to wait for."""

    def ran(run_tools: Any, run: Run, calls: Any) -> Any:
        outcomes = yield from run_tools(run, calls)
        return sorted(outcomes, key=lambda outcome: outcome.error is None)

    patch.around(tools.run_tools, ran)


@mutant("ORD-13")
def chunks_behind_all_results(patch: Patch) -> None:
    """First processToolResult runs for all calls of the step, then the chunks of all results go out."""
    waiting: dict[str, list[Chunk]] = {}

    def through(original: Any, run: Run, chunk: Chunk, **slate: Any) -> Any:
        if chunk["type"] == "tool-result" and not chunk["payload"].get("providerExecuted"):
            waiting.setdefault(run.id, []).append(chunk)
            return None
        if chunk["type"] == "step-finish":
            for result in waiting.pop(run.id, ()):
                send(run, result)
        return original(run, chunk, **slate)

    send = sender()
    patch.around(pipeline.through_stream, through)


def number_steps(patch: Patch, number: Callable[[Run, str, int], int]) -> None:
    """Gives the hooks another step number than theirs."""

    def numbered(call: Any, run: Run, name: str, slate: Slate) -> Any:
        if "step_number" in slate:
            slate["step_number"] = number(run, name, slate["step_number"])
        return call(run, name, slate)

    patch.around(pipeline.call, numbered)


@mutant("ORD-14")
def steps_count_from_one(patch: Patch) -> None:
    """The first step has the number 1."""
    number_steps(patch, lambda run, name, step: step + 1)


@mutant("ORD-14")
def tool_result_one_step_ahead(patch: Patch) -> None:
    """processToolResult has the number of the step that will read the result."""
    number_steps(patch, lambda run, name, step: step + (name == "process_tool_result"))


@mutant("ORD-14")
def step_number_kept_on_the_agent(patch: Patch) -> None:
    """The second request of an agent counts on where the first one stopped."""
    steps: dict[Any, int] = {}

    def counted(run: Run, name: str, step: int) -> int:
        if name == "process_input_step":
            steps[run.models] = steps.get(run.models, -1) + 1
        return steps[run.models]

    number_steps(patch, counted)


@mutant("ORD-15")
def output_result_after_every_step(patch: Patch) -> None:
    """processOutputResult runs whenever a step has ended."""

    def often(chain: Any, run: Run, slate: Slate) -> Any:
        if run.steps:
            pipeline.call(run, "process_output_result", {})
        return chain(run, slate)

    patch.chain("process_input_step", often)


def finish_as_if(patch: Patch, max_steps: int) -> None:
    """Handles the model's finish as if the step limit were another."""

    def finished(original: Any, run: Run, attempt: Attempt, payload: Any) -> Chunks:
        limit, run.settings.max_steps = run.settings.max_steps, max_steps
        yield from original(run, attempt, payload)
        run.settings.max_steps = limit

    patch.around(loop.finished, finished)


@mutant("ORD-16")
def finish_passes_in_every_step(patch: Patch) -> None:
    """The model's finish passes processOutputStream in every step, as any chunk of the model's."""
    finish_as_if(patch, max_steps=0)


@mutant("ORD-16")
def finish_held_back_at_the_limit(patch: Patch) -> None:
    """The model's finish passes in a step without calls only."""
    finish_as_if(patch, max_steps=1000)


@mutant("ORD-16")
def finish_never_passes(patch: Patch) -> None:
    """The model's finish is for the runtime: no processor gets it."""
    chunks_skip(patch, "finish")


def also_passes(patch: Patch, wanted: Callable[[Run, str], bool]) -> None:
    """Lets chunks of the runtime's own pass processOutputStream that do not."""

    def chunk(original: Any, run: Run, kind: str, payload: Any) -> Any:
        made = original(run, kind, payload)
        if wanted(run, kind):
            ending, run.ending = run.ending, None
            with suppress(RunEnded):
                pipeline.through_stream(run, made)
            run.ending = ending
        return made

    patch.wrap(Run, "chunk", chunk)


@mutant("ORD-16")
def start_passes(patch: Patch) -> None:
    """The start of the run passes processOutputStream."""
    also_passes(patch, lambda run, kind: kind == "start")


@mutant("ORD-16")
def tripwire_passes(patch: Patch) -> None:
    """The tripwire passes processOutputStream."""
    also_passes(patch, lambda run, kind: kind == "tripwire")


@mutant("ORD-16")
def finish_passes_again_for_the_client(patch: Patch) -> None:
    """The finish that the client gets passes processOutputStream too."""
    also_passes(patch, lambda run, kind: kind == "finish" and run.ended)


@mutant("ORD-16")
def response_metadata_passes(patch: Patch) -> None:
    """The provider's response-metadata is sent on like any chunk of the model."""

    def sent(run: Run, attempt: Attempt, payload: Any) -> Chunks:
        return pipeline.passed(run, run.chunk("response-metadata", payload))

    patch.set(loop.SILENT, "response-metadata", sent)


@mutant("ORD-16")
def errors_bypass_the_stream_hooks(patch: Patch) -> None:
    """Errors, of the model and of tools, go straight to the client."""
    chunks_skip(patch, "error", "tool-error")


@mutant("ORD-16")
def only_text_and_calls_pass(patch: Patch) -> None:
    """Reasoning, sources and files go straight to the client."""
    chunks_skip(patch, "reasoning-start", "reasoning-delta", "reasoning-end", "source", "file")


def step_start_late(patch: Patch, *, refused: bool) -> None:
    """Holds `step-start` back until the provider has answered; `refused`: a refusal counts as an answer."""
    waiting: dict[str, Chunk] = {}

    def through(original: Any, run: Run, chunk: Chunk, **slate: Any) -> Any:
        if chunk["type"] == "step-start":
            waiting[run.id] = chunk
            return None
        start = waiting.pop(run.id, None)
        if start is not None and (refused or chunk["type"] != "error"):
            send(run, start)
        return original(run, chunk, **slate)

    send = sender()
    patch.around(pipeline.through_stream, through)


@mutant("ORD-17")
def step_start_with_the_first_part(patch: Patch) -> None:
    """A step has begun when the provider sends the first part of its answer."""
    step_start_late(patch, refused=False)


@mutant("ORD-17")
def step_start_behind_the_call(patch: Patch) -> None:
    """A step has begun when the provider has taken the call, or refused it."""
    step_start_late(patch, refused=True)


@mutant("ORD-17")
def replayed_step_has_no_start(patch: Patch) -> None:
    """A step begins with its call: one whose answer is replayed makes none."""
    patch.around(
        pipeline.through_stream,
        lambda through, run, chunk, **slate: (
            None if chunk["type"] == "step-start" and run.attempt.replay else through(run, chunk, **slate)
        ),
    )


@mutant("ORD-17")
def step_start_before_the_requests(patch: Patch) -> None:
    """A step begins with its processLLMRequest."""

    def early(chain: Any, run: Run, slate: Slate) -> Any:
        send(run, run.chunk("step-start", {}))
        return chain(run, slate)

    def passed(original: Any, run: Run, chunk: Chunk, **named: Any) -> Any:
        return iter(()) if chunk["type"] == "step-start" else original(run, chunk, **named)

    send = sender()
    patch.chain("process_llm_request", early)
    patch.around(pipeline.passed, passed)


@mutant("ORD-18")
def step_finish_before_the_tools(patch: Patch) -> None:
    """A step is finished when the model has answered; its tools run between two steps."""
    finished: dict[str, Attempt] = {}

    def early(run_tools: Any, run: Run, calls: Any) -> Any:
        send(run, run.chunk("step-finish", loop.ending_payload(run.attempt)))
        finished[run.id] = run.attempt
        return (yield from run_tools(run, calls))

    def through(original: Any, run: Run, chunk: Chunk, **slate: Any) -> Any:
        again = chunk["type"] == "step-finish" and finished.get(run.id) is run.attempt
        return None if again else original(run, chunk, **slate)

    send = sender()
    patch.around(pipeline.through_stream, through)
    patch.around(tools.run_tools, early)


@mutant("ORD-18")
def step_finish_with_the_next_step(patch: Patch) -> None:
    """A step is finished when the next one begins, or the run ends."""
    waiting: dict[str, Chunk] = {}

    def through(original: Any, run: Run, chunk: Chunk, **slate: Any) -> Any:
        if chunk["type"] == "step-finish" and run.attempt.finish_reason == "tool-calls":
            waiting[run.id] = chunk
            return None
        finish_the_last(run)
        return original(run, chunk, **slate)

    def finish_the_last(run: Run) -> None:
        if run.id in waiting:
            send(run, waiting.pop(run.id))

    def last(chain: Any, run: Run, slate: Slate) -> Any:
        finish_the_last(run)
        return chain(run, slate)

    send = sender()
    patch.around(pipeline.through_stream, through)
    patch.chain("process_output_result", last)


def in_generate(patch: Patch, change: Callable[[Run], Any]) -> None:
    """Changes the runs of `generate`, behind their input phase."""

    def generate(own: agent.Agent, input: Any, **options: Any) -> RunResult:
        stream = own.stream(input, **options)
        change(stream._run)
        for _ in stream:
            pass
        if stream._run.error is not None:
            raise stream._run.error
        return result_of(stream._run)

    patch.set(agent.Agent, "generate", generate)


@mutant("ORD-19")
def generate_skips_the_stream_hooks(patch: Patch) -> None:
    """processOutputStream is for streams: generate does without it."""
    in_generate(patch, lambda run: run.plan[STREAM].clear())


@mutant("ORD-19")
def generate_knows_no_usage_of_a_step(patch: Patch) -> None:
    """generate reports usage at its end only; processOutputStep gets none."""
    runs: set[str] = set()

    def without(chain: Any, run: Run, slate: Slate) -> Any:
        return chain(run, {**slate, "usage": {}} if run.id in runs else slate)

    in_generate(patch, lambda run: runs.add(run.id))
    patch.chain("process_output_step", without)


@mutant("ORD-20")
def input_on_first_read(patch: Patch) -> None:
    """stream() only makes the generator: processInput runs when somebody reads."""

    def lazily(stream_of: Any, run: Run) -> Chunks:
        try:
            input_phase(run)
        except (RunEnded, HookFailed, Cancelled) as ending:
            yield from loop.ended_by(run, ending)
        else:
            yield from stream_of(run)

    input_phase = loop.input_phase
    patch.function(loop.input_phase, lambda run: None)
    patch.around(loop.stream_of, lazily)
