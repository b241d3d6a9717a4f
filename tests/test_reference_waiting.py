"""Streams whose caller gave a signal: the work is done on a thread, and everything else stays as it is."""

from __future__ import annotations

import contextvars
import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from processor_contract import AbortSignal, Agent, Cancelled, HookFailed, ModelRequest, ScriptedModel, Tool
from reference_kit import CALL, at_once, hooked, inputs, kinds, outputs, processor, remembering, stored


def unheeding(release: threading.Event) -> Any:
    """A model that does not listen to its signal."""

    class Unheeding:
        id = "unheeding/one"

        def stream(self, request: ModelRequest) -> Iterator[Any]:
            release.wait(10)
            yield {"type": "text-delta", "payload": {"text": "too late"}}

    return Unheeding()


@pytest.fixture
def release() -> Iterator[threading.Event]:
    made = threading.Event()
    yield made
    made.set()


def fire(signal: AbortSignal, reason: str = "enough") -> None:
    """Fires the signal a moment later, from another thread."""
    threading.Timer(0.02, signal.abort, [reason]).start()


def test_the_result_is_the_same_with_a_signal() -> None:
    assert inputs(["a", "b"]).generate("x", abort_signal=AbortSignal()).text == "ab"


def test_the_chunks_are_the_same_with_a_signal() -> None:
    without, having = (kinds(inputs("hi").stream("x", abort_signal=signal)) for signal in (None, AbortSignal()))

    assert without == having


def test_generate_does_not_wait_for_a_provider_that_does_not_listen(release: threading.Event) -> None:
    signal = AbortSignal()
    fire(signal)
    with pytest.raises(Cancelled, match="enough"):
        Agent(unheeding(release)).generate("x", abort_signal=signal)

    assert not release.is_set()


def test_a_stream_does_not_wait_for_a_provider_that_does_not_listen(release: threading.Event) -> None:
    signal = AbortSignal()
    stream = Agent(unheeding(release)).stream("x", abort_signal=signal)
    fire(signal)

    assert (kinds(stream)[-1], release.is_set()) == ("abort", False)


def test_closing_does_not_wait_for_a_provider_that_does_not_listen(release: threading.Event) -> None:
    stream = Agent(unheeding(release)).stream("x", abort_signal=AbortSignal())
    threading.Timer(0.02, stream.close).start()

    assert (kinds(stream)[-1], release.is_set()) == ("abort", False)


@pytest.mark.parametrize("hook", ["process_input", "process_input_step", "process_llm_request", "process_output_step"])
def test_a_hook_that_does_not_come_back_keeps_nobody(hook: str, release: threading.Event) -> None:
    signal = AbortSignal()
    place = outputs if hook == "process_output_step" else inputs
    agent = place("hi", **hooked(hook, lambda args: release.wait(10) and None))
    fire(signal)
    with pytest.raises(Cancelled):
        agent.generate("x", abort_signal=signal)

    assert not release.is_set()


def test_what_comes_too_late_is_not_stored(release: threading.Event) -> None:
    signal, ended = AbortSignal(), threading.Event()

    def hook(args: Any) -> None:
        release.wait(10)
        ended.set()

    agent, storage = remembering("hi", output_processors=[processor(process_output_result=hook)])
    fire(signal)
    with pytest.raises(Cancelled):
        agent.generate("x", thread="t", resource="r", abort_signal=signal)
    release.set()
    ended.wait(10)

    assert stored(storage) == []


def test_an_abort_that_comes_too_late_is_ignored(release: threading.Event) -> None:
    signal = AbortSignal()

    def hook(args: Any) -> None:
        release.wait(10)
        args.abort("late")

    stream = inputs(process_input_step=hook).stream("x", abort_signal=signal)
    fire(signal)
    result = stream.result()
    release.set()

    assert (result.finish_reason, stream.result().tripwire) == ("aborted", None)


def test_context_variables_reach_the_hooks() -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")
    user.set("me")
    seen: list[str] = []
    hook = processor(
        process_input=lambda args: seen.append(user.get()), process_input_step=lambda args: seen.append(user.get())
    )
    Agent(ScriptedModel(["hi"]), input_processors=[hook]).generate("x", abort_signal=AbortSignal())

    assert seen == ["me", "me"]


@pytest.mark.parametrize("hook", ["process_input", "process_input_step"])
def test_a_hook_that_fails_is_named(hook: str) -> None:
    with pytest.raises(HookFailed, match="processor 'p' failed in processInput"):
        inputs(**hooked(hook, lambda args: 1 / 0)).generate("x", abort_signal=AbortSignal())


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_exception_leaves_the_stream(error: type[BaseException]) -> None:
    def hook(args: Any) -> None:
        raise error

    with pytest.raises(error):
        inputs(process_input_step=hook).generate("x", abort_signal=AbortSignal())


def test_a_hook_may_close_the_stream_it_runs_in() -> None:
    held: list[Any] = []
    held.append(inputs("hi", process_input_step=lambda args: held[0].close()).stream("x", abort_signal=AbortSignal()))

    assert kinds(held[0])[-1] == "abort"


def test_a_tool_may_close_the_stream_it_runs_in() -> None:
    held: list[Any] = []
    agent = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", lambda args: held[0].close())])
    held.append(agent.stream("x", abort_signal=AbortSignal()))

    assert kinds(held[0])[-1] == "abort"


def test_ctrl_c_while_waiting_cancels_the_run(release: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    told = threading.Event()
    main = threading.current_thread()
    wait = threading.Event.wait

    def interrupted(own: threading.Event, timeout: float | None = None) -> bool:
        if threading.current_thread() is main and timeout is None:
            raise KeyboardInterrupt
        return wait(own, timeout)

    class Listening:
        id = "listening/one"

        def stream(self, request: ModelRequest) -> Iterator[Any]:
            assert request.abort_signal is not None
            request.abort_signal.on_abort(lambda reason: told.set())
            release.wait(10)
            yield {"type": "text-delta", "payload": {"text": "too late"}}

    stream = Agent(Listening()).stream("x", abort_signal=AbortSignal())
    next(stream)
    monkeypatch.setattr(threading.Event, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(stream)
    monkeypatch.undo()
    release.set()

    assert (stream.result().finish_reason, kinds(stream)) == ("aborted", [])


def test_two_readers_share_the_chunks() -> None:
    stream = inputs(["x"] * 100).stream("x", abort_signal=AbortSignal())
    got: list[list[str]] = []
    at_once(*[lambda: got.append(kinds(stream))] * 2)

    assert (got[0] + got[1]).count("text-delta") == 100


def test_no_thread_is_left() -> None:
    before = set(threading.enumerate())
    inputs("hi").generate("x", abort_signal=AbortSignal())
    stream = inputs("hi").stream("x", abort_signal=AbortSignal())
    next(stream)
    del stream
    gc.collect()

    assert set(threading.enumerate()) <= before


def test_where_no_thread_starts_the_caller_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def no(own: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no)

    assert inputs("hi").generate("x", abort_signal=AbortSignal()).text == "hi"
