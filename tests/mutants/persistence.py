"""Mutants of the family PER: too much in the store, too little, at the wrong time or in the wrong form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import agent, loop, returns
from processor_contract.data import clone, new_id
from processor_contract.memory import MessageHistory
from processor_contract.message_list import MessageList
from processor_contract.processor import OutputResultArgs
from processor_contract.run import Run

from . import Patch, mutant
from .saving import Messages, calls_around, history_first, reconciled, save, saved_when_ended_by, saving, seen_as_copies

# -- the list, as a whole and once -------------------------------------------------------------------------------------


@mutant("PER-1")
def response_only(patch: Patch) -> None:
    """Only what the agent said is stored."""
    patch.set(MessageList, "unsaved", lambda own: own.of("response"))


@mutant("PER-1")
def input_as_it_came(patch: Patch) -> None:
    """The input is kept for the store before processors see it."""
    kept: dict[int, Messages] = {}
    make = agent.Agent._run

    def made(own: agent.Agent, *args: Any) -> Run:
        run = make(own, *args)
        kept[id(run.message_list)] = clone(run.message_list.of("input"))
        return run

    patch.set(agent.Agent, "_run", made)
    patch.set(MessageList, "unsaved", lambda own: [*kept.get(id(own), []), *own.of("response")])


@mutant("PER-2")
def stored_before_the_last_hooks(patch: Patch) -> None:
    """History stands before the user's output processors."""
    history_first(patch)


@mutant("PER-2")
def stored_after_every_step(patch: Patch) -> None:
    """Each accepted step is stored at once."""

    def accept(original: Callable[..., None], run: Run) -> None:
        original(run)
        save(run)

    patch.wrap(Run, "accept_step", accept)


@mutant("PER-2")
def stored_after_finish(patch: Patch) -> None:
    """The client gets `finish` first; then the request is stored."""
    stream_of = loop.stream_of

    def streamed(run: Run) -> Any:
        yield from stream_of(run)
        if run.tripwire is None and run.error is None:
            save(run)

    saving(patch, lambda call, history, args: None)
    patch.function(stream_of, streamed)


@mutant("PER-3")
def process_input_gets_copies(patch: Patch) -> None:
    """processInput gets copies of the messages."""
    seen_as_copies(patch, "process_input")


@mutant("PER-3")
def process_output_step_gets_copies(patch: Patch) -> None:
    """processOutputStep gets copies of the messages."""
    seen_as_copies(patch, "process_output_step")


@mutant("PER-3")
def process_tool_result_gets_copies(patch: Patch) -> None:
    """processToolResult gets copies of the messages."""
    seen_as_copies(patch, "process_tool_result")


@mutant("PER-3")
def process_output_result_gets_copies(patch: Patch) -> None:
    """processOutputResult gets copies of the messages."""
    seen_as_copies(patch, "process_output_result")


@mutant("PER-4")
def list_changes_need_a_return(patch: Patch) -> None:
    """What was removed from the list comes back unless the hook returns the list."""

    def around(run: Run, call: Callable[[], Any], args: Any) -> Any:
        before = run.message_list.everything()
        sources = {message["id"]: run.message_list.source_of(message["id"]) for message in before}
        returned = call()
        if returned is None:
            gone = [message for message in before if run.message_list.source_of(message["id"]) is None]
            for message in gone:
                run.message_list.add([message], sources[message["id"]] or "input")
        return returned

    calls_around(patch, "process_input", around)
    calls_around(patch, "process_output_step", around)


@mutant("PER-4")
def returned_list_is_read_from_before(patch: Patch) -> None:
    """A hook that returns the list is taken to return the messages it was given."""

    def around(run: Run, call: Callable[[], Any], args: Any) -> Any:
        given = list(args.messages)
        returned = call()
        return given if returned is run.message_list else returned

    for hook in ("process_input", "process_output_step"):
        calls_around(patch, hook, around)


@mutant("PER-5")
def arrays_only_add(patch: Patch) -> None:
    """A returned array adds and replaces; what it leaves out stays."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        ids = {message.get("id") for message in returned}
        return [*[message for message in view if message["id"] not in ids], *returned]

    reconciled(patch, change)


@mutant("PER-5")
def messages_of_an_object_are_ignored(patch: Patch) -> None:
    """Of a returned object only the system messages count."""

    def around(run: Run, call: Callable[[], Any], args: Any) -> Any:
        returned = call()
        return (
            {key: value for key, value in returned.items() if key != "messages"}
            if isinstance(returned, dict)
            else returned
        )

    calls_around(patch, "process_input", around)


@mutant("PER-5")
def an_empty_result_changes_nothing(patch: Patch) -> None:
    """An empty array from processOutputResult is taken for a hook that has nothing to say."""
    patch.cell("process_output_result", returns=returns.messages_as("response", empty_keeps=True))


@mutant("PER-6")
def replaced_messages_keep_their_content(patch: Patch) -> None:
    """A returned message whose id is known says only that it stays."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        known = {message["id"]: message for message in view}
        return [known.get(message.get("id", ""), message) for message in returned]

    reconciled(patch, change)


