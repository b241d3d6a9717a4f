"""One message: what makes a value one, and what makes a message a system message.

Flows in: values from callers, stores and processors. Flows out: `InvalidMessage` for what is no message; it names the
message by its id, or by its place where it has none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from .data import LEAVES, MOST_BITS, clone, date_text, joined_text
from .errors import InvalidMessage

ROLES = ("user", "assistant", "system", "signal")
DEEPEST = 200  # levels of a message: whatever reads, copies or stores one may do it level by level
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
SECONDS = len("2026-01-02T03:04:05")
TEXT_OF_PART = {"text": ("text",), "reasoning": ("reasoning",)}
TEXTS = ("id", "threadId", "resourceId")
CALL = ("toolCallId", "toolName")
OF_CONVERSATION = ("id", "createdAt", "threadId", "resourceId")  # what a system message does not have
TEXT = (str, type(None))


def check_message(message: Any, place: int | None = None) -> None:
    """Raises `InvalidMessage` unless it has a known role, structured content and members of the right types (MSG-29).

    `place`: where it stands among others, counted from 1; it names a message without an id.
    """
    if not isinstance(message, dict):
        raise InvalidMessage(
            f"{_place(place)} is a value of type {type(message).__name__}; use a dict with role and content", "MSG-29"
        )
    fault = fault_of_message(message)
    if fault is not None:
        raise InvalidMessage(f"{name_of(message, place)} {fault}", "MSG-29")
    created = message.get("createdAt")
    if created is not None and not (isinstance(created, str) and is_date(created)):
        raise InvalidMessage(
            f"{name_of(message, place)} has createdAt {created!r:.99}, which is no date; use ISO 8601 text, such as "
            "'2026-01-02T03:04:05Z'",
            "MSG-30",
        )


def copied(message: Any, place: int | None = None) -> Any:
    """A copy of a message that somebody handed in, with a date as text. Raises `InvalidMessage` for what is none."""
    if isinstance(message, dict) and isinstance(message.get("createdAt"), datetime):
        message = {**message, "createdAt": date_text(message["createdAt"])}
    check_whole(message, place)
    return clone(message)


def fault_of_message(message: Mapping[str, Any]) -> str | None:
    """What keeps a dict from being a message, as the end of a sentence about it."""
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        return f"has role {role!r:.99}; use one of {', '.join(ROLES)}"
    for key in TEXTS:
        if not isinstance(message.get(key), TEXT):
            return f"has {key} of type {type(message[key]).__name__}; use a text"
    if role == "system" and isinstance(content, str):
        return None
    if not isinstance(content, dict):
        found = "no content" if content is None else f"content of type {type(content).__name__}"
        return f"has {found}; use {{'format': 2, 'parts': [...]}}"  # also a bare text
    if "parts" not in content and content.get("content") is None:
        return "has neither parts nor a flattened text in its content; use {'format': 2, 'parts': [...]}"
    if not isinstance(content.get("content"), TEXT):
        return f"has a flattened content.content of type {type(content['content']).__name__}; use a text"
    parts = content.get("parts", [])
    if not isinstance(parts, list):  # null too: no reader would expect it
        return f"has parts of type {type(parts).__name__}; use a list of dicts"
    faults = ((number, _fault_of_part(part)) for number, part in enumerate(parts))
    return next((f"has a part, content.parts[{number}], {fault}" for number, fault in faults if fault), None)


def _fault_of_part(part: Any) -> str | None:
    """What keeps a value from being a part. Types that the contract does not name are good ones."""
    if not isinstance(part, dict):
        return f"of type {type(part).__name__}; use a dict"
    kind = part.get("type")
    if not isinstance(kind, str):
        return "without a type; give it a text as type"
    for key in TEXT_OF_PART.get(kind, ()):
        if not isinstance(part.get(key), TEXT):
            return f"whose {key} is of type {type(part[key]).__name__}; use a text"
    if kind == "tool-invocation":
        return fault_of_invocation(part.get("toolInvocation"), CALL)
    return None


def fault_of_invocation(invocation: Any, needed: tuple[str, ...]) -> str | None:
    """What keeps a value from being a tool invocation, with the texts that it needs."""
    if not isinstance(invocation, dict):
        return "without a toolInvocation; give it a dict with toolCallId, toolName, state and args"
    missing = next((key for key in needed if not isinstance(invocation.get(key), str)), None)
    return None if missing is None else f"whose toolInvocation has no {missing}; give it a text"


def check_whole(message: Any, place: int | None = None) -> None:
    """Raises `InvalidMessage` for what is no message, or was edited into none (MSG-29), and for one that holds what no
    store and no provider can take (MSG-30): what is stored must be what can be recalled, or the whole conversation
    would be lost with it.
    """
    check_message(message, place)
    fault = unkeepable(message)
    if fault is not None:
        raise InvalidMessage(f"{name_of(message, place)} {fault}", "MSG-30")


def unkeepable(value: Any) -> str | None:
    """What in a value is no JSON, as the end of a sentence about it: values of other types, numbers that are none,
    half a surrogate pair, more than `DEEPEST` levels (a value that holds itself has endless ones).
    """
    level: list[tuple[Any, Any]] = [(value, None)]
    for _ in range(DEEPEST):
        below: dict[int, tuple[Any, Any]] = {}  # by identity: one that holds itself twice has not twice as many
        for holder, path in level:
            pairs = holder.items() if isinstance(holder, dict) else enumerate(holder)
            for key, item in pairs:
                fault = _fault_of_text(item) if type(item) is str else _fault_of_value(item)
                if fault is None and isinstance(holder, dict):
                    fault = _fault_of_text(key) if isinstance(key, str) else f"the key {key!r:.99}, which is no text"
                if fault is not None:
                    return f"has {fault}, at {_spelt((path, key))}"
                if isinstance(item, (dict, list)):
                    below[id(item)] = (item, (path, key))
        if not below:
            return None
        level = list(below.values())
    return f"is nested deeper than {DEEPEST} levels, or holds itself; flatten it"


def _fault_of_value(item: Any) -> str | None:
    if isinstance(item, float) and not math.isfinite(item):
        return f"the number {item!r}, which JSON lacks"
    if isinstance(item, int) and item.bit_length() >= MOST_BITS:
        return "a number too long to be written"
    if type(item) in LEAVES or isinstance(item, (dict, list, str, int)):
        return None
    return f"a value of type {type(item).__name__}, which JSON cannot hold"


def _fault_of_text(text: Any) -> str | None:
    if isinstance(text, str) and not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "half a surrogate pair, which is no character"
    return None


def _spelt(path: Any) -> str:
    """A path as people write it: `content.parts[0].text`."""
    keys: list[Any] = []
    while path is not None:
        path, key = path
        keys.append(key)
    spelt = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in reversed(keys))
    return ascii(spelt.lstrip("."))[1:-1][:99]


def is_date(text: str) -> bool:
    """Whether a text is a date that exists, in the form of ISO 8601."""
    if not DATE.fullmatch(text):
        return False
    zone = re.fullmatch(r".{11,}[+-](\d\d):?(\d\d)", text)
    try:
        datetime.fromisoformat(text[:SECONDS].replace(" ", "T"))
    except ValueError:
        return False
    return zone is None or (int(zone[1]) < 24 and int(zone[2]) < 60)


def name_of(message: Any, place: int | None = None) -> str:
    """How errors name a message."""
    given = message.get("id") if isinstance(message, dict) else None
    return f"message {given!r:.99}" if given else f"{_place(place)} (without id)"


def _place(place: int | None) -> str:
    return "a message" if place is None else f"message number {place}"


def system_message(message: Any) -> dict[str, Any]:
    """A system message `{"role": "system", "content": text}` made of a text, of one like it, or of a message.

    Members that the contract does not name are kept. Raises `InvalidMessage`, also for another role (MSG-54).
    """
    if isinstance(message, str):
        message = {"role": "system", "content": message}
    check_whole(message)
    if message["role"] != "system":
        raise InvalidMessage(
            f"{name_of(message)} has role {message['role']!r} and was given as a system message; use role 'system'",
            "MSG-54",
        )
    content = message["content"]
    if isinstance(content, dict):
        content = joined_text(content.get("parts", [])) or content.get("content") or ""
    kept = {key: value for key, value in message.items() if key not in OF_CONVERSATION}
    return {**kept, "role": "system", "content": content}
