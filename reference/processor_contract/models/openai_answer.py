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

from ..data import Chunk, Json, json_or_text

REASONS = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
}
FIRST = (0, None)  # the index of the choice that is the answer; some do not tell it
UNKNOWN = "\ufffd"  # what stands for half a character


@dataclass(slots=True)
class Call:
    """A tool call as it comes in, in pieces."""

    id: str
    named: bool  # its id is the endpoint's, not ours
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    begun: bool = False  # its beginning has been told

    def arguments(self) -> Json:
        """All of the pieces."""
        return arguments_of(characters("".join(self.pieces))[0])


class Answering:
    """One answer as it comes in. `reason` is the finish reason, None as long as there is none."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._usage: dict[str, int] = {}
        self._known = False  # who answers has been told
        self._open: tuple[str, str] | None = None  # kind and id of the text that goes on
        self._half = ""  # of its last character, whose other half is to come
        self._texts = 0
        self._calls: list[Call] = []
        self._at: dict[int | str, Call] = {}  # the last call of each index or id

    def take(self, said: dict[str, Any]) -> Iterator[Chunk]:
        """The chunks of one object: a piece of a stream, or a whole answer."""
        if not self._known and said.get("id"):
            self._known = True
            yield {"type": "response-metadata", "payload": metadata_of(said)}
        if isinstance(said.get("usage"), dict):
            self._usage = usage_of(said["usage"])
        choices = said.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict) or choice.get("index") not in FIRST:
                continue
            delta = choice.get("delta") or choice.get("message")
            if isinstance(delta, dict):
                yield from self._delta(delta)
            reason = choice.get("finish_reason")
            if isinstance(reason, str) and reason:
                self.reason = REASONS.get(reason, "other")
            return

    def finish(self) -> Iterator[Chunk]:
        """What is said at the end: the calls, whose arguments are whole only now, and `finish`."""
        yield from self._close()
        for call in self._calls:
            if call.begun:
                yield {"type": "tool-call-input-streaming-end", "payload": {"toolCallId": call.id}}
            payload = {"toolCallId": call.id, "toolName": call.name, "args": call.arguments()}
            yield {"type": "tool-call", "payload": payload}
        yield {"type": "finish", "payload": {"finishReason": self.reason or "other", "usage": self._usage}}

    def _delta(self, delta: dict[str, Any]) -> Iterator[Chunk]:
        yield from self._say("reasoning", delta.get("reasoning_content") or delta.get("reasoning"))
        yield from self._say("text", delta.get("content"))
        yield from self._say("text", delta.get("refusal"))  # in the words of the model, for who asked
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                yield from self._call(call)

    def _say(self, kind: str, said: Json) -> Iterator[Chunk]:
        text = text_of(said)
        if not text:
            return
        if self._open is None or self._open[0] != kind:
            yield from self._close()
            self._texts += 1
            self._open = (kind, f"{kind}-{self._texts}")
            yield {"type": f"{kind}-start", "payload": {"id": self._open[1]}}
        text, self._half = characters(self._half + text)
        if text:
            yield {"type": f"{kind}-delta", "payload": {"id": self._open[1], "text": text}}

    def _close(self) -> Iterator[Chunk]:
        if self._open is not None:
            kind, name = self._open
            self._open = None
            if self._half:
                self._half = ""
                yield {"type": f"{kind}-delta", "payload": {"id": name, "text": UNKNOWN}}
            yield {"type": f"{kind}-end", "payload": {"id": name}}

    def _belongs(self, said: dict[str, Any], name: str) -> Call:
        """The call that a piece belongs to: that of its index, or of its id where it has none; without both, what has a
        name begins a call, what has none goes on with the last. Some endpoints count every call as 0: another id
        together with a name is another call.
        """
        index, id = said.get("index"), str(said.get("id") or "")
        place = index if isinstance(index, int) else id
        last = self._calls[-1] if self._calls and not name else None
        call = self._at.get(place) if place != "" else last
        if call is None or (id and name and call.named and call.id != id):
            call = Call(id or f"call-{len(self._calls)}", bool(id))
            self._calls.append(call)
        if place != "":
            self._at[place] = call
        return call

    def _call(self, said: dict[str, Any]) -> Iterator[Chunk]:
        function = said.get("function")
        function = function if isinstance(function, dict) else {}
        name = str(function.get("name") or "")
        call = self._belongs(said, name)
        call.name = call.name or name
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
    return {name: count for name, count in usage.items() if is_count(count)}


def is_count(value: Json) -> bool:
    """Whether it is a number of tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def detail(said: dict[str, Any], group: str, name: str) -> Json:
    """A count that stands one level deeper."""
    return said[group].get(name) if isinstance(said.get(group), dict) else None


def text_of(said: Json) -> str:
    """A text, also where it is given as a list of parts."""
    if isinstance(said, list):
        return "".join(part["text"] for part in said if isinstance(part, dict) and isinstance(part.get("text"), str))
    return said if isinstance(said, str) else ""


def characters(text: str) -> tuple[str, str]:
    """The text without the halves of surrogate pairs: those that belong together are one character, those that stand
    alone an unknown one. The half at its end, which the next piece may complete, is given beside it.
    """
    half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    return text.removesuffix(half).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"), half


def arguments_of(text: str) -> Json:
    """A call's arguments; nothing at all, or null, stands for none. Those that are no JSON stay the text they are."""
    found = json_or_text(text or "null")
    return {} if found is None else found
