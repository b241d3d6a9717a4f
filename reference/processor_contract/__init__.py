"""The contract of agent processors, in pure standard-library Python. Start reading at `agent.py`; SPEC.md has the
rules.
"""

from __future__ import annotations

from .agent import Agent, CallOptions
from .context import AbortSignal, RequestContext, Writer
from .data import Chunk, Message, Part, Prompt, RunSummary, StepResult, ToolCallInfo, Usage, text_of
from .errors import (
    APICallError,
    Cancelled,
    ContractError,
    HookFailed,
    InvalidAgent,
    InvalidMessage,
    InvalidObject,
    NotSaved,
    ProviderFailed,
    RunFailed,
    StorageFailed,
    TripWire,
    WrongReturn,
)
from .memory import Memory
from .message_list import MessageList
from .models import Model, ModelRegistry, ModelRequest
from .models.scripted import ScriptedModel
from .processor import (
    APIErrorArgs,
    InputArgs,
    InputStepArgs,
    LLMRequestArgs,
    LLMResponseArgs,
    OutputResultArgs,
    OutputStepArgs,
    OutputStreamArgs,
    Processor,
    ToolResultArgs,
)
from .sqlite_storage import SQLiteStorage
from .storage import InMemoryStorage, Storage
from .stream import RunResult, Stream
from .tools import Tool, ToolContext
from .tracing import JsonLines, Span, Tracer, TracingContext

__version__ = "0.1.0"

__all__ = [
    "APICallError",
    "APIErrorArgs",
    "AbortSignal",
    "Agent",
    "CallOptions",
    "Cancelled",
    "Chunk",
    "ContractError",
    "HookFailed",
    "InMemoryStorage",
    "InputArgs",
    "InputStepArgs",
    "InvalidAgent",
    "InvalidMessage",
    "InvalidObject",
    "JsonLines",
    "LLMRequestArgs",
    "LLMResponseArgs",
    "Memory",
    "Message",
    "MessageList",
    "Model",
    "ModelRegistry",
    "ModelRequest",
    "NotSaved",
    "OutputResultArgs",
    "OutputStepArgs",
    "OutputStreamArgs",
    "Part",
    "Processor",
    "Prompt",
    "ProviderFailed",
    "RequestContext",
    "RunFailed",
    "RunResult",
    "RunSummary",
    "SQLiteStorage",
    "ScriptedModel",
    "StepResult",
    "Span",
    "Storage",
    "StorageFailed",
    "Stream",
    "Tool",
    "ToolCallInfo",
    "ToolContext",
    "ToolResultArgs",
    "Tracer",
    "TracingContext",
    "TripWire",
    "Usage",
    "Writer",
    "WrongReturn",
    "text_of",
]
