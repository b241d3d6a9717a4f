"""Stream: signals, what is stored when it is closed, the one end that it has, and its threads."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest

from processor_contract import (
    AbortSignal,
    Agent,
    Cancelled,
    ContractError,
    HookFailed,
    ScriptedModel,
    Tool,
)
from reference_kit import CALL, at_once, hooked, inputs, kinds, outputs, processor, remembering, stored
from stream_kit import Counting, close_at, read_until

# -- signals -----------------------------------------------------------------------------------------------------------


def test_a_signal_that_has_fired_runs_no_hook() -> None:
    seen: list[str] = []
    signal = AbortSignal()
    signal.abort("early")
    stream = inputs(process_input=lambda args: seen.append("input")).stream("x", abort_signal=signal)

    assert (kinds(stream), seen) == (["abort"], [])


def test_a_signal_fired_in_mid_stream_ends_it() -> None:
    signal = AbortSignal()
    stream = Agent(Counting()).stream("x", abort_signal=signal)
    read_until(stream, "text-delta")
    signal.abort("enough")

    assert [(chunk["type"], chunk["payload"]) for chunk in stream] == [("abort", {"reason": "enough"})]


def test_generate_raises_when_its_signal_fires() -> None:
    signal = AbortSignal()
    agent = inputs(process_input_step=lambda args: signal.abort("enough"))

    with pytest.raises(Cancelled, match=r"the request was cancelled: enough \[RES-4\]"):
        agent.generate("x", abort_signal=signal)


def test_a_hook_that_raises_cancelled_is_no_cancellation() -> None:
    def hook(args: Any) -> None:
        raise Cancelled("of another run")

    with pytest.raises(HookFailed, match="processor 'p' failed in processInputStep"):
        inputs(process_input_step=hook).generate("x")


def signalled(end: Callable[[Any], Any], agent: Agent | None = None) -> int:
    """How many listeners are left on the caller's signal after `end(stream)`."""
    signal = AbortSignal()
    end((agent or Agent(ScriptedModel([["a", "b"]]))).stream("x", abort_signal=signal))
    gc.collect()
    return len(signal._listeners)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(list, id="read to its end"),
        pytest.param(lambda stream: read_until(stream, "finish"), id="read to finish and no further"),
        pytest.param(lambda stream: stream.close(), id="closed"),
        pytest.param(lambda stream: None, id="never read"),
        pytest.param(lambda stream: next(stream), id="abandoned"),
    ],
)
def test_nothing_stays_with_a_signal(end: Any) -> None:
    assert signalled(end) == 0


@pytest.mark.parametrize("hook", ["process_input_step", "process_llm_response"])
def test_nothing_stays_with_a_signal_after_an_abort(hook: str) -> None:
    assert signalled(list, inputs(**hooked(hook, lambda args: args.abort("no")))) == 0


def test_nothing_stays_with_a_signal_when_the_input_phase_fails() -> None:
    signal = AbortSignal()
    with pytest.raises(HookFailed):
        inputs(process_input=lambda args: 1 / 0).stream("x", abort_signal=signal)

    assert len(signal._listeners) == 0


def test_a_listener_that_raises_keeps_no_other_from_hearing() -> None:
    heard: list[Any] = []
    signal = AbortSignal()
    signal.on_abort(lambda reason: [][0])
    signal.on_abort(heard.append)
    signal.abort("now")

    assert heard == ["now"]


def test_a_listener_taken_off_hears_nothing() -> None:
    heard: list[Any] = []
    signal = AbortSignal()
    keep, take_off = signal.on_abort(heard.append), signal.on_abort(heard.append)
    take_off()
    signal.abort("now")
    keep()

    assert heard == ["now"]


def test_a_signal_fires_once() -> None:
    signal = AbortSignal()
    signal.abort("first")
    signal.abort("second")

    assert (signal.reason, signal.wait(0)) == ("first", True)


# -- persistence -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda stream: None, id="never read"),
        pytest.param(lambda stream: next(stream), id="abandoned"),
        pytest.param(lambda stream: stream.close(), id="closed unread"),
        pytest.param(lambda stream: close_at(stream, "step-finish"), id="closed at its last step"),
        pytest.param(lambda stream: close_at(stream, "data-last"), id="closed at the last data"),
    ],
)
def test_a_stream_that_is_not_read_to_its_end_is_not_stored(end: Any) -> None:
    last = processor(process_output_result=lambda args: args.writer.custom({"type": "data-last"}))
    agent, storage = remembering("hi", output_processors=[last])
    end(agent.stream("x", thread="t", resource="r"))

    assert stored(storage) == []


def test_a_signal_that_fires_while_the_request_is_saved_comes_too_late() -> None:
    signal = AbortSignal()
    agent, storage = remembering("hi")
    append = storage.append

    def slow(*args: Any) -> None:
        append(*args)
        signal.abort("late")

    storage.append = slow

    assert agent.generate("x", thread="t", resource="r", abort_signal=signal).finish_reason == "stop"


def test_a_signal_that_fires_in_the_last_hook_comes_in_time() -> None:
    signal = AbortSignal()
    last = processor(process_output_result=lambda args: signal.abort("now"))
    agent, storage = remembering("hi", output_processors=[last])
    with pytest.raises(Cancelled):
        agent.generate("x", thread="t", resource="r", abort_signal=signal)

    assert stored(storage) == []


# -- one end -----------------------------------------------------------------------------------------------------------


