"""Mutants of the family PER: what does not last is stored, and what was stored is changed or not remembered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import agent, prompt, request
from processor_contract.data import clone, new_id
from processor_contract.memory import MessageHistory
from processor_contract.message import check_whole, copied
from processor_contract.message_list import MessageList
from processor_contract.processor import OutputResultArgs
from processor_contract.returns import Returns, Slate
from processor_contract.run import Link, Run
from processor_contract.storage import InMemoryStorage

from . import Patch, mutant
from .saving import Messages, overwriting, saving


def written_back(run: Run, slate: dict[str, Any]) -> None:
    """What the prompt lets the user say becomes the user's messages."""
    users = [message for message in run.message_list.everything() if message["role"] == "user"]
    said = [message["content"] for message in slate["prompt"] if message["role"] == "user"]
    for message, content in zip(users, said, strict=False):
        message["content"]["parts"] = clone(content)


@mutant("PER-7")
def returned_prompt_is_written_back(patch: Patch) -> None:
    """What a returned prompt lets the user say is put into the list."""

    def take(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        stop = original(run, link, slate, returned)
        if returned is not None:
            written_back(run, slate)
        return stop

    patch.returned("process_llm_request", take)


@mutant("PER-7")
def returned_prompt_is_continued(patch: Patch) -> None:
    """The next step's prompt begins with the one that was returned in this step."""
    sent: dict[str, Messages] = {}

    def asked(ask: Callable[..., Any], run: Run, attempt: Any) -> Any:
        made = ask(run, attempt)
        sent[run.id] = made.prompt
        return made

    def take(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        last = sent.get(run.id)
        if last is not None and link is run.plan["process_llm_request"][0]:
            slate["prompt"] = [*last, *slate["prompt"][len(last) :]]
        return original(run, link, slate, returned)

    patch.around(request.ask, asked)
    patch.returned("process_llm_request", take)


@mutant("PER-8")
def system_messages_are_stored(patch: Patch) -> None:
    """System messages are stored like the others."""

    def unsaved(own: MessageList) -> Messages:
        system: Messages = [
            {
                "id": new_id(),
                "role": "system",
                "content": {"format": 2, "parts": [{"type": "text", "text": one["content"]}]},
            }
            for one in own.get_all_system_messages()
        ]
        return [*system, *own.of("input", "response")]  # type: ignore[list-item]

    patch.set(MessageList, "unsaved", unsaved)


@mutant("PER-8")
def returned_system_messages_are_stored(patch: Patch) -> None:
    """A returned message of role system is a message like any other."""
    kept: dict[int, Messages] = {}

    def reconcile(original: Callable[..., None], own: MessageList, view: Any, returned: Any, source: Any) -> None:
        kept[id(own)] = [clone(one) for one in returned if one["role"] == "system"]
        original(own, view, returned, source)

    def unsaved(original: Callable[..., Any], own: MessageList) -> Messages:
        return [*original(own), *({**one, "id": new_id()} for one in kept.get(id(own), []))]

    patch.wrap(MessageList, "reconcile", reconcile)
    patch.wrap(MessageList, "unsaved", unsaved)


@mutant("PER-12")
def the_whole_list_is_written(patch: Patch) -> None:
    """Remembered messages are written again, as this request left them."""
    patch.set(MessageList, "unsaved", lambda own: own.of("memory", "input", "response"))
    overwriting(patch)


@mutant("PER-12")
def the_thread_is_replaced(patch: Patch) -> None:
    """The thread is made to hold what the list holds: what is missing there is deleted."""

    def append(original: Callable[..., None], own: InMemoryStorage, thread: str, resource: str, messages: Any) -> None:
        listed = {message["id"] for message in messages}
        stored = own._threads.get((thread, resource), {})
        for gone in [one for one in stored if one not in listed]:
            del stored[gone]
        original(own, thread, resource, messages)

    patch.set(MessageList, "unsaved", lambda own: own.of("memory", "input", "response"))
    overwriting(patch)
    patch.wrap(InMemoryStorage, "append", append)


@mutant("PER-13")
def context_is_input(patch: Patch) -> None:
    """Context messages are part of the input."""

    def add(original: Callable[..., None], own: MessageList, messages: Any, source: str) -> None:
        original(own, messages, "input" if source == "context" else source)

    patch.wrap(MessageList, "add", add)


@mutant("PER-19")
def nothing_is_remembered(patch: Patch) -> None:
    """Requests are stored and never recalled."""
    patch.set(MessageHistory, "process_input", lambda own, args: None)


@mutant("PER-19")
def remembered_after_the_input(patch: Patch) -> None:
    """What is remembered comes after the input."""

    def remember(original: Callable[..., None], own: MessageList, messages: Any) -> None:
        original(own, messages)
        mine = [message for message in own._messages if own.source_of(message["id"]) != "memory"]
        own._messages = [*mine, *(message for message in own._messages if own.source_of(message["id"]) == "memory")]

    patch.wrap(MessageList, "remember", remember)


@mutant("PER-19")
def the_first_messages_are_remembered(patch: Patch) -> None:
    """lastMessages counts from the beginning of the thread."""

    def read(
        original: Callable[..., Messages], own: InMemoryStorage, thread: str, resource: str, limit: Any = None
    ) -> Messages:
        return original(own, thread, resource)[:limit]

    patch.wrap(InMemoryStorage, "read", read)


@mutant("PER-19")
def the_resource_is_remembered(patch: Patch) -> None:
    """What is recalled is everything stored for the resource, whatever the thread."""

    def read(
        original: Callable[..., Messages], own: InMemoryStorage, thread: str, resource: str, limit: Any = None
    ) -> Messages:
        return [one for key in own._threads if key[1] == resource for one in original(own, *key, limit)]

    patch.wrap(InMemoryStorage, "read", read)


@mutant("PER-19")
def remembered_in_the_first_step_only(patch: Patch) -> None:
    """The steps after the first get this request's messages only."""
    ask = request.ask

    def asked(run: Run, attempt: Any) -> Any:
        if attempt.number:
            run.message_list.remove_by_ids([one["id"] for one in run.message_list.of("memory")])
        return ask(run, attempt)

    patch.function(ask, asked)


@mutant("PER-23")
def read_only_is_ignored(patch: Patch) -> None:
    """Read-only memory saves like any other."""

    def around(call: Callable[[], None], history: MessageHistory, args: OutputResultArgs) -> None:
        history._memory.read_only = False
        call()

    saving(patch, around)


@mutant("PER-24")
def a_call_without_a_thread_has_the_last_one(patch: Patch) -> None:
    """A call that names no thread goes to the one used last."""
    history = agent.Agent._history

    def made(own: agent.Agent, options: Any) -> Any:
        if own._memory is not None and options.thread is None:
            options.thread, options.resource = next(iter(own._memory.storage.inner._threads), ("", ""))  # type: ignore[attr-defined]
        return history(own, options)

    patch.set(agent.Agent, "_history", made)


@mutant("PER-25")
def the_store_hands_out_its_own(patch: Patch) -> None:
    """Recalled messages are the store's own objects, and the list works on what it is given."""

    def read(original: Callable[..., Messages], own: InMemoryStorage, *address: Any) -> Messages:
        kept = vars(own).setdefault("kept", {})
        return [kept.setdefault(message["id"], message) for message in original(own, *address)]

    def taken(message: Any, place: int | None = None) -> Any:
        check_whole(message, place)
        return message

    patch.wrap(InMemoryStorage, "read", read)
    patch.function(copied, taken)


@mutant("PER-31")
def the_prompt_shares_its_parts(patch: Patch) -> None:
    """The prompt holds the parts of the messages themselves."""
    for made_of in (prompt.FOR_USERS, prompt.FOR_ASSISTANTS):
        patch.set(made_of, "text", lambda part, form: [(False, part)])
