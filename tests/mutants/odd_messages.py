"""Mutants of several families: messages, texts and schemas that are none, and are taken or blamed on nobody (DAT-25,
MSG-16, MSG-29, MSG-30, MSG-53, MSG-54, RTY-17, STR-21, STR-27, TOOL-14, TOOL-17).
"""

from __future__ import annotations

from typing import Any

from processor_contract import data, message
from processor_contract.data import Part, jsonable
from processor_contract.errors import InvalidMessage, InvalidSchema
from processor_contract.keywords import KEYWORDS, Keyword, kinds_of
from processor_contract.message_list import MessageList, ResponseState
from processor_contract.response import Response
from processor_contract.schema import Schema

from . import Patch, mutant
from .messages_refused import mending

# -- messages ----------------------------------------------------------------------------------------------------------


@mutant("DAT-25")
def any_value_names_a_message(patch: Patch) -> None:
    """What is no text is made one."""

    def message(original: Any, own: MessageList, message_id: Any) -> Any:
        return original(own, str(message_id) or "none")

    patch.wrap(MessageList, "response_message", message)


@mutant("MSG-29")
def a_flattened_text_may_be_anything(patch: Patch) -> None:
    """The flattened text is made of the parts anyway."""

    def mend(one: Any) -> Any:
        content = one.get("content") if isinstance(one, dict) else None
        return {**one, "content": {**content, "content": ""}} if isinstance(content, dict) else one

    mending(patch, mend)


@mutant("MSG-30")
def updates_are_made_to_fit(patch: Patch) -> None:
    """A result that a processor puts in the place of another is cut as a tool's is."""

    def update(original: Any, own: MessageList, part: Any) -> Any:
        return original(own, jsonable(part))

    patch.wrap(MessageList, "update_tool_invocation", update)


@mutant("MSG-16")
def a_copied_answer_is_of_its_last_step(patch: Patch) -> None:
    """A step begins where its mark stands; an answer without that mark is all of the step's."""

    def unclaimed(original: Any, own: Response, one: Any) -> list[Part]:
        parts: list[Part] = one["content"]["parts"]
        lost = own._marks and not any(part is mark for part in parts for mark in own._marks)
        return parts if lost else original(own, one)

    patch.wrap(Response, "_unclaimed", unclaimed)


@mutant("MSG-54")
def what_is_no_list_of_ids_is_passed_over(patch: Patch) -> None:
    """No message has a letter for an id, so none is taken out."""

    def remove(original: Any, own: MessageList, ids: Any) -> Any:
        return original(own, ids if isinstance(ids, list) else [])

    patch.wrap(MessageList, "remove_by_ids", remove)


@mutant("MSG-54")
def what_is_no_message_is_not_added(patch: Patch) -> None:
    """Of what is added, the messages are added."""

    def add(original: Any, own: MessageList, messages: Any, source: Any) -> None:
        several = messages if isinstance(messages, list) else [messages]
        original(own, [one for one in several if isinstance(one, dict)], source)

    patch.wrap(MessageList, "add", add)


@mutant("MSG-54")
def whoever_is_added_as_the_system_is_it(patch: Patch) -> None:
    """A message that is given as a system message becomes one."""

    def mended(original: Any, given: Any) -> Any:
        return original({**given, "role": "system"} if isinstance(given, dict) else given)

    patch.around(message.system_message, mended)


@mutant("MSG-53")
def broken_messages_are_taken_out(patch: Patch) -> None:
    """What is no message any more is no message of the conversation."""

    def follow(original: Any, own: MessageList) -> None:
        try:
            original(own)
        except InvalidMessage:
            own._messages = [one for one in own._messages if one.get("id") in own._source and sound(one)]

    def sound(one: Any) -> bool:
        try:
            message.check_whole(one)
        except InvalidMessage:
            return False
        return True

    patch.wrap(MessageList, "_follow_the_parts", follow)


@mutant("RTY-17")
def members_added_to_an_answer_stay(patch: Patch) -> None:
    """An answer is its content: what stands beside that is nobody's affair."""

    def reset(original: Any, own: MessageList, state: ResponseState) -> None:
        pairs: list[tuple[Any, Any]] = list(state.messages)
        more = [{key: live[key] for key in live if key not in was} for live, was in pairs]
        original(own, state)
        for (live, _), added in zip(pairs, more, strict=True):
            live.update(added)

    patch.wrap(MessageList, "reset_response", reset)


# -- texts that are cut ------------------------------------------------------------------------------------------------


@mutant("STR-21")
def what_is_passed_over_needs_a_payload(patch: Patch) -> None:
    """A chunk has a payload, also where nobody reads it."""
    patch.set(data, "PASSED_OVER", ())


@mutant("STR-27")
def a_text_ends_where_it_is_cut(patch: Patch) -> None:
    """What belongs to a text that is gone goes with it."""

    def flush(original: Any, own: Response) -> None:
        for part, pieces in own._open.values():
            if pieces and not own._holds(part):
                pieces.clear()
        original(own)

    patch.wrap(Response, "flush", flush)


@mutant("STR-27")
def a_text_that_is_cut_comes_back(patch: Patch) -> None:
    """The text that streams is put back as soon as more of it comes."""

    def flush(original: Any, own: Response) -> None:
        for part, pieces in list(own._open.values()):
            if pieces and not own._holds(part):
                own._append(part)
        original(own)

    patch.wrap(Response, "flush", flush)


# -- schemas -----------------------------------------------------------------------------------------------------------


@mutant("TOOL-14")
def limits_hold_for_every_type(patch: Patch) -> None:
    """What is no number is not above a minimum."""
    row = KEYWORDS["minimum"]

    def fault(place: Any, least: Any) -> str | None:
        return row.fault(place, least) if "number" in kinds_of(place.value) else f"{place.at} is no number"

    patch.set(KEYWORDS, "minimum", Keyword(row.form, "", fault))


@mutant("TOOL-14")
def what_is_no_json_fits_every_type(patch: Patch) -> None:
    """A value that has no type has none that is wrong."""
    row = KEYWORDS["type"]

    def fault(place: Any, wanted: Any) -> str | None:
        return row.fault(place, wanted) if kinds_of(place.value) else None

    patch.set(KEYWORDS, "type", Keyword(row.form, row.of, fault))


@mutant("TOOL-17")
def misspelt_limits_are_passed_over(patch: Patch) -> None:
    """A keyword whose argument makes no sense says nothing."""

    def take(original: Any, own: Schema, node: Any, at: str) -> None:
        for keyword in [key for key in node if key in KEYWORDS and not sound(key, node[key])]:
            del node[keyword]
        original(own, node, at)

    def sound(keyword: str, argument: Any) -> bool:
        form = KEYWORDS[keyword].form
        return form.fits(argument) and all(isinstance(one, (dict, bool)) for _, one in form.inside(argument))

    patch.wrap(Schema, "_take", take)


@mutant("TOOL-17")
def references_to_nothing_ask_nothing(patch: Patch) -> None:
    """A reference that leads nowhere leads to no limit."""

    def check(original: Any, own: Schema, node: Any) -> None:
        try:
            original(own, node)
        except InvalidSchema:
            del node["$ref"]

    patch.wrap(Schema, "_check_reference", check)


@mutant("TOOL-17")
def circles_ask_nothing(patch: Patch) -> None:
    """A schema that refers to itself says what it says besides."""

    def check(original: Any, own: Schema) -> None:
        try:
            original(own)
        except InvalidSchema:
            for node in own._read.values():
                node.pop("$ref", None)

    patch.wrap(Schema, "_check_ends", check)
