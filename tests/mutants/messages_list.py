"""Mutants of the family MSG: the methods and views of the list, prompts made of it, and its order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import prompt
from processor_contract.data import clone, text_of
from processor_contract.message_list import MessageList
from processor_contract.views import VIEWS, View

from . import Patch, mutant
from .saving import Messages, only_new_ones_remembered

# -- adding ------------------------------------------------------------------------------------------------------------


def adding(patch: Patch, change: Callable[[MessageList, list[Any], Any], tuple[list[Any], Any]]) -> None:
    """What is added, and as what, is `change(list, messages, source)`."""

    def add(original: Callable[..., None], own: MessageList, messages: Any, source: Any) -> None:
        several = [messages] if isinstance(messages, (dict, str)) else list(messages)
        given, as_source = change(own, several, source)
        for one in [each for each in given if isinstance(each, str)]:
            original(own, one, as_source)
        original(own, [each for each in given if not isinstance(each, str)], as_source)

    patch.wrap(MessageList, "add", add)


@mutant("MSG-6")
def whatever_is_added_is_input(patch: Patch) -> None:
    """The source of an added message is not looked at."""
    adding(patch, lambda own, messages, source: (messages, "input"))


@mutant("MSG-6")
def a_known_id_is_added_again(patch: Patch) -> None:
    """A message whose id the list has is one more, under another id."""

    def change(own: MessageList, messages: list[Any], source: Any) -> tuple[list[Any], Any]:
        def other(one: Any) -> Any:
            known = isinstance(one, dict) and own.source_of(one.get("id", "")) is not None
            return {**one, "id": own._new_id()} if known else one

        return [other(one) for one in messages], source

    adding(patch, change)


@mutant("MSG-6")
def added_messages_stand_before_the_answer(patch: Patch) -> None:
    """What is added while an answer is being made stands before it."""

    def add(original: Callable[..., None], own: MessageList, messages: Any, source: Any) -> None:
        before = len(own._messages)
        original(own, messages, source)
        own._messages = sorted(own._messages[:before] + own._messages[before:], key=lambda one: last(own, one))

    def last(own: MessageList, message: Any) -> bool:
        return own._source[message["id"]] == "response"

    patch.wrap(MessageList, "add", add)


@mutant("MSG-32")
def the_last_of_two_added_counts(patch: Patch) -> None:
    """Of two messages with one id that are handed in together, the last is taken."""

    def change(own: MessageList, messages: list[Any], source: Any) -> tuple[list[Any], Any]:
        ids = [one.get("id") or at if isinstance(one, dict) else at for at, one in enumerate(messages)]
        return list(dict(zip(ids, messages, strict=True)).values()), source

    adding(patch, change)


# -- what is remembered ------------------------------------------------------------------------------------------------


@mutant("MSG-34")
def what_the_input_brings_again_counts(patch: Patch) -> None:
    """A remembered message that the input brings again is the input's."""
    only_new_ones_remembered(patch)


@mutant("MSG-34")
def what_is_remembered_stands_first(patch: Patch) -> None:
    """Remembered messages stand before all others, whatever the input has."""

    def remember(original: Callable[..., None], own: MessageList, messages: Any) -> None:
        own.remove_by_ids([message["id"] for message in messages])
        original(own, messages)

    patch.wrap(MessageList, "remember", remember)


@mutant("MSG-49")
def the_list_is_sorted_by_date(patch: Patch) -> None:
    """Messages stand in the order of their dates."""

    def live(original: Callable[..., Any], own: MessageList, *sources: str) -> Messages:
        return sorted(original(own, *sources), key=lambda message: message["createdAt"])

    patch.wrap(MessageList, "live", live)


@mutant("MSG-49")
def the_latest_is_remembered_first(patch: Patch) -> None:
    """What is remembered stands with the latest message first."""

    def remember(original: Callable[..., None], own: MessageList, messages: Any) -> None:
        original(own, messages[::-1])

    patch.wrap(MessageList, "remember", remember)


# -- views -------------------------------------------------------------------------------------------------------------


@mutant("MSG-35")
def the_input_view_has_the_history(patch: Patch) -> None:
    """The input is everything that went in."""
    patch.set(VIEWS, "input", ("input", "memory"))


@mutant("MSG-36")
def there_is_no_core_format(patch: Patch) -> None:
    """Views have the formats of this list only."""

    def core(own: View) -> Any:
        raise NotImplementedError("core")

    patch.set(View, "core", core)


@mutant("MSG-37")
def core_has_the_parts_as_they_are(patch: Patch) -> None:
    """core is a message without its id."""

    def core(own: View) -> Any:
        return [{"role": one["role"], "content": clone(one["content"]["parts"])} for one in own._messages]

    patch.set(View, "core", core)


