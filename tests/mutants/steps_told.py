"""Mutants of the family RES, rules 18 to 23, 25 and 26: what steps hold, and what hooks are told of them."""

from __future__ import annotations

from typing import Any

from processor_contract import response
from processor_contract.data import Chunk, clone
from processor_contract.returns import Slate
from processor_contract.run import Run
from processor_contract.stream import RunResult

from . import Patch, mutant, stream_parts
from .reports import reported
from .step_settings import without


def steps_without(patch: Patch, *names: str) -> None:
    """Steps that lack some of what they brought."""
    patch.around(response.step_of, lambda original, parts: without(original(parts), *names))


# -- what a step and a result hold -------------------------------------------------------------------------------------


@mutant("RES-18")
def steps_do_not_reason(patch: Patch) -> None:
    """Reasoning is part of the messages."""
    steps_without(patch, "reasoning")


@mutant("RES-18")
def steps_have_no_sources(patch: Patch) -> None:
    """Sources are for the reader of the stream."""
    steps_without(patch, "sources")


@mutant("RES-18")
def steps_have_no_files(patch: Patch) -> None:
    """Files are part of the messages."""
    steps_without(patch, "files")


@mutant("RES-18")
def results_stand_without_their_call(patch: Patch) -> None:
    """A result is named by its call's id."""

    def step_of(original: Any, parts: Any) -> Any:
        step = original(parts)
        step["toolResults"] = [
            {key: one[key] for key in ("toolCallId", "toolName", "result")} for one in step["toolResults"]
        ]
        return step

    patch.around(response.step_of, step_of)


@mutant("RES-18")
def what_there_is_not_is_empty(patch: Patch) -> None:
    """Every step has everything."""

    def step_of(original: Any, parts: Any) -> Any:
        return {"toolCalls": [], "reasoning": "", "sources": [], "files": [], **original(parts)}

    patch.around(response.step_of, step_of)


@mutant("RES-19")
def the_result_hook_has_the_last_usage(patch: Patch) -> None:
    """The usage of a run is that of its last call."""

    def change(run: Run, slate: Slate) -> None:
        slate["result"]["usage"] = clone(run.attempt.usage)

    patch.derived("process_output_result", change)


@mutant("RES-19")
def the_result_hook_has_the_last_step(patch: Patch) -> None:
    """The steps before the last are over."""

    def change(run: Run, slate: Slate) -> None:
        slate["result"]["steps"] = slate["result"]["steps"][-1:]

    patch.derived("process_output_result", change)


@mutant("RES-19")
def the_result_hook_has_no_reason_yet(patch: Patch) -> None:
    """A run has its reason when it has ended."""

    def change(run: Run, slate: Slate) -> None:
        slate["result"]["finishReason"] = "other"

    patch.derived("process_output_result", change)


@mutant("RES-20")
def the_text_is_that_of_the_last_step(patch: Patch) -> None:
    """The answer is what was said last."""

    def change(run: Run, slate: Slate) -> None:
        slate["result"]["text"] = slate["result"]["steps"][-1]["text"] if slate["result"]["steps"] else ""

    patch.derived("process_output_result", change)

    def told(run: Run, result: RunResult) -> None:
        if result.steps and run.tripwire is None:
            result.text = result.steps[-1]["text"]

    reported(patch, told)


@mutant("RES-20")
def steps_are_paragraphs(patch: Patch) -> None:
    """The texts of the steps are joined by a line's end."""

    def told(run: Run, result: RunResult) -> None:
        if run.tripwire is None:
            result.text = "\n".join(step["text"] for step in result.steps)

    reported(patch, told)


# -- what processOutputStep gets ---------------------------------------------------------------------------------------


@mutant("RES-21")
def the_step_hook_has_the_run_s_usage(patch: Patch) -> None:
    """Usage is what the run has used so far."""
    patch.derived("process_output_step", lambda run, slate: slate.update(usage=dict(run.usage)))


@mutant("RES-21")
def the_step_hook_has_the_run_s_text(patch: Patch) -> None:
    """Text is what the run has said so far."""

    def change(run: Run, slate: Slate) -> None:
        slate["text"] = "".join(step["text"] for step in slate["steps"])

    patch.derived("process_output_step", change)


