"""Mutants of the family CFG: what a step is asked with, and what processInputStep may change of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import pipeline
from processor_contract.agent import PREPARE_STEP_ID
from processor_contract.errors import InvalidAgent, WrongReturn
from processor_contract.hooks import HOOKS
from processor_contract.models import ModelRegistry
from processor_contract.returns import Returns, Slate
from processor_contract.run import Link, Run
from processor_contract.settings import STEP_OVERRIDES

from . import Patch, mutant

STEP = "process_input_step"
Change = Callable[[Run, Link, Slate, dict[str, Any]], Any]


def returning(patch: Patch, change: Change, after: Callable[[Run, Slate], Any] = lambda run, slate: None) -> None:
    """What processInputStep returned as an object is changed before it is taken; `after` is done behind that."""

    def take(original: Returns, run: Run, link: Link, slate: Slate, value: Any) -> bool:
        stops = original(run, link, slate, change(run, link, slate, dict(value)) if isinstance(value, dict) else value)
        after(run, slate)
        return stops

    patch.returned(STEP, take)


def as_it_is(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> dict[str, Any]:
    return value


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: each for name, each in value.items() if name not in names}


def staying(patch: Patch, *names: str) -> None:
    """What a step was asked with is the run's from then on."""

    def keep(run: Run, slate: Slate) -> None:
        for name in names:
            setattr(run.settings, name, slate[name])

    returning(patch, as_it_is, keep)


@mutant("CFG-6")
def model_and_tools_stay(patch: Patch) -> None:
    """A model, or tools, once chosen are the run's."""
    staying(patch, "model", "tools")


@mutant("CFG-6")
def settings_of_a_step_stay(patch: Patch) -> None:
    """Settings once changed are the run's."""
    staying(patch, "tool_choice", "active_tools", "provider_options", "model_settings")


@mutant("CFG-6")
def the_structured_output_stays(patch: Patch) -> None:
    """A schema once given is the run's."""
    staying(patch, "structured_output")


@mutant("CFG-6")
def only_the_first_step_can_be_changed(patch: Patch) -> None:
    """What a run is asked with is settled in its first step."""
    returning(patch, lambda run, link, slate, value: without(value, *STEP_OVERRIDES) if slate["step_number"] else value)


@mutant("CFG-6")
def only_the_last_processor_changes_the_step(patch: Patch) -> None:
    """The last processor of the chain has the step to itself."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        return value if run.plan[STEP][-1] is link else without(value, *STEP_OVERRIDES)

    returning(patch, change)


def unfound(run: Run, model: Any) -> bool:
    """Whether the registry has no such model."""
    try:
        run.models.resolve(model)
    except InvalidAgent:
        return True
    return False


@mutant("CFG-7")
def what_is_not_found_is_the_agents_model(patch: Patch) -> None:
    """Where a model cannot be found the agent's own does the work."""
    returning(
        patch,
        lambda run, link, slate, value: without(value, "model") if unfound(run, value.get("model", "")) else value,
    )


@mutant("CFG-7")
def a_provider_has_any_name(patch: Patch) -> None:
    """A name that a provider does not know means its first model."""

    def provided(original: Any, own: ModelRegistry, model_id: str) -> Any:
        prefix = model_id.partition("/")[0]
        near = [model for known, model in own._models.items() if known.startswith(f"{prefix}/")]
        return near[0] if near else original(own, model_id)

    patch.wrap(ModelRegistry, "_provided", provided)


@mutant("CFG-7")
def what_is_no_model_is_ignored(patch: Patch) -> None:
    """A value that is neither text nor model was no choice."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        model = value.get("model", "")
        return value if isinstance(model, str) or hasattr(model, "stream") else without(value, "model")

    returning(patch, change)


@mutant("CFG-7")
def prepare_step_may_name_any_model(patch: Patch) -> None:
    """What the call itself names is not looked at."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        own = link.processor.id == PREPARE_STEP_ID and unfound(run, value.get("model", ""))
        return without(value, "model") if own else value

    returning(patch, change)


