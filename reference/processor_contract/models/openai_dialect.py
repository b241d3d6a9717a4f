"""OpenAI's Chat Completions, as the mock speaks it.

Flows in: a request's body and a turn. Flows out: a `chat.completion`, or the events of its chunks. Requests are held to
what the real endpoint holds them to, above all that every tool call is answered and every answer belongs to a call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..data import Json
from .dialect import BROKEN, CREATED, flattened, fragments, member, objects, require, text
from .events import encoded
from .script import Turn

REASONS = {"tool-calls": "tool_calls", "content-filter": "content_filter"}  # the others are called the same there
ROLES = ("system", "developer", "user", "assistant", "tool")
KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


class OpenAIDialect:
    """Chat Completions."""

    name = "openai"

    def check(self, body: dict[str, Any], headers: Mapping[str, str]) -> None:
        """Refuses what OpenAI would."""
        text(body.get("model"), "model")
        check_messages(objects(body.get("messages"), "messages", 1))
        require(body.get("n", 1) == 1, "n: this mock gives one choice")
        require(isinstance(body.get("stream") or False, bool), "stream has to be true or false")
        options = body.get("stream_options")
        require(options is None or isinstance(options, dict), "stream_options has to be an object")
        require(body.get("stream") or not options, "stream_options is for streams only")
        check_tools(body)
        check_format(body)

    def whole(self, turn: Turn, body: dict[str, Any], number: int) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(turn.text) or None, "refusal": None}
        if turn.reasoning:
            message["reasoning_content"] = "".join(turn.reasoning)
        if turn.calls:
            calls = enumerate(turn.calls)
            message["tool_calls"] = [tool_call(turn, place, number, call.arguments) for place, call in calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason_of(turn)}
        return {**head(body, number, "chat.completion"), "choices": [choice], "usage": usage_of(turn)}

    def events(self, turn: Turn, body: dict[str, Any], number: int) -> Iterator[bytes]:
        counting = bool((body.get("stream_options") or {}).get("include_usage"))
        common = head(body, number, "chat.completion.chunk")
        unknown = {"usage": None} if counting else {}

        def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            return said({**common, "choices": [choice], **unknown})

        yield event({"role": "assistant", "content": ""})
        for piece in turn.reasoning:
            yield event({"reasoning_content": piece})
        for piece in turn.text:
            yield event({"content": piece})
        for place, call in enumerate(turn.calls):
            yield event({"tool_calls": [{"index": place, **tool_call(turn, place, number, "")}]})
            for piece in fragments(call.arguments):
                yield event({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
        yield event({}, reason_of(turn))
        if counting:
            yield said({**common, "choices": [], "usage": usage_of(turn)})
        yield encoded("[DONE]")

    def error(self, status: int, message: str) -> dict[str, Any]:
        kind = KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def broken_event(self) -> bytes:
        return encoded(BROKEN)

    def error_event(self, error: Json) -> bytes:
        return said(self.error(500, "The server had an error.") if error is None else error)


def said(value: Json) -> bytes:
    """The event that says this."""
    return encoded(json.dumps(value, ensure_ascii=False))


def head(body: dict[str, Any], number: int, kind: str) -> dict[str, Any]:
    """What every object of an answer begins with."""
    return {"id": f"chatcmpl-mock-{number}", "object": kind, "created": CREATED, "model": body["model"]}


def tool_call(turn: Turn, place: int, number: int, arguments: str) -> dict[str, Any]:
    """A tool call, with these of its arguments."""
    call = turn.calls[place]
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id or f"call_{number}_{place}", "type": "function", "function": function}


def reason_of(turn: Turn) -> str:
    """The finish reason in OpenAI's word."""
    return REASONS.get(turn.finish_reason, turn.finish_reason)


def usage_of(turn: Turn) -> dict[str, Any]:
    """The counted tokens under OpenAI's names."""
    used = turn.usage
    return {
        "prompt_tokens": used["inputTokens"],
        "completion_tokens": used["outputTokens"],
        "total_tokens": used["inputTokens"] + used["outputTokens"],
        "prompt_tokens_details": {"cached_tokens": used["cachedInputTokens"]},
        "completion_tokens_details": {"reasoning_tokens": used["reasoningTokens"]},
    }


def check_messages(messages: list[dict[str, Any]]) -> None:
    """Known roles, content where there has to be some, tool calls and answers that belong together."""
    unanswered: list[str] = []
    for place, message in enumerate(messages):
        at, role, content = f"messages[{place}]", message.get("role"), message.get("content")
        require(role in ROLES, f"{at}.role has to be one of {', '.join(ROLES)}")
        if isinstance(content, list):
            for part in objects(content, f"{at}.content"):
                text(part.get("type"), f"{at}.content[].type")
        else:
            lacking = role == "assistant" and (message.get("tool_calls") or message.get("refusal"))
            require(isinstance(content, str) or (content is None and lacking), f"{at}.content has to be text or parts")
        if role == "tool":
            answered = text(message.get("tool_call_id"), f"{at}.tool_call_id")
            require(answered in unanswered, f"{at}: no call {answered!r} before it waits for an answer")
            unanswered.remove(answered)
            continue
        require(not unanswered, f"{at}: the tool calls {', '.join(unanswered)} have to be answered before it")
        for call in objects(message.get("tool_calls") or [], f"{at}.tool_calls") if role == "assistant" else ():
            unanswered.append(text(call.get("id"), f"{at}.tool_calls[].id"))
            function = member(call.get("function"), f"{at}.tool_calls[].function")
            text(function.get("name"), f"{at}.tool_calls[].function.name")
            require(isinstance(function.get("arguments"), str), f"{at}.tool_calls[].function.arguments has to be text")
    require(not unanswered, f"messages: the tool calls {', '.join(unanswered)} have to be answered")


def check_tools(body: dict[str, Any]) -> None:
    """Tools with a name each, and a choice among them."""
    names = []
    for tool in objects(body.get("tools") or [], "tools"):
        names.append(text(member(tool.get("function"), "tools[].function").get("name"), "tools[].function.name"))
    choice = body.get("tool_choice")
    if choice is None:
        return
    require(names, "tool_choice is for requests with tools")
    if isinstance(choice, dict):
        named = member(choice.get("function"), "tool_choice.function").get("name")
        require(named in names, f"tool_choice names {named!r}, which is none of the tools")
    else:
        require(choice in ("auto", "none", "required"), "tool_choice has to be auto, none, required or one tool")


def check_format(body: dict[str, Any]) -> None:
    """JSON mode has conditions: the messages say that JSON is wanted, or a schema does."""
    wanted = body.get("response_format")
    if wanted is None:
        return
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    require(kind in ("text", "json_object", "json_schema"), "response_format.type has to be text or a kind of JSON")
    if kind == "json_object":
        asked = any("json" in flattened(message.get("content")).lower() for message in body["messages"])
        require(asked, "response_format json_object: a message has to contain the word 'json'")
    if kind == "json_schema":
        schema = member(wanted.get("json_schema"), "response_format.json_schema")
        text(schema.get("name"), "response_format.json_schema.name")
