"""Views of the message list: which messages, in which format.

Flows in: a source of messages. Flows out: live messages, or copies in the formats of other programs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

from .data import Message, clone
from .prompt import CORE, in_turns

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
        """The messages themselves, live, in a fresh array (MSG-37)."""
        return list(self._messages)

    def ui(self) -> list[dict[str, Any]]:
        """Copies `{id, role, parts}`, for a user interface (MSG-37)."""
        return [
            {"id": message["id"], "role": message["role"], "parts": clone(message["content"].get("parts", []))}
            for message in self._messages
        ]

    def core(self) -> list[dict[str, Any]]:
        """Copies `{role, content}`, for other programs: parts as a model is given them, with the results of tools in
        messages of role `tool` (MSG-37).
        """
        return in_turns(self._messages, CORE)


class Views:
    """`message_list.get`: `all`, `input`, `response` and `remembered` (MSG-35), each in three formats (MSG-36)."""

    def __init__(self, read: Reader) -> None:
        self._read = read

    all = property(lambda self: View(self._read(*VIEWS["all"])))
    input = property(lambda self: View(self._read(*VIEWS["input"])))
    response = property(lambda self: View(self._read(*VIEWS["response"])))
    remembered = property(lambda self: View(self._read(*VIEWS["remembered"])))
