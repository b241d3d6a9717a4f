"""Response: what the model says becomes parts of the conversation, step by step.

Flows in: chunks that have passed processOutputStream. Flows out: parts of this run's response messages, and what each
step's parts add up to. A step's parts are those that no step before it has claimed: a later step begins with a
`step-start` part where the message already holds an earlier one, so that a claim is a message and a place between such
parts, whatever processors make of the parts themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .data import Chunk, Message, Part, StepResult, clone, joined_text
from .message_list import MessageList
from .views import SOURCES

CALL_MEMBERS = ("toolCallId", "toolName", "args")


class Response:
    """The response of one run: where model output goes."""

    def __init__(self, message_list: MessageList) -> None:
        self._list = message_list
        self._open: dict[tuple[str, str | int], tuple[Part, list[str]]] = {}
        self._claims: dict[tuple[str, int], int] = {}  # (message, place between step-starts): the accepted step's index
        self._claimed: dict[str, int] = {}  # how many of a message's places are claimed
        self._accepted = 0
        self._begun: set[str] = set()  # the messages that the current attempt has added to
        self._marks: list[Part] = []  # the step-start parts that it put in
        self._before: set[str] = set()  # the response messages there were when it began
        message_list.before_reading = self.flush

    def begin_attempt(self) -> None:
        """What comes now belongs to a new attempt at a step."""
        self.close_texts()
        self._begun = set()
        self._marks = []
        self._before = {message["id"] for message in self._list.live("response")}

    def accept(self) -> None:
        """The current attempt counts: what nobody has claimed yet is its step's."""
        for place, parts in self._places():
            if parts and place not in self._claims:
                self._claims[place] = self._accepted
                self._claimed[place[0]] = place[1] + 1
        self._accepted += 1

    def added(self, data_parts: Sequence[Part]) -> list[Part]:
        """The current attempt's data parts, and the marks of its beginning: what falls with it (RTY-4)."""
        return [*data_parts, *self._marks]

    def reject(self, data_parts: Sequence[Part]) -> None:
        """Takes the current attempt's data parts out, the marks of its beginning, and messages it opened in vain."""
        unwanted = {id(part) for part in self.added(data_parts)}
        for message in self._list.live(*SOURCES):
            parts = message["content"].get("parts", [])
            if not unwanted.isdisjoint(map(id, parts)):
                parts[:] = [part for part in parts if id(part) not in unwanted]
        opened = [one for one in self._list.live("response") if one["id"] not in self._before]
        self._list.remove_by_ids([one["id"] for one in opened if not one["content"].get("parts")])
        self.begin_attempt()

    def by_step(self) -> list[list[Part]]:
        """The parts of each accepted step, and behind them those that no step has claimed."""
        steps: list[list[Part]] = [[] for _ in range(self._accepted + 1)]
        for place, parts in self._places():
            steps[self._claims.get(place, -1)] += parts
        return steps

    def parts(self) -> list[Part]:
        """The parts of the current attempt: those that no step has claimed."""
        return [part for message in self._messages() for part in self._unclaimed(message)]

    def _unclaimed(self, message: Message) -> list[Part]:
        parts = message["content"].get("parts", [])
        claimed = self._claimed.get(message["id"], 0)
        if claimed and self._marks and parts:  # most often the mark is still there: no need to look at earlier steps
            for at in range(len(parts) - 1, -1, -1):
                if parts[at] is self._marks[-1]:
                    return parts[at + 1 :]
                if parts[at].get("type") == "step-start":
                    break
        return [part for place in split_at_step_start(parts)[claimed:] for part in place]

    def invocation(self, tool_call_id: str, *, anywhere: bool = False) -> dict[str, Any] | None:
        """The live invocation of one of the current attempt's calls; `anywhere`: else of an earlier one.

        Ids are the provider's, and some providers use them again.
        """
        for part in reversed(self.parts()):
            invocation: dict[str, Any] | None = part.get("toolInvocation")
            if isinstance(invocation, dict) and invocation.get("toolCallId") == tool_call_id:
                return invocation
        found = self._list.find_invocation(tool_call_id) if anywhere else None
        return None if found is None else found["toolInvocation"]

    def _places(self) -> Iterator[tuple[tuple[str, int], list[Part]]]:
        for message in self._messages():
            for number, parts in enumerate(split_at_step_start(message["content"].get("parts", []))):
                yield (message["id"], number), parts

    def _messages(self) -> list[Message]:
        return [message for message in self._list.live("response") if message["role"] == "assistant"]

    # -- taking in -------------------------------------------------------------------------------------------------

    def take(self, chunk: Chunk) -> None:
        """Adds what a chunk of the model says, as a part of its own (MSG-7, PER-34); chunk types that leave no part are
        passed over (STR-5, STR-10, STR-17, STR-22, STR-23).

        What a chunk is now decides, not what it was made of (STR-19): a call is the one that passed (STR-15, STR-16).
        """
        kind = chunk["type"]
        if kind in SPOKEN:
            self._speak(*SPOKEN[kind], chunk["payload"])
        elif kind in WHOLE:
            self._append(WHOLE[kind](chunk["payload"]))

    def add_data(self, chunk: Chunk, message_id: str | None) -> Part:
        """Adds a data part; one sent while a text is streamed stands before that text (DAT-5, DAT-19, PER-37)."""
        part: Part = {"type": chunk["type"], "data": chunk.get("data")}
        if message_id is None:
            parts = self._current_parts()
        else:
            parts = self._list.response_message(message_id)["content"].setdefault("parts", [])
        streamed = {id(text) for text, _ in self._open.values()}
        parts.insert(next((at for at, one in enumerate(parts) if id(one) in streamed), len(parts)), part)
        return part

    def flush(self) -> None:
        """Makes the parts being streamed say everything that has come so far."""
        for (kind, text_id), (part, pieces) in list(self._open.items()):
            if pieces:
                if not self._holds(part):  # STR-27: a processor took it out
                    kept = {"providerMetadata": part["providerMetadata"]} if "providerMetadata" in part else {}
                    part = {"type": kind, kind: "", **kept}
                    self._append(part)
                    self._open[kind, text_id] = (part, pieces)
                part[kind] = (part.get(kind) or "") + "".join(pieces)
                pieces.clear()

    def _holds(self, part: Part) -> bool:
        messages = reversed(self._list.live("response"))
        return any(part is one for message in messages for one in reversed(message["content"].get("parts", [])))

    def close_texts(self) -> None:
        """No text that is open goes on."""
        self.flush()
        self._open.clear()

    def _speak(self, kind: str, place: str, payload: dict[str, Any]) -> None:
        """Text or reasoning: a part from its first delta on, or from the first thing that the provider attached to it
        (LLM-13).
        """
        given = payload.get("id", "")
        key = (kind, given if isinstance(given, (str, int)) else "")  # what is no id names no text of its own
        attached = payload.get("providerMetadata")
        if key not in self._open and (place == "delta" or attached):
            part: Part = {"type": kind, kind: ""}  # {"type": "text", "text": ...}, and likewise reasoning
            self._append(part)
            self._open[key] = (part, [])
        if place == "delta":
            self._open[key][1].append(payload["text"])  # joined when someone looks: `+=` costs the square of a text
        if attached:
            self._open[key][0]["providerMetadata"] = clone(attached)
        if place == "end" and key in self._open:
            self.flush()
            del self._open[key]

    def _append(self, part: Part) -> None:
        self._current_parts().append(part)

    def _current_parts(self) -> list[Part]:
        """The parts of the message that model output goes to, with this attempt's beginning marked."""
        message = self._list.open_response()
        parts = message["content"].setdefault("parts", [])
        if message["id"] not in self._begun:
            self._begun.add(message["id"])
            if (message["id"], len(split_at_step_start(parts)) - 1) in self._claims:
                self._marks.append({"type": "step-start"})
                parts.append(self._marks[-1])
        return parts


