"""Aborts: while another's data is handled, what comes after one, and what is told of them."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from processor_contract import Agent, APICallError, HookFailed, ScriptedModel, Tool, TripWire
from processor_contract.errors import Cancelled
from reference_kit import CALL, hooked, inputs, kinds, outputs, processor, remembering, stored

DATA = {"type": "data-x", "data": 1}


# -- while another's data is handled -----------------------------------------------------------------------------------


def sender(then: Any = lambda args: None, *, hook: str = "process_input_step") -> Any:
    """A processor that sends data, catches whatever comes of it, and goes on."""

    def send(args: Any) -> Any:
        with contextlib.suppress(Exception):
            args.writer.custom(DATA)
        return then(args)

    return processor("sender", **hooked(hook, send))


def judging(verdict: Any) -> Any:
    """A processor that opted in for data and judges it."""

    def judge(args: Any) -> Any:
        return verdict(args) if args.part["type"] == "data-x" else args.part

    return processor("judge", data=True, process_output_stream=judge)


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(lambda args: None, id="goes on"),
        pytest.param(lambda args: args.abort("mine"), id="aborts itself"),
        pytest.param(lambda args: args.abort("mine", retry=True), id="asks for a retry"),
        pytest.param(lambda args: 1 / 0, id="raises"),
        pytest.param(lambda args: args.writer.custom({"type": "data-more"}), id="sends more"),
    ],
)
def test_a_verdict_on_data_stands_whatever_the_sender_does(then: Any) -> None:
    agent = Agent(
        ScriptedModel(["hi"]),
        input_processors=[sender(then)],
        output_processors=[judging(lambda args: args.abort("judged"))],
        max_processor_retries=2,
    )
    stream = agent.stream("x")

    assert (kinds(stream), (stream.result().tripwire or {})["processorId"]) == (["start", "tripwire"], "judge")


def test_an_abort_on_data_is_raised_from_the_writer() -> None:
    raised: list[str] = []

    def send(args: Any) -> None:
        try:
            args.writer.custom(DATA)
        except Exception as error:
            raised.append(str(error))

    Agent(
        ScriptedModel([]),
        input_processors=[processor("sender", process_input_step=send)],
        output_processors=[judging(lambda args: args.abort("judged"))],
    ).generate("x")

    assert raised == ["judged"]


def test_an_exception_on_data_is_the_judges() -> None:
    agent = Agent(ScriptedModel([]), input_processors=[sender()], output_processors=[judging(lambda args: 1 / 0)])

    with pytest.raises(HookFailed, match="processor 'judge' failed in processOutputStream"):
        agent.generate("x")


def test_a_retry_on_data_is_granted_within_a_step() -> None:
    def verdict(args: Any) -> Any:
        return args.abort("again", retry=True) if args.retry_count == 0 else args.part

    agent = Agent(
        ScriptedModel(["hi"]),
        input_processors=[sender()],
        output_processors=[judging(verdict)],
        max_processor_retries=1,
    )

    assert kinds(agent.stream("x"))[:3] == ["start", "data-x", "step-start"]


def test_a_retry_on_data_of_the_last_hook_is_an_abort() -> None:
    agent = Agent(
        ScriptedModel(["hi"]),
        output_processors=[sender(hook="process_output_result"), judging(lambda args: args.abort("again", retry=True))],
        max_processor_retries=5,
    )

    assert agent.generate("x").tripwire == {"reason": "again", "processorId": "judge", "retry": True}


def test_a_retry_on_data_of_an_error_processor_counts_as_its_retry() -> None:
    def verdict(args: Any) -> Any:
        return args.abort("again", retry=True) if args.retry_count == 0 else args.part

    agent = Agent(
        ScriptedModel([APICallError("down"), "hi"]),
        error_processors=[sender(hook="process_api_error")],
        output_processors=[judging(verdict)],
    )

    assert agent.generate("x").text == "hi"


def test_an_abort_on_a_tools_data_stops_the_run() -> None:
    def work(args: Any, context: Any) -> str:
        with contextlib.suppress(Exception):
            context.writer.custom(DATA)
        return "done"

    model = ScriptedModel([CALL, "never"])
    agent = Agent(model, tools=[Tool("add", work)], output_processors=[judging(lambda args: args.abort("judged"))])

    assert ((agent.generate("x").tripwire or {})["reason"], len(model.requests)) == ("judged", 1)


def test_after_an_abort_the_data_of_other_tools_passes_nobody() -> None:
    import threading

    judged, seen = threading.Event(), []

    def first(args: Any, context: Any) -> None:
        try:
            context.writer.custom(DATA)
        finally:
            judged.set()

    def second(args: Any, context: Any) -> None:
        judged.wait(10)
        context.writer.custom({"type": "data-late"})

    def judge(args: Any) -> Any:
        seen.append(args.part["type"])
        if args.part["type"] == "data-x":
            args.abort("judged")
        return args.part

    calls = {"tool_calls": [{"name": "first", "id": "1"}, {"name": "second", "id": "2"}]}
    agent = Agent(
        ScriptedModel([calls]),
        tools=[Tool("first", first), Tool("second", second)],
        output_processors=[processor("judge", data=True, process_output_stream=judge)],
    )
    got = kinds(agent.stream("x"))

    assert ("data-x", "data-late" in got) == (seen[-1], False)


# -- after it ----------------------------------------------------------------------------------------------------------


def test_an_abort_on_the_error_chunk_wins_over_the_error() -> None:
    def hook(args: Any) -> Any:
        return args.abort("hidden") if args.part["type"] == "error" else args.part

    result = outputs(APICallError("down"), process_output_stream=hook).generate("x")

    assert (result.tripwire, result.error, result.finish_reason) == (
        {"reason": "hidden", "processorId": "p"},
        None,
        "other",
    )


def test_an_abort_in_the_last_hook_of_a_failed_run_wins_over_the_error() -> None:
    result = outputs(APICallError("down"), process_output_result=lambda args: args.abort("hidden")).generate("x")

    assert (result.tripwire, result.error) == ({"reason": "hidden", "processorId": "p"}, None)


def test_an_abort_in_the_last_hook_stores_nothing() -> None:
    last = processor(process_output_result=lambda args: args.abort("no"))
    agent, storage = remembering("hi", output_processors=[last])
    agent.generate("x", thread="t", resource="r")

    assert stored(storage) == []


def test_an_aborted_run_has_its_accepted_steps_and_no_text() -> None:
    def hook(args: Any) -> None:
        if args.step_number == 1:
            args.abort("no")

    agent = Agent(
        ScriptedModel([{"text": "let me see", **CALL}, "hi"]),
        tools=[Tool("add", lambda args: 1)],
        output_processors=[processor(process_output_step=hook)],
    )
    result = agent.generate("x")

    assert (result.text, [step["text"] for step in result.steps], result.usage["totalTokens"]) == (
        "",
        ["let me see"],
        4,
    )


# -- texts of errors ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "text", "rule"),
    [
        (
            HookFailed("p", "processInput", ValueError("bad")),
            "processor 'p' failed in processInput: ValueError: bad [ERR-9]",
            "ERR-9",
        ),
        (
            HookFailed("p", "processInput", KeyError("x")),
            "processor 'p' failed in processInput: KeyError: 'x' [ERR-9]",
            "ERR-9",
        ),
        (Cancelled(), "the request was cancelled [RES-4]", "RES-4"),
        (Cancelled("by hand"), "the request was cancelled: by hand [RES-4]", "RES-4"),
        (Cancelled(0), "the request was cancelled: 0 [RES-4]", "RES-4"),
        (TripWire("no"), "no", "TRI-1"),
        (TripWire(), "", "TRI-1"),
    ],
)
def test_an_error_says_what_and_which_rule(error: Any, text: str, rule: str) -> None:
    assert (text, rule) == (str(error), error.rule)


def test_the_rule_of_what_was_returned_stands_once() -> None:
    with pytest.raises(HookFailed) as raised:
        inputs(process_input=lambda args: 5).generate("x")

    assert (raised.value.rule, str(raised.value).count("["), raised.value.processor, raised.value.hook) == (
        "MSG-25",
        1,
        "p",
        "processInput",
    )


def test_the_cause_of_a_failed_hook_is_what_it_raised() -> None:
    error = ValueError("bad")

    def hook(args: Any) -> None:
        raise error

    with pytest.raises(HookFailed) as raised:
        inputs(process_input=hook).generate("x")

    assert error is raised.value.__cause__


class Mute(Exception):
    """An exception that cannot say anything."""

    rule = object()

    def __str__(self) -> str:
        raise RuntimeError("mute")


def mute(*args: Any) -> None:
    raise Mute


def test_a_hook_whose_exception_cannot_say_anything_is_named() -> None:
    with pytest.raises(
        HookFailed, match=r"processor 'p' failed in processInputStep: Mute: \(it cannot say what\) \[ERR-9\]"
    ):
        inputs(process_input_step=mute).generate("x")


def test_a_tool_whose_exception_cannot_say_anything_is_answered() -> None:
    stream = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", mute)]).stream("x")
    errors = [chunk["payload"]["error"] for chunk in stream if chunk["type"] == "tool-error"]

    assert errors == [{"name": "Mute", "message": "(it cannot say what)"}]
