"""What the tests of streams are written with: a model that sees how it is read, and ways to read a part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from processor_contract import ModelRequest


class Counting:
    """A model that notes how far its stream was pulled, whether it was closed and whether it was told to stop."""

    id = "counting/one"

    def __init__(self, texts: int = 5) -> None:
        self.texts = texts
        self.pulled = 0
        self.closed = False
        self.told = False

    def stream(self, request: ModelRequest) -> Iterator[Any]:
        def tell(reason: Any) -> None:
            self.told = True

        assert request.abort_signal is not None
        take_off = request.abort_signal.on_abort(tell)
        try:
            for _ in range(self.texts):
                self.pulled += 1
                yield {"type": "text-delta", "payload": {"text": "x"}}
            yield {"type": "finish", "payload": {"finishReason": "stop", "usage": {}}}
        finally:
            take_off()
            self.closed = True


def read_until(stream: Any, kind: str) -> None:
    """Reads a stream up to and including a chunk of this type."""
    next(chunk for chunk in stream if chunk["type"] == kind)


def close_at(stream: Any, kind: str) -> None:
    """Closes a stream when a chunk of this type has been read."""
    read_until(stream, kind)
    stream.close()
