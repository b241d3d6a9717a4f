"""Response: what the model says becomes parts of the conversation, step by step.

Flows in: chunks that have passed processOutputStream. Flows out: parts of this run's response messages, and what each
step's parts add up to. A later step begins with a `step-start` part where the message already holds an earlier one.
"""

from __future__ import annotations

from typing import Any

from .data import Chunk, Part, StepResult, joined_text
from .message_list import MessageList

STEP_START: Part = {"type": "step-start"}


class Response:
    """The response of one run: where model output goes."""

    def __init__(self, message_list: MessageList) -> None:
        self._list = message_list
        self._own: set[str] = set()
        self._open: dict[tuple[str, str], tuple[Part, list[str]]] = {}
        self._begun = False  # the current attempt has a part
        self._current = ""  # the id of the message it stands in
        self._mark: Part | None = None  # the step-start part that the current attempt began with
        self._accepted = 0  # steps that left parts
        message_list.before_reading = self.flush

    def begin_attempt(self) -> None:
        """What comes now belongs to a new attempt at a step."""
        self.close_texts()
        self._begun = False
        self._mark = None

    def accept(self) -> int | None:
        """The current attempt counts; returns which of `segments()` it filled, None where it left no part."""
        if not self._begun:
            return None
        self._accepted += 1
        return self._accepted - 1

    def reject(self, data_parts: list[Part]) -> None:
        """Takes the current attempt's data parts out, and the mark of its beginning."""
        self._discard([*data_parts, *([self._mark] if self._mark is not None else [])])
        self.begin_attempt()

    def segments(self) -> list[list[Part]]:
        """The parts that the model's steps left in the response, one list for each step that left any."""
        segments: list[list[Part]] = []
        for message in self._list.live("response"):
            if message["id"] in self._own:
                segments += split_at_step_start(message["content"].get("parts", []))
        return segments

    def parts(self) -> list[Part]:
        """The parts of the current attempt."""
        if not self._begun:
            return []
        current = [message for message in self._list.live("response") if message["id"] == self._current]
        return last_segment(current[0]["content"].get("parts", [])) if current else []

    def others_text(self) -> str:
        """The text of response messages that processors added."""
        others = (message for message in self._list.live("response") if message["id"] not in self._own)
        return "".join(joined_text(message["content"].get("parts", [])) for message in others)

    # -- taking in -------------------------------------------------------------------------------------------------

    def take(self, chunk: Chunk) -> None:
        """Adds what a chunk of the model says, as a part of its own (PER-34); chunk types that leave no part are passed
        over (STR-5).
        """
        kind = chunk["type"]
        if kind == "text-delta" or kind == "reasoning-delta":
            self._say(kind[:-6], chunk["payload"])
        elif kind == "text-end" or kind == "reasoning-end":
            self._close(kind[:-4], chunk["payload"].get("id", ""))
        elif kind == "tool-call":
            self._append(call_part(chunk["payload"]))
        elif kind == "source":
            self._append({"type": "source", "source": chunk["payload"]})
        elif kind == "file":
            self._append({"type": "file", **chunk["payload"]})

    def add_data(self, chunk: Chunk, message_id: str | None) -> Part:
        """Adds a data part; one sent while a text is streamed stands before that text (DAT-5, PER-37)."""
        part: Part = {"type": chunk["type"], "data": chunk.get("data")}
        if message_id is not None:
            self._list.response_message(message_id)["content"].setdefault("parts", []).append(part)
            return part
        parts = self._current_parts()
        place = len(parts)
        while place and any(parts[place - 1] is text for text, _ in self._open.values()):
            place -= 1
        parts.insert(place, part)
        return part

    def _discard(self, unwanted: list[Part]) -> None:
        for message in self._list.live("response"):
            parts = message["content"].get("parts", [])
            parts[:] = [part for part in parts if not any(part is one for one in unwanted)]

    def flush(self) -> None:
        """Makes the parts being streamed say everything that has come so far."""
        for (kind, _), (part, pieces) in self._open.items():
            if pieces:
                part[kind] += "".join(pieces)
                pieces.clear()

    def close_texts(self) -> None:
        """No text that is open goes on."""
        self.flush()
        self._open.clear()

    def _say(self, kind: str, payload: dict[str, Any]) -> None:
        key = (kind, payload.get("id", ""))
        entry = self._open.get(key)
        if entry is None:
            part: Part = {
                "type": kind,
                kind: "",
            }  # {"type": "text", "text": ...}, {"type": "reasoning", "reasoning": ...}
            self._append(part)
            entry = self._open[key] = (part, [])
        entry[1].append(payload["text"])  # joined when someone looks: a text that grows by `+=` costs its square

    def _close(self, kind: str, text_id: str) -> None:
        if (kind, text_id) in self._open:
            self.flush()
            del self._open[kind, text_id]

    def _append(self, part: Part) -> None:
        self._current_parts().append(part)

    def _current_parts(self) -> list[Part]:
        """The parts of the message that model output goes to, with this attempt's beginning marked."""
        message = self._list.open_response()
        self._own.add(message["id"])
        self._current = message["id"]
        parts = message["content"].setdefault("parts", [])
        if not self._begun:
            self._begun = True
            if parts:
                self._mark = dict(STEP_START)
                parts.append(self._mark)
        return parts


def call_part(payload: dict[str, Any]) -> Part:
    """The part a tool call leaves; a provider-executed one is marked."""
    invocation = {"state": "call", **{key: payload.get(key) for key in ("toolCallId", "toolName", "args")}}
    part: Part = {"type": "tool-invocation", "toolInvocation": invocation}
    if payload.get("providerExecuted"):
        part["providerExecuted"] = True
    return part


def split_at_step_start(parts: list[Part]) -> list[list[Part]]:
    """The parts of a message, step by step."""
    segments: list[list[Part]] = [[]]
    for part in parts:
        if part.get("type") == "step-start":
            segments.append([])
        else:
            segments[-1].append(part)
    return segments


def last_segment(parts: list[Part]) -> list[Part]:
    """The parts behind the last beginning of a step."""
    first = len(parts)
    while first and parts[first - 1].get("type") != "step-start":
        first -= 1
    return parts[first:]


def step_of(parts: list[Part]) -> StepResult:
    """What a step's parts add up to: `text`, `reasoning`, `toolCalls` (absent when none), `toolResults`."""
    invocations = [part["toolInvocation"] for part in parts if part.get("type") == "tool-invocation"]
    calls: list[Any] = [{key: one.get(key) for key in ("toolCallId", "toolName", "args")} for one in invocations]
    step: StepResult = {
        "text": joined_text(parts),
        "toolResults": [
            {key: one.get(key) for key in ("toolCallId", "toolName", "args", "result")}
            for one in invocations
            if one["state"] == "result"
        ],
    }
    if calls:
        step["toolCalls"] = calls
    reasoning = "".join(part["reasoning"] for part in parts if part.get("type") == "reasoning")
    if reasoning:
        step["reasoning"] = reasoning
    return step
