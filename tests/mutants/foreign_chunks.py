"""Mutants of the family STR, rules 21 to 26: chunks from outside, and what the documents' examples change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from processor_contract import loop, pipeline
from processor_contract.data import Chunk
from processor_contract.errors import CallFailed, ProviderFailed, RunEnded
from processor_contract.message_list import MessageList
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Run

from . import Patch, mutant
from .stream_chunks import STREAM, passing, sending
from .stream_reach import constant

NAMED = ("text-", "reasoning-", "tool-", "source", "file", "finish", "error", "response-metadata", "stream-start")
PIECES = ("tool-call-input-", "tool-call-delta")


# -- chunks from outside -----------------------------------------------------------------------------------------------


def silent(patch: Patch, *without: str, **instead: Any) -> None:
    """The parts that a provider's stream is silent about, without some, or with others in their place."""
    kinds = {kind: handled for kind, handled in loop.SILENT.items() if kind not in without}
    patch.set(loop, "SILENT", {**kinds, **instead})


FRAME = ("start", "step-start", "step-finish", "tripwire", "abort")


@mutant("STR-21")
def control_chunks_pass_from_outside(patch: Patch) -> None:
    """A provider's stream is passed on as it is."""
    silent(patch, *FRAME)


@mutant("STR-21")
def control_chunks_from_outside_are_failures(patch: Patch) -> None:
    """A provider that sends what is not its own has failed."""

    def failed(run: Run, attempt: Attempt, payload: Any) -> Iterator[Chunk]:
        raise CallFailed(ProviderFailed("the model sent a control chunk"))

    silent(patch, **dict.fromkeys(FRAME, failed))


class Closed(dict[str, Any]):
    """Every type that is not named is passed over."""

    def __contains__(self, kind: object) -> bool:
        return super().__contains__(kind) or not str(kind).startswith(NAMED)

    def __missing__(self, kind: str) -> Any:
        return loop.nothing


@mutant("STR-22")
def unknown_types_are_left_out(patch: Patch) -> None:
    """Only chunks that the contract names are passed on."""
    patch.set(loop, "SILENT", Closed(loop.SILENT))


def past_the_chain(patch: Patch, goes: Callable[[str], bool]) -> None:
    """Chunks of some types go to the client without passing anybody."""

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Any:
        return chunk if goes(chunk["type"]) else original(run, chunk, **more)

    patch.around(pipeline.through_stream, passed)


@mutant("STR-22")
def unknown_types_go_past_the_chain(patch: Patch) -> None:
    """Processors get the types that they can know."""
    known = (*NAMED, "step-", "data-")
    past_the_chain(patch, lambda kind: not kind.startswith(known))


@mutant("STR-23")
def pieces_go_past_the_chain(patch: Patch) -> None:
    """How a call is typed is nobody's business but the client's."""
    past_the_chain(patch, lambda kind: kind.startswith(PIECES))


@mutant("STR-23")
def a_call_is_made_of_its_pieces(patch: Patch) -> None:
    """The last piece completes a call, whatever becomes of the chunk behind it."""

    def taken(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        pieces = [each for each in run.passing if each["type"].startswith(PIECES)]
        ids = {each["payload"]["toolCallId"] for each in pieces}
        return came if left is None and came["type"] == "tool-call" and came["payload"]["toolCallId"] in ids else left

    sending(patch, taken)


@mutant("STR-23")
def dropped_pieces_empty_the_call(patch: Patch) -> None:
    """The arguments are what the pieces add up to."""
    lost: set[str] = set()

    def change(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if came["type"] == "tool-call-delta" and left is None:
            lost.add(run.id)
        if came["type"] == "tool-call" and left is not None and run.id in lost:
            left["payload"]["args"] = {}
        return left

    passing(patch, change)


# -- the documents' examples -------------------------------------------------------------------------------------------


@mutant("STR-24")
def a_list_of_this_answer_only(patch: Patch) -> None:
    """While it streams, the list holds the answer; the history comes later."""
    constant(patch, "message_list", lambda run, link: MessageList())


@mutant("STR-25")
def the_text_stands_elsewhere(patch: Patch) -> None:
    """A text-delta has its text in textDelta."""

    def chain(original: Any, run: Run, slate: Slate) -> Slate:
        part = slate["part"]
        if part["type"] != "text-delta":
            result: Slate = original(run, slate)
            return result
        part["payload"]["textDelta"] = part["payload"].pop("text")
        slate = original(run, slate)
        if slate["part"] is not None:
            slate["part"]["payload"]["text"] = slate["part"]["payload"].pop("textDelta")
        return slate

    patch.chain(STREAM, chain)


@mutant("STR-25")
def a_blocked_text_is_only_left_out(patch: Patch) -> None:
    """An abort on a chunk is about that chunk."""

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Any:
        try:
            return original(run, chunk, **more)
        except RunEnded:
            run.go_on()
            return None

    patch.around(pipeline.through_stream, passed)


@mutant("STR-26")
def finish_finds_an_empty_state(patch: Patch) -> None:
    """The state is cleared when the answer is complete."""

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Any:
        if chunk["type"] == "finish":
            for state in run.states.values():
                state.clear()
        return original(run, chunk, **more)

    patch.around(pipeline.through_stream, passed)


@mutant("STR-26")
def a_dropped_text_takes_the_calls_with_it(patch: Patch) -> None:
    """An answer that was cut short has no calls."""
    cut: set[str] = set()

    def change(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if came["type"] == "text-delta" and left is None:
            cut.add(run.id)
        return None if came["type"] == "tool-call" and run.id in cut else left

    passing(patch, change)
