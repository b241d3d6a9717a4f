"""Mutants of the family MSG: what hooks see of the conversation, and what becomes of what they do to it in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract.message_list import MessageList
from processor_contract.response import Response
from processor_contract.returns import Slate, messages_as
from processor_contract.run import Link, Run

from . import Patch, mutant
from .contexts import handed
from .saving import Messages, calls_around, reconciled, seen_as_copies

MESSAGE_HOOKS = (
    "process_input",
    "process_input_step",
    "process_output_step",
    "process_tool_result",
    "process_output_result",
)


# -- what is seen ------------------------------------------------------------------------------------------------------


@mutant("MSG-1")
def system_messages_are_messages(patch: Patch) -> None:
    """System messages stand before the others in `messages`."""

    def choose(run: Run, link: Link, messages: Messages) -> Any:
        return [*({"id": f"s{at}", **one} for at, one in enumerate(run.message_list._system[None])), *messages]

    handed(patch, "messages", choose)


@mutant("MSG-1")
def the_steps_hooks_see_the_response_only(patch: Patch) -> None:
    """processOutputStep and processToolResult see what this run said, and not what it answers."""
    for hook in ("process_output_step", "process_tool_result"):
        patch.cell(hook, sees=MessageList.response)


@mutant("MSG-1")
def the_input_step_sees_the_input_only(patch: Patch) -> None:
    """processInputStep sees what processInput saw, in every step."""
    patch.cell("process_input_step", sees=lambda message_list: message_list.of("input"))


@mutant("MSG-1")
def the_result_hook_sees_everything(patch: Patch) -> None:
    """processOutputResult sees the whole conversation."""
    patch.cell("process_output_result", sees=MessageList.everything)


@mutant("MSG-2")
def every_hook_gets_copies(patch: Patch) -> None:
    """Hooks get copies of the messages; a change has to be returned."""
    for hook in MESSAGE_HOOKS:
        seen_as_copies(patch, hook)


@mutant("MSG-3")
def tagged_system_messages_are_hidden(patch: Patch) -> None:
    """`systemMessages` are the untagged ones."""
    handed(patch, "system_messages", lambda run, link, right: run.message_list.get_system_messages())


@mutant("MSG-7")
def a_text_has_no_parts(patch: Patch) -> None:
    """A text that the call gives is kept as a flattened text."""

    def add(original: Callable[..., None], own: MessageList, messages: Any, source: Any) -> None:
        flattened = {"role": "user", "content": {"format": 2, "content": messages}}
        original(own, flattened if isinstance(messages, str) else messages, source)

    patch.wrap(MessageList, "add", add)


@mutant("MSG-7")
def reasoning_is_no_part(patch: Patch) -> None:
    """What a model thinks is streamed, and is in no message."""

    def take(original: Callable[..., None], own: Response, chunk: Any) -> None:
        if not chunk["type"].startswith("reasoning"):
            original(own, chunk)

    patch.wrap(Response, "take", take)


@mutant("MSG-13")
def process_input_sees_the_input_only(patch: Patch) -> None:
    """The stage of processInput is what the call brought."""
    patch.cell("process_input", sees=lambda message_list: message_list.of("input"))


@mutant("MSG-13")
def process_input_sees_no_context(patch: Patch) -> None:
    """Context is for the model, and not for processInput."""
    patch.cell("process_input", sees=lambda message_list: message_list.of("memory", "input"))


# -- what is done in place ---------------------------------------------------------------------------------------------


@mutant("MSG-14")
def a_chain_shares_its_array(patch: Patch) -> None:
    """The processors of a chain get one array, made once."""

    def change(run: Run, link: Link, slate: Slate, args: Any) -> None:
        if hasattr(args, "messages"):
            args.messages = slate.setdefault("shared", args.messages)

    patch.arguments(change)


@mutant("MSG-14")
def the_array_is_the_list(patch: Patch) -> None:
    """What a hook did to the array is done to the list."""

    def around(run: Run, call: Callable[[], Any], args: Any) -> Any:
        returned = call()
        return args.messages if returned is None else returned

    for hook in ("process_input", "process_input_step", "process_output_step", "process_output_result"):
        calls_around(patch, hook, around)


@mutant("MSG-15")
def system_messages_are_live(patch: Patch) -> None:
    """Hooks get the list's own system messages."""
    handed(patch, "system_messages", lambda run, link, right: run.message_list._system[None])


# -- the answer --------------------------------------------------------------------------------------------------------


@mutant("MSG-9")
def an_empty_array_takes_the_answer_back(patch: Patch) -> None:
    """An empty array from processOutputStep says that nothing is left."""
    patch.cell("process_output_step", returns=messages_as("response"))


@mutant("MSG-11")
def everything_said_is_a_message(patch: Patch) -> None:
    """Each text and each call is a message of its own."""
    patch.set(MessageList, "open_response", lambda own: own.response_message(own._new_id()))


@mutant("MSG-11")
def output_continues_any_answer(patch: Patch) -> None:
    """What the model says is added to the assistant's message that stands last, remembered or not."""

    def open_response(original: Callable[..., Any], own: MessageList) -> Any:
        last = own._messages[-1] if own._messages else None
        return last if last is not None and last["role"] == "assistant" else original(own)

    patch.wrap(MessageList, "open_response", open_response)


@mutant("MSG-11")
def output_continues_the_first_answer(patch: Patch) -> None:
    """A run has one message, whatever stands behind it by now."""

    def open_response(original: Callable[..., Any], own: MessageList) -> Any:
        said = [message for message in own.live("response") if message["role"] == "assistant"]
        return said[0] if said else original(own)

    patch.wrap(MessageList, "open_response", open_response)


# -- looking -----------------------------------------------------------------------------------------------------------


@mutant("MSG-48")
def returned_neighbours_are_merged(patch: Patch) -> None:
    """Returned messages of one role that stand side by side become one."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        merged: Messages = []
        for message in returned:
            if merged and merged[-1]["role"] == message["role"]:
                merged[-1]["content"]["parts"] += message["content"]["parts"]
            else:
                merged.append(message)
        return merged

    reconciled(patch, change)


@mutant("MSG-48")
def returned_messages_keep_known_parts(patch: Patch) -> None:
    """Of a returned message, the parts of known types are taken."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        for message in returned:
            parts = message["content"]["parts"]
            parts[:] = [part for part in parts if not part["type"].startswith("x-")]
        return returned

    reconciled(patch, change)


@mutant("MSG-48")
def the_input_phase_brings_its_messages_again(patch: Patch) -> None:
    """What comes out of processInput is added to what went in."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        return [*returned, *({**one, "id": own._new_id()} for one in returned if own.source_of(one["id"]) == "context")]

    reconciled(patch, change)
