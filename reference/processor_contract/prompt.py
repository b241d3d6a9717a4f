"""Messages to prompt: the conversation in the LanguageModelV2 form that providers take.

Flows in: system messages, feedback, messages. Flows out: a prompt that shares nothing with them, so that no change of
it can reach the list or the store (PER-7, PER-31).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .data import Message, Part, Prompt, clone
from .errors import ContractError

NEVER_SENT = ("step-start", "source", "error")


def to_prompt(system: Sequence[dict[str, Any]], feedback: Sequence[str], messages: Sequence[Message]) -> Prompt:
    """System messages, then feedback on rejected attempts (RTY-6, RTY-20), which stands nowhere else (RTY-22), then the
    messages; a prompt of none is an error (LLM-3).
    """
    prompt: Prompt = [clone(message) for message in system]
    prompt += [{"role": "system", "content": f"The previous answer was not accepted: {reason}"} for reason in feedback]
    for message in messages:
        parts = message["content"].get("parts") or _text_parts(message["content"].get("content"))
        if message["role"] == "assistant":
            prompt += _assistant(parts)
        else:
            content = [made for made in map(_content, parts) if made is not None]
            if content:
                prompt.append({"role": "user" if message["role"] == "signal" else message["role"], "content": content})
    if not prompt:
        raise ContractError("the prompt holds no message; leave at least one message in the list", "LLM-3")
    return prompt


def _assistant(parts: Sequence[Part]) -> Prompt:
    """An assistant's parts as pairs of what it said and what its tools answered, a new pair after each answer."""
    pairs: list[tuple[list[Part], list[Part]]] = [([], [])]
    for part in parts:
        if part.get("type") == "tool-invocation":
            answered = _answer(part["toolInvocation"])
            if answered is not None:  # a call that nobody answered is not sent
                pairs[-1][0].append(_call(part["toolInvocation"]))
                pairs[-1][1].append(answered)
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


def _call(invocation: dict[str, Any]) -> Part:
    return {
        "type": "tool-call",
        "toolCallId": invocation.get("toolCallId"),
        "toolName": invocation.get("toolName"),
        "input": clone(invocation.get("args")),
    }


def _answer(invocation: dict[str, Any]) -> Part | None:
    """The tool's answer as prompt content: text, JSON or an error's text; None as long as there is none."""
    if invocation.get("state") == "result":
        result = invocation.get("result")
        output = {"type": "text" if isinstance(result, str) else "json", "value": clone(result)}
    elif invocation.get("state") == "output-error":
        output = {"type": "error-text", "value": invocation.get("errorText", "")}
    else:
        return None
    return {
        "type": "tool-result",
        "toolCallId": invocation.get("toolCallId"),
        "toolName": invocation.get("toolName"),
        "output": output,
    }


def _text(part: Part) -> Part | None:
    return {"type": "text", "text": part["text"]} if part.get("text") else None


def _reasoning(part: Part) -> Part | None:
    return {"type": "reasoning", "text": part.get("reasoning") or ""}


def _file(part: Part) -> Part | None:
    file = {"type": "file", "mediaType": part.get("mimeType"), "data": part.get("data")}
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
