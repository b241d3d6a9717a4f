"""Processor, and one argument class per hook.

Flows in: nothing. Flows out: the classes that `hooks.py` puts into the table. A hook has a writer, a state or an abort
signal exactly when its argument class has that field (DAT-10).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from .context import AbortSignal, RequestContext, Writer
from .data import Chunk, Json, Message, Part, Prompt, RunSummary, StepResult, StreamParts, ToolCallInfo, Usage
from .errors import TripWire
from .message_list import MessageList
from .tracing import TracingContext


class Processor:
    """One object with any of the nine hooks: subclass it and define the hooks wanted (CFG-1).

    `id` identifies it: processors with one id share one state within a request (STA-2). `name` and `description` are
    for readers of traces (CTX-10), and so is `processor_index`, which the runtime sets: its place in the array that was
    resolved last (CTX-11). With `process_data_parts` its `process_output_stream` also gets `data-*` chunks (DAT-3).
    Where `on_violation` is set, it is called with `{processorId, message, detail}` once for every abort (TRI-9).
    """

    id: str
    name: str | None = None
    description: str | None = None
    processor_index: int | None = None
    process_data_parts: bool = False
    last_with: str | None = None  # the hook behind whose other processors it has to stand, where it has to
    commits: bool = False  # the runtime's own: its processOutputResult saves, after which nothing is cancelled (RES-14)
    on_violation: Callable[[dict[str, Any]], None] | None = None


@dataclass(slots=True)
class HookArgs:
    """What every hook gets: who it is, how often this step was tried before, and how to stop."""

    processor_id: str
    retry_count: int
    request_context: RequestContext
    tracing_context: TracingContext
    _tripwire: TripWire | None  # set by the first abort of this call, which is final (TRI-2)
    _tell: Callable[[], None]  # tells the run of it at once, before anything else can happen in this call

    def abort(self, reason: str | None = None, *, retry: bool | None = None, metadata: Json = None) -> NoReturn:
        """Ends the run with this verdict, or asks for another attempt at the step; final once called (TRI-1, TRI-2).

        Raises TripWire. `metadata` is any JSON value, for whoever reads the tripwire.
        """
        text = reason or f"Tripwire triggered by {self.processor_id}"  # TRI-4
        tripwire = TripWire(text, retry=retry, metadata=metadata, processor_id=self.processor_id)
        if self._tripwire is None:
            self._tripwire = tripwire
            self._tell()
        raise tripwire


@dataclass(slots=True)
class InputArgs(HookArgs):
    """processInput: once a request, before the loop (MSG-52)."""

    messages: list[Message]
    system_messages: list[dict[str, Any]]
    message_list: MessageList
    state: dict[str, Any]


@dataclass(slots=True)
class InputStepArgs(HookArgs):
    """processInputStep: in every step, before the prompt is made (CFG-35). All but the first four may be overridden for
    the step.
    """

    messages: list[Message]
    message_list: MessageList
    step_number: int
    steps: list[StepResult]
    system_messages: list[dict[str, Any]]
    model: Any
    tools: dict[str, Any]
    tool_choice: Json
    active_tools: list[str] | None
    provider_options: Json
    model_settings: Json
    structured_output: Json
    state: dict[str, Any]
    writer: Writer


@dataclass(slots=True)
class LLMRequestArgs(HookArgs):
    """processLLMRequest: on the prompt that is about to be sent."""

    prompt: Prompt
    model: Any
    step_number: int
    steps: list[StepResult]
    state: dict[str, Any]
    writer: Writer
    abort_signal: AbortSignal | None
    _asked: Any  # the request that goes out with the prompt: the contract shows no more of it, the cache is keyed on it


@dataclass(slots=True)
class APIErrorArgs(HookArgs):
    """processAPIError: when a model call has failed (ERR-39). `error` is the provider's own exception, not wrapped."""

    error: BaseException
    messages: list[Message]
    message_list: MessageList
    step_number: int
    steps: list[StepResult]
    state: dict[str, Any]
    writer: Writer
    abort_signal: AbortSignal | None


@dataclass(slots=True)
class OutputStreamArgs(HookArgs):
    """processOutputStream: on every chunk. `stream_parts` are all chunks of the request so far, this one included, as
    they were before any processor; `data-*` chunks only with `process_data_parts`. `message_list` has the history
    (STR-24), a text stands in `part["payload"]["text"]` (STR-25), and what is gathered in `state` is all there when
    `finish` comes (STR-26, DAT-17).
    """

    part: Chunk
    stream_parts: StreamParts
    message_list: MessageList
    state: dict[str, Any]
    writer: Writer


@dataclass(slots=True)
class LLMResponseArgs(HookArgs):
    """processLLMResponse: when the answer is complete. `chunks` are the provider's, or the cache's, as they came
    (LLM-10): no output processor has seen them. `warnings`, `request` and `raw_response` are what the provider said of
    this call, None where it said nothing and on a replay (LLM-8, LLM-9).
    """

    chunks: list[Chunk]
    model: Any
    step_number: int
    steps: list[StepResult]
    from_cache: bool
    warnings: Json
    request: Json
    raw_response: Json
    state: dict[str, Any]
    writer: Writer
    abort_signal: AbortSignal | None


@dataclass(slots=True)
class OutputStepArgs(HookArgs):
    """processOutputStep: after the answer, before its tools run. `tool_calls` is None when there are none."""

    messages: list[Message]
    message_list: MessageList
    step_number: int
    finish_reason: str | None
    provider_metadata: Json
    tool_calls: list[ToolCallInfo] | None
    text: str
    usage: Usage
    system_messages: list[dict[str, Any]]
    steps: list[StepResult]
    state: dict[str, Any]
    writer: Writer


@dataclass(slots=True)
class ToolResultArgs(HookArgs):
    """processToolResult: once for each tool call that has a result, before the result enters the list.

    `result` is the value as changed so far, None where the tool returned nothing (TOOL-13); change it with
    `message_list.update_tool_invocation` (TOOL-2). `steps` ends with the step being made (TOOL-33). `abort()` keeps the
    result from the model (TOOL-37).
    """

    messages: list[Message]
    message_list: MessageList
    step_number: int
    tool_name: str
    tool_call_id: str
    args: Json
    result: Json
    provider_executed: bool | None
    system_messages: list[dict[str, Any]]
    steps: list[StepResult]
    state: dict[str, Any]
    writer: Writer


@dataclass(slots=True)
class OutputResultArgs(HookArgs):
    """processOutputResult: once, on the finished run (RES-27). `messages` are this run's response."""

    messages: list[Message]
    message_list: MessageList
    result: RunSummary
    state: dict[str, Any]
    writer: Writer


__all__ = [
    "APIErrorArgs",
    "HookArgs",
    "InputArgs",
    "InputStepArgs",
    "LLMRequestArgs",
    "LLMResponseArgs",
    "OutputResultArgs",
    "OutputStepArgs",
    "OutputStreamArgs",
    "Part",
    "Processor",
    "ToolResultArgs",
]
