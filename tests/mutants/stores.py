"""Mutants of the family PER: stores that fail, recall limits, addresses, and messages that are sent again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from processor_contract import agent, loop, pipeline
from processor_contract.errors import HookFailed, InvalidAgent, NotSaved, RunFailed
from processor_contract.memory import Memory, MessageHistory
from processor_contract.message_list import MessageList
from processor_contract.processor import InputArgs
from processor_contract.run import Run
from processor_contract.storage import InMemoryStorage, packed
from processor_contract.stream import RunResult

from . import Patch, mutant
from .saving import Messages, only_new_ones_remembered, overwriting, saving


@mutant("PER-39")
def an_unreadable_store_is_empty(patch: Patch) -> None:
    """A conversation that cannot be read has not been had."""

    def recall(original: Callable[..., None], own: MessageHistory, args: InputArgs) -> None:
        with suppress(Exception):
            original(own, args)

    patch.wrap(MessageHistory, "process_input", recall)


@mutant("PER-39")
def an_unreadable_store_is_a_failed_call(patch: Patch) -> None:
    """The error stands in the result, like that of a provider."""

    def generate(original: Callable[..., Any], own: agent.Agent, *given: Any, **options: Any) -> Any:
        try:
            return original(own, *given, **options)
        except HookFailed as failed:
            if failed.hook != "processInput":
                raise
            return RunResult(finish_reason="error", error=failed)

    patch.wrap(agent.Agent, "generate", generate)


@mutant("PER-40")
def a_failed_save_is_forgotten(patch: Patch) -> None:
    """The caller has his answer; what becomes of it is the runtime's affair."""

    def save(original: Callable[[Run], None], run: Run) -> None:
        with suppress(NotSaved):
            original(run)
        run.ending = None

    patch.around(pipeline.save, save)


@mutant("PER-40")
def a_failed_save_takes_the_answer_along(patch: Patch) -> None:
    """It is an error like any other hook's."""
    patch.set(agent, "failure_of", lambda run, error: HookFailed("history", "save", error.__cause__ or error))


@mutant("PER-40")
def a_failed_save_is_tried_again(patch: Patch) -> None:
    """A store that fails once may not fail twice."""

    def around(save: Callable[[], None], history: MessageHistory, args: Any) -> None:
        try:
            save()
        except Exception:
            save()

    saving(patch, around)


@mutant("PER-40")
def a_failed_save_ends_all_saving(patch: Patch) -> None:
    """A store that has failed is not used any more."""
    failed: set[int] = set()

    def around(save: Callable[[], None], history: MessageHistory, args: Any) -> None:
        if id(history._memory) in failed:
            return
        try:
            save()
        except Exception:
            failed.add(id(history._memory))
            raise

    saving(patch, around)


@mutant("PER-40")
def an_unsaved_request_is_stored_next_time(patch: Patch) -> None:
    """What could not be saved is saved with the next request."""
    left: dict[int, Messages] = {}
    append = InMemoryStorage.append

    def around(save: Callable[[], None], history: MessageHistory, args: Any) -> None:
        before = left.pop(id(history._memory), [])
        if before:
            append(history._memory.storage.inner, history._thread, history._resource, before)  # type: ignore[attr-defined,arg-type]
        try:
            save()
        except Exception:
            left[id(history._memory)] = args.message_list.unsaved()
            raise

    saving(patch, around)


@mutant("PER-41")
def nothing_recalled_nothing_saved(patch: Patch) -> None:
    """Without recall there is no memory."""
    saving(patch, lambda save, history, args: save() if history._memory.last_messages else None)


@mutant("PER-41")
def no_number_is_no_limit(patch: Patch) -> None:
    """What is falsy has not been set: everything is remembered."""

    def init(original: Callable[..., None], own: Memory, *given: Any, **options: Any) -> None:
        original(own, *given, **options)
        own.last_messages = own.last_messages or None

    patch.wrap(Memory, "__init__", init)


@mutant("PER-41")
def false_is_no_number(patch: Patch) -> None:
    """What is no number has not been said: it is the default."""

    def init(original: Callable[..., None], own: Memory, *given: Any, **options: Any) -> None:
        original(own, *given, **{key: value for key, value in options.items() if value is not False})

    patch.wrap(Memory, "__init__", init)


