"""Mutants of the family ORD, rules 21 and 23 to 30: how a run goes on, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import Any

from processor_contract import loop, pipeline, results, tools
from processor_contract.agent import Agent, CallOptions
from processor_contract.data import Chunk, clone
from processor_contract.errors import RunEnded
from processor_contract.memory import HISTORY_ID
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Run, Settings
from processor_contract.tools import Outcome

from . import Patch, mutant, stream_parts
from .order import Chunks, replan
from .order_steps import chunks_skip


def is_history(processor: Any) -> bool:
    """Whether it is the runtime's own."""
    return bool(processor.id == HISTORY_ID)


@mutant("ORD-21")
def memory_saves_before_the_output_processors(patch: Patch) -> None:
    """Memory is a processor before all others, in the output chain too."""

    def first(own: Agent, options: CallOptions, settings: Settings) -> None:
        settings.outputs = sorted(settings.outputs, key=lambda processor: not is_history(processor))

    patch.settled(first)


@mutant("ORD-21")
def memory_reads_behind_the_input_processors(patch: Patch) -> None:
    """History is added when the input is ready."""

    def last(own: Agent, options: CallOptions, settings: Settings) -> None:
        settings.inputs = sorted(settings.inputs, key=is_history)

    patch.settled(last)


@mutant("ORD-21")
def memory_inside_the_arrays_of_a_call(patch: Patch) -> None:
    """What a call brings is wrapped around what the agent has, memory included."""

    def inside(own: Agent, options: CallOptions, settings: Settings) -> None:
        if options.input_processors is not None:
            settings.inputs = sorted(settings.inputs, key=is_history)
        if options.output_processors is not None:
            settings.outputs = sorted(settings.outputs, key=lambda processor: not is_history(processor))

    patch.settled(inside)


def goes_on(patch: Patch, decide: Callable[[Run, bool, list[Chunk]], bool]) -> None:
    """Decides otherwise whether a step is followed by another; also gets the chunks of the step before the chain."""

    def try_step(original: Any, run: Run, attempt: Attempt) -> Any:
        before = len(stream_parts(run))
        answered = yield from original(run, attempt)
        return decide(run, answered, stream_parts(run)[before:])

    patch.around(loop.try_step, try_step)


def states(run: Run) -> list[str]:
    """What has become of the calls that the step made and the runtime has to answer."""
    parts = [part for part in run.response.by_step()[len(run.steps) - 1] if not part.get("providerExecuted")]
    return [part["toolInvocation"]["state"] for part in parts if part.get("type") == "tool-invocation"]


@mutant("ORD-23")
def loop_left_to_the_caller(patch: Patch) -> None:
    """A run ends with the results of its tools; who wants an answer to them asks again."""
    goes_on(patch, lambda run, answered, chunks: False)


@mutant("ORD-23")
def loop_by_finish_reason(patch: Patch) -> None:
    """The model says in its finish reason whether it wants to go on."""
    goes_on(patch, lambda run, answered, chunks: run.finish_reason == "tool-calls")


@mutant("ORD-23")
def any_answer_goes_on(patch: Patch) -> None:
    """One answered call is enough for another step."""
    goes_on(patch, lambda run, answered, chunks: "result" in states(run))


def dropped_all(run: Run, chunks: list[Chunk]) -> bool:
    """Whether the model made calls in this step and none of them is left."""
    return any(chunk["type"] == "tool-call" for chunk in chunks) and "toolCalls" not in run.steps[-1]


@mutant("ORD-23")
def dropped_calls_go_on(patch: Patch) -> None:
    """A step in which the model made a call is followed by another, whatever became of the call."""
    goes_on(patch, lambda run, answered, chunks: answered or dropped_all(run, chunks))


@mutant("ORD-23")
def failed_tools_end_the_run(patch: Patch) -> None:
    """Only a result is an answer; a tool that failed ends the run."""
    goes_on(patch, lambda run, answered, chunks: answered and "output-error" not in states(run))


@mutant("ORD-24")
def shared_object_runs_twice(patch: Patch) -> None:
    """Objects of all arrays are collected, and each hook runs for every entry that has it."""

    def twice(run: Run) -> None:
        listed = [*run.settings.inputs, *run.settings.outputs, *run.settings.errors]
        for name, links in run.plan.items():
            run.plan[name] = [link for link in links for _ in range(listed.count(link.processor))]

    replan(patch, twice)


@mutant("ORD-24")
def shared_object_only_in_its_first_array(patch: Patch) -> None:
    """Objects are registered by id: one that is there already is not taken again."""

    def once(own: Agent, options: CallOptions, settings: Settings) -> None:
        settings.outputs = [one for one in settings.outputs if is_history(one) or one not in settings.inputs]
        settings.errors = [one for one in settings.errors if one not in [*settings.inputs, *settings.outputs]]

    patch.settled(once)


@mutant("ORD-25")
def abort_finishes_its_chain(patch: Patch) -> None:
    """An abort is looked at when its chain has ended."""

    def finishing(call: Any, run: Run, name: str, slate: Slate) -> Any:
        try:
            return call(run, name, slate)
        except RunEnded as ending:
            links = run.plan[name]
            at = next((at for at, link in enumerate(links) if link.processor.id == ending.tripwire.processor_id), 99)
            run.ending, run.plan[name] = None, links[at + 1 :]
            with suppress(RunEnded):
                finishing(call, run, name, slate)
            run.ending, run.plan[name] = ending, links
            raise

    patch.around(pipeline.call, finishing)


