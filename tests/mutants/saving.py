"""What mutants of the family PER are made with: ways to change what is saved, when, and what hooks get and return.

Flows in: a `Patch`, and what is to be different. Flows out: changes to the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import loop, pipeline
from processor_contract.data import clone
from processor_contract.hooks import HOOKS
from processor_contract.memory import MessageHistory
from processor_contract.message_list import MessageList
from processor_contract.processor import OutputResultArgs
from processor_contract.run import Run, Settings
from processor_contract.storage import InMemoryStorage, packed

from . import Patch

Messages = list[dict[str, Any]]


def stored_as(patch: Patch, change: Callable[[Messages], Messages]) -> None:
    """What reaches the store is `change(messages)`."""

    def append(original: Callable[..., None], own: InMemoryStorage, thread: str, resource: str, messages: Any) -> None:
        original(own, thread, resource, change(clone(list(messages))))

    patch.wrap(InMemoryStorage, "append", append)


def overwriting(patch: Patch) -> None:
    """The store puts a message in the place of the one that it has under this id."""

    def append(own: InMemoryStorage, thread: str, resource: str, messages: Any) -> None:
        own._threads.setdefault((thread, resource), {}).update(packed(messages))

    patch.set(InMemoryStorage, "append", append)


def saving(patch: Patch, around: Callable[[Callable[[], None], MessageHistory, OutputResultArgs], None]) -> None:
    """`around(save, history, args)` decides whether and when history saves."""

    def save(original: Callable[..., None], own: MessageHistory, args: OutputResultArgs) -> None:
        around(lambda: original(own, args), own, args)

    patch.wrap(MessageHistory, "process_output_result", save)


def save(run: Run) -> None:
    """Stores what a run has in its list."""
    for history in [one for one in run.settings.outputs if isinstance(one, MessageHistory)]:
        unsaved = clone(run.message_list.unsaved())
        if unsaved:
            history._memory.storage.append(history._thread, history._resource, unsaved)


def seen_as_copies(patch: Patch, hook: str) -> None:
    """A hook gets copies of the messages."""
    sees = HOOKS[hook].sees
    patch.cell(hook, sees=lambda message_list: clone(sees(message_list)) if sees else [])


def saved_when_ended_by(patch: Patch, *endings: str) -> None:
    """A run that ends in one of these ways is stored all the same."""
    ended_by = loop.ended_by

    def ended(run: Run, ending: Any) -> Any:
        if type(ending).__name__ in endings:  # also where the caller has gone before: the run does not know
            save(run)
        yield from ended_by(run, ending)

    patch.function(ended_by, ended)


def calls_around(patch: Patch, hook: str, around: Callable[[Run, Callable[[], Any], Any], Any]) -> None:
    """`around(run, call, args)` stands in for each call of a hook."""
    plan = pipeline.plan

    def planned(run: Run) -> None:
        plan(run)
        for link in run.plan[hook]:
            link.method = _around(run, link.method, around)

    patch.function(plan, planned)


def _around(run: Run, method: Callable[[Any], Any], around: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda args: around(run, lambda: method(args), args)


def without(messages: Messages, unwanted: Callable[[dict[str, Any]], bool]) -> Messages:
    """The messages without some of their parts."""
    for message in messages:
        message["content"]["parts"] = [part for part in message["content"].get("parts", []) if not unwanted(part)]
    return messages


def reconciled(patch: Patch, change: Callable[[MessageList, Messages, Messages], Messages]) -> None:
    """What a hook returned is `change(list, view, returned)`."""

    def reconcile(original: Callable[..., None], own: MessageList, view: Any, returned: Any, source: Any) -> None:
        original(own, view, change(own, list(view), list(returned)), source)

    patch.wrap(MessageList, "reconcile", reconcile)


def reconciled_where_they_stood(patch: Patch) -> None:
    """Returned messages stand as they stood, new ones behind them."""

    def change(own: MessageList, view: Messages, returned: Messages) -> Messages:
        places = {message["id"]: place for place, message in enumerate(view)}
        return sorted(returned, key=lambda message: places.get(message.get("id", ""), len(places)))

    reconciled(patch, change)


def only_new_ones_remembered(patch: Patch) -> None:
    """What is remembered and in the list already is not looked at."""

    def remember(original: Callable[..., None], own: MessageList, messages: Messages) -> None:
        original(own, [message for message in messages if own.source_of(message["id"]) is None])

    patch.wrap(MessageList, "remember", remember)


def history_first(patch: Patch) -> None:
    """History saves before the user's output processors run."""

    def first(own: Any, options: Any, settings: Settings) -> None:
        settings.outputs = sorted(settings.outputs, key=lambda one: not isinstance(one, MessageHistory))

    patch.settled(first)
