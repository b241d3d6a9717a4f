"""Stream: computed no further than it is read, and closed from anywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from processor_contract import (
    Agent,
    Cancelled,
    HookFailed,
    ModelRequest,
    ScriptedModel,
    Tool,
)
from reference_kit import CALL, hooked, inputs, kinds, remembering, stored
from stream_kit import Counting, read_until

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
