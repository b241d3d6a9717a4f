"""Mutants of the family DAT, rules 5, 6, 14, 15, 19 to 21, 23, 25, 27: what data may be, and where it is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from processor_contract import pipeline, prompt
from processor_contract.context import Writer
from processor_contract.data import Chunk, Part, clone, jsonable, new_id
from processor_contract.errors import WrongReturn
from processor_contract.message_list import MessageList
from processor_contract.response import Response
from processor_contract.returns import Slate
from processor_contract.run import Run
from processor_contract.stream import RunResult

from . import Patch, mutant
from .reports import reported

Add = Callable[..., Part]


def refused(patch: Patch, wrong: Callable[[Chunk], bool]) -> None:
    """Some data chunks are refused."""

    def sent(original: Any, run: Run, chunk: Chunk, *args: Any, **more: Any) -> None:
        if wrong(chunk):
            raise WrongReturn("sent what is no data", "DAT-14")
        original(run, chunk, *args, **more)

    patch.around(pipeline.send_data, sent)


def adding(patch: Patch, add: Callable[[Add, Response, Chunk, str | None], Part]) -> None:
    """`add(as_it_is, response, chunk, message_id)` makes the part of a data chunk."""

    def added(original: Add, own: Response, chunk: Chunk, message_id: str | None) -> Part:
        return add(lambda chunk, message_id: original(own, chunk, message_id), own, chunk, message_id)

    patch.wrap(Response, "add_data", added)


# -- what data may be --------------------------------------------------------------------------------------------------


@mutant("DAT-14")
def types_are_plain_words(patch: Patch) -> None:
    """What stands behind data- is a word."""
    refused(patch, lambda chunk: re.fullmatch(r"data-\w+", chunk["type"]) is None)


@mutant("DAT-14")
def data_is_an_object(patch: Patch) -> None:
    """What stands in data has members."""
    refused(patch, lambda chunk: not isinstance(chunk.get("data"), dict))


@mutant("DAT-27")
def odd_data_is_refused(patch: Patch) -> None:
    """What JSON cannot hold is not sent."""
    refused(patch, lambda chunk: jsonable(chunk) != chunk if plain(chunk) else True)


def plain(value: Any, depth: int = 0) -> bool:
    """Whether it is made of what JSON has, and ends."""
    if isinstance(value, dict):
        return depth < 9 and all(plain(inner, depth + 1) for inner in value.values())
    if isinstance(value, list):
        return depth < 9 and all(plain(inner, depth + 1) for inner in value)
    return value is None or isinstance(value, (str, int, float))


@mutant("DAT-15")
def transient_among_the_options_counts(patch: Patch) -> None:
    """Where transient stands does not matter."""

    def custom(original: Any, own: Writer, chunk: Any, *, transient: Any = None, **options: Any) -> None:
        original(own, {**chunk, "transient": True} if transient else chunk, **options)

    patch.wrap(Writer, "custom", custom)


# -- where it is kept --------------------------------------------------------------------------------------------------


@mutant("DAT-5")
def data_stands_behind_the_text(patch: Patch) -> None:
    """A part that comes later stands later."""

    def add(as_it_is: Add, own: Response, chunk: Chunk, message_id: str | None) -> Part:
        opened, own._open = own._open, {}
        part = as_it_is(chunk, message_id)
        own._open = opened
        return part

    adding(patch, add)


@mutant("DAT-6")
def the_message_id_is_ignored(patch: Patch) -> None:
    """Data is part of the answer."""
    adding(patch, lambda as_it_is, own, chunk, message_id: as_it_is(chunk, None))


@mutant("DAT-6")
def unknown_ids_are_ignored(patch: Patch) -> None:
    """A message that is not there takes no part."""

    def add(as_it_is: Add, own: Response, chunk: Chunk, message_id: str | None) -> Part:
        known = message_id is not None and own._list.source_of(message_id) is not None
        return as_it_is(chunk, message_id if known else None)

    adding(patch, add)


@mutant("DAT-6")
def remembered_messages_take_no_data(patch: Patch) -> None:
    """Only messages of this request take parts."""

    def add(as_it_is: Add, own: Response, chunk: Chunk, message_id: str | None) -> Part:
        old = message_id is not None and own._list.source_of(message_id) == "memory"
        return as_it_is(chunk, None if old else message_id)

    adding(patch, add)


@mutant("DAT-25")
def any_message_takes_data(patch: Patch) -> None:
    """A message is a message."""

    def message(original: Any, own: MessageList, message_id: str) -> Any:
        found = next((each for each in own.everything() if each["id"] == message_id), None)
        return found or original(own, message_id)

    patch.wrap(MessageList, "response_message", message)


@mutant("DAT-19")
def data_has_messages_of_its_own(patch: Patch) -> None:
    """Each data chunk is a message of the conversation."""
    adding(patch, lambda as_it_is, own, chunk, message_id: as_it_is(chunk, message_id or new_id()))


@mutant("DAT-19")
def data_is_only_streamed(patch: Patch) -> None:
    """Without a store data is for the stream."""

    def change(run: Run, result: RunResult) -> None:
        for message in result.messages:
            parts = message["content"]["parts"]
            parts[:] = [part for part in parts if not part["type"].startswith("data-")]

    reported(patch, change)


@mutant("DAT-21")
def transient_data_is_in_the_list(patch: Patch) -> None:
    """Transient data is left out where it is stored, and only there."""

    def delivered(original: Any, run: Run, chunk: Chunk, *message_id: Any) -> None:
        original(run, chunk, *message_id)
        if chunk["type"].startswith("data-") and chunk.get("transient"):
            run.response.add_data(clone(chunk), None)

    patch.around(pipeline.deliver, delivered)


@mutant("DAT-21")
def all_data_is_transient(patch: Patch) -> None:
    """Data is shown and forgotten."""

    def delivered(original: Any, run: Run, chunk: Chunk, *message_id: Any) -> None:
        kept = chunk["type"].startswith("data-")
        original(run, {**chunk, "transient": True} if kept else chunk, *message_id)

    patch.around(pipeline.deliver, delivered)


@mutant("DAT-20")
def data_is_told_to_the_model(patch: Patch) -> None:
    """All parts of a message are in the prompt."""

    def told(part: Part) -> Part:
        return {"type": "text", "text": str(part["data"])} if part["type"].startswith("data-") else part

    def turns(original: Any, role: str, content: Any, *args: Any) -> Any:
        return original(role, {**content, "parts": list(map(told, content.get("parts", ())))}, *args)

    patch.around(prompt._turns, turns)


@mutant("DAT-20")
def messages_of_data_are_empty_in_the_prompt(patch: Patch) -> None:
    """A message of which nothing is left for the model is there all the same."""

    def messages(original: Any, role: str, said: Any) -> Any:
        return original(role, said) or [{"role": role, "content": []}]

    patch.around(prompt._messages, messages)


@mutant("DAT-23")
def stored_before_the_last_data_is_read(patch: Patch) -> None:
    """A run is stored when its last hook has run."""

    def chain(original: Any, run: Run, slate: Slate) -> Any:
        slate = original(run, slate)
        pipeline.save(run)
        run.plan["process_output_result"] = [each for each in run.plan["process_output_result"] if not each.last_act]
        return slate

    patch.chain("process_output_result", chain)


@mutant("DAT-23")
def data_at_the_end_keeps_from_storing(patch: Patch) -> None:
    """What is sent behind the last step makes a run that has not ended."""

    def save(original: Any, run: Run) -> None:
        if not any(part for part in run.attempt.data_parts):
            original(run)
        else:
            run.commit()

    patch.around(pipeline.save, save)
