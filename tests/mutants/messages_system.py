"""Mutants of the family MSG: system messages, their tags, their order and how long they last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop
from processor_contract.message_list import MessageList
from processor_contract.run import Run
from processor_contract.system_messages import SystemMessages

from . import Patch, mutant
from .messages_list import adding
from .messages_returned import spoken


@mutant("MSG-10")
def system_messages_of_a_step_stay(patch: Patch) -> None:
    """System messages are set back only by whoever changed them."""
    patch.set(SystemMessages, "reset_system", lambda own, state: None)


@mutant("MSG-10")
def system_messages_are_set_back_to_none(patch: Patch) -> None:
    """A later step begins without system messages."""

    def begin(original: Callable[..., Any], run: Run, number: int) -> Any:
        attempt = original(run, number)
        if number:
            run.message_list.replace_all_system_messages([])
        return attempt

    patch.wrap(Run, "begin_attempt", begin)


@mutant("MSG-41")
def replacing_keeps_the_tagged(patch: Patch) -> None:
    """Whoever replaces the system messages replaces the untagged ones."""

    def replace(original: Callable[..., None], own: SystemMessages, messages: Any) -> None:
        tagged = {tag: said for tag, said in own._system.items() if tag is not None}
        original(own, messages)
        own._system.update(tagged)

    patch.wrap(SystemMessages, "replace_all_system_messages", replace)


@mutant("MSG-41")
def tags_are_ignored(patch: Patch) -> None:
    """System messages are one list; a tag is a remark."""

    def add(original: Callable[..., None], own: SystemMessages, message: Any, tag: Any = None) -> None:
        original(own, message)

    patch.wrap(SystemMessages, "add_system", add)


@mutant("MSG-42")
def tagged_system_messages_come_first(patch: Patch) -> None:
    """What the call and the processors say stands before the agent's instructions."""

    def all_of(original: Callable[..., Any], own: SystemMessages) -> Any:
        untagged = own.get_system_messages()
        return [*original(own)[len(untagged) :], *untagged]

    patch.wrap(SystemMessages, "get_all_system_messages", all_of)


@mutant("MSG-43")
def the_input_phase_changes_nothing_for_good(patch: Patch) -> None:
    """Every step begins with what the agent and the call said."""

    def phase(original: Callable[[Run], None], run: Run) -> None:
        before = run.message_list.system_state()
        original(run)
        run.system_before = before

    patch.around(loop.input_phase, phase)


@mutant("MSG-43")
def tagged_system_messages_outlive_their_step(patch: Patch) -> None:
    """Only untagged system messages are set back."""

    def reset(original: Callable[..., None], own: SystemMessages, state: Any) -> None:
        tagged = {tag: said for tag, said in own._system.items() if tag is not None}
        original(own, {**state, **tagged})

    patch.wrap(SystemMessages, "reset_system", reset)


@mutant("MSG-44")
def system_messages_of_a_call_are_said(patch: Patch) -> None:
    """A message of role `system` that is handed in is a message like others."""

    def change(own: MessageList, messages: list[Any], source: Any) -> tuple[list[Any], Any]:
        return [spoken(one) for one in messages], source

    adding(patch, change)
