"""Mutants of the family CFG: prepareStep, stopWhen, what `steps` tells, and tools that processors add."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop, tools
from processor_contract.agent import PREPARE_STEP_ID, Agent, CallOptions
from processor_contract.context import RequestContext
from processor_contract.data import StepResult
from processor_contract.errors import WrongReturn
from processor_contract.returns import Returns, Slate
from processor_contract.run import Attempt, Link, Run
from processor_contract.settings import STEP_OVERRIDES
from processor_contract.tools import Outcome

from . import Patch, mutant
from .step_settings import STEP, as_it_is, returning, without


def is_prepare_step(link: Link) -> bool:
    return link.processor.id == PREPARE_STEP_ID


@mutant("CFG-22")
def prepare_step_is_overruled(patch: Patch) -> None:
    """prepareStep sets what no processor has set."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        taken = [name for name in STEP_OVERRIDES if slate[name] is not getattr(run.settings, name)]
        return without(value, *taken) if is_prepare_step(link) else value

    returning(patch, change)


@mutant("CFG-22")
def prepare_step_returns_settings_only(patch: Patch) -> None:
    """prepareStep prepares the call, not the conversation."""

    def take(original: Returns, run: Run, link: Link, slate: Slate, value: Any) -> bool:
        if is_prepare_step(link):
            value = without(value, "messages", "system_messages") if isinstance(value, dict) else None
        return original(run, link, slate, value)

    patch.returned(STEP, take)


@mutant("CFG-22")
def prepare_steps_slips_are_ignored(patch: Patch) -> None:
    """What makes no sense of prepareStep's was not returned."""

    def take(original: Returns, run: Run, link: Link, slate: Slate, value: Any) -> bool:
        try:
            return original(run, link, slate, value)
        except WrongReturn:
            if not is_prepare_step(link):
                raise
            return False

    patch.returned(STEP, take)


@mutant("CFG-23")
def stop_when_is_asked_behind_every_step(patch: Patch) -> None:
    """A condition is asked whether the run goes on or not."""

    def step(original: Any, run: Run, attempt: Attempt) -> Any:
        goes_on = yield from original(run, attempt)
        if not goes_on or attempt.number + 1 >= run.settings.max_steps:
            loop.stops(run)
        return goes_on

    patch.around(loop.try_step, step)


@mutant("CFG-23")
def stop_when_lifts_the_limit(patch: Patch) -> None:
    """Whoever brings a condition needs no limit."""

    def change(own: Agent, options: CallOptions, found: Any) -> None:
        if options.stop_when is not None and options.max_steps is None:
            found.max_steps = 99

    patch.settled(change)


@mutant("CFG-23")
def stop_when_is_not_asked(patch: Patch) -> None:
    """The limit is the only condition."""
    patch.function(loop.stops, lambda run: False)


@mutant("CFG-23")
def stop_when_is_asked_about_the_steps_before(patch: Patch) -> None:
    """A condition gets the steps before the present one."""

    def stops(original: Any, run: Run) -> Any:
        last = run.steps.pop()
        try:
            return original(run)
        finally:
            run.steps.append(last)

    patch.around(loop.stops, stops)


def telling(patch: Patch, told: Callable[[list[StepResult]], list[Any]], *hooks: str) -> None:
    """What hooks are told of the steps before is changed."""
    for hook in hooks:
        patch.derived(hook, lambda run, slate: slate.update(steps=told(slate["steps"])))


@mutant("CFG-24")
def steps_lack_the_last_one(patch: Patch) -> None:
    """A step is told of when the next one is over."""
    telling(patch, lambda steps: steps[:-1], STEP, "process_llm_request")


@mutant("CFG-24")
def steps_are_shifted(patch: Patch) -> None:
    """A step has the calls and results of the one before."""

    def shifted(steps: list[StepResult]) -> list[Any]:
        texts = [{"text": step["text"]} for step in steps]
        rest = [{key: value for key, value in step.items() if key != "text"} for step in [*steps[:1], *steps[:-1]]]
        return [{**text, **more} for text, more in zip(texts, rest, strict=True)]

    telling(patch, shifted, STEP)


@mutant("CFG-24")
def steps_are_one(patch: Patch) -> None:
    """Processors are told of the last step."""
    telling(patch, lambda steps: steps[-1:], STEP, "process_llm_request")


@mutant("CFG-24")
def request_hooks_are_told_of_no_steps(patch: Patch) -> None:
    """Whoever rewrites a request needs no history."""
    telling(patch, lambda steps: [], "process_llm_request")


def added(run: Run, tool: str) -> bool:
    return tool not in run.settings.tools


@mutant("CFG-31")
def added_tools_have_no_context(patch: Patch) -> None:
    """What a caller sent along is for the agent's own tools."""

    def execute(original: Any, run: Run, outcome: Outcome) -> None:
        before = run.request_context
        if added(run, outcome.call["toolName"]):
            run.request_context = RequestContext()
        try:
            original(run, outcome)
        finally:
            run.request_context = before

    patch.around(tools._execute, execute)


@mutant("CFG-31")
def added_tools_stay(patch: Patch) -> None:
    """A tool that was there once can be executed."""

    def keep(run: Run, slate: Slate) -> None:
        run.settings.tools = {**run.settings.tools, **slate["tools"]}

    returning(patch, as_it_is, keep)


@mutant("CFG-31")
def results_of_added_tools_pass_no_hook(patch: Patch) -> None:
    """What a processor's tool gives is the processor's."""
    patch.chain(
        "process_tool_result",
        lambda chain, run, slate: slate if added(run, slate["tool_name"]) else chain(run, slate),
    )
