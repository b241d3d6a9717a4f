"""What the provider will be asked in a step: processInputStep, the prompt, processLLMRequest.

Flows in: a run and its attempt. Flows out: a `ModelRequest`; what was chosen for the step stands in the attempt.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from .data import clone
from .models import ModelRequest
from .pipeline import call, wrongly_made
from .prompt import to_prompt
from .run import Attempt, Run
from .settings import PLAIN, instead_of
from .tools import Tool


def ask(run: Run, attempt: Attempt) -> ModelRequest:
    """processInputStep, the prompt, processLLMRequest: what the provider will be asked (ORD-1, ORD-6)."""
    settings = run.settings
    slate = {
        "step_number": attempt.number,
        "model": settings.model,
        "tools": {name: own_tool(tool) for name, tool in settings.tools.items()},
        "tool_choice": clone(settings.tool_choice),  # copies: an edit in place reaches no other step (CFG-17)
        "active_tools": clone(settings.active_tools),
        "provider_options": clone(settings.provider_options),
        "model_settings": clone(settings.model_settings),
        "structured_output": clone(settings.structured_output),
    }
    chosen = call(run, "process_input_step", slate)  # CFG-9: each processor gets the slate as it stands
    check_edited(run, chosen)
    attempt.model = chosen["model"]
    attempt.offered = offered_tools(chosen)  # CFG-31: they are the ones that can be executed, wherever they come from
    # Made afresh for each attempt, so that what an error processor changed is in it (ERR-18).
    prompt = to_prompt(run.message_list.get_all_system_messages(), run.feedback, run.message_list.everything())
    request = ModelRequest(  # CFG-18
        prompt=prompt,
        tools=[{**tool.described(), "name": name} for name, tool in attempt.offered.items()],  # CFG-11
        tool_choice=clone(chosen["tool_choice"]),  # TOOL-28; copies: a processor may have returned an object of its own
        settings=clone(chosen["model_settings"]),
        provider_options=clone(chosen["provider_options"]),
        structured_output=clone(chosen["structured_output"]),
        abort_signal=run.signal,  # RES-9
    )
    attempt.structured_output = request.structured_output
    # LLM-15: what this call will send, and to whom
    slate = {"prompt": prompt, "model": attempt.model, "step_number": attempt.number, "_asked": request}
    prompt = call(run, "process_llm_request", slate)["prompt"]
    if run.plan["process_llm_request"]:
        if not prompt:
            raise wrongly_made(run, "made a prompt that holds no message; leave at least one in it", "LLM-3")
        prompt = own_copy(run, "a prompt", prompt, "LLM-19")  # a processor may have kept its own
        if not all(isinstance(message, dict) for message in prompt):
            raise wrongly_made(run, "made a prompt that holds more than messages; leave dicts in it", "LLM-19")
    request.prompt = prompt
    return request


def own_tool(tool: Any) -> Any:
    """A tool as a step may edit it: another object, with parameters of its own (CFG-17)."""
    own = copy(tool)
    if isinstance(own, Tool):
        own.parameters = clone(tool.parameters)
    return own


def check_edited(run: Run, chosen: dict[str, Any]) -> None:
    """What was edited in place can still be sent: tools are tools, and no setting holds itself (CFG-16)."""
    if not run.plan["process_input_step"]:
        return
    instead = instead_of("tools", chosen["tools"])
    if instead is not None:
        raise wrongly_made(run, f"made tools something else; leave them {instead}", "CFG-16")
    for name in PLAIN:
        own_copy(run, name, chosen[name], "CFG-16")
    for tool in chosen["tools"].values():
        own_copy(run, f"parameters of tool {tool.name!r}", getattr(tool, "parameters", None), "CFG-16")


def own_copy(run: Run, what: str, value: Any, rule: str) -> Any:
    """A copy of what a hook had in its hands."""
    try:
        return clone(value)
    except RecursionError:
        raise wrongly_made(run, f"made {what} that holds itself, or is nested too deep", rule) from None


def offered_tools(chosen: dict[str, Any]) -> dict[str, Any]:
    """The tools this step offers: the active ones (TOOL-29), none where tool choice is `none` (TOOL-7); other choices
    are no limit (TOOL-31).
    """
    if chosen["tool_choice"] == "none":
        return {}
    active = chosen["active_tools"]  # TOOL-30: an empty list is a list
    return {name: tool for name, tool in chosen["tools"].items() if active is None or name in active}
