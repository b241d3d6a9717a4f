"""Stream: computed no further than it is read, closed from anywhere, and always with one end."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from processor_contract import (
    AbortSignal,
    Agent,
    Cancelled,
    ContractError,
    HookFailed,
    ModelRequest,
    ScriptedModel,
    Tool,
)
from reference_kit import CALL, hooked, inputs, kinds, outputs, processor, remembering, stored

WHOLE = ["start", "step-start", "text-start", "text-delta", "text-end", "step-finish", "finish"]


class Counting:
    """A model that notes how far its stream was pulled, whether it was closed and whether it was told to stop."""

    id = "counting/one"

    def __init__(self, texts: int = 5) -> None:
        self.texts = texts
        self.pulled = 0
        self.closed = False
        self.told = False

    def stream(self, request: ModelRequest) -> Iterator[Any]:
        def tell(reason: Any) -> None:
            self.told = True

        assert request.abort_signal is not None
        take_off = request.abort_signal.on_abort(tell)
        try:
            for _ in range(self.texts):
                self.pulled += 1
                yield {"type": "text-delta", "payload": {"text": "x"}}
            yield {"type": "finish", "payload": {"finishReason": "stop", "usage": {}}}
        finally:
            take_off()
            self.closed = True


def read_until(stream: Any, kind: str) -> None:
    """Reads a stream up to and including a chunk of this type."""
    next(chunk for chunk in stream if chunk["type"] == kind)


def close_at(stream: Any, kind: str) -> None:
    """Closes a stream when a chunk of this type has been read."""
    read_until(stream, kind)
    stream.close()


# -- laziness ----------------------------------------------------------------------------------------------------------


def test_nothing_is_asked_before_the_first_read() -> None:
    model = Counting()
    Agent(model).stream("hi")

    assert model.pulled == 0


@pytest.mark.parametrize(("read", "pulled"), [(1, 0), (2, 0), (3, 1), (5, 3)])
def test_the_model_is_pulled_as_far_as_the_reader_reads(read: int, pulled: int) -> None:
    model = Counting()
    stream = Agent(model).stream("hi")
    for _ in range(read):
        next(stream)

    assert pulled == model.pulled


def test_the_input_phase_runs_before_the_stream_is_there() -> None:
    seen: list[str] = []
    inputs(process_input=lambda args: seen.append("input"), process_input_step=lambda args: seen.append("step")).stream(
        "hi"
    )

    assert seen == ["input"]


def test_a_stream_says_which_run_it_is() -> None:
    stream = Agent(ScriptedModel(["hi"])).stream("hi")

    assert {stream.run_id} == {chunk["runId"] for chunk in stream}


# -- results -----------------------------------------------------------------------------------------------------------


def test_the_result_reads_the_rest() -> None:
    stream = Agent(ScriptedModel([["a", "b"]])).stream("hi")
    next(stream)

    assert (stream.result().text, stream.result().finish_reason, list(stream)) == ("ab", "stop", [])


def test_the_text_of_a_stream_is_its_results() -> None:
    assert Agent(ScriptedModel(["hi"])).stream("x").text == "hi"


def test_a_result_shares_nothing_with_the_run() -> None:
    stream = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", lambda args: {"n": 1})]).stream("x")
    first = stream.result()
    first.steps[0]["toolResults"].clear()
    first.usage["inputTokens"] = 99
    first.messages.clear()
    again = stream.result()

    assert ([one["result"] for one in again.tool_results], again.usage["inputTokens"], len(again.messages)) == (
        [{"n": 1}],
        2,
        1,
    )


def test_a_tripwires_metadata_is_copied_for_the_result() -> None:
    metadata = {"score": [1]}
    result = inputs(process_input=lambda args: args.abort("no", metadata=metadata)).generate("x")
    assert result.tripwire is not None
    result.tripwire["metadata"]["score"].clear()

    assert metadata == {"score": [1]}


def closing(stream: Any, when: threading.Event) -> threading.Thread:
    """A thread that closes the stream when something has happened."""

    def close() -> None:
        when.wait(10)
        stream.close()

    return threading.Thread(target=close)


# -- closing -----------------------------------------------------------------------------------------------------------


def test_closed_before_the_first_read_only_abort_is_left() -> None:
    stream = Agent(ScriptedModel(["hi"])).stream("x")
    stream.close()

    assert kinds(stream) == ["abort"]


def test_closed_before_the_first_read_no_hook_runs() -> None:
    seen: list[str] = []
    stream = inputs(process_input_step=lambda args: seen.append("step")).stream("x")
    stream.close()
    list(stream)

    assert seen == []


def test_closed_in_mid_stream_only_abort_is_left() -> None:
    stream = Agent(Counting()).stream("x")
    read_until(stream, "text-delta")
    stream.close()

    assert [(chunk["type"], chunk["payload"]) for chunk in stream] == [("abort", {"reason": "the stream was closed"})]


def test_closing_closes_the_provider_and_tells_it() -> None:
    model = Counting()
    stream = Agent(model).stream("x")
    read_until(stream, "text-delta")
    stream.close()

    assert (model.told, model.closed, model.pulled) == (True, True, 1)


def test_the_result_of_a_closed_stream_says_so() -> None:
    stream = Agent(Counting()).stream("x")
    stream.close()
    result = stream.result()

    assert (result.finish_reason, isinstance(result.error, Cancelled), result.text) == ("aborted", True, "")


def test_closing_twice_is_closing_once() -> None:
    stream = Agent(Counting()).stream("x")
    stream.close()
    stream.close()

    assert kinds(stream) == ["abort"]


def test_a_stream_that_was_read_to_its_end_is_not_cancelled_by_closing() -> None:
    stream = Agent(ScriptedModel(["hi"])).stream("x")
    list(stream)
    stream.close()

    assert (stream.result().finish_reason, stream.result().error) == ("stop", None)


def test_nobody_is_told_to_stop_when_a_stream_is_closed_after_its_end() -> None:
    model = ScriptedModel(["hi"])
    with Agent(model).stream("x") as stream:
        list(stream)
    signals = [request.abort_signal for request in model.requests]

    assert [signal and signal.aborted for signal in signals] == [False]


def test_a_stream_closed_at_its_finish_has_finished() -> None:
    agent, storage = remembering("hi")
    stream = agent.stream("x", thread="t", resource="r")
    read_until(stream, "finish")
    stream.close()

    assert (stream.result().finish_reason, stored(storage)) == ("stop", ["user: x", "assistant: hi"])


def test_leaving_the_context_closes() -> None:
    with Agent(Counting()).stream("x") as stream:
        next(stream)

    assert kinds(stream) == ["abort"]


def test_closing_from_a_thread_ends_a_provider_that_listens() -> None:
    asked = threading.Event()

    class Blocking:
        id = "blocking/one"

        def stream(self, request: ModelRequest) -> Iterator[Any]:
            assert request.abort_signal is not None
            asked.set()
            request.abort_signal.wait(10)
            yield {"type": "text-delta", "payload": {"text": "too late"}}

    stream = Agent(Blocking()).stream("x")
    closer = closing(stream, asked)
    closer.start()
    read = kinds(stream)
    closer.join()

    assert read == ["start", "step-start", "abort"]


def test_closing_from_a_thread_does_not_wait_for_a_tool() -> None:
    started, release, ended = threading.Event(), threading.Event(), threading.Event()

    def work(args: Any) -> None:
        started.set()
        release.wait(10)
        ended.set()

    stream = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", work)]).stream("x")
    closer = closing(stream, started)
    closer.start()
    read = kinds(stream)
    waited = ended.is_set()
    release.set()
    closer.join()

    assert (read[-1], waited) == ("abort", False)


@pytest.mark.parametrize("hook", ["process_input_step", "process_llm_request", "process_llm_response"])
def test_a_hook_may_close_the_stream_it_runs_in(hook: str) -> None:
    held: list[Any] = []
    agent = inputs("hi", **hooked(hook, lambda args: held[0].close()))
    held.append(agent.stream("x"))

    assert kinds(held[0])[-1] == "abort"


def test_what_comes_of_a_hook_that_closed_its_stream_is_ignored() -> None:
    held: list[Any] = []

    def close_and_abort(args: Any) -> None:
        held[0].close()
        args.abort("no")

    held.append(inputs(process_input_step=close_and_abort).stream("x"))

    assert (held[0].result().finish_reason, held[0].result().tripwire) == ("aborted", None)


def test_a_hook_cannot_read_the_stream_it_runs_in() -> None:
    held: list[Any] = []
    held.append(inputs(process_input_step=lambda args: next(held[0])).stream("x"))

    with pytest.raises(HookFailed, match="a hook reads the stream of its own run"):
        held[0].result()


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
    got: list[list[str]] = [[], []]

    def read(mine: list[str]) -> None:
        mine.extend(kinds(stream))

    readers = [threading.Thread(target=read, args=(mine,)) for mine in got]
    for one in readers:
        one.start()
    for one in readers:
        one.join()

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
