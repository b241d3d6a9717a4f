"""Mutants of the family MSG: what hooks return, misread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import returns
from processor_contract.message_list import MessageList
from processor_contract.run import Run

from . import Patch, mutant
from .messages import MESSAGE_HOOKS
from .saving import Messages, calls_around, reconciled, reconciled_where_they_stood
from .step_settings import STEP, without

Around = Callable[[Run, Any, Any], Any]


def returned_as(patch: Patch, change: Around, *hooks: str) -> None:
    """What these hooks return is `change(run, args, returned)`."""
    for hook in hooks or MESSAGE_HOOKS:
        calls_around(patch, hook, lambda run, call, args: change(run, args, call()))


def objects_as(patch: Patch, change: Callable[[dict[str, Any]], Any], *hooks: str) -> None:
    """Objects that these hooks return are `change(object)`."""
    returned_as(patch, lambda run, args, one: change(one) if isinstance(one, dict) else one, *hooks)


# -- arrays ------------------------------------------------------------------------------------------------------------


@mutant("MSG-4")
def arrays_change_nothing(patch: Patch) -> None:
    """Only changes made on the list count."""
    patch.set(MessageList, "reconcile", lambda own, view, returned, source: None)


@mutant("MSG-4")
def arrays_only_take_out(patch: Patch) -> None:
    """New messages of a returned array are passed over."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        known = {message["id"] for message in view}
        return [message for message in returned if message.get("id") in known]

    reconciled(patch, change)


@mutant("MSG-4")
def arrays_replace_system_messages_too(patch: Patch) -> None:
    """A returned array is the whole prompt: system messages that are not in it are gone."""

    def reconcile(original: Callable[..., None], own: MessageList, view: Any, returned: Any, source: Any) -> None:
        own.replace_all_system_messages([])
        original(own, view, returned, source)

    patch.wrap(MessageList, "reconcile", reconcile)


@mutant("MSG-5")
def the_last_of_two_counts(patch: Patch) -> None:
    """Of two returned messages with one id, the last is taken."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        by_id = {message.get("id") or str(at): message for at, message in enumerate(returned)}
        return list(by_id.values())

    reconciled(patch, change)


@mutant("MSG-8")
def system_entries_are_dropped(patch: Patch) -> None:
    """Entries of role `system` do not belong into an array, and are left out."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        return [message for message in returned if message.get("role") != "system"]

    reconciled(patch, change)


@mutant("MSG-8")
def system_entries_are_said_by_the_user(patch: Patch) -> None:
    """Entries of role `system` stay in the conversation."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        return [spoken(message) for message in returned]

    reconciled(patch, change)


def spoken(message: Any) -> Any:
    """A system message as something that the user said."""
    if not isinstance(message, dict) or message.get("role") != "system":
        return message
    return {"role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": message["content"]}]}}


@mutant("MSG-16")
def returned_messages_belong_to_the_stage(patch: Patch) -> None:
    """Every returned message has the source of the hook that returned it."""
    patch.set(MessageList, "_source_for", lambda own, message_id, new: new)


@mutant("MSG-16")
def new_messages_are_context(patch: Patch) -> None:
    """New messages are for this request only."""

    def reconcile(original: Callable[..., None], own: MessageList, view: Any, returned: Any, source: Any) -> None:
        original(own, view, returned, "context")

    patch.wrap(MessageList, "reconcile", reconcile)


@mutant("MSG-16")
def messages_without_an_id_are_dropped(patch: Patch) -> None:
    """A returned message without an id is nobody's."""
    reconciled(patch, lambda own, view, returned: [message for message in returned if message.get("id")])


@mutant("MSG-17")
def the_order_of_an_array_is_ignored(patch: Patch) -> None:
    """Returned messages stand as they stood, new ones behind them."""
    reconciled_where_they_stood(patch)


@mutant("MSG-17")
def returned_messages_go_to_the_end(patch: Patch) -> None:
    """A returned array stands behind everything else."""

    def reconcile(original: Callable[..., None], own: MessageList, view: Any, returned: Any, source: Any) -> None:
        original(own, view, returned, source)
        ids = {message.get("id") for message in returned}
        own._messages.sort(key=lambda message: message["id"] in ids)

    patch.wrap(MessageList, "reconcile", reconcile)


def elsewhere(own: MessageList, view: Messages) -> set[str]:
    """The ids of the list that the hook was not given."""
    return {message["id"] for message in own.everything()} - {message["id"] for message in view}


@mutant("MSG-18")
def ids_of_other_stages_are_passed_over(patch: Patch) -> None:
    """A returned message of another stage is none of the hook's business."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        return [message for message in returned if message.get("id") not in elsewhere(own, view)]

    reconciled(patch, change)


@mutant("MSG-18")
def ids_of_other_stages_come_over(patch: Patch) -> None:
    """A returned message of another stage is taken out there, and stands where it was returned."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        own.remove_by_ids(elsewhere(own, view) & {message.get("id", "") for message in returned})
        return returned

    reconciled(patch, change)


@mutant("MSG-27")
def the_view_is_the_list_by_now(patch: Patch) -> None:
    """What a returned array lacks is removed, also what the hook itself has just added."""

    def reconcile(original: Callable[..., None], own: MessageList, view: Any, returned: Any, source: Any) -> None:
        original(own, own.everything(), returned, source)

    patch.wrap(MessageList, "reconcile", reconcile)


