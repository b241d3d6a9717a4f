"""How the mock gives a turn: whole or as events, and with what goes wrong on the way.

Flows in: a turn, the request, the connection. Flows out: bytes on the connection, and in the request's entry of the log
how it went.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import chain
from typing import Any

from ..data import Json
from .dialect import Dialect
from .script import Fault, Turn


class Gone(Exception):
    """The connection has ended: the script cut it, the client left, or the server stops."""


class Reply:
    """One answer on its way."""

    def __init__(
        self, connection: BaseHTTPRequestHandler, dialect: Dialect, entry: dict[str, Json], stopping: threading.Event
    ) -> None:
        self._connection = connection
        self._dialect = dialect
        self._entry = entry
        self._stopping = stopping
        self._end = "complete"

    def give(self, turn: Turn, body: dict[str, Any]) -> None:
        """Sends the answer. Raises `Gone` where the connection ends before it does."""
        fault = turn.fault
        try:
            self._pause(fault.delay)
            if fault.hang_up:
                self._cut(fault)
            spoilt = fault.error_after is not None and not body.get("stream")
            if fault.status != 200 or spoilt or (fault.body is not None and fault.error_after is None):
                self._whole(*self._instead(fault), fault)
            elif body.get("stream"):
                self._stream(self._spoiled(turn, body), fault)
            else:
                said = json.dumps(self._dialect.whole(turn, body, self._entry["number"]), ensure_ascii=False)
                self._whole(said if fault.malformed_after is None else said[:-1], "application/json", fault)
        except OSError:
            self._entry["outcome"] = "gone"
            raise Gone from None

    def _instead(self, fault: Fault) -> tuple[str, str]:
        """What is said in place of an answer, and its content type."""
        if isinstance(fault.body, str):
            return fault.body, "text/plain; charset=utf-8"
        message = f"the script has this request fail with status {fault.status}"
        value = self._dialect.error(fault.status, message) if fault.body is None else fault.body
        return json.dumps(value, ensure_ascii=False), "application/json"

    def _spoiled(self, turn: Turn, body: dict[str, Any]) -> Iterator[bytes]:
        """The events, with the one in their midst that should not be there."""
        fault = turn.fault
        for number, event in enumerate(chain(self._dialect.events(turn, body, self._entry["number"]), [b""])):
            if number == fault.cut_after:
                self._cut(fault)
            if number == fault.malformed_after:
                yield self._dialect.broken_event()
            if number == fault.error_after:
                yield self._dialect.error_event(fault.body)
                return
            if event:
                yield event
        if any(due is not None and due > number for due in (fault.cut_after, fault.malformed_after, fault.error_after)):
            self._end = "unspoilt"

    # -- on the wire -----------------------------------------------------------------------------------------------

    def _head(self, fault: Fault, kind: str, length: int | None) -> None:
        """Status line and headers; a body of unknown length goes out in chunks, or to the end of the connection."""
        connection = self._connection
        self._entry["status"] = fault.status
        connection.send_response(fault.status)
        connection.send_header("Content-Type", fault.content_type or kind)
        if fault.retry_after is not None:
            connection.send_header("Retry-After", fault.retry_after)
        if length is not None:
            connection.send_header("Content-Length", str(length))
        elif self._chunked():
            connection.send_header("Transfer-Encoding", "chunked")
        else:
            connection.close_connection = True
        connection.end_headers()

    def _chunked(self) -> bool:
        return self._connection.request_version != "HTTP/1.0"

    def _whole(self, text: str, kind: str, fault: Fault) -> None:
        content = text.encode()
        if fault.status in (204, 205, 304):
            content = b""
        self._head(fault, kind, len(content))
        if fault.cut_after is not None:
            self._connection.wfile.write(content[: len(content) // 2])
            self._cut(fault)
        self._entry["outcome"] = "complete"  # before whoever reads it to its end can ask how it went
        for piece in split(content) if fault.split_characters else [content]:
            self._connection.wfile.write(piece)

    def _stream(self, events: Iterator[bytes], fault: Fault) -> None:
        self._head(fault, "text/event-stream; charset=utf-8", None)
        for number, event in enumerate(events):
            if number:
                self._pause(fault.chunk_delay)
            self._entry["events"] = number + 1
            for piece in split(event) if fault.split_characters else [event]:
                self._send(piece)
        self._entry["outcome"] = self._end
        if self._chunked():
            self._connection.wfile.write(b"0\r\n\r\n")

    def _send(self, piece: bytes) -> None:
        if self._chunked():
            piece = b"%x\r\n%b\r\n" % (len(piece), piece)
        self._connection.wfile.write(piece)

    def _pause(self, seconds: float) -> None:
        if self._stopping.wait(seconds) if seconds else self._stopping.is_set():
            self._entry["outcome"] = "cut"
            raise Gone

    def _cut(self, fault: Fault) -> None:
        """Ends the connection here and now."""
        self._entry["outcome"] = "cut"
        line = self._connection.connection
        if fault.reset:  # what lingers for no time is not said goodbye to
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(line.detach())  # its files would keep it open
        raise Gone


def split(content: bytes) -> Iterator[bytes]:
    """The bytes in pieces that end within a character, after each first byte of a longer one."""
    begun = 0
    for at, byte in enumerate(content):
        if byte >= 0xC0:
            yield content[begun : at + 1]
            begun = at + 1
    if content[begun:]:
        yield content[begun:]
