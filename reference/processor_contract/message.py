"""One message: what makes a value one, and what makes a message a system message.

Flows in: values from callers, stores and processors. Flows out: `InvalidMessage` for what is no message.
"""

from __future__ import annotations

from typing import Any

from .data import joined_text
from .errors import InvalidMessage

ROLES = ("user", "assistant", "system", "signal")


def check_message(message: Any) -> None:
    """Raises `InvalidMessage` unless it has a known role, structured content and a text as id, if any (MSG-7)."""
    if not isinstance(message, dict):
        raise InvalidMessage(f"a message is {type(message).__name__}; use a dict with role and content", "MSG-7")
    name = f"message {message.get('id', '(without id)')!r}"
    if message.get("role") not in ROLES:
        raise InvalidMessage(f"{name} has role {message.get('role')!r}; use one of {', '.join(ROLES)}", "MSG-7")
    if not isinstance(message.get("id"), (str, type(None))):
        raise InvalidMessage(f"{name} has an id that is no text; use a text, or none to be given one", "MSG-7")
    content = message.get("content")
    if message["role"] == "system" and isinstance(content, str):
        return
    if not isinstance(content, dict):
        found = "no content" if content is None else f"content of type {type(content).__name__}"
        raise InvalidMessage(f"{name} has {found}; use {{'format': 2, 'parts': [...]}}", "MSG-7")
    parts = content.get("parts", [])
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InvalidMessage(f"{name} has parts that are no list of dicts", "MSG-7")
    for part in parts:
        if part.get("type") == "text" and not isinstance(part.get("text"), (str, type(None))):
            raise InvalidMessage(f"{name} has a text part whose text is {type(part['text']).__name__}", "MSG-7")
        if part.get("type") == "tool-invocation" and not isinstance(part.get("toolInvocation"), dict):
            raise InvalidMessage(f"{name} has a tool-invocation part without toolInvocation", "MSG-7")


def system_message(message: Any) -> dict[str, Any]:
    """A system message `{"role": "system", "content": text}` made of a text, of one like it, or of a message."""
    if isinstance(message, str):
        return {"role": "system", "content": message}
    check_message(message)
    content = message["content"]
    if isinstance(content, dict):
        content = joined_text(content.get("parts", [])) or content.get("content", "")
    return {**{key: value for key, value in message.items() if key != "content"}, "role": "system", "content": content}
