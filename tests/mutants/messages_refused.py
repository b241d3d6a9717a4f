"""Mutants of the family MSG: what is no message, or none of this conversation, and is taken all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import agent, loop, message, message_list
from processor_contract.data import jsonable
from processor_contract.errors import InvalidMessage
from processor_contract.message_list import MessageList
from processor_contract.run import Run
from processor_contract.views import SOURCES

from . import Patch, mutant


def mending(patch: Patch, mend: Callable[[Any], Any]) -> None:
    """What is handed in is `mend(message)` before it is looked at."""
    patch.around(message.copied, lambda original, one, place=None: original(mend(one), place))


@mutant("MSG-28")
def what_is_handed_in_is_shared(patch: Patch) -> None:
    """The list holds the very messages that processors add and return."""

    def copied(one: Any, place: int | None = None) -> Any:
        message.check_message(one, place)
        return one

    patch.function(message.copied, copied)


@mutant("MSG-29")
def unknown_roles_are_the_user(patch: Patch) -> None:
    """Who is neither assistant nor system is the user."""

    def mend(one: Any) -> Any:
        odd = isinstance(one, dict) and one.get("role") not in message.ROLES
        return {**one, "role": "user"} if odd else one

    mending(patch, mend)


@mutant("MSG-29")
def bare_texts_are_content(patch: Patch) -> None:
    """A bare text is a message's content, as in older forms."""

    def mend(one: Any) -> Any:
        bare = isinstance(one, dict) and isinstance(one.get("content"), str) and one["role"] != "system"
        return {**one, "content": {"parts": [{"type": "text", "text": one["content"]}]}} if bare else one

    mending(patch, mend)


@mutant("MSG-29")
def what_is_wrong_is_left_out(patch: Patch) -> None:
    """A message is what can be understood of it."""

    def mend(one: Any) -> Any:
        content = one.get("content") if isinstance(one, dict) else None
        if not isinstance(one, dict) or isinstance(content, str):
            return one
        parts = (content or {}).get("parts")
        good = [part for part in parts if message._fault_of_part(part) is None] if isinstance(parts, list) else []
        return {**one, "id": str(one.get("id", "")), "content": {**(content or {}), "parts": good}}

    mending(patch, mend)


@mutant("MSG-29")
def add_takes_what_is_good(patch: Patch) -> None:
    """Of several messages, those before the wrong one are added."""

    def add(original: Callable[..., None], own: MessageList, messages: Any, source: Any) -> None:
        for one in [messages] if isinstance(messages, (dict, str)) else messages:
            original(own, [one] if isinstance(one, dict) else one, source)

    patch.wrap(MessageList, "add", add)


@mutant("MSG-30")
def what_cannot_be_kept_is_made_to_fit(patch: Patch) -> None:
    """What JSON cannot hold is left out of a message, and a date that is none is another."""

    def mend(one: Any) -> Any:
        made = readable(jsonable(one))
        if isinstance(made, dict) and isinstance(made.get("createdAt"), str) and not message.is_date(made["createdAt"]):
            made["createdAt"] = "2026-01-01"
        return made

    mending(patch, mend)


def readable(value: Any) -> Any:
    """A value with a question mark for each half of a character."""
    if isinstance(value, dict):
        return {key: readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [readable(item) for item in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


@mutant("MSG-30")
def edited_messages_are_made_to_fit(patch: Patch) -> None:
    """What JSON cannot hold is left out of what is stored."""
    patch.set(MessageList, "unsaved", lambda own: jsonable(own.of("input", "response")))


@mutant("MSG-31")
def other_conversations_are_taken_in(patch: Patch) -> None:
    """A message is taken whatever conversation it names."""
    patch.set(message_list, "STORED", ())


@mutant("MSG-31")
def other_conversations_are_no_context(patch: Patch) -> None:
    """A message of another conversation is refused as context too."""
    patch.set(message_list, "STORED", SOURCES)


@mutant("MSG-33")
def a_wrong_input_fails_later(patch: Patch) -> None:
    """What is wrong with an input is noticed when the hooks have seen the rest."""
    refused: dict[int, Exception] = {}

    def make(original: Callable[..., Run], own: agent.Agent, given: Any, options: Any) -> Run:
        try:
            return original(own, given, options)
        except InvalidMessage as error:
            run = original(own, [], options)
            refused[id(run)] = error
            return run

    def phase(original: Callable[[Run], None], run: Run) -> None:
        original(run)
        if id(run) in refused:
            raise refused.pop(id(run))

    patch.wrap(agent.Agent, "_run", make)
    patch.around(loop.input_phase, phase)
