"""Mutants of the family RTY: how many retries there are, and who uses them up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import agent, loop, pipeline
from processor_contract.agent import Agent
from processor_contract.errors import AttemptRejected, RunEnded, TripWire
from processor_contract.run import Link, Run, Settings

from . import Patch, mutant
from .abort import Chunks


def budget(patch: Patch, chosen: Callable[[Agent, Any, Settings], int | None]) -> None:
    """The retries of a request are `chosen(agent, the call's own number, settings)`."""

    def change(own: Agent, options: Any, settings: Settings) -> None:
        settings.max_retries = chosen(own, options, settings)

    patch.settled(change)


@mutant("RTY-3")
def retries_of_the_agent_are_ignored(patch: Patch) -> None:
    """The number of retries is an option of the call."""
    budget(patch, lambda own, options, settings: options.max_processor_retries)


@mutant("RTY-3")
def retries_of_the_call_are_ignored(patch: Patch) -> None:
    """The number of retries is a setting of the agent."""
    budget(patch, lambda own, options, settings: own._max_retries)


@mutant("RTY-3")
def the_larger_number_of_retries_counts(patch: Patch) -> None:
    """A call may allow more retries than its agent, not fewer."""
    budget(patch, lambda own, options, settings: max(options.max_processor_retries or 0, own._max_retries or 0))


@mutant("RTY-3")
def retries_of_a_call_are_kept(patch: Patch) -> None:
    """An option of a call is the agent's from then on."""

    def chosen(own: Agent, options: Any, settings: Settings) -> int | None:
        own._max_retries = settings.max_retries
        return settings.max_retries

    budget(patch, chosen)


@mutant("RTY-3")
def unset_means_three(patch: Patch) -> None:
    """Where nobody set a number there are three retries."""
    budget(patch, lambda own, options, settings: 3 if settings.max_retries is None else settings.max_retries)


@mutant("RTY-3")
def unset_means_one_before_the_answer_is_complete(patch: Patch) -> None:
    """A step that has not been answered yet can be tried once more without being asked."""
    early = ("processInputStep", "processLLMRequest", "processOutputStream", "processLLMResponse", "processToolResult")

    def judged(original: Any, run: Run, link: Link, tripwire: TripWire) -> RunEnded:
        ended: RunEnded = original(run, link, tripwire)
        unset = run.settings.max_retries is None and not run.retries
        return AttemptRejected(tripwire) if unset and tripwire.retry and link.hook.wire in early else ended

    patch.around(pipeline.verdict, judged)


@mutant("RTY-12")
def error_processors_bring_no_retries(patch: Patch) -> None:
    """Unset means none, whatever processors there are."""
    budget(patch, lambda own, options, settings: _set(own, options))


def _set(own: Agent, options: Any) -> int | None:
    set_by_call: int | None = options.max_processor_retries
    return own._max_retries if set_by_call is None else set_by_call


@mutant("RTY-12")
def error_processors_bring_three_retries(patch: Patch) -> None:
    """With error processors there are three retries."""
    patch.set(agent, "DEFAULT_RETRIES_WITH_ERROR_PROCESSORS", 3)


@mutant("RTY-12")
def error_processors_bring_ten_retries_at_least(patch: Patch) -> None:
    """With error processors ten retries are the least."""
    budget(patch, lambda own, options, settings: 10 if settings.errors else settings.max_retries)


@mutant("RTY-13")
def an_empty_array_brings_ten_retries(patch: Patch) -> None:
    """Whoever gives an array of error processors, whatever is in it, gets their default."""

    def chosen(own: Agent, options: Any, settings: Settings) -> int | None:
        given = options.error_processors is not None or isinstance(own._arrays["error"], list)
        return 10 if settings.max_retries is None and given else settings.max_retries

    budget(patch, chosen)


