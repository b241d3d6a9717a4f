"""Mutants of the family CFG: which processors there are, and how they come into a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import checks
from processor_contract.agent import Agent, CallOptions
from processor_contract.context import RequestContext
from processor_contract.errors import InvalidAgent
from processor_contract.hooks import HOOKS
from processor_contract.processor import Processor
from processor_contract.run import Settings

from . import Patch, mutant

ABOUT_MESSAGES = ("process_input", "process_input_step")


def has(processor: Any, *hooks: str) -> bool:
    """Whether it has one of these hooks."""
    return any(callable(getattr(processor, hook, None)) for hook in hooks)


def refusing(patch: Patch, wrong: Callable[[str, Any], bool]) -> None:
    """Processors are refused besides where `wrong(array, processor)` says so."""

    def check(original: Any, array: str, processors: Any, reserved: Any) -> None:
        original(array, processors, reserved)
        for processor in processors:
            if wrong(array, processor):
                raise InvalidAgent(f"processor {processor.id!r} is refused by mistake")

    patch.around(checks.check_array, check)


def arrays(patch: Patch, resolved: Callable[[Any, Agent, str, Any, Any], Any]) -> None:
    """The arrays of a request are `resolved(original, agent, array, the call's own, request context)`."""
    patch.wrap(Agent, "_array", resolved)


@mutant("CFG-1")
def an_input_processor_has_process_input(patch: Patch) -> None:
    """What stands in the input array works on the input, in the main hook of that array."""
    refusing(patch, lambda array, one: array == "input" and not has(one, "process_input"))


@mutant("CFG-1")
def only_hooks_about_messages_make_an_input_processor(patch: Patch) -> None:
    """Whoever works on requests and answers of the model only is no input processor."""
    refusing(patch, lambda array, one: array == "input" and not has(one, *ABOUT_MESSAGES))


@mutant("CFG-1")
def an_error_processor_judges_answers_too(patch: Patch) -> None:
    """Recovery belongs to the processor that judges the answer."""
    refusing(patch, lambda array, one: array == "error" and not has(one, "process_output_step"))


@mutant("CFG-1")
def an_object_serves_one_array(patch: Patch) -> None:
    """An input processor is no output processor."""
    outputs = [name for name, hook in HOOKS.items() if hook.array == "output"]
    refusing(patch, lambda array, one: array == "input" and has(one, *outputs))


def without_check_of_hooks(patch: Patch, spared: Callable[[str], bool] = lambda array: True) -> None:
    """Nobody looks whether a processor has a hook of its array; only ids are looked at."""

    def check(original: Any, array: str, processors: Any, reserved: Any) -> None:
        if spared(array) and isinstance(processors, list):
            processors = [one for one in processors if not isinstance(one, Processor) or has(one, *fed(array))]
        original(array, processors, reserved)

    patch.around(checks.check_array, check)


def fed(array: str) -> list[str]:
    return [name for name, hook in HOOKS.items() if hook.array == array]


@mutant("CFG-2")
def idle_processors_are_passed_over(patch: Patch) -> None:
    """A processor that has none of the hooks of its array has nothing to do there."""
    without_check_of_hooks(patch)


@mutant("CFG-2")
def only_the_input_array_is_looked_through(patch: Patch) -> None:
    """Whether a processor fits its array is looked at where requests come in."""
    without_check_of_hooks(patch, lambda array: array != "input")


@mutant("CFG-2")
def what_a_request_brings_is_not_looked_through(patch: Patch) -> None:
    """Arrays are checked when the agent is made; what calls and functions bring is taken as it is."""
    requested = patch.within(Agent, "_array")
    patch.around(checks.check_array, lambda check, *given: None if requested else check(*given))


@mutant("CFG-2")
def what_is_no_processor_is_dropped(patch: Patch) -> None:
    """Whatever in an array is no processor with an id is left out."""

    def sound(processors: Any) -> list[Any]:
        return [one for one in processors if isinstance(one, Processor) and getattr(one, "id", None)]

    arrays(patch, lambda original, own, *asked: sound(original(own, *asked)))
    patch.around(checks.check_array, lambda check, array, given, reserved: check(array, sound(given), reserved))
    patch.function(checks.say_shared_ids, lambda *given: None)


@mutant("CFG-3")
def the_runtimes_ids_are_free(patch: Patch) -> None:
    """An id is the author's choice."""
    patch.around(checks.check_array, lambda check, array, processors, reserved: check(array, processors, ()))


@mutant("CFG-3")
def ids_are_reserved_in_the_input_array(patch: Patch) -> None:
    """prepareStep is a link of an input chain: elsewhere its id is free."""
    patch.around(
        checks.check_array,
        lambda check, array, processors, reserved: check(array, processors, reserved if array == "input" else ()),
    )


@mutant("CFG-4")
def arrays_of_a_call_are_added(patch: Patch) -> None:
    """A call's processors run besides the agent's."""

    def resolved(original: Any, own: Agent, array: str, override: Any, context: Any) -> Any:
        more = [] if override is None else original(own, array, override, context)
        return [*original(own, array, None, context), *more]

    arrays(patch, resolved)


@mutant("CFG-4")
def an_empty_array_overrides_nothing(patch: Patch) -> None:
    """An array without processors was not given."""
    arrays(patch, lambda original, own, array, override, context: original(own, array, override or None, context))


@mutant("CFG-4")
def arrays_of_a_call_stay(patch: Patch) -> None:
    """A call's array is the agent's from then on."""

    def resolved(original: Any, own: Agent, array: str, override: Any, context: Any) -> Any:
        if override is not None:
            own._arrays[array] = override
        return original(own, array, override, context)

    arrays(patch, resolved)