def call_part(payload: dict[str, Any]) -> Part:
    """The part a tool call leaves; a provider-executed one is marked, what the provider attached is kept (LLM-13)."""
    invocation = {"state": "call", **call_info(payload)}
    part: Part = {"type": "tool-invocation", "toolInvocation": invocation}
    if payload.get("providerExecuted"):
        part["providerExecuted"] = True
    if payload.get("providerMetadata"):
        part["providerMetadata"] = clone(payload["providerMetadata"])
    return part


def source_part(payload: dict[str, Any]) -> Part:
    """The part a source leaves."""
    return {"type": "source", "source": clone(payload)}


def file_part(payload: dict[str, Any]) -> Part:
    """The part a file leaves; chunks have its type as `mediaType`, parts as `mimeType`."""
    file = {"mimeType" if key == "mediaType" else key: clone(value) for key, value in payload.items()}
    return {**file, "type": "file"}


WHOLE: dict[str, Callable[[dict[str, Any]], Part]] = {"tool-call": call_part, "source": source_part, "file": file_part}
SPOKEN = {f"{kind}-{place}": (kind, place) for kind in ("text", "reasoning") for place in ("start", "delta", "end")}


def split_at_step_start(parts: list[Part]) -> list[list[Part]]:
    """The parts of a message, cut at its step-starts."""
    segments: list[list[Part]] = [[]]
    for part in parts:
        if part.get("type") == "step-start":
            segments.append([])
        else:
            segments[-1].append(part)
    return segments


def step_of(parts: list[Part]) -> StepResult:
    """What a step's parts add up to: `text` and `toolResults`; where there are any `toolCalls`, `reasoning`, `sources`,
    `files` (RES-18).
    """
    invocations = [part["toolInvocation"] for part in parts if part.get("type") == "tool-invocation"]
    calls: list[Any] = [call_info(one) for one in invocations]
    step: StepResult = {
        "text": joined_text(parts),
        "toolResults": [
            {**call_info(one), "result": clone(one.get("result"))}
            for one in invocations
            if one.get("state") == "result"
        ],
    }
    if calls:
        step["toolCalls"] = calls
    reasoning = "".join(part.get("reasoning") or "" for part in parts if part.get("type") == "reasoning")
    if reasoning:
        step["reasoning"] = reasoning
    sources = [clone(part.get("source")) for part in parts if part.get("type") == "source"]
    if sources:
        step["sources"] = sources
    files = [clone(part) for part in parts if part.get("type") == "file"]
    if files:
        step["files"] = [{key: member for key, member in file.items() if key != "type"} for file in files]
    return step


def call_info(invocation: dict[str, Any]) -> dict[str, Any]:
    """Which call it is, with its arguments: copies, so that editing a step or a chunk is no change of the list."""
    return {name: clone(invocation.get(name)) for name in CALL_MEMBERS}
