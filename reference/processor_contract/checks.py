"""What is refused before anything runs: settings, tools and processors that cannot work.

Flows in: what an agent or a call was given. Flows out: the same, or `InvalidAgent`, which names the culprit.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from .errors import InvalidAgent
from .hooks import HOOKS
from .tools import Tool

NO_HOOKS = ("process_data_parts",)


def check_array(array: str, processors: Any, reserved: Sequence[str]) -> None:
    """An array holds processors, each with an id of its own choice and a hook that the array feeds (CFG-2, CFG-3)."""
    if not isinstance(processors, (list, tuple)):
        found = type(processors).__name__
        raise InvalidAgent(f"{array}_processors is a value of type {found}; use a list of processors", "CFG-2")
    fed = [name for name, hook in HOOKS.items() if hook.array == array]
    for processor in processors:
        identity = getattr(processor, "id", None)
        if not isinstance(identity, str) or not identity:
            kind = type(processor).__name__
            raise InvalidAgent(f"{kind} in {array}_processors has no id; give it a text as `id`", "CFG-2")
        if identity in reserved:
            raise InvalidAgent(f"processor id {identity!r} is the runtime's own; choose another", "CFG-3")
        check_names(processor)
        check_plain(processor)
        if not any(callable(getattr(processor, name, None)) for name in fed):
            hooks = ", ".join(fed)
            raise InvalidAgent(f"processor {identity!r} has none of the hooks of {array}_processors: {hooks}", "CFG-2")


def check_names(processor: Any) -> None:
    """No method looks like a hook and is none: a misspelt guardrail would be idle (CFG-2)."""
    for name in dir(processor):
        if name.startswith("process_") and name not in HOOKS and name not in NO_HOOKS:
            near = difflib.get_close_matches(name, HOOKS, 1)
            instead = f"did you mean {near[0]}?" if near else f"hooks are {', '.join(HOOKS)}"
            raise InvalidAgent(
                f"processor {processor.id!r} has a method {name!r}, which is no hook; {instead}", "CFG-2"
            )


def check_plain(processor: Any) -> None:
    """No hook is asynchronous: nobody would await it, and the guardrail would be idle (CFG-2)."""
    for name in (*HOOKS, "on_violation"):
        if inspect.iscoroutinefunction(getattr(processor, name, None)):
            raise InvalidAgent(
                f"{name} of processor {processor.id!r} is asynchronous; write it with `def`, without `async`", "CFG-2"
            )


def tools_by_name(tools: Iterable[Tool]) -> dict[str, Tool]:
    """The tools by name; a name that comes twice is refused."""
    by_name: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in by_name:
            raise InvalidAgent(f"two tools are called {tool.name!r}; give each a name of its own")
        by_name[tool.name] = tool
    return by_name


def checked_count(name: str, value: Any, least: int) -> int | None:
    """A whole number from `least` on, or None where nothing was given (CFG-8)."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= least):
        return value
    raise InvalidAgent(f"{name} is {value!r}; use a whole number from {least}", "CFG-8")


def check_options(given: Iterable[str], known: Sequence[str]) -> None:
    """A call has only options that exist."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            instead = f"did you mean {near[0]}?" if near else f"options are {', '.join(known)}"
            raise InvalidAgent(f"a call has no option {name!r}; {instead}")
