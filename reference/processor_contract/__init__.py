"""The contract of agent processors, in pure standard-library Python. Start reading at `agent.py`; SPEC.md has the
rules.
"""

from __future__ import annotations

from .agent import Agent, CallOptions
from .context import AbortSignal, RequestContext, Writer
from .data import text_of
from .errors import (
    APICallError,
    Cancelled,
    ContractError,
    HookFailed,
    InvalidAgent,
    InvalidMessage,
    TripWire,
    WrongReturn,
)
from .memory import Memory
from .message_list import MessageList
from .models import Model, ModelRequest
from .models.scripted import ScriptedModel
from .processor import Processor
from .storage import InMemoryStorage, SQLiteStorage, Storage
from .stream import RunResult, Stream
from .tools import Tool, ToolContext

__version__ = "0.1.0"

__all__ = [
    "APICallError",
    "AbortSignal",
    "Agent",
    "CallOptions",
    "Cancelled",
    "ContractError",
    "HookFailed",
    "InMemoryStorage",
    "InvalidAgent",
    "InvalidMessage",
    "Memory",
    "MessageList",
    "Model",
    "ModelRequest",
    "Processor",
    "RequestContext",
    "RunResult",
    "SQLiteStorage",
    "ScriptedModel",
    "Storage",
    "Stream",
    "Tool",
    "ToolContext",
    "TripWire",
    "Writer",
    "WrongReturn",
    "text_of",
]
