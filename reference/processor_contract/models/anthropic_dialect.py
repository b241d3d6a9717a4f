"""Anthropic's Messages, as the mock speaks it.

Flows in: a request's body and a turn. Flows out: a message, or the events that make one: thinking with its signature,
text, tool use. Requests are held to what the real endpoint holds them to, above all that each tool use is answered in
the next message and that thinking comes back with the signature it went out with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..data import Json, json_or_text
from .dialect import BROKEN, Refused, fragments, objects, require, text
from .events import encoded
from .script import Turn

REASONS = {"stop": "end_turn", "length": "max_tokens", "tool-calls": "tool_use", "content-filter": "refusal"}
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
SIGNATURE = "signature-of-the-mock"
LEAST_THINKING = 1024  # tokens


class AnthropicDialect:
    """Messages."""

    name = "anthropic"

    def check(self, body: dict[str, Any], headers: Mapping[str, str]) -> None:
        """Refuses what Anthropic would."""
        require(headers.get("anthropic-version"), "the header anthropic-version is missing")
        text(body.get("model"), "model")
        limit = body.get("max_tokens")
        require(isinstance(limit, int) and limit > 0, "max_tokens has to be a whole number above 0")
        require(isinstance(body.get("stream") or False, bool), "stream has to be true or false")
        thinking = body.get("thinking")
        if isinstance(thinking, dict) and thinking.get("type") == "enabled":
            budget = thinking.get("budget_tokens")
            fits = isinstance(budget, int) and isinstance(limit, int) and LEAST_THINKING <= budget < limit
            require(fits, f"thinking.budget_tokens has to be at least {LEAST_THINKING} and below max_tokens")
        check_messages(objects(body.get("messages"), "messages", 1))
        for tool in objects(body.get("tools") or [], "tools"):
            text(tool.get("name"), "tools[].name")
            require(isinstance(tool.get("input_schema"), dict) or "type" in tool, "tools[].input_schema is missing")

    def whole(self, turn: Turn, body: dict[str, Any], number: int) -> dict[str, Any]:
        content: list[dict[str, Any]] = []
        if turn.reasoning:
            content.append({"type": "thinking", "thinking": "".join(turn.reasoning), "signature": SIGNATURE})
        if turn.text:
            content.append({"type": "text", "text": "".join(turn.text), "citations": None})
        for place in range(len(turn.calls)):
            content.append({**tool_use(turn, place, number), "input": argument(turn, place)})
        return {**message(body, number), "content": content, **ending(turn), "usage": usage_of(turn)}

    def events(self, turn: Turn, body: dict[str, Any], number: int) -> Iterator[bytes]:
        begun = {**message(body, number), "content": [], "stop_reason": None, "stop_sequence": None}
        yield said("message_start", message={**begun, "usage": {**usage_of(turn), "output_tokens": 1}})
        yield said("ping")
        at = 0
        if turn.reasoning:
            pieces = [{"type": "thinking_delta", "thinking": piece} for piece in turn.reasoning]
            pieces.append({"type": "signature_delta", "signature": SIGNATURE})
            yield from block(at, {"type": "thinking", "thinking": "", "signature": ""}, pieces)
            at += 1
        if turn.text:
            pieces = [{"type": "text_delta", "text": piece} for piece in turn.text]
            yield from block(at, {"type": "text", "text": ""}, pieces)
            at += 1
        for place, call in enumerate(turn.calls):
            pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in fragments(call.arguments)]
            yield from block(at + place, {**tool_use(turn, place, number), "input": {}}, pieces)
        yield said("message_delta", delta=ending(turn), usage={"output_tokens": turn.usage["outputTokens"]})
        yield said("message_stop")

    def error(self, status: int, message: str) -> dict[str, Any]:
        kind = KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}

    def broken_event(self) -> bytes:
        return encoded(BROKEN, "content_block_delta")

    def error_event(self, error: Json) -> bytes:
        return encoded(json.dumps(self.error(529, "Overloaded") if error is None else error), "error")


def said(kind: str, **rest: Any) -> bytes:
    """An event of this kind, which its name and its data both tell."""
    return encoded(json.dumps({"type": kind, **rest}, ensure_ascii=False), kind)


def block(at: int, begun: dict[str, Any], deltas: list[dict[str, Any]]) -> Iterator[bytes]:
    """The events of one block of content."""
    yield said("content_block_start", index=at, content_block=begun)
    for delta in deltas:
        yield said("content_block_delta", index=at, delta=delta)
    yield said("content_block_stop", index=at)


def message(body: dict[str, Any], number: int) -> dict[str, Any]:
    """What a message begins with."""
    return {"id": f"msg_mock_{number}", "type": "message", "role": "assistant", "model": body["model"]}


def ending(turn: Turn) -> dict[str, Any]:
    """Why it ends, in Anthropic's word."""
    return {"stop_reason": REASONS.get(turn.finish_reason, turn.finish_reason), "stop_sequence": None}


def tool_use(turn: Turn, place: int, number: int) -> dict[str, Any]:
    """A tool call, without its input."""
    call = turn.calls[place]
    return {"type": "tool_use", "id": call.id or f"toolu_{number}_{place}", "name": call.name}


def argument(turn: Turn, place: int) -> dict[str, Any]:
    """A tool call's input, which a message can only hold where it is an object."""
    value = json_or_text(turn.calls[place].arguments)
    if not isinstance(value, dict):
        raise Refused(f"the script's turn of line {turn.line} has arguments that are no object; ask for a stream")
    return value


def usage_of(turn: Turn) -> dict[str, Any]:
    """The counted tokens under Anthropic's names; those of the cache are counted apart."""
    cached = turn.usage["cachedInputTokens"]
    return {
        "input_tokens": max(0, turn.usage["inputTokens"] - cached),
        "output_tokens": turn.usage["outputTokens"],
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
    }


def check_messages(messages: list[dict[str, Any]]) -> None:
    """Roles, blocks, and tool uses that the next message answers."""
    waiting: list[str] = []
    for place, one in enumerate(messages):
        at, role, content = f"messages[{place}]", one.get("role"), one.get("content")
        require(role in ("user", "assistant"), f"{at}.role has to be user or assistant")
        blocks = [] if isinstance(content, str) else objects(content, f"{at}.content", 1)
        require(blocks or content, f"{at}.content has to hold something")
        answers = [part for part in blocks if part.get("type") == "tool_result"] if role == "user" else []
        for answer in answers:
            answered = text(answer.get("tool_use_id"), f"{at}.content[].tool_use_id")
            require(answered in waiting, f"{at}: no tool use {answered!r} in the message before it")
            waiting.remove(answered)
        require(not waiting, f"{at}: the tool uses {', '.join(waiting)} have to be answered in it")
        for part in blocks:
            kind = text(part.get("type"), f"{at}.content[].type")
            if kind == "tool_use":
                require(role == "assistant", f"{at}: only the assistant uses tools")
                require(isinstance(part.get("input"), dict), f"{at}.content[].input has to be an object")
                waiting.append(text(part.get("id"), f"{at}.content[].id"))
            if kind == "thinking":
                require(part.get("signature") == SIGNATURE, f"{at}: thinking without the signature it came with")
            if kind == "text":
                text(part.get("text"), f"{at}.content[].text")
    require(not waiting, f"messages: the tool uses {', '.join(waiting)} have to be answered")
