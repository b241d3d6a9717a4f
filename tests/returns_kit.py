"""What the tests of returns are written with: an agent whose hook returns something, and an answer to be replayed."""

from __future__ import annotations

from typing import Any

from processor_contract import Agent, ScriptedModel, Tool
from reference_kit import CALL, hooked, processor

INPUT_HOOKS = ("process_input", "process_input_step", "process_llm_request", "process_llm_response")
SAID = [{"type": "text-delta", "payload": {"text": "cached"}}, {"type": "finish", "payload": {"finishReason": "stop"}}]


def returning(hook: str, returned: Any, *turns: Any) -> Agent:
    """An agent with one processor, whose hook returns this, or what this says of its arguments."""
    answer = returned if callable(returned) else lambda args: returned
    array = "input_processors" if hook in INPUT_HOOKS else "output_processors"
    options: Any = {array: [processor(**hooked(hook, answer))]}
    script: Any = turns or [CALL, "hi"]
    return Agent(ScriptedModel(script), tools=[Tool("add", lambda args: 1)], **options)
