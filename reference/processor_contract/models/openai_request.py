"""A model request in the form of OpenAI's Chat Completions.

Flows in: a `ModelRequest`. Flows out: the JSON body of the call. What that form cannot say is refused; only
an assistant's reasoning is left out, which endpoints do not take back, and a warning says so (LLM-8).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..data import Json, Part
from ..errors import InvalidAgent, InvalidMessage
from . import ModelRequest

# A model setting, and its name there; None: it is the caller's own business, and not sent.
SETTINGS = {
    "maxOutputTokens": "max_tokens",
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "stopSequences": "stop",
    "seed": "seed",
    "maxRetries": None,
    "timeout": None,
}
AUDIO = {"audio/wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}


def body_of(request: ModelRequest, provider: str, name: str, streaming: bool) -> dict[str, Any]:
    """The body of a call of the model `name`; `provider` is whose provider options go into it as they are."""
    body: dict[str, Any] = {"model": name, "messages": messages_of(request.prompt)}
    for key, value in (request.settings or {}).items():
        if key not in SETTINGS:
            raise InvalidAgent(f"no model setting is named {key!r}; known: {', '.join(SETTINGS)}")
        wire = SETTINGS[key]
        if wire is not None and value is not None:
            body[wire] = value
    if request.tools:
        body["tools"] = [{"type": "function", "function": tool} for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = choice_of(request.tool_choice)
    if request.structured_output is not None:
        body["response_format"] = response_format(request.structured_output)
    if streaming:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return {**body, **((request.provider_options or {}).get(provider) or {})}


def warnings_of(request: ModelRequest) -> dict[str, Json]:
    """What of a request is left out, as `warnings`; nothing where it is sent whole."""
    contents = [message.get("content") for message in request.prompt if message.get("role") == "assistant"]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    if not any(part.get("type") == "reasoning" for part in parts):
        return {}
    message = "earlier reasoning is left out: endpoints do not take it back"
    return {"warnings": [{"type": "other", "message": message}]}


def choice_of(choice: Json) -> Json:
    """`auto`, `none` and `required` as they are; one tool by its name."""
    if isinstance(choice, dict) and "toolName" in choice:
        return {"type": "function", "function": {"name": choice["toolName"]}}
    return choice


def response_format(wanted: Json) -> dict[str, Any]:
    """Structured output as JSON that follows the schema, or as any JSON object where there is none."""
    schema = wanted.get("schema", wanted) if isinstance(wanted, dict) else None
    if not isinstance(schema, dict) or not schema:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "response", "schema": schema}}


def messages_of(prompt: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of a prompt; each tool result is one of its own. Raises `InvalidMessage` for what cannot be said."""
    messages: list[dict[str, Any]] = []
    for message in prompt:
        role = message.get("role")
        if role not in MADE_OF:
            raise InvalidMessage(f"a message of the prompt has role {role!r}; use one of {', '.join(MADE_OF)}")
        messages += MADE_OF[role](message.get("content") or [])
    return messages


def _system(content: Any) -> list[dict[str, Any]]:
    return [{"role": "system", "content": content if isinstance(content, str) else _joined(content)}]


def _user(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"role": "user", "content": content}]
    if len(content) == 1 and content[0].get("type") == "text":  # the older form, which every endpoint knows
        return [{"role": "user", "content": content[0]["text"]}]
    return [{"role": "user", "content": [_content(part) for part in content]}]


def _assistant(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"role": "assistant", "content": content}]
    for part in content:
        if part.get("type") not in ("text", "reasoning", "tool-call"):
            raise InvalidMessage(f"an assistant's message has a part of type {part.get('type')!r}, which {CANNOT}")
    calls = [
        {
            "id": part["toolCallId"],
            "type": "function",
            "function": {"name": part["toolName"], "arguments": _arguments(part.get("input"))},
        }
        for part in content
        if part["type"] == "tool-call"
    ]
    message: dict[str, Any] = {"role": "assistant", "content": _joined(content) or None}
    if calls:
        message["tool_calls"] = calls
    elif message["content"] is None:
        return []  # it only thought
    return [message]


def _tool(content: Any) -> list[dict[str, Any]]:
    return [
        {"role": "tool", "tool_call_id": part["toolCallId"], "content": _answer(part["output"])} for part in content
    ]


def _answer(output: dict[str, Any]) -> str:
    value = output.get("value")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _arguments(given: Json) -> str:
    """A call's arguments as JSON; those that were none go back as they came."""
    return given if isinstance(given, str) else json.dumps({} if given is None else given, ensure_ascii=False)


def _joined(content: Any) -> str:
    return "".join(part["text"] for part in content if part["type"] == "text")


MADE_OF: dict[str, Callable[[Any], list[dict[str, Any]]]] = {
    "system": _system,
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
}
CANNOT = "Chat Completions cannot take; take it out in process_llm_request"


def _content(part: Part) -> dict[str, Any]:
    """A part of a user's message."""
    kind, media, data = part.get("type"), str(part.get("mediaType")), part.get("data")
    if kind == "text":
        return {"type": "text", "text": part["text"]}
    if kind != "file" or not isinstance(data, str):
        raise InvalidMessage(f"a user's message has a part of type {kind!r}, which {CANNOT}")
    located = data.startswith(("data:", "http://", "https://"))
    if media.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": data if located else f"data:{media};base64,{data}"}}
    if media in AUDIO and not located:
        return {"type": "input_audio", "input_audio": {"data": data, "format": AUDIO[media]}}
    if media == "application/pdf" and not data.startswith("http"):
        file = data if located else f"data:{media};base64,{data}"
        return {"type": "file", "file": {"filename": part.get("filename", "file.pdf"), "file_data": file}}
    raise InvalidMessage(f"a user's message has a file of type {media!r}, which {CANNOT}")
