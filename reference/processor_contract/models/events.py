"""Server-sent events: the lines in which providers stream.

Flows in: pieces of bytes as the network brings them, or the data of an event. Flows out: events, or their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LONGEST_EVENT = 16 * 1024 * 1024  # bytes; what never ends must not fill the memory


@dataclass(slots=True)
class Event:
    """One event: its data, lines joined by newlines, and its name."""

    data: str
    name: str = "message"


class EventTooLong(ValueError):
    """An event that does not end."""


def encoded(data: str, name: str | None = None) -> bytes:
    """The bytes of an event; its data may have several lines."""
    head = "" if name is None else f"event: {name}\n"
    lines = "".join(f"data: {line}\n" for line in data.split("\n"))
    return f"{head}{lines}\n".encode()


def decoded(pieces: Iterable[bytes]) -> Iterator[Event]:
    """The events in a stream that may be cut into pieces anywhere, in mid-character too. An event that the stream ends
    within is none. Raises `EventTooLong`.
    """
    data: list[str] = []
    name = ""
    size = 0
    for raw in lines_of(pieces):
        field, _, value = raw.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        size += len(value)
        if size > LONGEST_EVENT:
            raise EventTooLong(f"an event has more than {LONGEST_EVENT} bytes")
        if not raw:
            if data:
                yield Event("\n".join(data), name or "message")
            data, name, size = [], "", 0
        elif field == "data":
            data.append(value)
        elif field == "event":
            name = value


def lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream, without their ends: any of LF, CR and CRLF. What follows the last end is no line."""
    begun: list[bytes] = []
    size = 0
    after_return = False
    first = True
    for piece in pieces:
        if first:
            piece, first = piece.removeprefix(b"\xef\xbb\xbf"), not piece
        if after_return:
            piece, after_return = piece.removeprefix(b"\n"), not piece
        if not piece:
            continue
        after_return = piece.endswith(b"\r")
        *whole, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in whole:
            yield b"".join([*begun, line])
            begun.clear()
            size = 0
        begun.append(rest)
        size += len(rest)
        if size > LONGEST_EVENT:
            raise EventTooLong(f"a line has more than {LONGEST_EVENT} bytes")
