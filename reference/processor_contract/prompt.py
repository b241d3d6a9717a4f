"""Messages in turns: the conversation as providers take it (a LanguageModelV2 prompt), or as core messages.

Flows in: system messages, feedback, messages. Flows out: turns that share nothing with them, so that no change of a
prompt can reach the list or the store (PER-7, PER-31).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .data import Message, Part, Prompt, clone
from .errors import ContractError
from .message import check_keepable, check_message

NEVER_SENT = ("step-start", "source", "error")


def to_prompt(system: Sequence[dict[str, Any]], feedback: Sequence[str], messages: Sequence[Message]) -> Prompt:
    """System messages first (MSG-42), then feedback on rejected attempts (RTY-6, RTY-20), which stands nowhere else
    (RTY-22), then the messages, and nothing else (MSG-47); a prompt of none is an error (LLM-3).
    """
    prompt: Prompt = [clone(message) for message in system]
    prompt += [{"role": "system", "content": f"The previous answer was not accepted: {reason}"} for reason in feedback]
    prompt += in_turns(messages, PROMPT)
    if not prompt:
        raise ContractError("the prompt holds no message; leave at least one message in the list", "LLM-3")
    return prompt


def in_turns(messages: Sequence[Message], form: Form) -> Prompt:
    """The messages as turns, a tool's answers apart from the calls; those of which nothing is said are left out
    (MSG-46). Raises `InvalidMessage` for one that was edited into none.
    """
    turns: Prompt = []
    for message in messages:
        try:
            turns += _turns(message, form)
        except (LookupError, TypeError, AttributeError, RecursionError):
            check_message(message)
            check_keepable(message)
            raise
    return turns


def _turns(message: Message, form: Form) -> Prompt:
    parts = message["content"].get("parts") or _text_parts(message["content"].get("content"))  # MSG-45
    if message["role"] == "assistant":
        return _assistant(parts, form)
    content = [made for made in map(_content, parts) if made is not None]
    role = "user" if message["role"] == "signal" else message["role"]
    return [{"role": role, "content": content}] if content else []


def _assistant(parts: Sequence[Part], form: Form) -> Prompt:
    """An assistant's parts as pairs of what it said and what its tools answered, a new pair after each answer."""
    pairs: list[tuple[list[Part], list[Part]]] = [([], [])]
    for part in parts:
        if part.get("type") == "tool-invocation":
            answer = _answer(part["toolInvocation"])
            if answer is not None:  # a call that nobody answered is not sent
                pairs[-1][0].append(form.call(part["toolInvocation"]))
                pairs[-1][1].append(form.answer(part["toolInvocation"], *answer))
            continue
        if pairs[-1][1]:
            pairs.append(([], []))
        made = _content(part)
        if made is not None:
            pairs[-1][0].append(made)
    prompt: Prompt = []
    for said, answers in pairs:
        if said:
            prompt.append({"role": "assistant", "content": said})
        if answers:
            prompt.append({"role": "tool", "content": answers})
    return prompt


@dataclass(frozen=True, slots=True)
class Form:
    """How calls and answers are spelt: `call(invocation)`, `answer(invocation, type, value)`."""

    call: Callable[[dict[str, Any]], Part]
    answer: Callable[[dict[str, Any], str, Any], Part]


def _of_call(kind: str, invocation: dict[str, Any], **members: Any) -> Part:
    named = {"toolCallId": invocation.get("toolCallId"), "toolName": invocation.get("toolName")}
    return {"type": kind, **named, **members}


PROMPT = Form(
    call=lambda invocation: _of_call("tool-call", invocation, input=clone(invocation.get("args"))),
    answer=lambda invocation, kind, value: _of_call("tool-result", invocation, output={"type": kind, "value": value}),
)
CORE = Form(
    call=lambda invocation: _of_call("tool-call", invocation, args=clone(invocation.get("args"))),
    answer=lambda invocation, kind, value: _of_call("tool-result", invocation, result=value),
)


def _answer(invocation: dict[str, Any]) -> tuple[str, Any] | None:
    """A tool's answer: its kind (text, JSON or an error's text) and its value; None as long as there is none."""
    state = invocation.get("state")
    if state == "result":
        result = invocation.get("result")
        return "text" if isinstance(result, str) else "json", clone(result)
    if state == "output-error":
        return "error-text", invocation.get("errorText", "")
    if state == "output-denied":
        return "text", (invocation.get("approval") or {}).get("reason") or "The call was not approved."
    return None


def _text(part: Part) -> Part | None:
    return {"type": "text", "text": part["text"]} if part.get("text") else None


def _reasoning(part: Part) -> Part | None:
    return {"type": "reasoning", "text": part.get("reasoning") or ""}


def _file(part: Part) -> Part | None:
    data = part.get("data")
    if isinstance(data, str) and data.startswith("data:"):
        data = data.partition(",")[2]  # a data URL: providers take what is in it
    file = {"type": "file", "mediaType": part.get("mimeType"), "data": clone(data)}
    return {**file, "filename": part["filename"]} if "filename" in part else file


MADE_OF: dict[str, Callable[[Part], Part | None]] = {"text": _text, "reasoning": _reasoning, "file": _file}


def _content(part: Part) -> Part | None:
    """A part as prompt content: kinds the contract does not name go as they are; some are for people only."""
    kind = part.get("type", "")
    if kind in NEVER_SENT or kind.startswith("data-"):
        return None
    make = MADE_OF.get(kind)
    return make(part) if make is not None else dict(clone(part))


def _text_parts(text: str | None) -> list[Part]:
    return [{"type": "text", "text": text}] if text else []
