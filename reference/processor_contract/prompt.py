"""Messages in turns: the conversation as providers take it (a LanguageModelV2 prompt), or as core messages.

Flows in: system messages, feedback, messages. Flows out: turns that share nothing with them, so that no change of a
prompt can reach the list or the store (PER-7, PER-31). SPEC's table of parts is `FOR_USERS` and `FOR_ASSISTANTS`
(LLM-11); what is `FOR_READERS` is not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .data import Message, Part, Prompt, clone
from .errors import ContractError
from .message import check_whole

Entry = tuple[bool, Part]  # whether it is the answer of a tool, which goes into a message of its own; the content


def to_prompt(system: Sequence[dict[str, Any]], feedback: Sequence[str], messages: Sequence[Message]) -> Prompt:
    """System messages first (MSG-42), then feedback on rejected attempts (RTY-6, RTY-20), which stands nowhere else
    (RTY-22), then the messages, each for itself (LLM-12), and nothing else (MSG-47); a prompt of none is an error
    (LLM-3).
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
    for number, message in enumerate(messages, 1):
        if number == len(messages):
            form = replace(form, awaits=True)
        try:
            role = "assistant" if message["role"] == "assistant" else "user"  # LLM-11: a signal speaks for the user
            for said in _turns(role, message["content"], form):
                turns += _messages(role, said)
        except (LookupError, TypeError, AttributeError, RecursionError):
            check_whole(message)
            raise
    return turns


def _turns(role: str, content: Any, form: Form) -> list[list[Entry]]:
    """A message's content, cut where a step begins, and behind answers where something else is said: what was called
    later must not look as if it had been called at once (LLM-14).
    """
    assistant = role == "assistant"
    made_of = FOR_ASSISTANTS if assistant else FOR_USERS
    turns: list[list[Entry]] = [[]]
    for part in content.get("parts") or _text_parts(content.get("content")):  # MSG-45
        kind = part.get("type", "")
        entries = made_of[kind](part, form) if kind in made_of else _other(part) if assistant else []
        begins = kind == "step-start" and assistant
        answered = any(one["type"] == "tool-result" for _, one in turns[-1])
        if begins or (answered and entries and kind != "tool-invocation"):
            turns.append([])
        turns[-1] += entries
    return turns


def _messages(role: str, said: Sequence[Entry]) -> Prompt:
    """One turn as prompt messages: what was said, and the answers that tools gave to it; no empty one."""
    contents = {name: [part for answers, part in said if answers is (name == "tool")] for name in (role, "tool")}
    return [{"role": name, "content": content} for name, content in contents.items() if content]


# -- how calls and answers are spelt -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Form:
    """How calls and answers are spelt: `call(args)` and `answer(type, value)` are the members beside their names.

    `awaits`: it is the last message, to which the provider may still owe answers of its own.
    """

    call: Callable[[Any], dict[str, Any]]
    answer: Callable[[str, Any], dict[str, Any]]
    awaits: bool = False


PROMPT = Form(call=lambda args: {"input": args}, answer=lambda kind, value: {"output": {"type": kind, "value": value}})
CORE = Form(call=lambda args: {"args": args}, answer=lambda kind, value: {"result": value})


# -- the table: what is made of a part ---------------------------------------------------------------------------------


def _text(part: Part, form: Form) -> list[Entry]:
    return [_said(part, {"type": "text", "text": part["text"]})] if part.get("text") else []


def _reasoning(part: Part, form: Form) -> list[Entry]:
    text = part.get("reasoning") or ""  # what the provider keeps to itself has no text, and is known by its mark
    return [_said(part, {"type": "reasoning", "text": text})] if text or part.get("providerMetadata") else []


def _file(part: Part, form: Form) -> list[Entry]:
    """A file: the address of one as it is, of a data URL what is in it."""
    data, media_type = part.get("data"), part.get("mimeType")
    if isinstance(data, str) and data.startswith("data:"):
        head, _, data = data.partition(",")
        media_type = media_type or head.removeprefix("data:").partition(";")[0]
    file = {"type": "file", "mediaType": media_type, "data": clone(data)}
    return [_said(part, {**file, "filename": part["filename"]} if "filename" in part else file)]


def _other(part: Part) -> list[Entry]:
    """A part of an assistant's that the contract does not name: as it is, for a processor may have renamed one for its
    provider (MSG-50).
    """
    kind = part.get("type", "")
    return [] if kind in FOR_READERS or kind.startswith("data-") else [(False, clone(part))]  # DAT-20


def _invocation(part: Part, form: Form) -> list[Entry]:
    """A call and its answer: the provider's own stay together, and one that it may still answer is sent; any other call
    without an answer is not (LLM-14).
    """
    invocation = part["toolInvocation"]
    own = bool(part.get("providerExecuted"))
    answer = _answer(invocation)
    if answer is None and not (own and form.awaits and invocation.get("state") == "call"):
        return []
    names = {"toolCallId": invocation.get("toolCallId"), "toolName": invocation.get("toolName")}
    call = {"type": "tool-call", **names, **form.call(clone(invocation.get("args")))}
    entries = [_said(part, {**call, "providerExecuted": True} if own else call)]
    if answer is not None:
        entries.append(_said(part, {"type": "tool-result", **names, **form.answer(*answer)}, answers=not own))
    return entries


def _answer(invocation: dict[str, Any]) -> tuple[str, Any] | None:
    """A tool's answer: its kind (text, JSON or an error's text) and its value; None as long as there is none."""
    state = invocation.get("state")
    if state == "result":
        result = invocation.get("result")
        return "text" if isinstance(result, str) else "json", clone(result)
    if state == "output-error":
        return "error-text", invocation.get("errorText", "")
    if state == "output-denied":
        approval = invocation.get("approval")
        reason = approval.get("reason") if isinstance(approval, dict) else None
        return "text", reason or "The call was not approved."
    return None


def _said(part: Part, made: Part, *, answers: bool = False) -> Entry:
    """Content, with what the provider attached to the part it is made of (LLM-13)."""
    attached = part.get("providerMetadata")
    return answers, {**made, "providerOptions": clone(attached)} if attached else made


def _text_parts(text: str | None) -> list[Part]:
    return [{"type": "text", "text": text}] if text else []


FOR_READERS = ("source", "error", "step-start")
MadeOf = dict[str, Callable[[Part, Form], list[Entry]]]
FOR_USERS: MadeOf = {"text": _text, "file": _file}
FOR_ASSISTANTS: MadeOf = {**FOR_USERS, "reasoning": _reasoning, "tool-invocation": _invocation}