@mutant("MSG-27")
def what_was_out_is_new(patch: Patch) -> None:
    """A message that was taken out and is returned is a new one."""
    patch.set(MessageList, "_source_for", lambda own, message_id, new: own.source_of(message_id) or new)


# -- empty ones --------------------------------------------------------------------------------------------------------


@mutant("MSG-23")
def an_empty_array_clears_the_list(patch: Patch) -> None:
    """An empty array from processToolResult, or in an object, says that nothing is left."""

    def change(run: Run, args: Any, returned: Any) -> Any:
        if returned == [] or (isinstance(returned, dict) and returned.get("messages") == []):
            run.message_list.clear("memory", "context", "input")
        return returned

    returned_as(patch, change, "process_output_step", "process_tool_result")


@mutant("MSG-24")
def empty_arrays_change_nothing(patch: Patch) -> None:
    """An empty array changes nothing, wherever it comes from."""

    def reconcile(original: Callable[..., None], own: MessageList, view: Any, returned: Any, source: Any) -> None:
        if returned:
            original(own, view, returned, source)

    patch.wrap(MessageList, "reconcile", reconcile)


@mutant("MSG-22")
def nothing_takes_everything_out(patch: Patch) -> None:
    """A hook that returns nothing leaves nothing."""

    def change(run: Run, args: Any, returned: Any) -> Any:
        if returned is None:
            run.message_list.remove_by_ids([message["id"] for message in args.messages[:1]])
        return returned

    returned_as(patch, change)


# -- objects -----------------------------------------------------------------------------------------------------------


@mutant("MSG-19")
def only_the_messages_of_an_object_count(patch: Patch) -> None:
    """System messages in a returned object are passed over."""
    objects_as(patch, lambda one: without(one, "system_messages"), "process_input")


@mutant("MSG-19")
def only_the_system_messages_of_an_object_count(patch: Patch) -> None:
    """Messages in a returned object are passed over where there are system messages."""
    objects_as(patch, lambda one: without(one, "messages"), "process_input")


@mutant("MSG-20")
def messages_alone_clear_the_system_messages(patch: Patch) -> None:
    """An object without system messages says that there are none."""
    objects_as(patch, lambda one: {"system_messages": [], **one})


@mutant("MSG-20")
def system_messages_alone_clear_the_messages(patch: Patch) -> None:
    """An object without messages says that there are none."""
    objects_as(patch, lambda one: {"messages": [], **one})


@mutant("MSG-20")
def a_member_of_nothing_is_an_empty_one(patch: Patch) -> None:
    """Members that hold nothing are empty arrays."""
    objects_as(patch, lambda one: {key: [] if value is None else value for key, value in one.items()})


# -- the list ----------------------------------------------------------------------------------------------------------


@mutant("MSG-12")
def foreign_lists_are_passed_over(patch: Patch) -> None:
    """A message list of somebody else's is no answer, and ignored."""
    returned_as(patch, lambda run, args, one: None if isinstance(one, MessageList) else one)


@mutant("MSG-12")
def foreign_lists_are_read_out(patch: Patch) -> None:
    """A message list is as good as the array of its messages."""
    returned_as(patch, lambda run, args, one: one.everything() if isinstance(one, MessageList) else one)


@mutant("MSG-21")
def the_list_is_read_from_before(patch: Patch) -> None:
    """A returned list stands for the messages that the hook was given."""
    returned_as(patch, lambda run, args, one: list(args.messages) if one is run.message_list else one)


@mutant("MSG-26")
def messages_win_over_the_list(patch: Patch) -> None:
    """Of messages and list, the messages count."""
    objects_as(patch, lambda one: without(one, "message_list") if one.get("messages") else one, STEP)


@mutant("MSG-26")
def the_list_in_an_object_is_read_from_before(patch: Patch) -> None:
    """A list in a returned object stands for the messages that the hook was given."""

    def change(run: Run, args: Any, one: Any) -> Any:
        alone = isinstance(one, dict) and one.get("message_list") is not None and one.get("messages") is None
        return {"messages": list(args.messages)} if alone else one

    returned_as(patch, change, "process_input_step")


# -- what is none of these ---------------------------------------------------------------------------------------------


@mutant("MSG-25")
def wrong_returns_are_passed_over(patch: Patch) -> None:
    """What is no message result changes nothing."""

    def take(original: Callable[..., None], run: Run, link: Any, returned: Any, *more: Any) -> None:
        if returned is None or isinstance(returned, (list, MessageList)):
            original(run, link, returned, *more)

    def take_system(original: Callable[..., None], run: Run, messages: Any) -> None:
        if isinstance(messages, list):
            original(run, messages)

    patch.around(returns._take_messages, take)
    patch.around(returns._take_system, take_system)


@mutant("MSG-25")
def unknown_keys_are_passed_over(patch: Patch) -> None:
    """Keys that nobody knows are ignored."""
    patch.function(returns._refuse_others, lambda returned, known, *more: None)


@mutant("MSG-25")
def entries_that_are_none_are_passed_over(patch: Patch) -> None:
    """What is no message in an array is ignored."""
    reconciled(patch, lambda own, view, returned: [message for message in returned if isinstance(message, dict)])
