"""Mutants of the family STR, rules 6, 12 to 19, 21 to 26: streamParts, how far a change reaches, foreign chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from processor_contract import loop, pipeline
from processor_contract.data import Chunk, StreamParts, clone
from processor_contract.errors import CallFailed, ProviderFailed, RunEnded
from processor_contract.hooks import HOOKS
from processor_contract.message_list import MessageList
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Link, Run

from . import Patch, mutant
from .stream_chunks import STREAM, passing, sending

NAMED = ("text-", "reasoning-", "tool-", "source", "file", "finish", "error", "response-metadata", "stream-start")
PIECES = ("tool-call-input-", "tool-call-delta")


def constant(patch: Patch, name: str, value: Callable[[Run, Link], Any]) -> None:
    """What every call of a place in the processOutputStream chain gets under this name is `value(run, link)`."""

    def linked(original: Any, run: Run, hook: Any, *args: Any) -> Link:
        link: Link = original(run, hook, *args)
        if hook is HOOKS[STREAM]:
            link.constant[hook.fields.index(name)] = value(run, link)
        return link

    patch.around(pipeline.link_of, linked)


def calls_as(patch: Patch, kept: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """A call that passes is made with what `kept` says of the payload that the model sent, and shown as it left."""

    def taken(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if left is None or came["type"] != "tool-call" or left["type"] != "tool-call":
            return left
        return {**left, "payload": {**left["payload"], **kept(came["payload"])}}

    sending(patch, taken)


# -- streamParts -------------------------------------------------------------------------------------------------------


@mutant("STR-6")
def stream_parts_end_before_the_current_one(patch: Patch) -> None:
    """The chunks so far are those before this one."""
    patch.wrap(StreamParts, "__iter__", lambda original, own: iter(list(original(own))[:-1]))


@mutant("STR-6")
def stream_parts_are_the_current_one(patch: Patch) -> None:
    """Each call has its own list."""
    patch.wrap(StreamParts, "__iter__", lambda original, own: iter(list(original(own))[-1:]))


@mutant("STR-12")
def stream_parts_begin_with_the_step(patch: Patch) -> None:
    """A step is a stream of its own."""

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Any:
        if chunk["type"] == "step-start":
            run.passing.clear()
            run.passing_without_data.clear()
        return original(run, chunk, **more)

    patch.around(pipeline.through_stream, passed)


@mutant("STR-12")
def stream_parts_of_all_requests(patch: Patch) -> None:
    """The list is the processor's, and so is made once."""
    shared: dict[int, tuple[Any, list[Chunk]]] = {}  # each with its owner, so that no id comes again

    def begin(original: Any, own: Run, settings: Any, *args: Any, **more: Any) -> None:
        original(own, settings, *args, **more)
        owner = next(iter(settings.outputs), None)
        own.passing = own.passing_without_data = shared.setdefault(id(owner), (owner, []))[1]

    patch.wrap(Run, "__init__", begin)


@mutant("STR-13")
def stream_parts_are_what_left_the_chain(patch: Patch) -> None:
    """A chunk is noted when it has passed, if it has."""

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Any:
        left = original(run, chunk, **more)
        for noted in (run.passing, run.passing_without_data):
            if noted and noted[-1] is chunk:
                noted[-1:] = [] if left is None else [clone(left)]
        return left

    patch.around(pipeline.through_stream, passed)


@mutant("STR-13")
def stream_parts_can_be_edited(patch: Patch) -> None:
    """Everybody gets the list itself."""
    patch.set(StreamParts, "__getitem__", lambda own, place: own._raw[place])


@mutant("STR-14")
def data_is_in_everybody_s_stream_parts(patch: Patch) -> None:
    """The opt-in decides about calls, and not about the list."""
    constant(patch, "stream_parts", lambda run, link: StreamParts(run.passing))


@mutant("STR-14")
def echoes_are_in_stream_parts(patch: Patch) -> None:
    """Whatever a run sends is in the list."""

    def delivered(original: Any, run: Run, chunk: Chunk, *message_id: Any) -> None:
        original(run, chunk, *message_id)
        if chunk["type"].startswith("data-") and chunk["type"] not in {noted["type"] for noted in run.passing}:
            run.passing.append(chunk)

    patch.around(pipeline.deliver, delivered)


@mutant("STR-14")
def stream_parts_begin_with_start(patch: Patch) -> None:
    """The list has what the client gets."""

    def begun(original: Any, run: Run) -> Iterator[Chunk]:
        for noted in (run.passing, run.passing_without_data):
            noted.append(run.chunk("start", {}))
        yield from original(run)

    patch.around(loop.steps, begun)


# -- calls and results -------------------------------------------------------------------------------------------------


