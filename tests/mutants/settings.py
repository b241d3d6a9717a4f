"""Mutants of the family CFG: settings of agent and call, prepareStep, stopWhen, steps, and what is refused."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from inspect import isawaitable
from typing import Any

from processor_contract import checks, settings
from processor_contract.agent import DEFAULT_MAX_STEPS, Agent, CallOptions
from processor_contract.data import clone
from processor_contract.errors import InvalidAgent
from processor_contract.hooks import HOOKS
from processor_contract.returns import Returns, Slate
from processor_contract.run import Link, Run, Settings
from processor_contract.settings import PLAIN

from . import Patch, mutant
from .step_settings import STEP, returning, without

# -- wrong values ------------------------------------------------------------------------------------------------------


@mutant("CFG-16")
def wrong_values_change_nothing(patch: Patch) -> None:
    """What makes no sense was not returned."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        names = [name for name in settings.INSTEAD if value.get(name) is not None]
        return without(value, *(name for name in names if settings.instead_of(name, value[name])))

    returning(patch, change)


@mutant("CFG-16")
def option_objects_may_be_anything(patch: Patch) -> None:
    """What a provider takes is the provider's affair."""
    for name in ("provider_options", "model_settings", "structured_output"):
        patch.set(settings.INSTEAD, name, lambda value: None)


@mutant("CFG-16")
def settings_of_agent_and_call_are_trusted(patch: Patch) -> None:
    """Who makes an agent, or calls it, knows what is right; processors are checked."""

    def trusting(original: Callable[..., dict[str, Any]], given: Mapping[str, Any]) -> dict[str, Any]:
        output = {name: value for name, value in given.items() if name == "structured_output"}  # else it breaks down
        return {**{name: clone(value) for name, value in given.items()}, **original(output)}

    patch.around(checks.checked_settings, trusting)


@mutant("CFG-8")
def wrong_retries_are_none(patch: Patch) -> None:
    """A number that is none allows nothing."""
    counted(patch, "CFG-8", lambda value, least: 0)


@mutant("CFG-8")
def fractions_of_retries_are_cut(patch: Patch) -> None:
    """A retry and a half is one retry."""
    counted(patch, "CFG-8", lambda value, least: int(value) if isinstance(value, float) else None)


@mutant("CFG-8")
def texts_are_numbers_of_retries(patch: Patch) -> None:
    """Numbers come as texts, from wherever settings come."""
    counted(patch, "CFG-8", lambda value, least: int(value) if isinstance(value, str) else None)


@mutant("CFG-8")
def truth_is_a_number_of_retries(patch: Patch) -> None:
    """True allows one, false none."""
    counted(patch, "CFG-8", lambda value, least: int(value) if isinstance(value, bool) else None)


@mutant("CFG-8")
def a_calls_retries_are_trusted(patch: Patch) -> None:
    """The agent's number is checked when it is made; a call's is used as it is, as far as it goes."""
    requested = patch.within(Agent, "_settings")

    def count(original: Any, name: str, value: Any, least: int, rule: str = "CFG-29") -> Any:
        try:
            return original(name, value, least, rule)
        except InvalidAgent:
            if not requested or rule != "CFG-8":
                raise
            return least

    patch.around(checks.checked_count, count)


def counted(patch: Patch, of: str, instead: Callable[[Any, int], int | None]) -> None:
    """A number that is refused becomes `instead(value, least)`, unless that is None."""

    def count(original: Any, name: str, value: Any, least: int, rule: str = "CFG-29") -> Any:
        try:
            return original(name, value, least, rule)
        except InvalidAgent:
            made = instead(value, least) if rule == of else None
            if made is None:
                raise
            return made

    patch.around(checks.checked_count, count)


@mutant("CFG-29")
def wrong_limits_are_the_least(patch: Patch) -> None:
    """A limit that is none is as strict as can be."""
    counted(patch, "CFG-29", lambda value, least: least)


@mutant("CFG-29")
def fractions_of_limits_are_cut(patch: Patch) -> None:
    """A step and a half is one step."""
    counted(patch, "CFG-29", lambda value, least: int(value) if isinstance(value, float) else None)


@mutant("CFG-29")
def no_steps_are_the_default(patch: Patch) -> None:
    """Nothing as a limit is no limit of its own."""
    counted(patch, "CFG-29", lambda value, least: DEFAULT_MAX_STEPS if value == 0 else None)


def refusing(patch: Patch, named: str, number: int) -> None:
    """One more number is refused."""

    def count(original: Any, name: str, value: Any, least: int, rule: str = "CFG-29") -> Any:
        if (name, value) == (named, number):
            raise InvalidAgent(f"{name} is {value!r}", "CFG-29")
        return original(name, value, least, rule)

    patch.around(checks.checked_count, count)


@mutant("CFG-29")
def one_step_is_no_loop(patch: Patch) -> None:
    """A limit of one step leaves nothing to loop."""
    refusing(patch, "max_steps", 1)


@mutant("CFG-29")
def no_retries_are_no_number(patch: Patch) -> None:
    """Whoever sets a number of retries wants some."""
    refusing(patch, "max_retries", 0)


