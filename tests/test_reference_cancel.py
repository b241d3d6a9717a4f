"""Cancellation where no scenario can look: generate() with a provider that does not listen, threads, the save."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from processor_contract import AbortSignal, Agent, Cancelled, InMemoryStorage, Memory, Processor, ScriptedModel, Tool
from processor_contract.data import Chunk
from processor_contract.processor import InputArgs, OutputResultArgs

PATIENCE = 10.0


class Stubborn:
    """A model that answers when it is let go, whatever its signal says."""

    id = "mock/stubborn"

    def __init__(self, signal: AbortSignal) -> None:
        self.let_go = threading.Event()
        self.closed = threading.Event()
        self._signal = signal

    def stream(self, request: Any) -> Iterator[Chunk]:
        try:
            yield {"type": "text-start", "payload": {"id": "t"}}
            self._signal.abort("enough")
            assert self.let_go.wait(PATIENCE)
            yield {"type": "text-delta", "payload": {"id": "t", "text": "late"}}
        finally:
            self.closed.set()


def own_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(("run-", "tool-"))]


def test_generate_does_not_wait_for_a_provider_that_does_not_listen() -> None:
    signal = AbortSignal()
    model = Stubborn(signal)

    with pytest.raises(Cancelled, match="enough"):
        Agent(model).generate("hi", abort_signal=signal)
    assert not model.closed.is_set()
    model.let_go.set()
    assert model.closed.wait(PATIENCE)


def test_what_was_left_alone_leaves_no_thread_when_it_is_done() -> None:
    signal = AbortSignal()
    model = Stubborn(signal)
    with pytest.raises(Cancelled):
        Agent(model).generate("hi", abort_signal=signal)
    left = own_threads()
    model.let_go.set()
    for thread in left:
        thread.join(PATIENCE)

    assert own_threads() == []


def test_a_tool_that_does_not_listen_keeps_nobody() -> None:
    signal, let_go = AbortSignal(), threading.Event()

    def slow(args: Any) -> None:
        signal.abort()
        let_go.wait(PATIENCE)

    agent = Agent(ScriptedModel([{"tool_calls": [{"name": "slow"}]}, "done"]), tools=[Tool("slow", slow)])

    with pytest.raises(Cancelled):
        agent.generate("hi", abort_signal=signal)
    let_go.set()


def test_an_input_hook_that_does_not_listen_keeps_nobody() -> None:
    signal, let_go = AbortSignal(), threading.Event()

    class Slow(Processor):
        id = "slow"

        def process_input(self, args: InputArgs) -> None:
            signal.abort()
            let_go.wait(PATIENCE)

    stream = Agent(ScriptedModel(["done"]), input_processors=[Slow()]).stream("hi", abort_signal=signal)

    assert [chunk["type"] for chunk in stream] == ["abort"]
    let_go.set()


def test_a_signal_that_fires_during_the_save_comes_too_late() -> None:
    signal = AbortSignal()

    class Store(InMemoryStorage):
        def append(self, *given: Any) -> None:
            super().append(*given)
            signal.abort()

    store = Store()
    agent = Agent(ScriptedModel(["done"]), memory=Memory(store))

    result = agent.generate("hi", thread="t", resource="r", abort_signal=signal)

    assert (result.finish_reason, len(store.read("t", "r"))) == ("stop", 2)


def test_a_stream_closed_before_the_save_stores_nothing() -> None:
    class Reports(Processor):
        id = "reports"

        def process_output_result(self, args: OutputResultArgs) -> None:
            args.writer.custom({"type": "data-report", "data": 1})

    store = InMemoryStorage()
    agent = Agent(ScriptedModel(["done"]), output_processors=[Reports()], memory=Memory(store))
    stream = agent.stream("hi", thread="t", resource="r")
    for chunk in stream:
        if chunk["type"] == "data-report":
            stream.close()
            break

    assert ([chunk["type"] for chunk in stream], len(store.read("t", "r"))) == (["abort"], 0)


def test_a_stream_closed_before_it_is_read_asks_nobody() -> None:
    model = ScriptedModel(["done"])
    stream = Agent(model).stream("hi")
    stream.close()

    assert ([chunk["type"] for chunk in stream], model.requests) == (["abort"], [])


def test_the_signal_lets_go_of_a_request_that_has_ended() -> None:
    signal = AbortSignal()
    agent = Agent(ScriptedModel(["a", "b"]))
    for _ in range(2):
        agent.generate("hi", abort_signal=signal)

    assert len(signal._listeners) == 0