@mutant("RTY-13")
def the_agents_array_brings_the_retries(patch: Patch) -> None:
    """Whether there are error processors is known when the agent is made."""

    def chosen(own: Agent, options: Any, settings: Settings) -> int | None:
        number = _set(own, options)
        return (10 if own._arrays["error"] else None) if number is None else number

    budget(patch, chosen)


@mutant("RTY-13")
def a_function_brings_ten_retries(patch: Patch) -> None:
    """A function that makes the array of error processors counts as some."""

    def chosen(own: Agent, options: Any, settings: Settings) -> int | None:
        return 10 if settings.max_retries is None and callable(own._arrays["error"]) else settings.max_retries

    budget(patch, chosen)


@mutant("RTY-14")
def zero_retries_are_unset(patch: Patch) -> None:
    """A number that is nothing was not given: then there is one retry."""
    budget(patch, lambda own, options, settings: (options.max_processor_retries or own._max_retries) or 1)


@mutant("RTY-14")
def zero_with_error_processors_means_ten(patch: Patch) -> None:
    """The default of ten holds where no retries are set, and zero sets none."""
    budget(patch, lambda own, options, settings: settings.max_retries or (10 if settings.errors else None))


@mutant("RTY-14")
def zero_of_a_call_is_unset(patch: Patch) -> None:
    """A call that allows none leaves it to its agent."""
    budget(patch, lambda own, options, settings: options.max_processor_retries or own._max_retries)


def spending(patch: Patch, spent: Callable[[Run], int]) -> None:
    """What has been used of the budget is `spent(run)`."""
    patch.set(Run, "may_retry", lambda own: own.in_step and spent(own) < (own.settings.max_retries or 0))


@mutant("RTY-15")
def a_used_up_budget_lets_pass(patch: Patch) -> None:
    """When no retry is left, the answer has to do."""

    def call(original: Any, run: Run, name: str, slate: Any) -> Any:
        try:
            return original(run, name, slate)
        except RunEnded as ended:
            if isinstance(ended, AttemptRejected) or not (ended.tripwire.retry and run.retries):
                raise
            run.go_on()
            return slate

    patch.around(pipeline.call, call)


@mutant("RTY-15")
def the_last_refusal_asks_for_nothing(patch: Patch) -> None:
    """A retry that is used up is not asked for any more: the tripwire does not say it."""

    def judged(original: Any, run: Run, link: Link, tripwire: TripWire) -> RunEnded:
        ended: RunEnded = original(run, link, tripwire)
        if type(ended) is RunEnded and run.retries and run.retries == run.settings.max_retries:
            ended.tripwire.retry = None
        return ended

    patch.around(pipeline.verdict, judged)


@mutant("RTY-15")
def each_processor_has_its_budget(patch: Patch) -> None:
    """maxProcessorRetries is how often one processor may ask."""
    asked: dict[tuple[str, str], int] = {}

    def judged(original: Any, run: Run, link: Link, tripwire: TripWire) -> RunEnded:
        key = (run.id, link.processor.id)
        before, run.retries = run.retries, asked.get(key, 0)
        try:
            ended: RunEnded = original(run, link, tripwire)
        finally:
            run.retries = before
        asked[key] = asked.get(key, 0) + isinstance(ended, AttemptRejected)
        return ended

    patch.around(pipeline.verdict, judged)


@mutant("RTY-15")
def aborts_have_a_budget_of_their_own(patch: Patch) -> None:
    """Retries after API errors are no retries of the answer."""
    spending(patch, lambda own: own.retries - own.api_retries)


@mutant("RTY-15")
def error_processors_have_a_budget_of_their_own(patch: Patch) -> None:
    """A failed call may be repeated as often as error processors were allowed."""

    def recover(original: Any, run: Run, *args: Any) -> Chunks:
        before = run.retries
        run.retries = run.api_retries
        granted = run.may_retry()
        run.retries = before
        if granted:
            run.settings.max_retries = (run.settings.max_retries or 0) + (before - run.api_retries)
        return (yield from original(run, *args))

    patch.around(loop.recover, recover)
