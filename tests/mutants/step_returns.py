"""Mutants of the family CFG: system messages of a step, what a returned object means, what is handed out and sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop, request
from processor_contract.errors import WrongReturn
from processor_contract.returns import STEP_KEYS, Returns, Slate
from processor_contract.run import Link, Run
from processor_contract.settings import STEP_OVERRIDES

from . import Patch, mutant
from .step_settings import STEP, as_it_is, returning, without


@mutant("CFG-12")
def system_messages_of_a_step_are_the_runs(patch: Patch) -> None:
    """System messages once replaced stay so."""

    def keep(run: Run, slate: Slate) -> None:
        run.system_before = run.message_list.system_state()

    returning(patch, as_it_is, keep)


@mutant("CFG-12")
def returned_system_messages_are_added(patch: Patch) -> None:
    """Returned system messages come to those that there are."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        before = run.message_list.get_all_system_messages()
        own = value.get("system_messages")
        return value if own is None else {**value, "system_messages": [*before, *own]}

    returning(patch, change)


@mutant("CFG-12")
def returned_messages_are_the_whole_prompt(patch: Patch) -> None:
    """Whoever returns messages returns all that the model gets."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        return {"system_messages": [], **value} if "messages" in value else value

    returning(patch, change)


def merging(patch: Patch, name: str) -> None:
    """A returned object is put over the old one."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        return {**value, name: {**(slate[name] or {}), **value[name]}} if isinstance(value.get(name), dict) else value

    returning(patch, change)


@mutant("CFG-13")
def model_settings_are_merged(patch: Patch) -> None:
    """Settings that a processor does not name stay."""
    merging(patch, "model_settings")


@mutant("CFG-13")
def provider_options_are_merged(patch: Patch) -> None:
    """Options of providers that a processor does not name stay."""
    merging(patch, "provider_options")


@mutant("CFG-13")
def what_is_not_returned_is_none(patch: Patch) -> None:
    """An override object says all that the step has."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        slate.update(model_settings=None, provider_options=None)
        return value

    returning(patch, change)


@mutant("CFG-14")
def nothing_means_none(patch: Patch) -> None:
    """Null takes a value away."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        for name in STEP_OVERRIDES:
            if name in value and value[name] is None and name not in ("model", "tools"):
                slate[name] = None
        return value

    returning(patch, change)


@mutant("CFG-14")
def nothing_is_a_wrong_value(patch: Patch) -> None:
    """A name that is there has a value."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        if None in value.values():
            raise WrongReturn("returned a name without a value")
        return value

    returning(patch, change)


def known(value: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in value.items() if name in STEP_KEYS}


@mutant("CFG-15")
def unknown_names_are_ignored(patch: Patch) -> None:
    """What is not known is somebody else's."""
    returning(patch, lambda run, link, slate, value: known(value))


@mutant("CFG-15")
def names_are_checked_in_the_first_step(patch: Patch) -> None:
    """A processor whose first return was right is trusted."""
    returning(patch, lambda run, link, slate, value: known(value) if slate["step_number"] else value)


@mutant("CFG-17")
def settings_are_handed_out_live(patch: Patch) -> None:
    """A processor gets the settings themselves."""
    patch.set(request, "clone", lambda value: value)


@mutant("CFG-17")
def tools_are_handed_out_live(patch: Patch) -> None:
    """A processor gets the run's own record of tools."""
    patch.chain(STEP, lambda chain, run, slate: chain(run, slate | {"tools": run.settings.tools}))


def sending(patch: Patch, change: Callable[[Any], Any]) -> None:
    """The provider is asked with something else than the step has."""

    def ask(original: Any, *asked: Any) -> Any:
        made = original(*asked)
        change(made)
        return made

    patch.around(request.ask, ask)


@mutant("CFG-18")
def the_schema_is_not_sent(patch: Patch) -> None:
    """The structured output is for whoever reads the answer."""
    sending(patch, lambda made: setattr(made, "structured_output", None))


@mutant("CFG-18")
def the_options_are_not_sent(patch: Patch) -> None:
    """Options of a provider are for processors to look at."""
    sending(patch, lambda made: setattr(made, "provider_options", None))


@mutant("CFG-18")
def the_first_word_counts(patch: Patch) -> None:
    """What one processor has set is not for others to change."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        taken = slate.setdefault("taken", set())
        mine = without(value, *taken)
        taken.update(name for name in value if name in STEP_OVERRIDES)
        return mine

    returning(patch, change)


def of_the_agent(run: Run, slate: Slate) -> None:
    """The step is asked with what the run has."""
    slate.update({name: getattr(run.settings, name) for name in STEP_OVERRIDES})


@mutant("CFG-18")
def a_later_return_begins_anew(patch: Patch) -> None:
    """Each processor's overrides are put over the agent's settings, not over the others'."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        of_the_agent(run, slate)
        return value

    returning(patch, change)


@mutant("CFG-32")
def an_empty_object_means_the_defaults(patch: Patch) -> None:
    """An object without a name asks for what the agent has."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        if not value:
            of_the_agent(run, slate)
        return value

    returning(patch, change)


@mutant("CFG-32")
def nothing_means_the_defaults(patch: Patch) -> None:
    """A processor that returns nothing wants nothing changed, by whomever."""

    def take(original: Returns, run: Run, link: Link, slate: Slate, value: Any) -> bool:
        if value is None:
            of_the_agent(run, slate)
        return original(run, link, slate, value)

    patch.returned(STEP, take)


@mutant("CFG-33")
def a_choice_is_for_the_run(patch: Patch) -> None:
    """The first model that a processor chooses is the run's."""
    chosen: dict[str, Any] = {}

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        return {**value, "model": chosen.setdefault(run.id, value["model"])} if "model" in value else value

    returning(patch, change)


@mutant("CFG-33")
def tools_are_chosen_in_the_first_steps(patch: Patch) -> None:
    """Whether there are tools is settled when a run has begun."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        return without(value, "tool_choice") if slate["step_number"] > 1 else value

    returning(patch, change)


@mutant("CFG-17")
def what_a_failed_attempt_had_stays(patch: Patch) -> None:
    """An attempt that is repeated is asked like the one before."""
    had: dict[str, dict[str, Any]] = {}

    def recover(original: Any, run: Run, *failed: Any) -> Any:
        for name, value in had.get(run.id, {}).items():
            setattr(run.settings, name, value)
        return (yield from original(run, *failed))

    returning(patch, as_it_is, lambda run, slate: had.update({run.id: {name: slate[name] for name in STEP_OVERRIDES}}))
    patch.around(loop.recover, recover)