@mutant("STR-15")
def dropped_calls_are_made(patch: Patch) -> None:
    """Dropping a call hides it."""
    sending(patch, lambda run, came, left: came if left is None and came["type"] == "tool-call" else left)


@mutant("STR-15")
def a_dropped_call_changes_the_finish_reason(patch: Patch) -> None:
    """A step without a call has stopped."""

    def accept(original: Any, own: Run) -> None:
        if own.attempt.finish_reason == "tool-calls" and not own.current_step().get("toolCalls"):
            own.attempt.finish_reason = "stop"
        original(own)

    patch.wrap(Run, "accept_step", accept)


@mutant("STR-15")
def calls_that_pass_a_filter_are_dropped(patch: Patch) -> None:
    """With a filter in the way a call has to be allowed by name."""
    passing(patch, lambda run, came, left: None if came["type"] == "tool-call" else left)


@mutant("STR-16")
def made_calls_differ_from_shown_ones(patch: Patch) -> None:
    """A call is made with the arguments that the model gave."""
    calls_as(patch, lambda payload: {"args": payload["args"]})


@mutant("STR-16")
def a_call_keeps_its_tool(patch: Patch) -> None:
    """Arguments can be changed; which tool is called is the model's choice."""
    calls_as(patch, lambda payload: {"toolName": payload["toolName"], "toolCallId": payload["toolCallId"]})


@mutant("STR-17")
def shown_results_are_the_results(patch: Patch) -> None:
    """What becomes of a result's chunk becomes of the result."""

    def change(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if came["type"] == "tool-result":
            invocation = run.response.invocation(came["payload"]["toolCallId"])
            if invocation is not None:
                invocation["result"] = clone(left["payload"]["result"]) if left else None
        return left

    passing(patch, change)


@mutant("STR-17")
def dropped_errors_are_no_answers(patch: Patch) -> None:
    """A call whose error nobody was shown has none."""

    def change(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if came["type"] == "tool-error" and left is None:
            invocation = run.response.invocation(came["payload"]["toolCallId"])
            if invocation is not None:
                invocation["state"] = "call"
        return left

    passing(patch, change)


# -- the frame ---------------------------------------------------------------------------------------------------------


@mutant("STR-18")
def a_changed_reason_is_the_reason(patch: Patch) -> None:
    """What stands in step-finish is how the step finished."""

    def change(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if came["type"] == "step-finish" and left is not None:
            run.attempt.finish_reason = left["payload"]["finishReason"]
        return left

    passing(patch, change)


@mutant("STR-18")
def a_dropped_finish_gives_no_reason(patch: Patch) -> None:
    """Without its finish the model has not said why it stopped."""

    def change(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        if came["type"] == "finish" and left is None:
            run.attempt.finish_reason = "other"
        return left

    passing(patch, change)


@mutant("STR-18")
def both_ends_of_a_step_or_none(patch: Patch) -> None:
    """A step whose beginning was dropped has no end."""
    hidden: set[str] = set()

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Any:
        if chunk["type"] == "step-finish" and run.id in hidden:
            hidden.discard(run.id)
            return None
        left = original(run, chunk, **more)
        if chunk["type"] == "step-start" and left is None:
            hidden.add(run.id)
        return left

    patch.around(pipeline.through_stream, passed)


# -- other types -------------------------------------------------------------------------------------------------------


@mutant("STR-19")
def data_made_of_text_is_not_kept(patch: Patch) -> None:
    """Data that no writer sent is for the client only."""

    def sent(original: Any, run: Run, chunk: Chunk) -> None:
        left = pipeline.through_stream(run, chunk)
        if left is not None:
            made = left["type"].startswith("data-")
            pipeline.deliver(run, {**left, "transient": True} if made else left)

    patch.around(pipeline.send, sent)


@mutant("STR-19")
def text_made_of_data_is_not_said(patch: Patch) -> None:
    """What was sent with a writer is never what the model said."""

    def delivered(original: Any, run: Run, chunk: Chunk, *message_id: Any) -> None:
        if message_id and not chunk["type"].startswith("data-"):
            run.outbox.append(chunk)
        else:
            original(run, chunk, *message_id)

    patch.around(pipeline.deliver, delivered)


@mutant("STR-19")
def a_call_stays_a_call(patch: Patch) -> None:
    """The type a chunk came with decides what it means to the loop."""
    sending(patch, lambda run, came, left: came if came["type"] == "tool-call" else left)


@mutant("STR-19")
def an_end_stays_an_end(patch: Patch) -> None:
    """What stands for the end of a text is dropped, because the text has ended."""
    sending(patch, lambda run, came, left: None if came["type"] == "text-end" else left)


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
