"""What the mock's two forms of an API have in common: how a request is read, refused and answered.

Flows in: a request's body, a turn of the script. Flows out: what the request asks, why it is refused, the answer in one
piece or as events. A form is a `Dialect`: OpenAI's in openai_dialect.py, Anthropic's in anthropic_dialect.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ..data import Json
from .script import Turn

HALVES = re.compile("[\ud800-\udfff]")  # in UTF-8 there are none
BROKEN = '{"this event is": '
CREATED = 1767225600  # every answer of the mock was made at the beginning of 2026: what it says stays the same


class Refused(Exception):
    """A request that the real endpoint would not take; `status` and the text are what it is told."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class Dialect(Protocol):
    """One API. `name` is what a script calls it."""

    name: str

    def check(self, body: dict[str, Any], headers: Mapping[str, str]) -> None:
        """Raises `Refused` for a request that the real endpoint would refuse as well."""

    def whole(self, turn: Turn, body: dict[str, Any], number: int) -> dict[str, Any]:
        """The answer in one piece; `number` tells the requests of a server apart, from 1."""

    def events(self, turn: Turn, body: dict[str, Any], number: int) -> Iterator[bytes]:
        """The answer as events."""

    def error(self, status: int, message: str) -> dict[str, Any]:
        """The body of an error."""

    def broken_event(self) -> bytes:
        """An event that is no JSON."""

    def error_event(self, error: Json) -> bytes:
        """An error in mid-stream, which says `error`, or what the API says when it is busy."""


def require(fits: object, reason: str, status: int = 400) -> None:
    """Refuses a request that does not fit."""
    if not fits:
        raise Refused(reason, status)


def text(value: Json, place: str) -> str:
    """A text that is not empty, and can be said again."""
    require(isinstance(value, str) and value, f"{place} has to be a text that is not empty")
    require(not HALVES.search(value), f"{place} holds half of a surrogate pair")
    return str(value)


def member(value: Json, place: str) -> dict[str, Any]:
    """An object."""
    require(isinstance(value, dict), f"{place} has to be an object")
    return dict(value)


def objects(value: Json, place: str, least: int = 0) -> list[dict[str, Any]]:
    """A list of objects, at least so many."""
    fits = isinstance(value, list) and len(value) >= least and all(isinstance(one, dict) for one in value)
    require(fits, f"{place} has to be a list of {'at least one object' if least else 'objects'}")
    return list(value)


def flattened(content: Json) -> str:
    """The text in a message's content, and in the results of tools in it."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = (part.get("text") or flattened(part.get("content")) for part in parts if isinstance(part, dict))
    return "".join(one for one in found if isinstance(one, str))


def says(body: dict[str, Any]) -> str:
    """The text of a request's last message, which turns may be chosen by."""
    return flattened(body["messages"][-1].get("content"))


def fragments(arguments: str) -> list[str]:
    """A call's arguments in the pieces in which they are streamed: three, where there is enough of them."""
    size = max(1, -(-len(arguments) // 3))
    return [arguments[at : at + size] for at in range(0, len(arguments), size)]