def shown(patch: Patch, value_of: Callable[[Run, Slate, str], Any], *names: str) -> None:
    """Processors get other values than the step has."""

    def arguments(original: Any, run: Run, link: Link, slate: Slate) -> Any:
        if link.hook is not HOOKS[STEP]:
            return original(run, link, slate)
        return original(run, link, {**slate, **{name: value_of(run, slate, name) for name in names}})

    patch.around(pipeline.arguments, arguments)


def of_the_run(run: Run, slate: Slate, name: str) -> Any:
    return getattr(run.settings, name)


@mutant("CFG-9")
def processors_get_the_agents_model(patch: Patch) -> None:
    """`model` is the agent's."""
    shown(patch, of_the_run, "model")


@mutant("CFG-9")
def processors_get_the_agents_tools(patch: Patch) -> None:
    """Tools, active tools and choice are the agent's."""
    shown(patch, of_the_run, "tools", "active_tools", "tool_choice")


@mutant("CFG-9")
def processors_get_the_agents_options(patch: Patch) -> None:
    """Settings and options are those of the agent and the call."""
    shown(patch, of_the_run, "model_settings", "provider_options")


@mutant("CFG-9")
def processors_get_the_agents_schema(patch: Patch) -> None:
    """The structured output is that of the agent and the call."""
    shown(patch, of_the_run, "structured_output")


@mutant("CFG-9")
def processors_get_what_the_first_returned(patch: Patch) -> None:
    """What has been returned once in a step is what later processors see."""
    first: dict[tuple[str, int, str], Any] = {}

    def keep(run: Run, slate: Slate) -> None:
        for name in STEP_OVERRIDES:
            first.setdefault((run.id, slate["step_number"], name), slate[name])

    returning(patch, as_it_is, keep)
    shown(patch, lambda run, slate, name: first.get((run.id, slate["step_number"], name), slate[name]), *STEP_OVERRIDES)


@mutant("CFG-35")
def options_are_not_handed_out(patch: Patch) -> None:
    """Options of the provider are nobody's affair but the provider's."""
    shown(patch, lambda run, slate, name: None, "provider_options", "model_settings")


@mutant("CFG-35")
def tools_are_not_handed_out(patch: Patch) -> None:
    """Who may not call tools need not know them."""
    shown(patch, lambda run, slate, name: None, "tools", "active_tools", "tool_choice")


@mutant("CFG-35")
def the_count_of_retries_is_for_judges(patch: Patch) -> None:
    """A processor of the input is not told how often a step was tried."""
    shown(patch, lambda run, slate, name: None, "retry_count")


def refuse(model: Any) -> Any:
    raise WrongReturn(f"returned the model {model!r}")


@mutant("CFG-10")
def ids_are_no_models(patch: Patch) -> None:
    """A processor has to return the model itself."""
    returning(
        patch,
        lambda run, link, slate, value: refuse(value["model"]) if isinstance(value.get("model"), str) else value,
    )


@mutant("CFG-10")
def models_are_no_ids(patch: Patch) -> None:
    """A processor has to return the id of a model."""
    returning(
        patch,
        lambda run, link, slate, value: refuse(value["model"]) if hasattr(value.get("model"), "stream") else value,
    )


@mutant("CFG-10")
def only_registered_models_are_models(patch: Patch) -> None:
    """A model that is not registered is none."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        model: Any = value.get("model")
        return refuse(model) if hasattr(model, "stream") and unfound(run, model.id) else value

    returning(patch, change)


@mutant("CFG-11")
def returned_tools_are_added(patch: Patch) -> None:
    """Returned tools come to those that there are."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        return {**value, "tools": {**slate["tools"], **value["tools"]}} if value.get("tools") is not None else value

    returning(patch, change)


@mutant("CFG-11")
def returned_tools_are_a_choice(patch: Patch) -> None:
    """A step can have fewer tools than its agent, and no others."""

    def change(run: Run, link: Link, slate: Slate, value: dict[str, Any]) -> Any:
        tools = value.get("tools") or {}
        own = {name: tool for name, tool in tools.items() if name in run.settings.tools}
        return {**value, "tools": own} if tools else value

    returning(patch, change)


@mutant("CFG-11")
def no_tools_were_not_returned(patch: Patch) -> None:
    """An empty record of tools says nothing."""
    returning(patch, lambda run, link, slate, value: without(value, "tools") if value.get("tools") == {} else value)
