"""More mutants of the family PER: order, form and content of what is stored, and when a stream counts as read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from processor_contract import pipeline, results, returns
from processor_contract.data import clone, new_id
from processor_contract.memory import MessageHistory
from processor_contract.message_list import MessageList
from processor_contract.processor import OutputResultArgs
from processor_contract.response import Response
from processor_contract.run import Run
from processor_contract.storage import InMemoryStorage, packed

from . import Patch, mutant
from .saving import Messages, calls_around, reconciled_where_they_stood, saving, seen_as_copies, stored_as, without


def by_date(messages: Messages) -> Messages:
    """The messages in the order of their dates."""
    return sorted(messages, key=lambda message: str(message.get("createdAt", "")))


@mutant("PER-15")
def stored_by_date(patch: Patch) -> None:
    """What is stored is sorted by createdAt."""
    stored_as(patch, by_date)


@mutant("PER-15")
def recalled_by_date(patch: Patch) -> None:
    """What is recalled is sorted by createdAt."""
    patch.wrap(InMemoryStorage, "read", lambda original, own, *args: by_date(original(own, *args)))


@mutant("PER-15")
def a_returned_order_is_ignored(patch: Patch) -> None:
    """A returned array says which messages stay, not where they stand."""
    reconciled_where_they_stood(patch)


@mutant("PER-20")
def the_thread_is_written_as_recalled(patch: Patch) -> None:
    """A request writes what it recalled and its own messages over whatever the thread holds by then."""
    recalled: dict[str, Messages] = {}

    def around(call: Callable[[], None], history: MessageHistory, args: OutputResultArgs) -> None:
        for message in args.message_list.unsaved():
            recalled[message["id"]] = clone(args.message_list.of("memory"))
        call()

    def append(original: Callable[..., None], own: InMemoryStorage, thread: str, resource: str, messages: Any) -> None:
        before = recalled.get(messages[0]["id"])
        if before is not None:
            own._threads[thread, resource] = dict(packed(before))  # type: ignore[arg-type]
        original(own, thread, resource, messages)

    saving(patch, around)
    patch.wrap(InMemoryStorage, "append", append)


@mutant("PER-20")
def input_is_stored_at_its_place(patch: Patch) -> None:
    """A request's place in the thread is where it began: the store sorts by date of the input."""

    def append(original: Callable[..., None], own: InMemoryStorage, thread: str, resource: str, messages: Any) -> None:
        original(own, thread, resource, messages)
        stored = own._threads[thread, resource]
        own._threads[thread, resource] = dict(
            sorted(stored.items(), key=lambda item: str(json.loads(item[1]).get("createdAt", "")))
        )

    patch.wrap(InMemoryStorage, "append", append)


@mutant("PER-16")
def the_model_s_own_text_is_stored(patch: Patch) -> None:
    """The response is made of the model's text as it came, before processors changed or dropped it."""
    through = pipeline.through_stream
    take = Response.take

    def passed(run: Run, chunk: Any, **slate: Any) -> Any:
        raw = clone(chunk)
        result = through(run, chunk, **slate)
        if raw["type"].startswith("text-"):
            take(run.response, raw)
        return result

    patch.function(through, passed)
    patch.set(Response, "take", lambda own, chunk: None if chunk["type"].startswith("text-") else take(own, chunk))


@mutant("PER-17")
def the_tool_s_own_result_is_stored(patch: Patch) -> None:
    """The result that the tool returned is put into the list behind processToolResult."""
    examine = results.examine_result
    kept: dict[tuple[int, str], Any] = {}

    def examined(run: Run, info: Any, result: Any, provider_executed: Any) -> Any:
        kept[id(run.message_list), info["toolCallId"]] = clone(result)
        return examine(run, info, result, provider_executed)

    def around(call: Callable[[], None], history: MessageHistory, args: OutputResultArgs) -> None:
        for (owner, tool_call_id), result in kept.items():
            part = args.message_list.find_invocation(tool_call_id) if owner == id(args.message_list) else None
            if part is not None:
                part["toolInvocation"]["result"] = clone(result)
        call()

    patch.function(examine, examined)
    saving(patch, around)


@mutant("PER-18")
def a_returned_response_is_only_shown(patch: Patch) -> None:
    """What processOutputResult returns becomes the caller's result and not the conversation."""
    patch.cell("process_output_result", returns=returns.ignored)


@mutant("PER-18")
def an_emptied_text_comes_back(patch: Patch) -> None:
    """A text part that became empty is taken for one that is missing."""

    def around(run: Run, call: Callable[[], Any], args: Any) -> Any:
        before = clone(args.messages)
        returned = call()
        for was, message in zip(before, args.messages, strict=False):
            for old, part in zip(was["content"]["parts"], message["content"]["parts"], strict=False):
                if part.get("text") == "":
                    part["text"] = old["text"]
        return returned

    calls_around(patch, "process_output_result", around)


