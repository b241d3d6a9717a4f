"""What the tests of the reference are written with: processors made of functions, small agents, short views."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from processor_contract import Agent, InMemoryStorage, Memory, MessageList, Processor, RunResult, ScriptedModel, text_of

Json = Any
CALL: dict[str, Json] = {"tool_calls": [{"name": "add", "args": {"a": 1}, "id": "c1"}]}


def processor(id: str = "p", *, data: bool = False, **hooks: Any) -> Processor:
    """A processor with these hooks; each is a function of the hook's arguments."""
    made = Processor()
    made.id = id
    made.process_data_parts = data
    for name, hook in hooks.items():
        setattr(made, name, hook)
    return made


def inputs(*turns: Any, id: str = "p", **hooks: Any) -> Agent:
    """An agent with one input processor, whose model says these turns."""
    return Agent(ScriptedModel(turns or ["hi"]), input_processors=[processor(id, **hooks)] if hooks else [])


def outputs(*turns: Any, id: str = "p", data: bool = False, **hooks: Any) -> Agent:
    """An agent with one output processor, whose model says these turns."""
    return Agent(ScriptedModel(turns or ["hi"]), output_processors=[processor(id, data=data, **hooks)])


def remembering(*turns: Any, storage: Any = None, **options: Any) -> tuple[Agent, Any]:
    """An agent with memory, and its store."""
    store = InMemoryStorage() if storage is None else storage
    return Agent(ScriptedModel(turns or ["hi"]), memory=Memory(store), **options), store


def at_once(*works: Callable[[], object]) -> None:
    """Does each of these on a thread of its own, and comes back when all have ended."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def hooked(hook: str, function: Any) -> Json:
    """Keywords for a processor with this one hook."""
    return {hook: function}


def message(id: str | None, *texts: str, role: str = "user", **members: Json) -> Json:
    """A message with one text part for each text."""
    made: Json = {"role": role, "content": {"format": 2, "parts": parts(*texts)}, **members}
    return made if id is None else {"id": id, **made}


def parts(*texts: str) -> list[dict[str, Json]]:
    """Text parts."""
    return [{"type": "text", "text": text} for text in texts]


def ids(messages: Iterable[Any]) -> list[Any]:
    """The ids of messages."""
    return [one["id"] for one in messages]


def texts(messages: Iterable[Any]) -> list[str]:
    """Role and text of messages: `user: hi`."""
    return [f"{one['role']}: {text_of(one)}" for one in messages]


def kinds(chunks: Iterable[Any]) -> list[str]:
    """The types of chunks."""
    return [chunk["type"] for chunk in chunks]


def part_kinds(result: RunResult) -> list[str]:
    """The types of the parts of all response messages."""
    return [part["type"] for one in result.messages for part in one["content"]["parts"]]


def listed(*entries: str) -> MessageList:
    """A list of messages given as `id` or `id:source`, of source input where none is named."""
    made = MessageList()
    for entry in entries:
        id, _, source = entry.partition(":")
        made.add([message(id, id)], source or "input")  # type: ignore[arg-type]
    return made


def stored(storage: Any, thread: str = "t", resource: str = "r") -> list[str]:
    """Role and text of what a thread holds."""
    return texts(storage.read(thread, resource))
