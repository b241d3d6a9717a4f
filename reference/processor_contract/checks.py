"""What is refused before anything runs: settings, tools and processors that cannot work.

Flows in: what an agent or a call was given. Flows out: the same, or `InvalidAgent`, which names the culprit. What works
and is seldom meant is said once, to the log `processor_contract`.
"""

from __future__ import annotations

import difflib
import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .data import clone
from .errors import InvalidAgent
from .hooks import HOOKS
from .settings import described, instead_of, is_tool
from .tools import Tool

LOG = logging.getLogger(__package__)
PREFIX = "process_"
OTHERS = ("process_data_parts", "on_violation")  # what a processor has besides hooks
NAMES = {name.replace("_", ""): name for name in (*HOOKS, *OTHERS)}


def check_array(array: str, processors: Any, reserved: Sequence[str]) -> None:
    """An array holds processors, each with an id of its own choice and a hook that the array feeds (CFG-2, CFG-3)."""
    if not isinstance(processors, (list, tuple)):
        raise InvalidAgent(f"{array}_processors is {described(processors)}; use a list of processors", "CFG-2")
    fed = [name for name, hook in HOOKS.items() if hook.array == array]
    for processor in processors:
        identity = getattr(processor, "id", None)
        if isinstance(processor, type) or not isinstance(identity, str) or not identity:
            what = f"{described(processor)} in {array}_processors"
            raise InvalidAgent(f"{what} is no processor with an id; use an object with a text as `id`", "CFG-2")
        if identity in reserved:
            raise InvalidAgent(f"processor id {identity!r} is the runtime's own; choose another", "CFG-3")
        check_names(processor)
        check_plain(processor)
        if not any(callable(getattr(processor, name, None)) for name in fed):  # CFG-1, CFG-36: any of them will do
            hooks = ", ".join(fed)
            raise InvalidAgent(f"processor {identity!r} has none of the hooks of {array}_processors: {hooks}", "CFG-2")
    check_places(processors)


def check_places(processors: Sequence[Any]) -> None:
    """One that has to stand behind all others with a hook does: what it does there is worth nothing before them."""
    for place, processor in enumerate(processors):
        hook = getattr(processor, "last_with", None)
        behind = [one for one in processors[place + 1 :] if hook and callable(getattr(one, hook, None))]
        if behind:
            wanted = f"processor {processor.id!r} has to stand behind all others with {hook}"
            raise InvalidAgent(f"{wanted}, and stands before {behind[0].id!r}; move it to the end")


def check_names(processor: Any) -> None:
    """No method looks like a hook and is none: a misspelt guardrail would be idle (CFG-25)."""
    for name in dir(processor):
        if name in HOOKS or name in OTHERS:
            continue
        meant = NAMES.get(name.replace("_", "").lower())
        if meant is None and name.startswith(PREFIX):
            meant = next(iter(difflib.get_close_matches(name, HOOKS, 1)), f"one of {', '.join(HOOKS)}")
        if meant is not None:
            raise InvalidAgent(
                f"processor {processor.id!r} has a member {name!r}, which is no hook; did you mean {meant}?", "CFG-25"
            )


def check_plain(processor: Any) -> None:
    """No hook is asynchronous: nobody would await it, and the guardrail would be idle (CFG-26)."""
    for name in (*HOOKS, "on_violation"):
        method = getattr(processor, name, None)
        if method is not None and not callable(method):
            raise InvalidAgent(f"{name} of processor {processor.id!r} is {described(method)}; use a method", "CFG-37")
        refuse_late(method, f"{name} of processor {processor.id!r}")


def refuse_late(function: Any, what: str) -> None:
    """A function that answers later, or piece by piece, would answer nobody here (CFG-26)."""
    late = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
    if any(answers_late(function) for answers_late in late):
        raise InvalidAgent(f"{what} is asynchronous; write it with `def`, without `async` and `yield`", "CFG-26")


