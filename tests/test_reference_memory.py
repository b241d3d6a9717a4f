"""Memory: what is recalled and what is saved, in the corners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from processor_contract import (
    Agent,
    APICallError,
    HookFailed,
    InMemoryStorage,
    InvalidAgent,
    Memory,
    NotSaved,
    ScriptedModel,
    SQLiteStorage,
    StorageFailed,
    Tool,
)
from reference_kit import CALL, ids, message, part_kinds, processor, remembering, stored, texts

THREAD: Any = {"thread": "t", "resource": "r"}


def with_history(*turns: Any, **options: Any) -> tuple[Agent, Any]:
    """An agent whose thread holds two messages, `old` and `answer`."""
    agent, storage = remembering(*turns, **options)
    storage.append("t", "r", [message("old", "old question"), message("answer", "old answer", role="assistant")])
    return agent, storage


OLD = ["user: old question", "assistant: old answer"]


# -- recalled ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, ["old", "answer"]),
        (0, []),
        (False, []),
        (1, ["answer"]),
        (9, ["old", "answer"]),
        (10**30, ["old", "answer"]),
    ],
)
def test_the_last_messages_are_recalled(limit: int | None, expected: list[str]) -> None:
    _, storage = with_history()
    seen: list[Any] = []
    agent = Agent(
        ScriptedModel(["hi"]),
        memory=Memory(storage, last_messages=limit),
        input_processors=[processor(process_input=lambda args: seen.extend(args.message_list.get.remembered.db()))],
    )
    agent.generate("x", **THREAD)

    assert ids(seen) == expected


@pytest.mark.parametrize("limit", [-1, True, 1.5, "10", [], float("nan")])
def test_what_is_no_number_of_messages_is_refused(limit: Any) -> None:
    with pytest.raises(InvalidAgent, match=r"last_messages is .*; use a number from 0, or None for all \[PER-41\]"):
        Memory(InMemoryStorage(), last_messages=limit)


@pytest.mark.parametrize(
    "options",
    [
        {"thread": "t"},
        {"resource": "r"},
        {"thread": "t", "resource": ""},
        {"thread": "", "resource": "r"},
        {"thread": 7, "resource": "r"},
        {"thread": "t", "resource": ["r"]},
    ],
)
def test_half_an_address_is_refused(options: Any) -> None:
    agent, _ = remembering()

    with pytest.raises(InvalidAgent, match=r"memory needs a thread and a resource; (thread|resource) is .*\[PER-42\]"):
        agent.generate("x", **options)


@pytest.mark.parametrize("options", [{}, {"thread": "t"}, {"thread": "t", "resource": "r"}])
def test_without_memory_the_address_is_just_noted(options: Any) -> None:
    assert Agent(ScriptedModel(["hi"])).generate("x", **options).text == "hi"


def test_stored_messages_bear_their_address() -> None:
    agent, storage = remembering()
    agent.generate("x", **THREAD)

    assert [(one["threadId"], one["resourceId"]) for one in storage.read("t", "r")] == [("t", "r")] * 2


def test_an_input_that_has_the_id_of_a_remembered_message_is_in_the_list_once() -> None:
    seen: list[Any] = []
    agent, _ = with_history("hi", input_processors=[processor(process_input=lambda args: seen.extend(args.messages))])
    agent.generate([message("old", "old question"), message("new", "new question")], **THREAD)

    assert ids(seen) == ["old", "answer", "new"]


@pytest.mark.parametrize("recalled", [None, 1, 0])
def test_an_input_that_has_the_id_of_a_stored_message_changes_nothing_in_the_store(recalled: int | None) -> None:
    _, storage = with_history()
    agent = Agent(ScriptedModel(["hi"]), memory=Memory(storage, last_messages=recalled))
    agent.generate([message("old", "better question")], **THREAD)

    assert stored(storage) == [*OLD, "assistant: hi"]


def test_the_same_request_twice_is_two() -> None:
    agent, storage = remembering("hi", "hi")
    agent.generate("x", **THREAD)
    agent.generate("x", **THREAD)

    assert stored(storage) == ["user: x", "assistant: hi"] * 2


# -- not written again -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hook",
    [
        pytest.param(lambda args: args.messages[0]["content"]["parts"][0].update(text="x"), id="edited in place"),
        pytest.param(lambda args: args.messages[0]["content"]["parts"].clear(), id="emptied"),
        pytest.param(lambda args: args.message_list.remove_by_ids(["old"]) and None, id="removed"),
        pytest.param(lambda args: args.messages[1:], id="left out"),
        pytest.param(lambda args: [message("old", "x"), *args.messages[1:]], id="replaced"),
        pytest.param(lambda args: args.messages[::-1], id="moved"),
        pytest.param(
            lambda args: args.message_list.remove_by_ids(["old"]) and args.messages, id="removed and returned"
        ),
    ],
)
@pytest.mark.parametrize("place", ["process_input", "process_input_step", "process_output_step"])
def test_a_remembered_message_that_a_hook_changes_is_not_written(hook: Any, place: str) -> None:
    array = "output_processors" if place == "process_output_step" else "input_processors"
    one = processor()
    setattr(one, place, hook)
    agent, storage = with_history("hi", **{array: [one]})
    agent.generate("x", **THREAD)

    assert [text for text in stored(storage) if "old" in text] == OLD


def test_a_remembered_message_returned_in_a_later_hook_is_still_remembered() -> None:
    kept: list[Any] = []

    def first(args: Any) -> Any:
        kept.append(args.messages[0])
        return args.messages[1:]

    agent, storage = with_history(
        "hi",
        input_processors=[processor(process_input=first, process_input_step=lambda args: [kept[0], *args.messages])],
    )
    agent.generate("x", **THREAD)

    assert stored(storage) == [*OLD, "user: x", "assistant: hi"]


def test_a_second_request_recalls_what_the_store_has_and_not_what_was_made_of_it() -> None:
    seen: list[Any] = []

    def hook(args: Any) -> None:
        seen.append(texts(args.messages)[0])
        args.messages[0]["content"]["parts"][0]["text"] = "spoiled"

    agent, _ = with_history("a", "b", input_processors=[processor(process_input=hook)])
    agent.generate("x", **THREAD)
    agent.generate("y", **THREAD)

    assert seen == ["user: old question"] * 2


# -- saved -------------------------------------------------------------------------------------------------------------


def test_messages_are_saved_in_the_order_of_the_list() -> None:
    def hook(args: Any) -> Any:
        question, *others = args.messages
        return [
            message("a", "before", createdAt="2099-01-01"),
            question,
            message("b", "after", createdAt="1999-01-01"),
            *others,
        ]

    agent, storage = remembering(input_processors=[processor(process_input=hook)])
    agent.generate("x", **THREAD)

    assert stored(storage) == ["user: before", "user: x", "user: after", "assistant: hi"]


def test_a_message_made_context_is_not_saved() -> None:
    def hook(args: Any) -> None:
        args.message_list.add([args.messages[0]], "context")

    agent, storage = remembering(input_processors=[processor(process_input=hook)])
    agent.generate("x", **THREAD)

    assert stored(storage) == ["assistant: hi"]


def test_a_response_removed_in_mid_run_is_not_saved() -> None:
    def hook(args: Any) -> None:
        args.message_list.remove_by_ids(ids(args.message_list.get.response.db()))

    agent, storage = remembering("hi", output_processors=[processor(process_output_step=hook)])
    result = agent.generate("x", **THREAD)

    assert (stored(storage), result.text) == (["user: x"], "")


def test_nothing_is_saved_where_nothing_is_left() -> None:
    def hook(args: Any) -> None:
        args.message_list.clear()

    agent, storage = remembering("hi", output_processors=[processor(process_output_result=hook)])
    agent.generate("x", **THREAD)

    assert storage.read("t", "r") == []


@pytest.mark.parametrize(
    "options",
    [
        {"input_processors": [processor(process_input=lambda args: args.abort("no"))]},
        {"input_processors": [processor(process_input_step=lambda args: 1 / 0)]},
        {"output_processors": [processor(process_output_step=lambda args: args.abort("no", retry=True))]},
        {"output_processors": [processor(process_output_result=lambda args: args.abort("no", retry=True))]},
        {"output_processors": [processor(process_output_result=lambda args: {"odd": 1})]},
        {"output_processors": [processor(data=True, process_output_stream=lambda args: 1 / 0)]},
    ],
)
def test_a_request_that_did_not_end_by_itself_is_not_saved(options: Any) -> None:
    agent, storage = with_history("hi", **options)
    stream = agent.stream("x", **THREAD)
    list(stream)

    assert stored(storage) == OLD


def test_a_failed_request_is_not_saved() -> None:
    agent, storage = with_history(APICallError("down"))
    with pytest.raises(APICallError):
        agent.generate("x", **THREAD)

    assert stored(storage) == OLD


def test_the_calls_for_the_client_are_saved() -> None:
    agent, storage = remembering(CALL, tools=[Tool("add")])
    agent.generate("x", **THREAD)

    assert storage.read("t", "r")[1]["content"]["parts"][0]["toolInvocation"]["state"] == "call"


def test_read_only_memory_saves_nothing() -> None:
    _, storage = with_history()
    Agent(ScriptedModel(["hi"]), memory=Memory(storage, read_only=True)).generate("x", **THREAD)

    assert stored(storage) == OLD


# -- a store that fails ------------------------------------------------------------------------------------------------


class Failing(InMemoryStorage):
    """A store that fails in one of its methods."""

    def __init__(self, method: str) -> None:
        super().__init__()
        setattr(self, method, self._fail)

    def _fail(self, *args: Any) -> Any:
        raise OSError("disk full")


def test_a_store_that_cannot_be_read_fails_the_request_at_once() -> None:
    agent, _ = remembering(storage=Failing("read"))

    with pytest.raises(HookFailed, match="processor 'message-history' failed in processInput: OSError: disk full"):
        agent.stream("x", **THREAD)


def test_a_store_that_cannot_be_written_ends_the_stream_with_an_error() -> None:
    agent, _ = remembering(storage=Failing("append"))
    last = list(agent.stream("x", **THREAD))[-1]

    assert (last["type"], last["payload"]["error"]["name"]) == ("error", "NotSaved")


def test_what_could_not_be_saved_comes_with_the_error() -> None:
    agent, _ = remembering(*[CALL, "hello"] * 2, storage=Failing("append"), tools=[Tool("add", lambda args: 3)])
    kept, _ = remembering(CALL, "hello", tools=[Tool("add", lambda args: 3)])
    whole = kept.generate("x", **THREAD)

    def reported(mode: str) -> Any:
        with pytest.raises(NotSaved) as raised:
            agent.generate("x", **THREAD) if mode == "generate" else agent.stream("x", **THREAD).result()
        result = raised.value.result
        return result.text, result.finish_reason, result.usage, result.steps, part_kinds(result), result.error

    expected = (whole.text, "stop", whole.usage, whole.steps, part_kinds(whole), None)
    assert [reported("generate"), reported("stream")] == [expected] * 2


def test_whoever_asks_again_is_told_again() -> None:
    agent, _ = remembering(storage=Failing("append"))
    stream = agent.stream("x", **THREAD)
    told = []
    for _ in range(2):
        with pytest.raises(NotSaved) as raised:
            _ = stream.text
        told.append(raised.value.result.text)

    assert told == ["hi", "hi"]


def test_a_store_that_failed_once_is_used_again() -> None:
    storage = Failing("append")
    agent, _ = remembering("lost", "hi", storage=storage)
    with pytest.raises(NotSaved):
        agent.generate("x", **THREAD)
    del storage.append
    agent.generate("y", **THREAD)

    assert stored(storage) == ["user: y", "assistant: hi"]


def test_a_stream_closed_while_a_store_fails_is_not_saved_and_says_so() -> None:
    storage = Failing("append")
    agent, _ = remembering("hi", storage=storage)
    stream = agent.stream("x", **THREAD)
    storage.append = lambda *args: stream.close() or storage._fail()  # type: ignore[method-assign,func-returns-value]

    assert [chunk["type"] for chunk in stream][-1] == "error"


def test_read_only_memory_never_fails_to_save() -> None:
    agent = Agent(ScriptedModel(["hi"]), memory=Memory(Failing("append"), read_only=True))

    assert agent.generate("x", **THREAD).text == "hi"


def test_memories_of_one_store_have_their_own_flags() -> None:
    _, storage = remembering()
    Agent(ScriptedModel(["a"]), memory=Memory(storage, read_only=True)).generate("x", **THREAD)
    Agent(ScriptedModel(["b"]), memory=Memory(storage)).generate("y", **THREAD)

    assert stored(storage) == ["user: y", "assistant: b"]


def test_a_store_that_cannot_be_written_is_named() -> None:
    agent, _ = remembering(storage=Failing("append"))

    with pytest.raises(
        NotSaved,
        match=r"the answer is in `result`.*'message-history' failed in processOutputResult: OSError: disk full",
    ):
        agent.generate("x", **THREAD)


def test_what_sqlite_cannot_hold_is_not_saved_by_half(tmp_path: Path) -> None:
    storage = SQLiteStorage(str(tmp_path / "store.db"))
    hook = processor(process_output_result=lambda args: args.messages[0].update(odd=object()))
    agent, _ = remembering(storage=storage, output_processors=[hook])
    with pytest.raises(NotSaved, match="has a value of type object, which JSON cannot hold, at odd"):
        agent.generate("x", **THREAD)
    read = storage.read("t", "r")
    storage.close()

    assert read == []


def test_a_closed_store_is_a_failure_of_the_history(tmp_path: Path) -> None:
    storage = SQLiteStorage(str(tmp_path / "store.db"))
    agent, _ = remembering(storage=storage)
    storage.close()

    with pytest.raises(HookFailed, match=r"message-history.*has been closed") as raised:
        agent.generate("x", **THREAD)
    assert isinstance(raised.value.__cause__, StorageFailed)
