"""The tests for stores that are shipped: both stores pass them, and each way to break a store fails one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import processor_contract
from processor_contract import InMemoryStorage, InvalidMessage, SQLiteStorage
from processor_contract.data import Message
from processor_contract.storage_contract import StorageContract

TESTS = sorted(name for name in dir(StorageContract) if name.startswith("test_"))


class TestInMemory(StorageContract):
    def open_storage(self) -> Any:
        return InMemoryStorage()


class TestSQLite(StorageContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "store.db"

    def open_storage(self) -> Any:
        return SQLiteStorage(self.path)

    def reopen(self, storage: Any) -> Any:
        storage.close()
        return SQLiteStorage(self.path)

    def close(self, storage: Any) -> None:
        storage.close()


# -- stores that are broken, each in one way ---------------------------------------------------------------------------


class Careless:
    """A store on the plainest data: a list of messages for each conversation. What it gets wrong is overridden."""

    def __init__(self) -> None:
        self.kept: dict[Any, list[Any]] = {}
        self.lock = threading.Lock()

    def key(self, thread: str, resource: str) -> Any:
        return thread, resource

    def taken(self, message: Any) -> Any:
        return json.loads(json.dumps(message))

    def given(self, message: Any) -> Any:
        return self.taken(message)

    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        stored = self.kept.get(self.key(thread, resource), [])
        return [self.given(one) for one in self.limited(stored, limit)]

    def limited(self, stored: list[Any], limit: int | None) -> list[Any]:
        return stored if limit is None else stored[len(stored) - min(limit, len(stored)) :]

    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        block = [self.taken(one) for one in messages]
        with self.lock:
            stored = self.kept.setdefault(self.key(thread, resource), [])
            known = {one["id"] for one in stored}
            stored.extend(one for one in block if one["id"] not in known)


class KeepsWhatItGot(Careless):
    def taken(self, message: Any) -> Any:
        json.dumps(message)
        return message

    def given(self, message: Any) -> Any:
        return json.loads(json.dumps(message))


class HandsOutItsOwn(Careless):
    def given(self, message: Any) -> Any:
        return message


class KeepsWhatItKnows(Careless):
    def taken(self, message: Any) -> Any:
        known = ("id", "role", "createdAt", "threadId", "resourceId", "content")
        return {key: value for key, value in super().taken(message).items() if key in known}


class SortsMembers(Careless):
    def taken(self, message: Any) -> Any:
        return json.loads(json.dumps(message, sort_keys=True))


class SortsByDate(Careless):
    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        return sorted(super().read(thread, resource, limit), key=lambda one: str(one.get("createdAt")))


class LimitsTheFirst(Careless):
    def limited(self, stored: list[Any], limit: int | None) -> list[Any]:
        return stored[:limit]


class TakesZeroForNone(Careless):
    def limited(self, stored: list[Any], limit: int | None) -> list[Any]:
        return stored[-limit:] if limit else stored


class Overwrites(Careless):
    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        block = {one["id"]: self.taken(one) for one in messages}
        with self.lock:
            stored = self.kept.setdefault(self.key(thread, resource), [])
            stored[:] = [block.pop(one["id"], one) for one in stored]
            stored.extend(block.values())


class AppendsTwice(Careless):
    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        block = [self.taken(one) for one in messages]
        with self.lock:
            self.kept.setdefault(self.key(thread, resource), []).extend(block)


class KnowsThreadsOnly(Careless):
    def key(self, thread: str, resource: str) -> Any:
        return thread


class KnowsResourcesOnly(Careless):
    def key(self, thread: str, resource: str) -> Any:
        return resource


class FoldsNames(Careless):
    def key(self, thread: str, resource: str) -> Any:
        return thread.strip().lower(), resource


class StoresByHalf(Careless):
    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        for one in messages:
            super().append(thread, resource, [one])
            time.sleep(0.0001)


class SwallowsWhatItCannotStore(Careless):
    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        try:
            super().append(thread, resource, messages)
        except Exception:
            return


class RefusesEverythingOnceItFailed(Careless):
    failed = False

    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        if self.failed:
            raise OSError("out of order")
        try:
            super().append(thread, resource, messages)
        except Exception:
            self.failed = True
            raise


class ForgetsUnderLoad(Careless):
    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        stored = self.read(thread, resource)
        time.sleep(0.0001)
        known = {one["id"] for one in stored}
        self.kept[self.key(thread, resource)] = [*stored, *(one for one in messages if one["id"] not in known)]


class RaisesForTheUnknown(Careless):
    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        return [self.given(one) for one in self.limited(self.kept[self.key(thread, resource)], limit)]


class RefusesNothing(Careless):
    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        if not messages:
            raise ValueError("there is nothing to store")
        super().append(thread, resource, messages)


class Forgetful(Careless):
    """Loses everything when it is opened again."""


def failing(kind: type[Careless]) -> list[str]:
    """The tests that a kind of store fails."""

    class Tests(StorageContract):
        def open_storage(self) -> Any:
            return kind()

        def reopen(self, storage: Any) -> Any:
            return kind() if kind is Forgetful else storage

    failed = []
    for name in TESTS:
        try:
            getattr(Tests(), name)()
        except Exception:
            failed.append(name.removeprefix("test_"))
    return failed


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (KeepsWhatItGot, "what_was_given_may_be_changed_afterwards"),
        (HandsOutItsOwn, "what_was_read_may_be_changed"),
        (KeepsWhatItKnows, "messages_are_kept_as_they_are"),
        (SortsMembers, "messages_are_kept_as_they_are"),
        (SortsByDate, "blocks_follow_one_another"),
        (LimitsTheFirst, "a_limit_leaves_the_last"),
        (TakesZeroForNone, "a_limit_leaves_the_last"),
        (Overwrites, "a_known_id_stays_as_and_where_it_is"),
        (AppendsTwice, "a_block_may_be_appended_again"),
        (KnowsThreadsOnly, "resources_are_kept_apart"),
        (KnowsResourcesOnly, "threads_are_kept_apart"),
        (FoldsNames, "names_may_look_like_anything"),
        (StoresByHalf, "nothing_is_stored_of_a_block_that_cannot_be"),
        (StoresByHalf, "threads_write_whole_blocks_and_lose_none"),
        (SwallowsWhatItCannotStore, "nothing_is_stored_of_a_block_that_cannot_be"),
        (RefusesEverythingOnceItFailed, "nothing_is_stored_of_a_block_that_cannot_be"),
        (ForgetsUnderLoad, "threads_write_whole_blocks_and_lose_none"),
        (RaisesForTheUnknown, "an_unknown_conversation_is_empty"),
        (RefusesNothing, "an_empty_block_changes_nothing"),
        (Forgetful, "messages_are_kept_for_whoever_opens_the_store_later"),
    ],
)
def test_a_broken_store_fails(kind: type[Careless], expected: str) -> None:
    assert expected in failing(kind)


def test_every_test_can_fail() -> None:
    class Nothing(Careless):
        def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
            return None

        def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
            return [{"id": "ghost", "role": "user", "content": {"format": 2, "parts": []}}]

    assert [f"test_{name}" for name in failing(Nothing)] == TESTS


def test_the_plain_store_that_the_broken_ones_are_made_of_passes() -> None:
    assert failing(Careless) == []


def test_a_failure_says_what_was_expected_and_by_which_rule() -> None:
    class Tests(StorageContract):
        def open_storage(self) -> Any:
            return LimitsTheFirst()

    expected = r"the last of three messages, with limit 1: expected \['c'\], found \['a'\] \[PER-19\]"
    with pytest.raises(AssertionError, match=expected):
        Tests().test_a_limit_leaves_the_last()


def test_a_store_has_to_be_named() -> None:
    with pytest.raises(TypeError, match=r"write open_storage\(\)"):
        StorageContract().test_blocks_follow_one_another()


def test_unittest_runs_them_too(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import unittest\n"
        "from processor_contract import InMemoryStorage\n"
        "from processor_contract.storage_contract import StorageContract\n"
        "class Mine(StorageContract, unittest.TestCase):\n"
        "    def open_storage(self):\n"
        "        return InMemoryStorage()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(processor_contract.__file__).parent.parent)}
    command = [sys.executable, "-m", "unittest", "-q", "test_mine"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert (ran.returncode, f"Ran {len(TESTS)} tests" in ran.stderr) == (0, True)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("hi", "str, which is no message, cannot be stored; append dicts with an `id` that is a text"),
        ({"role": "user"}, "a message without an `id` cannot be stored; append dicts with an `id` that is a text"),
        ({"id": 7}, "a message without an `id` cannot be stored; append dicts with an `id` that is a text"),
        ({"id": "m", "content": {1, 2}}, "message 'm' cannot be stored: it holds a value of type set"),
    ],
)
@pytest.mark.parametrize("kind", [InMemoryStorage, SQLiteStorage])
def test_what_is_no_message_is_refused_and_nothing_of_its_block_is_stored(
    kind: type[Any], message: Any, said: str, tmp_path: Path
) -> None:
    storage = kind(*[tmp_path / "store.db"][: kind is SQLiteStorage])
    with pytest.raises(InvalidMessage, match=re.escape(said)):
        storage.append("t", "r", [{"id": "good"}, message])

    assert storage.read("t", "r") == []