@mutant("RES-21")
def the_step_hook_has_no_metadata(patch: Patch) -> None:
    """What a provider attaches to its finish is its own affair."""
    patch.derived("process_output_step", lambda run, slate: slate.update(provider_metadata=None))


@mutant("RES-21")
def the_step_hook_has_no_calls(patch: Patch) -> None:
    """Calls are judged when they have been answered."""
    patch.derived("process_output_step", lambda run, slate: slate.update(tool_calls=None))


@mutant("RES-22")
def the_step_hook_s_steps_are_those_before(patch: Patch) -> None:
    """A step is complete when it has been judged."""

    def change(run: Run, slate: Slate) -> None:
        slate["steps"] = slate["steps"][:-1]

    patch.derived("process_output_step", change)


@mutant("RES-26")
def a_blocked_answer_is_no_step(patch: Patch) -> None:
    """What the content filter blocked has not been said."""

    def change(run: Run, slate: Slate) -> None:
        if run.attempt.finish_reason == "content-filter":
            slate["steps"] = []

    patch.derived("process_output_step", change)


@mutant("RES-26")
def a_blocked_answer_has_no_metadata(patch: Patch) -> None:
    """Where there is no answer there is nothing to say of it."""

    def change(run: Run, slate: Slate) -> None:
        if run.attempt.finish_reason == "content-filter":
            slate["provider_metadata"] = None

    patch.derived("process_output_step", change)


@mutant("RES-26")
def a_blocked_answer_is_not_reported(patch: Patch) -> None:
    """The caller gets what was said, and nothing was."""

    def told(run: Run, result: RunResult) -> None:
        result.steps = [step for step in result.steps if step["finishReason"] != "content-filter"]

    reported(patch, told)


# -- what the stream hooks left ----------------------------------------------------------------------------------------


def said(run: Run) -> list[Chunk]:
    """The chunks of the present step as they came."""
    parts = stream_parts(run)
    return parts[max((at for at, chunk in enumerate(parts) if chunk["type"] == "step-start"), default=0) :]


@mutant("RES-23")
def steps_are_what_the_model_said(patch: Patch) -> None:
    """processOutputStream changes what the client sees."""

    def change(run: Run, slate: Slate) -> None:
        slate["text"] = "".join(each["payload"]["text"] for each in said(run) if each["type"] == "text-delta")

    patch.derived("process_output_step", change)


@mutant("RES-23")
def calls_are_what_the_model_called(patch: Patch) -> None:
    """The calls of a step are those that the model made, with its arguments."""

    def change(run: Run, slate: Slate) -> None:
        slate["tool_calls"] = [clone(each["payload"]) for each in said(run) if each["type"] == "tool-call"] or None

    patch.derived("process_output_step", change)


@mutant("RES-23")
def reasoning_is_reported_raw(patch: Patch) -> None:
    """What the model thought is reported as it thought it."""

    def told(run: Run, result: RunResult) -> None:
        raw = "".join(each["payload"]["text"] for each in stream_parts(run) if each["type"] == "reasoning-delta")
        for step in result.steps:
            if step.get("reasoning"):
                step["reasoning"] = raw

    reported(patch, told)


# -- copies ------------------------------------------------------------------------------------------------------------


@mutant("RES-25")
def one_result_for_all_processors(patch: Patch) -> None:
    """The result is made once, and handed on."""
    kept: dict[str, Any] = {}

    def change(run: Run, slate: Slate) -> None:
        slate["result"] = kept.setdefault(run.id, slate["result"])

    patch.derived("process_output_result", change)


@mutant("RES-25")
def steps_are_shared(patch: Patch) -> None:
    """Hooks get the steps themselves."""
    patch.set(Run, "shown_steps", lambda own, *current: [*own.steps, *current])


@mutant("RES-25")
def steps_are_copied_at_the_surface(patch: Patch) -> None:
    """A step is copied; what it holds is not."""
    patch.set(Run, "shown_steps", lambda own, *current: [{**step} for step in (*own.steps, *current)])


@mutant("RES-25")
def earlier_steps_are_read_once_a_chain(patch: Patch) -> None:
    """The steps so far are made once, and handed on."""
    for hook in ("process_input_step", "process_llm_request"):
        patch.cell(hook, derive=lambda run, slate: slate.setdefault("steps", run.shown_steps()))