def test_an_abort_stands_although_the_reader_closes_before_the_tripwire() -> None:
    def hook(args: Any) -> None:
        args.writer.custom({"type": "data-x"})
        args.abort("no")

    stream = inputs(process_input_step=hook).stream("x")
    read_until(stream, "data-x")
    stream.close()

    assert (kinds(stream), (stream.result().tripwire or {})["reason"]) == (["tripwire"], "no")


def test_an_empty_conversation_ends_in_one_error_chunk() -> None:
    stream = Agent(ScriptedModel(["hi"])).stream([])

    assert kinds(stream) == ["start", "error"]


def test_the_result_of_a_broken_run_raises() -> None:
    with pytest.raises(ContractError, match=r"the prompt holds no message.*\[LLM-3\]"):
        Agent(ScriptedModel(["hi"])).stream([]).result()


def test_stop_when_that_raises_ends_the_run_as_an_error() -> None:
    agent = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", lambda args: 1)])

    with pytest.raises(HookFailed, match=r"processor 'stop-when' failed in stopWhen: ZeroDivisionError.*\[ERR-9\]"):
        agent.generate("x", stop_when=lambda steps: 1 / 0)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_exception_leaves_the_stream(error: type[BaseException]) -> None:
    def hook(args: Any) -> None:
        raise error

    with pytest.raises(error):
        inputs(process_input_step=hook).generate("x")


def test_after_ctrl_c_the_stream_is_cancelled() -> None:
    def hook(args: Any) -> Any:
        if args.part["type"] == "text-delta":
            raise KeyboardInterrupt
        return args.part

    model = Counting()
    stream = Agent(model, output_processors=[processor(process_output_stream=hook)]).stream("x")
    with pytest.raises(KeyboardInterrupt):
        list(stream)

    assert (list(stream), stream.result().finish_reason, model.closed) == ([], "aborted", True)


def test_after_ctrl_c_nothing_is_stored() -> None:
    def hook(args: Any) -> None:
        raise KeyboardInterrupt

    agent, storage = remembering("hi", output_processors=[processor(process_output_step=hook)])
    with pytest.raises(KeyboardInterrupt):
        agent.generate("x", thread="t", resource="r")

    assert stored(storage) == []


def test_a_message_broken_in_place_ends_the_run_and_names_the_hook() -> None:
    agent = outputs("hi", id="clumsy", process_output_step=lambda args: args.messages[-1].clear())

    with pytest.raises(HookFailed, match=r"processor 'clumsy' failed in processOutputStep: message .*\[MSG-53\]"):
        agent.generate("x")


def test_a_message_broken_in_the_input_phase_names_the_hook() -> None:
    agent = inputs(id="clumsy", process_input=lambda args: args.messages[0].clear())

    with pytest.raises(HookFailed, match=r"processor 'clumsy' failed in processInput: message .*\[MSG-53\]"):
        agent.generate("x")


# -- threads -----------------------------------------------------------------------------------------------------------


def test_two_readers_share_the_chunks() -> None:
    stream = Agent(Counting(200)).stream("x")
    got: list[list[str]] = []
    at_once(*[lambda: got.append(kinds(stream))] * 2)

    assert sorted(["start", "step-start", *["text-delta"] * 200, "step-finish", "finish"]) == sorted(got[0] + got[1])


def test_no_thread_is_left() -> None:
    before = set(threading.enumerate())
    calls = {"tool_calls": [{"name": "add", "id": f"c{number}"} for number in range(4)]}
    Agent(ScriptedModel([calls, "hi"]), tools=[Tool("add", lambda args, context: 1)]).generate("x")
    for one in set(threading.enumerate()) - before:  # a tool's thread may still be on its way out
        one.join(5)

    assert before == set(threading.enumerate())


def test_a_request_without_tools_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(threading.Thread, "start", started.append)
    Agent(ScriptedModel(["hi"])).stream("x").result()

    assert started == []


def test_a_hook_cannot_read_its_own_stream_where_a_signal_was_given() -> None:
    held: list[Any] = []
    agent = inputs(process_input_step=lambda args: next(held[0]))
    held.append(agent.stream("x", abort_signal=AbortSignal()))

    with pytest.raises(HookFailed, match="a hook reads the stream of its own run"):
        held[0].result()


def test_a_chunk_edited_into_none_names_the_processor() -> None:
    agent = outputs("hi", id="clumsy", process_output_stream=lambda args: args.part.update(payload=None) or args.part)

    with pytest.raises(
        HookFailed, match=r"processor 'clumsy' failed in processOutputStream: returned a chunk that .*STR-20"
    ):
        agent.generate("x")


def test_a_chunk_edited_into_the_end_is_refused() -> None:
    agent = outputs("hi", process_output_stream=lambda args: args.part.update(type="finish") or args.part)

    with pytest.raises(HookFailed, match=r"returned a chunk of type 'finish' for one of type 'step-start'.*\[STR-4\]"):
        agent.generate("x")


@pytest.mark.parametrize("signal", [None, AbortSignal()])
def test_a_reader_who_comes_while_the_stream_is_closed_gets_its_end(signal: AbortSignal | None) -> None:
    stream = Agent(Counting()).stream("x", abort_signal=signal)
    read_until(stream, "text-delta")
    before = stream._chunks
    stream.close()
    after, stream._chunks = stream._chunks, before

    class Late:
        """The lock, as the reader gets it who has looked for the chunks a moment ago."""

        def __enter__(self) -> None:
            stream._chunks = after

        def __exit__(self, *ignored: Any) -> None:
            pass

    stream._pulling = Late()  # type: ignore[assignment]

    assert kinds(stream) == ["abort"]
