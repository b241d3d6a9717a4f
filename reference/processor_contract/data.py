"""The JSON shapes that cross the wire or the disk, as the contract spells them. Nothing flows in.

Messages, parts, chunks, prompts and steps are plain dicts: unknown keys survive, and edits in place count. The
`TypedDict`s below say what the contract names; every one may hold more (PER-28).
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timezone
from typing import Any, TypedDict, overload

Json = Any
Part = dict[str, Any]
Prompt = list[dict[str, Any]]

CONTROL_CHUNKS = frozenset({"start", "step-start", "step-finish", "finish", "error", "tripwire", "abort"})
PASSED_OVER = ("start", "step-start", "step-finish", "tripwire", "abort")  # where they come from outside (STR-21)
NEEDED = {  # the texts without which a chunk cannot be understood
    "text-delta": ("text",),
    "reasoning-delta": ("text",),
    "tool-call": ("toolCallId", "toolName"),
    "tool-result": ("toolCallId", "toolName"),
}
MOST_BITS = 14_000  # of a whole number: Python refuses to write longer ones
LEAVES = frozenset({str, int, float, bool, type(None)})


def read_json(text: str) -> Json:
    """The value of a JSON text. Raises ValueError for what is none (NaN and 1e999 are none), RecursionError."""
    return json.loads(text, parse_constant=_finite, parse_float=_finite)


def json_or_text(text: str) -> Json:
    """The value of a JSON text; what is none stays the text that it is."""
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no JSON number")
    return number


class Usage(TypedDict):
    """Tokens of one model call, or of all of a run; with members of other names where the provider counts more."""

    inputTokens: int
    outputTokens: int
    totalTokens: int


class Content(TypedDict, total=False):
    """What a message holds: `parts` first; `content` is their text once more, flattened, for older readers."""

    format: int
    parts: list[Part]
    content: str


class Message(TypedDict, total=False):
    """One message of the conversation, in the form it is stored in. `createdAt` is ISO 8601 text in UTC."""

    id: str
    role: str
    createdAt: str
    threadId: str
    resourceId: str
    content: Content


class Chunk(TypedDict, total=False):
    """One piece of the stream. The client's chunks have `runId` and `from` besides; data chunks have `data`."""

    type: str
    payload: dict[str, Any]
    runId: str
    data: Json
    transient: bool


class ToolCallInfo(TypedDict):
    """A tool call as hooks and steps show it."""

    toolCallId: str
    toolName: str
    args: Json


class StepResult(TypedDict, total=False):
    """One model step: what was said, called and answered in it. `toolCalls`, `reasoning`, `sources` and `files` are
    absent when there are none. A source is what the chunk had as payload; a file has `mimeType` and `data`.
    """

    text: str
    reasoning: str
    sources: list[dict[str, Any]]
    files: list[dict[str, Any]]
    toolCalls: list[ToolCallInfo]
    toolResults: list[dict[str, Any]]
    finishReason: str
    usage: Usage


class RunSummary(TypedDict):
    """`result` in processOutputResult: the whole run so far."""

    text: str
    usage: Usage
    finishReason: str
    steps: list[StepResult]


def clone(value: Any) -> Any:
    """A deep copy of a JSON value, in plain dicts and lists; anything that is no dict or list is shared."""
    if isinstance(value, dict):
        copied: Any = dict(value)
        for key, item in copied.items():
            if type(item) not in LEAVES:
                copied[key] = clone(item)  # no key comes or goes: the dict may be changed while it is walked
        return copied
    if isinstance(value, list):
        return [item if type(item) in LEAVES else clone(item) for item in value]
    return value


class StreamParts(Sequence[Chunk]):
    """Chunks as they were before any processor saw them: whoever looks at one gets a copy, and nobody can change the
    sequence (STR-13).
    """

    __slots__ = ("_raw",)

    def __init__(self, raw: list[Chunk]) -> None:
        self._raw = raw

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, place: int) -> Chunk: ...
    @overload
    def __getitem__(self, place: slice) -> list[Chunk]: ...
    def __getitem__(self, place: int | slice) -> Chunk | list[Chunk]:
        copied: Chunk | list[Chunk] = clone(self._raw[place])
        return copied

    def __iter__(self) -> Iterator[Chunk]:
        return map(clone, self._raw)

    def __repr__(self) -> str:
        return f"StreamParts({self._raw!r})"


def jsonable(value: Any) -> Any:
    """A copy that JSON can hold: cycles become a marker text, dates ISO text, numbers that are none become null; what
    JSON cannot hold is dropped (TOOL-4, TOOL-12). Raises RecursionError for what is nested too deeply.
    """
    return _jsonable(value, ())