def checked_function(name: str, function: Any) -> Callable[..., Any] | None:
    """A callback of a call, or None where it brings none (CFG-26, CFG-37)."""
    if function is not None and not callable(function):
        raise InvalidAgent(f"{name} is {described(function)}; use a function", "CFG-37")
    refuse_late(function, name)
    return function  # type: ignore[no-any-return]


def tools_by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """The tools by name; a name that comes twice is refused (CFG-27), and what is no tool (CFG-37)."""
    by_name: dict[str, Tool] = {}
    if not isinstance(tools, Iterable):
        raise InvalidAgent(f"tools is {described(tools)}; use a list of Tool", "CFG-37")
    for tool in tools:
        if not is_tool(tool):
            raise InvalidAgent(f"tools hold {described(tool)}; use a list of Tool", "CFG-37")
        if tool.name in by_name:
            raise InvalidAgent(f"two tools are called {tool.name!r}; give each a name of its own", "CFG-27")
        by_name[tool.name] = tool
    return by_name


def checked_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Copies of the settings that were given, by name; what is None was not (CFG-16, CFG-19)."""
    settings = {}
    for name, value in given.items():
        instead = None if value is None else instead_of(name, value)
        if instead is not None:
            raise InvalidAgent(f"{name} is {described(value)}; use {instead}", "CFG-16")
        try:
            settings[name] = clone(value)
        except RecursionError as error:
            raise InvalidAgent(f"{name} contains itself, or is nested too deep; use plain data", "CFG-16") from error
    return settings


# What an agent or a call may be given besides settings, processors and tools: the members it needs, and what has them.
THINGS = {
    "memory": (("storage", "last_messages", "read_only"), "a Memory"),
    "clock": (("now", "sleep"), "a Clock"),
    "tracer": (("begin",), "a Tracer"),
    "request_context": (("get", "set"), "a RequestContext"),
    "abort_signal": (("on_abort", "aborted"), "an AbortSignal"),
    "tracing_context": (("current_span",), "the TracingContext of a hook or a tool"),
}


def check_things(given: Mapping[str, Any]) -> None:
    """What was given can be used as what it was given for (CFG-37); None where nothing was."""
    for name, value in given.items():
        needed, instead = THINGS[name]
        if value is not None and not all(hasattr(value, member) for member in needed):
            raise InvalidAgent(f"{name} is {described(value)}; use {instead}", "CFG-37")


def checked_instructions(instructions: Any) -> list[Any]:
    """The instructions as a list; each of them is looked at where it becomes a system message (MSG-29)."""
    if isinstance(instructions, Iterable) and not isinstance(instructions, (bytes, dict)):
        return [instructions] if isinstance(instructions, str) else list(instructions)
    raise InvalidAgent(f"instructions is {described(instructions)}; use a text or a list of texts", "CFG-37")


def checked_count(name: str, value: Any, least: int, rule: str = "CFG-29") -> int | None:
    """A whole number from `least` on, or None where nothing was given (CFG-8, CFG-29)."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= least):
        return value
    raise InvalidAgent(f"{name} is {value!r}; use a whole number from {least}", rule)


def check_options(given: Iterable[str], known: Sequence[str]) -> None:
    """A call has only options that exist (CFG-30)."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            instead = f"did you mean {near[0]}?" if near else f"options are {', '.join(known)}"
            raise InvalidAgent(f"a call has no option {name!r}; {instead}", "CFG-30")


def say_shared_ids(arrays: Iterable[Iterable[Any]], said: dict[str, object]) -> None:
    """Several objects with one id share one state, which is allowed and seldom meant: said once an agent (CFG-28)."""
    first: dict[str, Any] = {}
    for processor in (each for array in arrays for each in array):
        another, mine = first.setdefault(processor.id, processor) is not processor, object()
        if another and said.setdefault(processor.id, mine) is mine:
            text = "several processors have the id %r: they share one state in each request [CFG-28]"
            LOG.warning(text, processor.id)