@mutant("PER-41")
def below_zero_is_none(patch: Patch) -> None:
    """A number below zero is as good as zero."""

    def init(original: Callable[..., None], own: Memory, *given: Any, **options: Any) -> None:
        limit = options.get("last_messages")
        original(own, *given, **{**options, **({"last_messages": 0} if limit is not None and limit < 0 else {})})

    patch.wrap(Memory, "__init__", init)


@mutant("PER-42")
def half_an_address_is_none(patch: Patch) -> None:
    """Who names no thread and resource wants no memory."""

    def history(original: Callable[..., Any], own: agent.Agent, options: Any) -> Any:
        try:
            return original(own, options)
        except InvalidAgent:
            return []

    patch.wrap(agent.Agent, "_history", history)


@mutant("PER-42")
def half_an_address_stands_for_both(patch: Patch) -> None:
    """A thread that belongs to nobody belongs to itself."""

    def history(original: Callable[..., Any], own: agent.Agent, options: Any) -> Any:
        options.thread, options.resource = options.thread or options.resource, options.resource or options.thread
        return original(own, options)

    patch.wrap(agent.Agent, "_history", history)


@mutant("PER-43")
def threads_are_known_by_their_name(patch: Patch) -> None:
    """The name of a thread is unique; the resource is only noted."""

    def owner(own: InMemoryStorage, thread: str, resource: str) -> str:
        return next((key[1] for key in own._threads if key[0] == thread), resource)

    def read(original: Callable[..., Any], own: InMemoryStorage, thread: str, resource: str, *limit: Any) -> Any:
        return original(own, thread, owner(own, thread, resource), *limit)

    def append(original: Callable[..., Any], own: InMemoryStorage, thread: str, resource: str, messages: Any) -> Any:
        return original(own, thread, owner(own, thread, resource), messages)

    patch.wrap(InMemoryStorage, "read", read)
    patch.wrap(InMemoryStorage, "append", append)


@mutant("PER-44")
def what_is_sent_again_wins(patch: Patch) -> None:
    """The caller knows best what was said."""
    only_new_ones_remembered(patch)
    overwriting(patch)


@mutant("PER-44")
def what_is_sent_again_moves_to_the_end(patch: Patch) -> None:
    """A message that comes again is new; the old one goes."""

    def append(own: InMemoryStorage, thread: str, resource: str, messages: Any) -> None:
        stored = own._threads.setdefault((thread, resource), {})
        for message_id, text in packed(messages):
            stored.pop(message_id, None)
            stored[message_id] = text

    patch.set(InMemoryStorage, "append", append)


@mutant("PER-44")
def what_is_sent_again_is_input(patch: Patch) -> None:
    """What the caller gives is input, whatever the store has."""

    def remember(original: Callable[..., None], own: MessageList, messages: Messages) -> None:
        again = [message["id"] for message in messages if own.source_of(message["id"]) is not None]
        original(own, messages)
        own._source.update(dict.fromkeys(again, "input"))

    patch.wrap(MessageList, "remember", remember)


@mutant("PER-45")
def everything_is_remembered(patch: Patch) -> None:
    """Without a number there is no limit."""

    def init(original: Callable[..., None], own: Memory, *given: Any, **options: Any) -> None:
        original(own, *given, **{"last_messages": None, **options})

    patch.wrap(Memory, "__init__", init)


@mutant("PER-19")
def the_input_counts_as_remembered(patch: Patch) -> None:
    """The limit is that of the prompt's messages."""

    def recall(original: Callable[..., None], own: MessageHistory, args: InputArgs) -> None:
        whole, given = own._memory, len(args.message_list.of("input")) - 1
        own._memory = Memory(whole.storage, max((whole.last_messages or 0) - given, 0), whole.read_only)
        original(own, args)
        own._memory = whole

    patch.wrap(MessageHistory, "process_input", recall)


@mutant("PER-20")
def requests_remember_what_others_ask(patch: Patch) -> None:
    """The input is stored at once, so that others see it."""

    def stored_first(phase: Callable[[Run], None], run: Run) -> None:
        for history in [one for one in run.settings.inputs if isinstance(one, MessageHistory)]:
            with suppress(RunFailed):
                history._memory.storage.append(history._thread, history._resource, run.message_list.of("input"))
        phase(run)

    patch.around(loop.input_phase, stored_first)
