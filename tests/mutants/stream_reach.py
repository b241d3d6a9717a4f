"""Mutants of the family STR, rules 6, 12 to 19: streamParts, and how far a change reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from processor_contract import loop, pipeline
from processor_contract.data import Chunk, StreamParts, clone
from processor_contract.hooks import HOOKS
from processor_contract.run import Link, Run

from . import Patch, mutant
from .stream_chunks import STREAM, passing, sending


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
