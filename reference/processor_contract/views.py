"""Views of the message list: which messages, in which format.

Flows in: a source of messages. Flows out: live messages, or copies in the formats of other programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from .data import Message, clone

Source = Literal["input", "response", "memory", "context"]
SOURCES = get_args(Source)
Reader = Callable[..., list[Message]]

VIEWS: dict[str, tuple[str, ...]] = {
    "all": SOURCES,
    "input": ("input",),
    "response": ("response",),
    "remembered": ("memory",),
}


class View:
    """One view of the list, in one of three formats."""

    def __init__(self, messages: list[Message]) -> None:
        self._messages = messages

    def db(self) -> list[Message]:
        """The messages themselves, live, in a fresh array (MSG-2)."""
        return list(self._messages)

    def ui(self) -> list[dict[str, Any]]:
        """Copies `{id, role, parts}`, for a user interface."""
        return [
            {"id": message["id"], "role": message["role"], "parts": clone(message["content"].get("parts", []))}
            for message in self._messages
        ]

    def core(self) -> list[dict[str, Any]]:
        """Copies `{role, content}`, where content is the list of parts."""
        return [{"role": item["role"], "content": clone(item["content"].get("parts", []))} for item in self._messages]


class Views:
    """`message_list.get`: the views `all`, `input`, `response` and `remembered`."""

    def __init__(self, read: Reader) -> None:
        self._read = read

    all = property(lambda self: View(self._read(*VIEWS["all"])))
    input = property(lambda self: View(self._read(*VIEWS["input"])))
    response = property(lambda self: View(self._read(*VIEWS["response"])))
    remembered = property(lambda self: View(self._read(*VIEWS["remembered"])))
