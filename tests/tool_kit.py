"""What the tests of tools are written with: turns that call them, runs, and what came of them."""

from __future__ import annotations

from typing import Any

from processor_contract import Agent, ScriptedModel


def calls(*names: str) -> dict[str, Any]:
    """A turn that calls these tools, each with its number."""
    return {
        "tool_calls": [
            {"name": name, "id": f"{name}-{number}", "args": {"n": number}} for number, name in enumerate(names)
        ]
    }


def ran(*turns: Any, tools: Any, hooks: Any = (), **options: Any) -> Any:
    """The result of a run with these tools, whose model says these turns and then that it is done."""
    return Agent(ScriptedModel([*turns, "done"]), tools=tools, output_processors=hooks, **options).generate("x")


def results(result: Any) -> list[Any]:
    """What the tools of a run came to."""
    return [one["result"] for one in result.tool_results]
