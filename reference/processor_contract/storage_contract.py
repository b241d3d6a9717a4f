"""The tests that a store has to pass, to be made a class of your own test suite, with pytest or unittest:

    from processor_contract.storage_contract import StorageContract

    class TestMyStorage(StorageContract):                       # unittest: (StorageContract, unittest.TestCase)
        def open_storage(self):
            return MyStorage(...)

Flows in: a `Storage`. Flows out: an AssertionError that says what was expected, what came, and which rule asks for it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from .agent import Agent
from .data import Message, new_id
from .memory import Memory
from .models.scripted import ScriptedModel
from .storage import Storage
from .tools import Tool

WRITERS, BLOCKS = 8, 25  # threads that write at once, and how often each


class StorageContract:
    """One test a promise of `Storage`. Every test uses conversations of its own, so a store may be used for several.

    `open_storage()` has to be written: it returns the store. `reopen(storage)` may be: it returns a store that has
    what another process would find, for stores that outlive theirs. `close(storage)` may be: it is called at the end
    of each test.
    """

    def open_storage(self) -> Storage:
        """The store to test."""
        raise TypeError("write open_storage(): it returns the store to test")

    def reopen(self, storage: Storage) -> Storage:
        """The same store, as whoever comes later finds it."""
        return storage

    def close(self, storage: Storage) -> None:
        """Lets the store go."""

    # -- what is kept ----------------------------------------------------------------------------------------------

    def test_an_unknown_conversation_is_empty(self) -> None:
        with self._conversation() as it:
            same([], it.read(), "a conversation that nobody has begun", "PER-19")
            same([], it.read(limit=3), "the same, with a limit", "PER-19")

    def test_messages_are_kept_as_they_are(self) -> None:
        odd = message(
            "odd",
            "text \ud800 \x00 \u2028 😀 ключ 'quoted' \"too\"; drop table messages; --",
            mine={"deep": [1, None, True, 1.5, 2**70, {"": [], "$ref": {}}]},
            createdAt="no date at all",
        )
        odd["content"]["parts"] += [{"type": "mine", "of": "nobody's"}, {"type": "text", "text": ""}]
        with self._conversation() as it:
            it.append([odd])
            same(json.dumps([odd]), json.dumps(it.read()), "every member, known or not, in its order", "PER-28")

    def test_messages_are_kept_for_whoever_opens_the_store_later(self) -> None:
        with self._conversation() as it:
            it.append([message("a"), message("b")])
            it.storage = self.reopen(it.storage)
            same(["a", "b"], it.ids(), "what was stored before", "PER-1")

    def test_what_was_given_may_be_changed_afterwards(self) -> None:
        with self._conversation() as it:
            given = message("a")
            it.append([given])
            given["content"]["parts"].clear()
            same([message("a")], it.read(), "what was given, as it was then", "PER-25")

    def test_what_was_read_may_be_changed(self) -> None:
        with self._conversation() as it:
            it.append([message("a")])
            it.read()[0]["content"]["parts"].clear()
            same([message("a")], it.read(), "what was stored, whoever has read it", "PER-25")

    # -- in which order --------------------------------------------------------------------------------------------

    def test_blocks_follow_one_another(self) -> None:
        with self._conversation() as it:
            it.append([message("z", createdAt="2030-01-01"), message("a", createdAt="2010-01-01")])
            it.append([message("m", createdAt="2020-01-01")])
            same(["z", "a", "m"], it.ids(), "the order of storing, whatever the dates and ids say", "PER-15")

    def test_a_limit_leaves_the_last(self) -> None:
        with self._conversation() as it:
            it.append([message(each) for each in "abc"])
            for limit, left in ((None, "abc"), (0, ""), (1, "c"), (2, "bc"), (3, "abc"), (9, "abc")):
                same(list(left), it.ids(limit), f"the last of three messages, with limit {limit}", "PER-19")

    def test_an_empty_block_changes_nothing(self) -> None:
        with self._conversation() as it:
            it.append([message("a")])
            it.append([])
            same(["a"], it.ids(), "what was there", "PER-1")

    def test_a_known_id_stays_as_and_where_it_is(self) -> None:
        with self._conversation() as it:
            it.append([message("a", "1"), message("b", "2")])
            it.append([message("c", "3"), message("a", "new")])
            expected = [message("a", "1"), message("b", "2"), message("c", "3")]
            same(expected, it.read(), "the stored message, where another came under its id", "PER-44")

    def test_a_block_may_be_appended_again(self) -> None:
        with self._conversation() as it:
            for _ in range(2):
                it.append([message("a"), message("b")])
            same(["a", "b"], it.ids(), "each message once", "PER-44")

    # -- for whom --------------------------------------------------------------------------------------------------

    def test_threads_are_kept_apart(self) -> None:
        with self._conversation() as it:
            it.append([message("a", "1")])
            it.storage.append(new_id(), it.resource, [message("a", "2"), message("b", "3")])
            same([message("a", "1")], it.read(), "what this thread has, and nothing of another", "PER-19")

    def test_resources_are_kept_apart(self) -> None:
        with self._conversation() as it:
            it.append([message("a", "1")])
            # whether the thread of another may be named at all is the store's affair
            with contextlib.suppress(Exception):
                it.storage.append(it.thread, new_id(), [message("a", "2"), message("b", "3")])
            same([message("a", "1")], it.read(), "what this resource has, and nothing of another", "PER-43")

    def test_names_may_look_like_anything(self) -> None:
        with self._conversation() as it:
            for name in ("%", "_", "'; drop table messages; --", "../x", "a/b", "ключ", "A", "a", " a", "*"):
                it.storage.append(it.thread + name, it.resource, [message("only", name)])
            for name in ("%", "../x", "ключ", "A", "a", " a"):
                found = it.storage.read(it.thread + name, it.resource)
                same([message("only", name)], found, f"what the thread ...{name!r} has", "PER-19")

    # -- whole or not at all ---------------------------------------------------------------------------------------

    def test_nothing_is_stored_of_a_block_that_cannot_be(self) -> None:
        with self._conversation() as it:
            circular: dict[str, Any] = {}
            circular["self"] = circular
            for bad in (object(), circular, {1, 2}):
                raised = False
                try:
                    it.append([message("a"), message("b", bad=bad), message("c")])
                except Exception:
                    raised = True
                same(
                    (True, []), (raised, it.ids()), f"an error, and nothing stored, for {type(bad).__name__}", "PER-40"
                )
            it.append([message("d")])
            same(["d"], it.ids(), "a store that can be used after it has refused something", "PER-40")

    def test_threads_write_whole_blocks_and_lose_none(self) -> None:
        with self._conversation() as it:
            written = it.write_side_by_side()
            found = it.ids()
            blocks = [found[at : at + 3] for at in range(0, len(found), 3)]
            same(sorted(written), sorted(blocks), f"the blocks of {WRITERS} threads, each in one piece", "PER-20")

    # -- with an agent ---------------------------------------------------------------------------------------------

    def test_a_conversation_goes_on(self) -> None:
        with self._conversation() as it:
            model = ScriptedModel(["fine", "bye"])
            agent = Agent(model, memory=Memory(it.storage))
            for said in ("how are you", "well then"):
                agent.generate(said, thread=it.thread, resource=it.resource)
            found = [one["content"]["content"] for one in it.read()]
            same(["how are you", "fine", "well then", "bye"], found, "two requests, one behind the other", "PER-1")
            prompted = [one["content"][0]["text"] for one in model.requests[1].prompt]
            same(["how are you", "fine", "well then"], prompted, "the first request, in the second's prompt", "PER-19")

    @contextlib.contextmanager
    def _conversation(self) -> Iterator[Conversation]:
        it = Conversation(self.open_storage())
        try:
            yield it
        finally:
            self.close(it.storage)


class Conversation:
    """One conversation in a store, with names that no other has."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.thread, self.resource = new_id(), new_id()

    def read(self, limit: int | None = None) -> list[Message]:
        """What the store has of it."""
        return self.storage.read(self.thread, self.resource, limit)

    def ids(self, limit: int | None = None) -> list[str]:
        """The ids of what the store has of it."""
        return [one["id"] for one in self.read(limit)]

    def append(self, messages: Sequence[Message]) -> None:
        """Adds a block to it."""
        self.storage.append(self.thread, self.resource, messages)

    def write_side_by_side(self) -> list[list[str]]:
        """Appends blocks of three messages from several threads at once: the tools of one step. Returns the ids."""
        blocks = [
            [[f"{writer}-{number}-{place}" for place in "abc"] for number in range(BLOCKS)] for writer in range(WRITERS)
        ]

        errors: list[Exception] = []

        def write(args: Any, context: Any) -> None:
            try:
                for block in blocks[args["writer"]]:
                    self.append([message(each) for each in block])
            except Exception as error:
                errors.append(error)

        calls = [{"name": "write", "args": {"writer": writer}, "id": f"c{writer}"} for writer in range(WRITERS)]
        Agent(ScriptedModel([{"tool_calls": calls}, "done"]), tools=[Tool("write", write)]).generate("write")
        same([], errors, "no error while several write", "PER-20")
        return [block for several in blocks for block in several]


def message(message_id: str, text: str = "x", **members: Any) -> Message:
    """A user's message with one text."""
    parts: list[Any] = [{"type": "text", "text": text}]
    return {"id": message_id, "role": "user", "content": {"format": 2, "parts": parts}, **members}  # type: ignore[typeddict-item]


def same(expected: Any, found: Any, what: str, rule: str) -> None:
    """Raises AssertionError unless the two are equal."""
    if expected != found:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r} [{rule}]")