@mutant("MSG-37")
def ui_has_texts(patch: Patch) -> None:
    """ui is what can be shown as text."""

    def ui(own: View) -> Any:
        return [{"id": one["id"], "role": one["role"], "content": text_of(one)} for one in own._messages]

    patch.set(View, "ui", ui)


# -- taking out, updating ----------------------------------------------------------------------------------------------


@mutant("MSG-38")
def what_is_taken_out_stays(patch: Patch) -> None:
    """removeByIds says what it would take out."""

    def remove(own: MessageList, ids: Any) -> Any:
        wanted = set(ids)
        return [message for message in own._messages if message["id"] in wanted]

    patch.set(MessageList, "remove_by_ids", remove)


@mutant("MSG-39")
def removal_returns_nothing(patch: Patch) -> None:
    """What was taken out is gone."""

    def remove(original: Callable[..., Any], own: MessageList, ids: Any) -> None:
        original(own, ids)

    patch.wrap(MessageList, "remove_by_ids", remove)


def updating(patch: Patch, change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> None:
    """An update is `change(invocation, update)`; what it returns is the answer."""

    def update(own: MessageList, part: Any) -> Any:
        given: Any = part.get("toolInvocation") or {}
        found = own.find_invocation(given.get("toolCallId"))
        return False if found is None else change(found["toolInvocation"], given)

    patch.set(MessageList, "update_tool_invocation", update)


@mutant("MSG-40")
def an_update_says_all_about_a_call(patch: Patch) -> None:
    """An update says all about a call."""

    def change(invocation: dict[str, Any], update: dict[str, Any]) -> bool:
        invocation.update(clone(update))
        return True

    updating(patch, change)


@mutant("MSG-40")
def a_result_without_a_state_leaves_the_call_open(patch: Patch) -> None:
    """A state that an update does not name stays."""

    def change(invocation: dict[str, Any], update: dict[str, Any]) -> bool:
        invocation.update({key: clone(update[key]) for key in update if key != "args"})
        return True

    updating(patch, change)


@mutant("MSG-28")
def updated_results_are_shared(patch: Patch) -> None:
    """The list keeps the very object that a result was set to."""

    def change(invocation: dict[str, Any], update: dict[str, Any]) -> bool:
        invocation.update({"state": "result", **{key: update[key] for key in update if key != "args"}})
        return True

    updating(patch, change)


# -- prompts -----------------------------------------------------------------------------------------------------------


@mutant("MSG-45")
def the_flattened_text_comes_first(patch: Patch) -> None:
    """A message says what its flattened text says, where it has one."""

    def turns(original: Callable[..., Any], role: str, content: Any, form: Any) -> Any:
        flattened = content.get("content")
        return original(role, {"parts": [{"type": "text", "text": flattened}]} if flattened else content, form)

    patch.around(prompt._turns, turns)


@mutant("MSG-45")
def a_flattened_text_says_nothing(patch: Patch) -> None:
    """A message without parts says nothing."""
    patch.function(prompt._text_parts, lambda text: [])


@mutant("MSG-46")
def open_calls_have_an_empty_answer(patch: Patch) -> None:
    """A call that nobody has answered is sent with an empty answer."""
    patch.around(prompt._answer, lambda original, invocation: original(invocation) or ("json", None))


@mutant("MSG-46")
def data_is_sent(patch: Patch) -> None:
    """Every part is sent to the model."""
    patch.function(prompt._other, lambda part: [(False, clone(part))])


@mutant("MSG-46")
def only_results_are_answers(patch: Patch) -> None:
    """A call that failed, or was refused, was not answered."""
    patch.around(
        prompt._answer, lambda original, invocation: original(invocation) if invocation["state"] == "result" else None
    )


@mutant("MSG-47")
def a_user_message_is_put_around(patch: Patch) -> None:
    """A conversation begins and ends with the user, if need be with a word of the runtime's."""

    def turns(original: Callable[..., Any], messages: Any, form: Any) -> Any:
        made = original(messages, form)
        dot = {"role": "user", "content": [{"type": "text", "text": "."}]}
        first = [dot] if made and made[0]["role"] == "assistant" else []
        return [*first, *made, *([dot] if made and made[-1]["role"] == "assistant" else [])]

    patch.around(prompt.in_turns, turns)


@mutant("MSG-50")
def parts_of_other_types_are_not_sent(patch: Patch) -> None:
    """A part of a type that nobody knows is not sent to the model."""

    patch.function(prompt._other, lambda part: [])