@mutant("ORD-25")
def tools_run_after_an_abort(patch: Patch) -> None:
    """An abort stops the stream; the tools of the answer have been asked for and run."""

    def examine(original: Any, run: Run, attempt: Attempt) -> None:
        try:
            original(run, attempt)
        except RunEnded:
            calls = [each for each in results.open_calls(run) if tools.answered_here(run, each["toolName"])]
            for each in calls:
                tools._execute(run, Outcome(each))
            raise

    patch.around(loop.examine, examine)


@mutant("ORD-25")
def loop_goes_on_after_an_abort(patch: Patch) -> None:
    """An abort ends its step; how the run ended is seen behind the last one."""
    endings: dict[str, RunEnded] = {}

    def try_step(original: Any, run: Run, attempt: Attempt) -> Any:
        try:
            return (yield from original(run, attempt))
        except RunEnded as ending:
            endings.setdefault(run.id, ending)
            run.ending = None
            return True

    def steps(original: Any, run: Run) -> Chunks:
        yield from original(run)
        if run.id in endings:
            raise endings.pop(run.id)

    patch.around(loop.try_step, try_step)
    patch.around(loop.steps, steps)


@mutant("ORD-25")
def output_result_runs_after_an_abort(patch: Patch) -> None:
    """processOutputResult stands in a `finally`: it runs however the run ends."""

    def ended_by(original: Any, run: Run, ending: Any) -> Chunks:
        if isinstance(ending, RunEnded):
            run.ending = None
            with suppress(RunEnded):
                pipeline.call(run, "process_output_result", {})
        yield from original(run, ending)

    patch.around(loop.ended_by, ended_by)


@mutant("ORD-26")
def limit_skips_the_output_result(patch: Patch) -> None:
    """A run that was cut off has no result that could be processed."""
    patch.chain(
        "process_output_result",
        lambda chain, run, slate: slate if len(run.steps) == run.settings.max_steps else chain(run, slate),
    )


@mutant("ORD-26")
def limit_before_the_tools(patch: Patch) -> None:
    """At the step limit the run ends with the answer: nobody will read what its tools return."""
    patch.around(
        tools.answered_here,
        lambda answered, run, name: run.attempt.number + 1 < run.settings.max_steps and answered(run, name),
    )


@mutant("ORD-26")
def no_default_limit(patch: Patch) -> None:
    """Without a limit of its own a run goes on as long as the model calls tools."""
    patch.set(Agent.__init__.__kwdefaults__, "max_steps", 20)


@mutant("ORD-27")
def eager_tools(patch: Patch) -> None:
    """Where no processOutputStep has to be waited for, a tool starts when its call has passed the stream hooks."""
    started: dict[str, tuple[Outcome, Thread]] = {}

    def through(original: Any, run: Run, chunk: Chunk, **slate: Any) -> Any:
        passed = original(run, chunk, **slate)
        if passed and passed["type"] == "tool-call" and not run.plan["process_output_step"]:
            call = passed["payload"]
            if not call.get("providerExecuted") and tools.answered_here(run, call["toolName"]):
                outcome = Outcome(clone(call))
                thread = Thread(target=copy_context().run, args=(execute, run, outcome), daemon=True)
                started[call["toolCallId"]] = outcome, thread
                thread.start()
        return passed

    def later(original: Any, run: Run, outcome: Outcome) -> None:
        early, thread = started.pop(outcome.call["toolCallId"], (None, None))
        if early is None or thread is None:
            original(run, outcome)
            return
        thread.join()
        outcome.result, outcome.error = early.result, early.error

    execute = tools._execute
    patch.around(pipeline.through_stream, through)
    patch.around(tools._execute, later)


@mutant("ORD-28")
def override_drops_the_memory(patch: Patch) -> None:
    """The arrays of a call replace the whole chains, memory included."""

    def dropped(own: Agent, options: CallOptions, settings: Settings) -> None:
        if options.input_processors is not None:
            settings.inputs = [one for one in settings.inputs if not is_history(one)]
        if options.output_processors is not None:
            settings.outputs = [one for one in settings.outputs if not is_history(one)]

    patch.settled(dropped)


@mutant("ORD-29")
def tool_results_bypass_the_stream_hooks(patch: Patch) -> None:
    """processToolResult has seen the result: its chunk goes straight to the client."""
    chunks_skip(patch, "tool-result")


@mutant("ORD-30")
def finish_before_the_output_result(patch: Patch) -> None:
    """The client gets its finish with the last step; processOutputResult works behind it."""

    def early(stream_of: Any, run: Run) -> Chunks:
        links, run.plan["process_output_result"] = run.plan["process_output_result"], []
        yield from stream_of(run)
        run.plan["process_output_result"] = links
        if run.tripwire is None and run.error is None:
            with suppress(RunEnded):
                pipeline.call(run, "process_output_result", {})

    patch.around(loop.stream_of, early)


@mutant("ORD-30")
def output_result_before_step_finish(patch: Patch) -> None:
    """processOutputResult follows the last answer; the step is finished behind it."""
    done: set[str] = set()

    def through(original: Any, run: Run, chunk: Chunk, **slate: Any) -> Any:
        if chunk["type"] == "step-finish" and run.attempt.finish_reason not in ("tool-calls", "retry"):
            pipeline.call(run, "process_output_result", {})
            done.add(run.id)
        return original(run, chunk, **slate)

    patch.chain("process_output_result", lambda chain, run, slate: slate if run.id in done else chain(run, slate))
    patch.around(pipeline.through_stream, through)