@mutant("PER-6")
def returned_messages_are_new(patch: Patch) -> None:
    """Returned messages take the place of the old ones under new ids and with the stage's source."""
    reconciled(patch, lambda own, view, returned: [{**clone(message), "id": new_id()} for message in returned])


@mutant("PER-9")
def aborted_requests_are_stored(patch: Patch) -> None:
    """What was said before an abort is stored."""
    saved_when_ended_by(patch, "RunEnded")


@mutant("PER-9")
def aborted_by_the_last_hook_is_stored(patch: Patch) -> None:
    """History stands before the user's output processors, so that an abort in processOutputResult comes too late."""
    history_first(patch)


@mutant("PER-9")
def aborted_input_is_stored(patch: Patch) -> None:
    """The user's input is stored as soon as it is there."""
    input_phase = loop.input_phase

    def phase(run: Run) -> None:
        save(run)
        input_phase(run)

    patch.function(input_phase, phase)


@mutant("PER-9")
def an_abort_clears_the_thread(patch: Patch) -> None:
    """An abort throws away the conversation that led to it."""
    ended_by = loop.ended_by

    def ended(run: Run, ending: Any) -> Any:
        for history in [one for one in run.settings.outputs if isinstance(one, MessageHistory)]:
            history._memory.storage.inner._threads.clear()  # type: ignore[attr-defined]
        yield from ended_by(run, ending)

    patch.function(ended_by, ended)


@mutant("PER-10")
def failed_calls_are_stored(patch: Patch) -> None:
    """A request whose model call failed for good is stored like any other."""

    def around(call: Callable[[], None], history: MessageHistory, args: OutputResultArgs) -> None:
        args.result = {**args.result, "finishReason": "stop"}
        call()

    saving(patch, around)


@mutant("PER-10")
def failed_hooks_are_stored(patch: Patch) -> None:
    """What was said before a hook failed is stored."""
    saved_when_ended_by(patch, "HookFailed")


@mutant("PER-10")
def cancelled_requests_are_stored(patch: Patch) -> None:
    """What was said before a cancellation is stored."""
    saved_when_ended_by(patch, "Cancelled")


@mutant("PER-10")
def a_mended_failure_is_not_stored(patch: Patch) -> None:
    """A request in which a model call failed is never stored."""
    failed: set[int] = set()
    recover = loop.recover

    def noted(run: Run, *args: Any) -> Any:
        failed.add(id(run.message_list))
        return (yield from recover(run, *args))

    patch.function(recover, noted)
    saving(patch, lambda call, history, args: None if id(args.message_list) in failed else call())


@mutant("PER-11")
def rejected_attempts_stay(patch: Patch) -> None:
    """The response keeps what rejected attempts said."""
    patch.set(MessageList, "reset_response", lambda own, state: None)


@mutant("PER-11")
def rejection_takes_the_whole_response(patch: Patch) -> None:
    """Rejecting an attempt takes the steps before it out too."""

    def reset(own: MessageList, state: Any) -> None:
        own.remove_by_ids([message["id"] for message in own.response()])

    patch.set(MessageList, "reset_response", reset)


@mutant("PER-11")
def feedback_is_stored(patch: Patch) -> None:
    """The reason of a rejection is put into the conversation."""

    def grant(original: Callable[..., None], run: Run, *, feedback: str | None, **named: Any) -> None:
        original(run, feedback=feedback, **named)
        if feedback is not None:
            run.message_list.add(feedback, "input")

    patch.wrap(Run, "grant_retry", grant)


@mutant("PER-11")
def data_of_rejected_attempts_stays(patch: Patch) -> None:
    """Data parts are stored whatever becomes of the attempt that sent them."""
    sent: dict[int, list[Any]] = {}

    def reject(original: Callable[..., None], run: Run) -> None:
        sent.setdefault(id(run.message_list), []).extend(clone(run.attempt.data_parts))
        original(run)

    def around(call: Callable[[], None], history: MessageHistory, args: OutputResultArgs) -> None:
        for message in args.message_list.of("response")[:1]:
            message["content"]["parts"] += sent.get(id(args.message_list), [])
        call()

    patch.wrap(Run, "reject_attempt", reject)
    saving(patch, around)


@mutant("PER-46")
def nothing_is_written_too(patch: Patch) -> None:
    """Every request ends with a write."""

    def result(original: Any, history: MessageHistory, args: OutputResultArgs) -> None:
        original(history, args)
        if not args.message_list.unsaved():
            history._memory.storage.append(history._thread, history._resource, [])

    patch.wrap(MessageHistory, "process_output_result", result)