@mutant("PER-22")
def only_the_last_step_is_stored(patch: Patch) -> None:
    """The response that is stored is the last step's."""

    def last(messages: Messages) -> Messages:
        for message in messages:
            parts = message["content"].get("parts", [])
            marks = [place for place, part in enumerate(parts) if part.get("type") == "step-start"]
            message["content"]["parts"] = parts[marks[-1] + 1 :] if marks else parts
        return messages

    stored_as(patch, last)


@mutant("PER-22")
def tool_calls_are_not_stored(patch: Patch) -> None:
    """Only what was said is stored."""
    stored_as(patch, lambda messages: without(messages, lambda part: part.get("type") == "tool-invocation"))


@mutant("PER-26")
def the_flattened_text_stays(patch: Patch) -> None:
    """content.content is made once, when the message is."""
    patch.set(MessageList, "_follow_the_parts", lambda own: None)


@mutant("PER-26")
def the_flattened_text_is_the_last_part(patch: Patch) -> None:
    """content.content is the text of the last text part."""

    def flattened(messages: Messages) -> Messages:
        for message in messages:
            texts = [part["text"] for part in message["content"].get("parts", []) if part.get("type") == "text"]
            if "content" in message["content"] and texts and message["role"] == "assistant":
                message["content"]["content"] = texts[-1]
        return messages

    stored_as(patch, flattened)


@mutant("PER-26")
def every_flattened_text_is_made_anew(patch: Patch) -> None:
    """content.content of every message is made from its parts when it is stored."""

    def flattened(messages: Messages) -> Messages:
        for message in messages:
            texts = [part["text"] for part in message["content"].get("parts", []) if part.get("type") == "text"]
            if "content" in message["content"]:
                message["content"]["content"] = "".join(texts)
        return messages

    stored_as(patch, flattened)


@mutant("PER-28")
def only_known_parts_are_stored(patch: Patch) -> None:
    """The store keeps parts of the types it knows."""
    known = ("text", "tool-invocation", "step-start", "file", "reasoning", "source")
    stored_as(
        patch,
        lambda messages: without(
            messages, lambda part: part["type"] not in known and not part["type"].startswith("data-")
        ),
    )


@mutant("PER-28")
def only_known_members_are_stored(patch: Patch) -> None:
    """The store keeps the members that the contract names."""

    def known(messages: Messages) -> Messages:
        for message in messages:
            message["content"] = {
                key: message["content"][key] for key in ("format", "parts", "content") if key in message["content"]
            }
        return messages

    stored_as(patch, known)


@mutant("PER-34")
def equal_parts_are_stored_once(patch: Patch) -> None:
    """A part that a message has already is dropped."""

    def once(messages: Messages) -> Messages:
        for message in messages:
            kept: list[Any] = []
            for part in message["content"].get("parts", []):
                if part not in kept:
                    kept.append(part)
            message["content"]["parts"] = kept
        return messages

    stored_as(patch, once)


@mutant("PER-34")
def neighbours_are_merged(patch: Patch) -> None:
    """Messages of the assistant that stand next to each other are stored as one."""

    def merged(messages: Messages) -> Messages:
        made: Messages = []
        for message in messages:
            if made and made[-1]["role"] == message["role"] == "assistant":
                made[-1]["content"]["parts"] += message["content"]["parts"]
            else:
                made.append(message)
        return made

    stored_as(patch, merged)


@mutant("PER-35")
def the_store_gives_ids_of_its_own(patch: Patch) -> None:
    """Messages get new ids when they are stored."""
    stored_as(patch, lambda messages: [{**message, "id": new_id()} for message in messages])


@mutant("PER-36")
def the_shown_result_is_stored(patch: Patch) -> None:
    """What the client is shown as a tool's result is what is stored."""
    through = pipeline.through_stream

    def passed(run: Run, chunk: Any, **slate: Any) -> Any:
        tool_call_id = chunk["payload"].get("toolCallId") if chunk["type"] == "tool-result" else None
        result = through(run, chunk, **slate)
        if tool_call_id is not None:
            part = run.message_list.find_invocation(tool_call_id)
            if part is not None:
                part["toolInvocation"]["result"] = clone(result["payload"]["result"]) if result else None
        return result

    patch.function(through, passed)


@mutant("PER-29")
def process_input_step_gets_copies(patch: Patch) -> None:
    """processInputStep gets the read-only snapshot that the documents speak of."""
    seen_as_copies(patch, "process_input_step")
