"""What a Chat Completions endpoint says, as the chunks of the model protocol.

Flows in: the JSON objects of a stream, or of a whole answer. Flows out: chunks, `finish` last. An endpoint may leave
out, or give in an odd type, whatever it likes: what is not understood is passed over, what contradicts is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from ..data import Chunk, Json

REASONS = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
}


@dataclass(slots=True)
class Call:
    """A tool call as it comes in, in pieces."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    begun: bool = False  # its beginning has been told


class Answering:
    """One answer as it comes in. `reason` is the finish reason, None as long as there is none."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._usage: dict[str, int] = {}
        self._known = False  # who answers has been told
        self._open: tuple[str, str] | None = None  # kind and id of the text that goes on
        self._texts = 0
        self._calls: dict[Any, Call] = {}

    def take(self, said: dict[str, Any]) -> Iterator[Chunk]:
        """The chunks of one object: a piece of a stream, or a whole answer."""
        if not self._known and said.get("id"):
            self._known = True
            yield {"type": "response-metadata", "payload": metadata_of(said)}
        if isinstance(said.get("usage"), dict):
            self._usage = usage_of(said["usage"])
        choices = said.get("choices")
        for choice in choices[:1] if isinstance(choices, list) else ():
            if not isinstance(choice, dict):
                continue
            delta = choice.get("delta") or choice.get("message")
            if isinstance(delta, dict):
                yield from self._delta(delta)
            reason = choice.get("finish_reason")
            if isinstance(reason, str) and reason:
                self.reason = REASONS.get(reason, "other")

    def finish(self) -> Iterator[Chunk]:
        """What is said at the end: the calls, whose arguments are whole only now, and `finish`."""
        yield from self._close()
        for call in self._calls.values():
            if call.begun:
                yield {"type": "tool-call-input-streaming-end", "payload": {"toolCallId": call.id}}
            payload = {"toolCallId": call.id, "toolName": call.name, "args": arguments_of("".join(call.pieces))}
            yield {"type": "tool-call", "payload": payload}
        yield {"type": "finish", "payload": {"finishReason": self.reason or "other", "usage": self._usage}}

    def _delta(self, delta: dict[str, Any]) -> Iterator[Chunk]:
        yield from self._say("reasoning", delta.get("reasoning_content") or delta.get("reasoning"))
        yield from self._say("text", delta.get("content"))
        yield from self._say("text", delta.get("refusal"))  # in the words of the model, for who asked
        calls = delta.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                yield from self._call(call, place)

    def _say(self, kind: str, said: Json) -> Iterator[Chunk]:
        text = text_of(said)
        if not text:
            return
        if self._open is None or self._open[0] != kind:
            yield from self._close()
            self._texts += 1
            self._open = (kind, f"{kind}-{self._texts}")
            yield {"type": f"{kind}-start", "payload": {"id": self._open[1]}}
        yield {"type": f"{kind}-delta", "payload": {"id": self._open[1], "text": text}}

    def _close(self) -> Iterator[Chunk]:
        if self._open is not None:
            kind, name = self._open
            self._open = None
            yield {"type": f"{kind}-end", "payload": {"id": name}}

    def _call(self, said: dict[str, Any], place: int) -> Iterator[Chunk]:
        """A piece of a call. Calls are told apart by their index; some endpoints give a new id instead, or neither."""
        key = said.get("index")
        if not isinstance(key, int):
            key = str(said.get("id") or "") or place
        call = self._calls.setdefault(key, Call())
        function = said.get("function")
        function = function if isinstance(function, dict) else {}
        call.id = call.id or str(said.get("id") or f"call-{len(self._calls) - 1}")
        call.name = call.name or str(function.get("name") or "")
        given = function.get("arguments")
        piece = given if isinstance(given, str) else "" if given is None else json.dumps(given)  # some give an object
        call.pieces.append(piece)
        if call.name and not call.begun:
            call.begun = True
            yield {"type": "tool-call-input-streaming-start", "payload": {"toolCallId": call.id, "toolName": call.name}}
            piece = "".join(call.pieces)
        if call.begun and piece:
            yield {"type": "tool-call-delta", "payload": {"toolCallId": call.id, "argsTextDelta": piece}}


def metadata_of(said: dict[str, Any]) -> dict[str, Any]:
    """Who answers, and when."""
    payload = {"id": said["id"], "modelId": said.get("model")}
    created = said.get("created")
    if isinstance(created, int) and 0 <= created < 2**33:
        payload["timestamp"] = datetime.fromtimestamp(created, timezone.utc).isoformat().replace("+00:00", "Z")
    return payload


def usage_of(said: dict[str, Any]) -> dict[str, int]:
    """The counted tokens, under the contract's names."""
    usage = {
        "inputTokens": said.get("prompt_tokens"),
        "outputTokens": said.get("completion_tokens"),
        "totalTokens": said.get("total_tokens"),
        "reasoningTokens": detail(said, "completion_tokens_details", "reasoning_tokens"),
        "cachedInputTokens": detail(said, "prompt_tokens_details", "cached_tokens"),
    }
    return {name: count for name, count in usage.items() if isinstance(count, int)}


def detail(said: dict[str, Any], group: str, name: str) -> Json:
    """A count that stands one level deeper."""
    return said[group].get(name) if isinstance(said.get(group), dict) else None


def text_of(said: Json) -> str:
    """A text, also where it is given as a list of parts."""
    if isinstance(said, list):
        return "".join(part["text"] for part in said if isinstance(part, dict) and isinstance(part.get("text"), str))
    return said if isinstance(said, str) else ""


def arguments_of(text: str) -> Json:
    """A call's arguments; nothing at all, or null, stands for none. Those that are no JSON stay the text they are."""
    try:
        found = json.loads(text or "null")
    except (ValueError, RecursionError):
        return text
    return {} if found is None else found
