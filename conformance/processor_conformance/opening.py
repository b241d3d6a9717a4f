"""What a scenario gives, in the protocol's words: the agent of `session/open` and the call of `run/start`.

Flows in: `given` and one entry of `run`, in the scenario's words. Flows out: params in the wire's words.
"""

from __future__ import annotations

from .rename import Renaming
from .words import ARRAYS, HOOKS, SETTINGS, Json

MODELS = ["mock/one"]
COPIED = ("name", "description", "processDataParts", "methods", "asynchronous", "values")
PARAMETERS = {"type": "object", "properties": {}}


def agent(given: dict[str, Json], renaming: Renaming) -> dict[str, Json]:
    """The agent that the implementation is asked to make."""
    made: dict[str, Json] = {
        "models": given.get("models", MODELS),
        "tools": [_tool(name, tool) for name, tool in given.get("tools", {}).items()],
        "processors": [_processor(key, processor) for key, processor in given.get("processors", {}).items()],
    }
    if "otherTools" in given:
        made["otherTools"] = [_tool(name, tool) for name, tool in given["otherTools"].items()]
    for name in ("instructions", "maxProcessorRetries", "maxRetries", "maxSteps", "tracing", *SETTINGS):
        if name in given:
            made[name] = given[name]
    if "memory" in given:
        made["memory"] = {key: given["memory"][key] for key in given["memory"] if key not in ("read", "write")}
    for name in ARRAYS:
        if name in given:
            made[name] = {"$callback": name} if "$callback" in given[name] else given[name]
    return _object(renaming.to_wire(made))


def names(given: dict[str, Json]) -> list[str]:
    """The ids of the processors and the names of the tools."""
    scripted = {key: one for key, one in given.get("processors", {}).items() if "builtIn" not in one}
    ids = [str(processor.get("id", key)) for key, processor in scripted.items()]
    return [*ids, *given.get("tools", {}), *given.get("otherTools", {})]


def start(call: dict[str, Json], mode: str, renaming: Renaming) -> dict[str, Json]:
    """The params of `run/start`, but for the names of session and run."""
    made = {"mode": mode, "input": renaming.to_wire(call["input"])}
    if mode == "stream":
        made["reading"] = "pull" if "reading" in call else "drain"
    if "options" in call:
        made["options"] = renaming.to_wire(call["options"])
    return made


def _processor(key: str, processor: dict[str, Json]) -> dict[str, Json]:
    if "builtIn" in processor:
        return {"key": key, **processor}
    named: dict[str, Json] = {name: processor[name] for name in COPIED if name in processor}
    violation = {"onViolation": True} if processor.get("onViolation", False) is not False else {}
    hooks = [hook for hook in HOOKS if hook in processor]
    return {"key": key, "id": processor.get("id", key), "hooks": hooks, **named, **violation}


def _tool(name: str, tool: dict[str, Json]) -> dict[str, Json]:
    if "$value" in tool:
        return {"name": name, **tool}
    execute = tool.get("execute")
    return {
        "name": tool.get("name", name),
        "description": tool.get("description", name),
        "parameters": tool.get("parameters", PARAMETERS),
        "execute": execute if isinstance(execute, dict) else execute is not False,
        **({"asynchronous": True} if "asynchronous" in tool else {}),
    }


def _object(value: Json) -> dict[str, Json]:
    return dict(value)
