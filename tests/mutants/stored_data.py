"""Mutants of the family PER: data parts, added messages and empty arrays, and when a stream counts as read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import pipeline, returns
from processor_contract.data import clone
from processor_contract.memory import MessageHistory
from processor_contract.message_list import MessageList
from processor_contract.response import Response
from processor_contract.run import Run
from processor_contract.stream import Stream

from . import Patch, mutant
from .saving import calls_around, save, saved_when_ended_by, saving


def data_not_stored(patch: Patch, unwanted: Callable[[str | None], bool]) -> None:
    """Data sent from a hook (None: a tool) that is `unwanted` is not stored."""
    sending: list[str | None] = [None]
    call = pipeline.call

    def called(run: Run, name: str, slate: Any) -> Any:
        sending.append(name)
        try:
            return call(run, name, slate)
        finally:
            sending.pop()

    def add(original: Callable[..., Any], own: Response, chunk: Any, message_id: Any) -> Any:
        return {} if unwanted(sending[-1]) else original(own, chunk, message_id)

    patch.function(call, called)
    patch.wrap(Response, "add_data", add)


@mutant("PER-14")
def data_from_the_stream_is_not_stored(patch: Patch) -> None:
    """Data sent while a chunk is handled goes to the client only."""
    data_not_stored(patch, lambda hook: hook == "process_output_stream")


@mutant("PER-14")
def data_from_the_end_is_not_stored(patch: Patch) -> None:
    """Data sent from processOutputResult comes after the response has been closed."""
    data_not_stored(patch, lambda hook: hook == "process_output_result")


@mutant("PER-14")
def transient_data_is_stored(patch: Patch) -> None:
    """`transient` is passed on and otherwise ignored."""
    deliver = pipeline.deliver

    def delivered(run: Run, chunk: Any, message_id: str | None = None) -> None:
        deliver(run, {**chunk, "transient": False}, message_id)  # type: ignore[typeddict-item]

    patch.function(deliver, delivered)


@mutant("PER-32")
def data_from_other_hooks_is_not_stored(patch: Patch) -> None:
    """Only the two hooks that the documents name store what they send."""
    data_not_stored(patch, lambda hook: hook not in (None, "process_output_stream", "process_output_result"))


@mutant("PER-32")
def data_from_tools_is_not_stored(patch: Patch) -> None:
    """What tools send goes to the client only."""
    data_not_stored(patch, lambda hook: hook is None)


@mutant("PER-33")
def data_is_stored_as_sent(patch: Patch) -> None:
    """Data is stored before processors see it."""
    send = pipeline.send_data

    def sent(run: Run, chunk: Any, message_id: str | None, *, past_processors: bool = False) -> None:
        run.response.add_data(clone(chunk), message_id)
        send(run, {**chunk, "transient": True}, message_id, past_processors=past_processors)

    patch.function(send, sent)


@mutant("PER-37")
def data_splits_the_text(patch: Patch) -> None:
    """A data part closes the text that is being streamed; what follows is another part."""

    def add(original: Callable[..., Any], own: Response, chunk: Any, message_id: Any) -> Any:
        own.close_texts()
        return original(own, chunk, message_id)

    patch.wrap(Response, "add_data", add)


@mutant("PER-27")
def an_empty_step_array_removes_everything(patch: Patch) -> None:
    """An empty array from processOutputStep is reconciled like any other."""
    patch.cell("process_output_step", returns=returns.messages_as("response"))


@mutant("PER-27")
def an_empty_tool_array_removes_everything(patch: Patch) -> None:
    """An empty array from processToolResult is reconciled like any other."""
    patch.cell("process_tool_result", returns=returns.messages_as("response"))


@mutant("PER-27")
def an_object_with_no_messages_removes_everything(patch: Patch) -> None:
    """`{messages: []}` from processOutputStep removes all messages, though a bare empty array does not."""

    def around(run: Run, call: Callable[[], Any], args: Any) -> Any:
        returned = call()
        if isinstance(returned, dict) and returned.get("messages") == []:
            run.message_list.remove_by_ids([message["id"] for message in args.messages])
        return returned

    calls_around(patch, "process_output_step", around)
    calls_around(patch, "process_tool_result", around)


@mutant("PER-30")
def returned_messages_are_context(patch: Patch) -> None:
    """New messages in a returned array are for this request only."""

    def reconcile(original: Callable[..., None], own: MessageList, view: Any, returned: Any, source: Any) -> None:
        original(own, view, returned, "context")

    patch.wrap(MessageList, "reconcile", reconcile)


@mutant("PER-30")
def the_named_source_is_ignored(patch: Patch) -> None:
    """What a hook adds to the list is stored, whatever source it names."""
    calls = MessageList.add

    def around(run: Run, call: Callable[[], Any], args: Any) -> Any:
        before = {message["id"] for message in run.message_list.everything()}
        returned = call()
        for message in run.message_list.of("context"):
            if message["id"] not in before:
                calls(run.message_list, [message], "input")
        return returned

    calls_around(patch, "process_input", around)


@mutant("PER-30")
def added_messages_are_context(patch: Patch) -> None:
    """What hooks add to the list is for this request only."""

    def around(run: Run, call: Callable[[], Any], args: Any) -> Any:
        before = {message["id"] for message in run.message_list.everything()}
        returned = call()
        for message in run.message_list.of("input"):
            if message["id"] not in before:
                run.message_list.add([message], "context")
        return returned

    for hook in ("process_input", "process_api_error"):
        calls_around(patch, hook, around)


@mutant("PER-21")
def a_closed_stream_is_stored(patch: Patch) -> None:
    """Closing a stream stores what was said up to then."""
    saved_when_ended_by(patch, "Cancelled")


@mutant("PER-21")
def an_abandoned_stream_is_stored(patch: Patch) -> None:
    """A stream runs to its end whether anybody reads it or not."""
    begin = Stream.__init__

    def begun(own: Stream, run: Run, chunks: Any, *args: Any) -> None:
        begin(own, run, iter(list(chunks)), *args)

    patch.set(Stream, "__init__", begun)


@mutant("PER-21")
def a_result_without_a_reader_is_not_stored(patch: Patch) -> None:
    """Only a stream that is iterated is stored; asking for its result is not reading."""

    def result(original: Callable[..., Any], own: Stream) -> Any:
        own._run.plan["process_output_result"] = [
            link for link in own._run.plan["process_output_result"] if not isinstance(link.processor, MessageHistory)
        ]
        return original(own)

    patch.wrap(Stream, "result", result)


@mutant("PER-21")
def a_stream_is_stored_when_its_result_is_asked_for(patch: Patch) -> None:
    """Reading is looking; who asks for the result wants the request."""

    def result(original: Callable[..., Any], own: Stream) -> Any:
        made = original(own)
        if own._run.tripwire is None and own._run.error is None:
            save(own._run)
        return made

    patch.around(pipeline.save, lambda original, run: None if run.closable else original(run))
    patch.wrap(Stream, "result", result)


@mutant("PER-38")
def an_unfinished_run_is_not_stored(patch: Patch) -> None:
    """A run that ended with open business is not stored."""
    saving(patch, lambda call, history, args: None if args.result["finishReason"] == "tool-calls" else call())