_DROP = object()


def _jsonable(value: Any, above: tuple[int, ...]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (str, int, float)):
        return _leaf(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if id(value) in above:
        return "[Circular]"
    inside = (*above, id(value))
    if isinstance(value, Mapping):
        pairs = ((_key(key), _jsonable(item, inside)) for key, item in value.items())
        return {key: item for key, item in pairs if item is not _DROP}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = (_jsonable(item, inside) for item in value)
        return [None if item is _DROP else item for item in items]
    return _DROP if above else None


def _leaf(value: str | int | float) -> Json:
    """A text or number of exactly its JSON type, whatever class it came in."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return int(value) if value.bit_length() < MOST_BITS else None


def _key(key: Any) -> str:
    """The name of a member, as JSON spells it."""
    if isinstance(key, str):
        return str.__str__(key)
    return canonical(key) if key is None or isinstance(key, bool) else str(key)


def canonical(value: Any) -> str:
    """The one JSON text of a value, to compare or to store it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def new_id() -> str:
    """A fresh id for a message or a run."""
    return uuid.uuid4().hex


def moment(seconds: float) -> str:
    """A moment, in seconds since 1970, as messages note it."""
    return date_text(datetime.fromtimestamp(seconds, timezone.utc))


def date_text(moment: datetime) -> str:
    """A moment as messages note it: ISO 8601 text. One without a zone is taken for UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
    return aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def fault_of(chunk: Any) -> str | None:
    """What keeps a value from being a chunk, as the end of a sentence about it; None for a good one."""
    try:  # the short way, for good ones: it is asked for every chunk
        for key in NEEDED.get(chunk["type"], ()):
            if type(chunk["payload"][key]) is not str:
                return _fault_of(chunk)
        return None if type(chunk["payload"]) is dict and type(chunk["type"]) is str else _fault_of(chunk)
    except (TypeError, LookupError):
        return _fault_of(chunk)


def fault_from_outside(chunk: Any) -> str | None:
    """The same for what a provider or a cache gives: what is passed over whatever it holds needs only its type."""
    fault = fault_of(chunk)
    return None if fault is not None and isinstance(chunk, dict) and chunk.get("type") in PASSED_OVER else fault


def _fault_of(chunk: Any) -> str | None:
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if not isinstance(kind, str):
        return "has no type; give it a text as type"
    payload = chunk.get("payload")
    if not isinstance(payload, dict):
        return None if kind.startswith("data-") else f"is of type {kind!r} and has no payload; give it a dict"
    for key in NEEDED.get(kind, ()):
        if not isinstance(payload.get(key), str):
            return f"is of type {kind!r} and has no {key!r} in its payload; give it a text there"
    return None


def without_parts(message: Message, unwanted: set[int]) -> Message:
    """A shallow copy of a message, without some of its parts."""
    content = message["content"]
    parts = [part for part in content.get("parts", []) if id(part) not in unwanted]
    copied: Any = {**message, "content": {**content, "parts": parts}}
    return copied  # type: ignore[no-any-return]


def text_of(message: Message) -> str:
    """The text of a message: its text parts joined, or its flattened content where it has no parts."""
    content = message["content"]
    parts = content.get("parts")
    if parts:
        return joined_text(parts)
    return content.get("content") or ""


def joined_text(parts: list[Part]) -> str:
    """All text parts, joined without a separator."""
    return "".join([part.get("text") or "" for part in parts if part.get("type") == "text"])


def no_usage() -> Usage:
    """Nothing used."""
    return {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}


def is_answered(invocation: dict[str, Any]) -> bool:
    """Whether a tool call has its answer: a result, or a state that says that it has come."""
    return "result" in invocation or invocation.get("state") != "call"


def add_usage(total: Usage, more: Any) -> None:
    """Adds a call's usage to a total, in place (RES-3): what is missing, or no number of tokens, counts as none; where
    only the total is missing it is the other two together; numbers of other names are added up as well (RES-16).
    """
    given = {key: tokens for key, tokens in more.items() if _counts(tokens)} if isinstance(more, dict) else {}
    given.setdefault("totalTokens", given.get("inputTokens", 0) + given.get("outputTokens", 0))
    sums: dict[str, int] = total  # type: ignore[assignment]
    for key, tokens in given.items():
        sums[key] = sums.get(key, 0) + int(tokens)


def _counts(tokens: Any) -> bool:
    """Whether it is a number of tokens: whole, as JSON writes them, and not below zero."""
    if isinstance(tokens, bool) or not isinstance(tokens, (int, float)):
        return False
    return tokens >= 0 and tokens == tokens // 1  # neither NaN nor infinite
