"""System messages, which a run keeps apart from the conversation: by tag, in the order they came.

Flows in: texts and messages of role `system`. Flows out: copies of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .data import clone
from .message import system_message


class SystemMessages:
    """The system messages of one run: the untagged ones, then those of each tag."""

    def __init__(self) -> None:
        self._system: dict[str | None, list[dict[str, Any]]] = {None: []}

    def add_system(self, message: str | dict[str, Any], tag: str | None = None) -> None:
        """Adds a system message, `{"role": "system", "content": text}` or the text, under a tag where one is given."""
        self._system.setdefault(tag, []).append(system_message(message))

    def get_system_messages(self, tag: str | None = None) -> list[dict[str, Any]]:
        """Copies of the system messages of one tag, or of the untagged ones."""
        return [clone(message) for message in self._system.get(tag, [])]

    def get_all_system_messages(self) -> list[dict[str, Any]]:
        """Copies of all: the untagged, then those of each tag in the order they came (MSG-3, MSG-42)."""
        return [clone(message) for messages in self._system.values() for message in messages]

    def replace_all_system_messages(self, messages: Iterable[str | dict[str, Any]]) -> None:
        """Puts these in the place of all system messages, tagged ones included (MSG-41)."""
        self._system = {None: [system_message(message) for message in messages]}

    def system_state(self) -> dict[str | None, list[dict[str, Any]]]:
        """A copy of all system messages with their tags, for `reset_system`."""
        return {tag: clone(messages) for tag, messages in self._system.items()}

    def reset_system(self, state: dict[str | None, list[dict[str, Any]]]) -> None:
        """Sets the system messages back, whoever changed them (MSG-10, MSG-43)."""
        self._system = {tag: clone(messages) for tag, messages in state.items()}