@mutant("CFG-4")
def one_array_of_a_call_empties_the_others(patch: Patch) -> None:
    """A call that has processors of its own has no others."""

    def settings(original: Any, own: Agent, options: CallOptions, context: Any) -> Settings:
        names = ("input_processors", "output_processors", "error_processors")
        given: dict[str, Any] = {name: getattr(options, name) for name in names}
        if any(value is not None for value in given.values()):
            for name, value in given.items():
                setattr(options, name, value or [])
        settled: Settings = original(own, options, context)
        return settled

    patch.wrap(Agent, "_settings", settings)


@mutant("CFG-4")
def recovery_is_the_agents_affair(patch: Patch) -> None:
    """Error processors are set for the agent; those of a call are not looked at."""

    def resolved(original: Any, own: Agent, array: str, override: Any, context: Any) -> Any:
        return original(own, array, None if array == "error" else override, context)

    arrays(patch, resolved)


@mutant("CFG-5")
def functions_get_an_empty_context(patch: Patch) -> None:
    """A function that makes an array runs before there is a request, and so without its context."""

    def resolved(original: Any, own: Agent, array: str, override: Any, context: Any) -> Any:
        return original(own, array, override, RequestContext())

    arrays(patch, resolved)


@mutant("CFG-5")
def functions_are_called_once_for_the_agent(patch: Patch) -> None:
    """What a function made is kept for later requests."""

    def resolved(original: Any, own: Agent, array: str, override: Any, context: Any) -> Any:
        made = original(own, array, override, context)
        if override is None and callable(own._arrays[array]):
            own._arrays[array] = made
        return list(made)

    arrays(patch, resolved)


@mutant("CFG-5")
def functions_need_a_context(patch: Patch) -> None:
    """Where the caller set nothing there is nothing for a function to go by."""

    def resolved(original: Any, own: Agent, array: str, override: Any, context: Any) -> Any:
        empty = override is None and callable(own._arrays[array]) and not len(context)
        return [] if empty else original(own, array, override, context)

    arrays(patch, resolved)


@mutant("CFG-5")
def error_arrays_are_no_functions(patch: Patch) -> None:
    """Recovery does not depend on the request: its array is an array."""

    def resolved(original: Any, own: Agent, array: str, override: Any, context: Any) -> Any:
        function = array == "error" and override is None and callable(own._arrays[array])
        return [] if function else original(own, array, override, context)

    arrays(patch, resolved)


@mutant("CFG-21")
def functions_are_called_for_each_kind_of_hook(patch: Patch) -> None:
    """An array is made anew wherever it is needed."""

    def resolved(original: Any, own: Agent, *asked: Any) -> Any:
        original(own, *asked)
        return original(own, *asked)

    arrays(patch, resolved)


@mutant("CFG-21")
def a_function_of_a_call_is_not_called(patch: Patch) -> None:
    """A call brings processors; functions are for the agent."""

    def resolved(original: Any, own: Agent, array: str, override: Any, context: Any) -> Any:
        return original(own, array, None if callable(override) else override, context)

    arrays(patch, resolved)


@mutant("CFG-21")
def the_agents_function_is_called_all_the_same(patch: Patch) -> None:
    """The agent's arrays are made, and then replaced by the call's."""

    def resolved(original: Any, own: Agent, array: str, override: Any, context: Any) -> Any:
        if override is not None:
            original(own, array, None, context)
        return original(own, array, override, context)

    arrays(patch, resolved)


@mutant("CFG-28")
def shared_ids_are_said_with_every_request(patch: Patch) -> None:
    """What is worth a warning is worth it each time."""
    patch.around(checks.say_shared_ids, lambda say, arrays, said: say(arrays, {}))


@mutant("CFG-28")
def shared_ids_are_not_said(patch: Patch) -> None:
    """What is allowed needs no words."""
    patch.function(checks.say_shared_ids, lambda *given: None)


@mutant("CFG-28")
def shared_ids_are_said_within_an_array(patch: Patch) -> None:
    """Processors of two arrays have nothing to do with each other."""

    def said_apart(say: Any, arrays: Any, said: Any) -> None:
        for array in arrays:
            say([array], said)

    patch.around(checks.say_shared_ids, said_apart)


@mutant("CFG-28")
def an_object_in_two_arrays_is_said(patch: Patch) -> None:
    """An id that stands in two arrays is shared, whatever the objects are."""

    def say(original: Any, arrays: Any, said: dict[str, object]) -> None:
        ids = [processor.id for array in arrays for processor in array]
        for processor_id in ids:
            if ids.count(processor_id) > 1 and processor_id not in said:
                said[processor_id] = True
                checks.LOG.warning("several processors have the id %r", processor_id)

    patch.around(checks.say_shared_ids, say)


@mutant("CFG-28")
def shared_ids_are_refused(patch: Patch) -> None:
    """An id is unique."""

    def say(original: Any, arrays: Any, said: Any) -> None:
        each = {id(processor): processor.id for array in arrays for processor in array}
        if len(set(each.values())) < len(each):
            raise InvalidAgent("two processors have one id")

    patch.around(checks.say_shared_ids, say)


@mutant("CFG-36")
def an_output_processor_works_on_answers(patch: Patch) -> None:
    """An output processor has one of the three hooks about the model's answer."""
    about = ("process_output_stream", "process_output_step", "process_output_result")
    refusing(patch, lambda array, one: array == "output" and not has(one, *about))