@mutant("CFG-30")
def unknown_options_are_ignored(patch: Patch) -> None:
    """An option that nobody knows hurts nobody."""

    def run(original: Any, own: Agent, given: Any, options: dict[str, Any]) -> Any:
        return original(own, given, {name: options[name] for name in CallOptions.__slots__ if name in options})

    patch.wrap(Agent, "_run", run)


@mutant("CFG-25")
def names_are_the_authors(patch: Patch) -> None:
    """What is no hook is a method like others."""
    patch.function(checks.check_names, lambda processor: None)


@mutant("CFG-25")
def only_near_names_are_misspelt(patch: Patch) -> None:
    """A name that lacks a word is another name."""

    def check(original: Any, processor: Any) -> None:
        if any(difflib.get_close_matches(name, HOOKS, 1, 0.9) for name in vars(processor) if name not in HOOKS):
            original(processor)

    patch.around(checks.check_names, check)


@mutant("CFG-25")
def every_method_is_a_hook(patch: Patch) -> None:
    """A processor has hooks and nothing else."""

    def check(processor: Any) -> None:
        for name, method in vars(processor).items():
            if callable(method) and name not in HOOKS and name != "on_violation":
                raise InvalidAgent(f"processor {processor.id!r} has a method {name!r}, which is no hook", "CFG-25")

    patch.function(checks.check_names, check)


@mutant("CFG-26")
def asynchronous_hooks_are_started(patch: Patch) -> None:
    """A hook that answers later is called like others."""
    patch.function(checks.refuse_late, lambda function, what: None)
    for hook in ("process_input", "process_output_step"):
        patch.returned(hook, unawaited)


def unawaited(original: Returns, run: Run, link: Link, slate: Slate, value: Any) -> bool:
    """What nobody waits for is nothing."""
    if isawaitable(value):
        value.close()  # type: ignore[attr-defined]
        value = None
    return original(run, link, slate, value)


@mutant("CFG-27")
def the_last_tool_of_a_name_counts(patch: Patch) -> None:
    """Tools are a record: what comes later replaces what was there."""
    patch.function(checks.tools_by_name, lambda given: {tool.name: tool for tool in given})


@mutant("CFG-27")
def tools_are_refused(patch: Patch) -> None:
    """One tool is enough for an agent."""

    def one(original: Any, given: Any) -> Any:
        found = original(given)
        if len(found) > 1:
            raise InvalidAgent(f"too many tools: {', '.join(found)}")
        return found

    patch.around(checks.tools_by_name, one)


# -- settings of agent and call ----------------------------------------------------------------------------------------


def put(found: Settings, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(found, name, value)


@mutant("CFG-19")
def settings_of_the_agent_are_ignored(patch: Patch) -> None:
    """Settings are an option of the call."""
    patch.settled(lambda own, options, found: put(found, {name: getattr(options, name) for name in PLAIN}))


@mutant("CFG-19")
def settings_of_a_call_are_ignored(patch: Patch) -> None:
    """Settings are the agent's."""
    patch.settled(lambda own, options, found: put(found, own._defaults))


@mutant("CFG-19")
def settings_of_a_call_stay(patch: Patch) -> None:
    """A call's settings are the agent's from then on."""
    patch.settled(lambda own, options, found: own._defaults.update({name: getattr(found, name) for name in PLAIN}))


@mutant("CFG-19")
def option_objects_of_a_call_replace(patch: Patch) -> None:
    """A call's options are all that there are."""
    patch.function(settings.over, lambda name, default, given: default if given is None else given)


@mutant("CFG-19")
def schemas_are_merged(patch: Patch) -> None:
    """Whatever is an object is merged."""
    patch.set(settings, "MERGED", PLAIN)


@mutant("CFG-20")
def a_calls_model_is_ignored(patch: Patch) -> None:
    """An agent has its model."""
    patch.settled(lambda own, options, found: setattr(found, "model", own._model))


@mutant("CFG-20")
def a_calls_model_stays(patch: Patch) -> None:
    """A call's model is the agent's from then on."""
    patch.settled(lambda own, options, found: setattr(own, "_model", found.model))


@mutant("CFG-20")
def a_calls_model_is_for_its_first_step(patch: Patch) -> None:
    """Later steps are asked of the agent's model."""
    first: dict[str, Any] = {}

    def chain(chain: Any, run: Run, slate: Slate) -> Any:
        agents = run.models.resolve("mock/one")
        first.setdefault(run.id, slate["model"])
        return chain(run, slate if not slate["step_number"] else slate | {"model": agents})

    patch.chain(STEP, chain)


@mutant("CFG-20")
def a_calls_tools_are_added(patch: Patch) -> None:
    """A call's tools come to the agent's."""
    patch.settled(lambda own, options, found: setattr(found, "tools", {**own._tools, **found.tools}))


@mutant("CFG-20")
def a_calls_unknown_model_is_the_agents(patch: Patch) -> None:
    """Where a call's model cannot be found the agent's does the work."""

    def made(original: Any, own: Agent, options: CallOptions, context: Any) -> Any:
        try:
            return original(own, options, context)
        except InvalidAgent:
            options.model = None
            return original(own, options, context)

    patch.wrap(Agent, "_settings", made)
