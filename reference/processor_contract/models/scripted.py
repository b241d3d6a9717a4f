"""ScriptedModel: a mock provider that says what it was told to say.

Flows in: turns, one for each call. Flows out: their chunks, as copies, and a log of the requests it got.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..data import Chunk, clone
from ..errors import InvalidAgent
from . import ModelRequest

Turn = str | Sequence[str] | dict[str, Any] | BaseException
Script = Sequence[Turn] | Callable[[ModelRequest, int], Turn]
USAGE = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}


class ScriptedModel:
    """A model whose answers are written down beforehand.

    A turn is a text, a list of texts (one for each delta), an exception to raise, or a dict with any of `text`,
    `reasoning` (text or deltas), `tool_calls` (`{name, args, id?}`), `finish_reason`, `usage`, or `chunks` (verbatim).
    `turns` may be a function of the request and the call's number, from 0. After the last turn `repeat` starts again
    at the first; otherwise a further call raises `InvalidAgent`.
    """

    def __init__(self, turns: Script, *, id: str = "mock/one", repeat: bool = False) -> None:
        self.id = id
        self.requests: list[ModelRequest] = []
        self._turns = turns
        self._repeat = repeat
        self._lock = threading.Lock()

    def stream(self, request: ModelRequest) -> Iterator[Chunk]:
        """The chunks of the next turn."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        turn = self._turn(request, number)
        if isinstance(turn, BaseException):
            raise turn.with_traceback(None)  # the same exception many times: its trace would grow with each
        yield from turn_chunks(turn)

    def _turn(self, request: ModelRequest, number: int) -> Turn:
        if callable(self._turns):
            return self._turns(request, number)
        if self._repeat:
            number %= len(self._turns)
        if number >= len(self._turns):
            raise InvalidAgent(
                f"model {self.id!r} has {len(self._turns)} turns and was called once more; give it another turn"
            )
        return self._turns[number]


def turn_chunks(turn: Any) -> Iterator[Chunk]:
    """The chunks of one turn, written out."""
    if isinstance(turn, dict) and "chunks" in turn:
        yield from clone(list(turn["chunks"]))
        return
    said = turn if isinstance(turn, dict) else {"text": turn}
    for kind in ("reasoning", "text"):
        deltas = said.get(kind, ())
        deltas = [deltas] if isinstance(deltas, str) else deltas
        if deltas:
            yield {"type": f"{kind}-start", "payload": {"id": kind}}
            for delta in deltas:
                yield {"type": f"{kind}-delta", "payload": {"id": kind, "text": delta}}
            yield {"type": f"{kind}-end", "payload": {"id": kind}}
    calls = said.get("tool_calls", ())
    for number, call in enumerate(calls, 1):
        payload = {
            "toolCallId": call.get("id", f"call-{number}"),
            "toolName": call["name"],
            "args": clone(call.get("args", {})),
        }
        yield {"type": "tool-call", "payload": payload}
    reason = said.get("finish_reason", "tool-calls" if calls else "stop")
    yield {"type": "finish", "payload": {"finishReason": reason, "usage": dict(said.get("usage", USAGE))}}
