"""The settings of a model call that a step may change, and what is wrong with a value of one (CFG-16).

Flows in: values given to an agent, a call or returned by a hook. Flows out: None, or what to give instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

CHOICES = ("auto", "none", "required")


def _choice(value: Any) -> str | None:
    if isinstance(value, str) and value in CHOICES:
        return None
    if isinstance(value, dict) and value.get("type") == "tool" and isinstance(value.get("toolName"), str):
        return None
    return "'auto', 'none', 'required' or {'type': 'tool', 'toolName': name}"


def _names(value: Any) -> str | None:
    listed = isinstance(value, Collection) and not isinstance(value, (str, bytes, dict))
    return None if listed and all(isinstance(name, str) for name in value) else "a list of names of tools"


def _object(value: Any) -> str | None:
    return None if isinstance(value, dict) else "a dict"


def _tools(value: Any) -> str | None:
    whole = isinstance(value, dict) and all(map(_named_tool, value.items()))
    return None if whole else "a dict whose keys are names and whose values are tools"


def _named_tool(named: tuple[Any, Any]) -> bool:
    return isinstance(named[0], str) and is_tool(named[1])


def is_tool(tool: Any) -> bool:
    """Whether it can be offered to a model and called."""
    return hasattr(tool, "execute") and hasattr(tool, "described") and isinstance(getattr(tool, "name", None), str)


# What a value of each has to be; a model is looked up in the registry instead.
INSTEAD: dict[str, Callable[[Any], str | None]] = {
    "tools": _tools,
    "tool_choice": _choice,
    "active_tools": _names,
    "provider_options": _object,
    "model_settings": _object,
    "structured_output": _object,
}
PLAIN = tuple(name for name in INSTEAD if name != "tools")  # those that an agent and a call have as they are
STEP_OVERRIDES = ("model", *INSTEAD)
MERGED = ("provider_options", "model_settings")


def instead_of(name: str, value: Any) -> str | None:
    """What to give in the place of a wrong value; None where it is right."""
    return INSTEAD[name](value)


def over(name: str, default: Any, given: Any) -> Any:
    """A call's setting over the agent's: option objects key by key, of all else the call's own where it has one
    (CFG-19).
    """
    if given is None or default is None or name not in MERGED:
        return default if given is None else given
    return _merged(default, given)


def _merged(default: Any, given: Any) -> Any:
    if not (isinstance(default, dict) and isinstance(given, dict)):
        return given
    return {**default, **{key: _merged(default.get(key), value) for key, value in given.items()}}


def described(value: Any) -> str:
    """A wrong value, as an error speaks of it: a text is shown, of all else the type."""
    return repr(value) if isinstance(value, str) and len(value) < 40 else f"a value of type {type(value).__name__}"
