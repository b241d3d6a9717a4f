"""Tools: side by side, in call order, with copies of their arguments; whatever goes wrong in them."""

from __future__ import annotations

import contextvars
import sys
import threading
from typing import Any

import pytest

from processor_contract import Agent, ScriptedModel, Tool
from reference_kit import CALL, kinds, processor
from tool_kit import calls, ran, results


def test_calls_of_a_step_overlap() -> None:
    together = threading.Barrier(3, timeout=10)
    result = ran(calls("a", "a", "a"), tools=[Tool("a", lambda args: together.wait() >= 0)])

    assert results(result) == [True, True, True]


def test_outcomes_come_in_call_order() -> None:
    later = threading.Event()

    def slow(args: Any) -> str:
        later.wait(10)
        return "slow"

    def fast(args: Any) -> str:
        later.set()
        return "fast"

    seen: list[str] = []
    hook = processor(process_tool_result=lambda args: seen.append(args.result))
    ran(calls("slow", "fast"), tools=[Tool("slow", slow), Tool("fast", fast)], hooks=[hook])

    assert seen == ["slow", "fast"]


def test_context_variables_reach_the_tools() -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user")
    user.set("me")

    assert results(ran(calls("a", "a"), tools=[Tool("a", lambda args: user.get())])) == ["me", "me"]


def test_what_a_tool_sets_in_the_context_stays_there() -> None:
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")
    ran(calls("a", "a"), tools=[Tool("a", lambda args: user.set("tool") and 1)])

    assert user.get() == "nobody"


def test_where_no_thread_starts_tools_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def no(own: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no)
    result = ran(calls("a", "a", "a"), tools=[Tool("a", lambda args, context: args["n"])])

    assert results(result) == [0, 1, 2]


def test_data_comes_where_no_thread_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def no(own: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no)
    tool = Tool("a", lambda args, context: context.writer.custom({"type": "data-x"}))

    assert "data-x" in kinds(Agent(ScriptedModel([calls("a", "a"), "hi"]), tools=[tool]).stream("x"))


@pytest.mark.parametrize("several", [False, True])
def test_a_tool_that_raises_is_answered_with_its_error(several: bool) -> None:
    def bad(args: Any) -> None:
        raise ValueError("broken")

    stream = Agent(ScriptedModel([calls("a", "a") if several else calls("a"), "hi"]), tools=[Tool("a", bad)]).stream(
        "x"
    )
    errors = [chunk["payload"]["error"] for chunk in stream if chunk["type"] == "tool-error"]

    assert [{"name": "ValueError", "message": "broken"}] * (2 if several else 1) == errors


def test_an_error_goes_into_the_next_prompt() -> None:
    model = ScriptedModel([CALL, "hi"])

    def bad(args: Any) -> None:
        raise ValueError("broken")

    Agent(model, tools=[Tool("add", bad)]).generate("x")

    assert model.requests[1].prompt[-1]["content"][0]["output"] == {"type": "error-text", "value": "broken"}


def test_an_error_has_no_tool_result_hook() -> None:
    seen: list[Any] = []

    def bad(args: Any) -> None:
        raise ValueError("broken")

    ran(CALL, tools=[Tool("add", bad)], hooks=[processor(process_tool_result=lambda args: seen.append(args))])

    assert seen == []


def test_an_unknown_tool_is_answered_with_an_error() -> None:
    stream = Agent(ScriptedModel([calls("x"), "hi"]), tools=[Tool("b", None), Tool("a", None)]).stream("hi")
    error = next(chunk["payload"]["error"] for chunk in stream if chunk["type"] == "tool-error")

    assert error["message"] == "tool 'x' is not offered in this step (offered: a, b) [TOOL-7]"


@pytest.mark.parametrize("active", [[], ["other"]])
def test_a_tool_that_is_not_active_is_not_run(active: list[str]) -> None:
    seen: list[Any] = []
    Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", seen.append)]).generate("x", active_tools=active)

    assert seen == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("several", [False, True])
def test_what_is_no_exception_leaves_the_run(error: type[BaseException], several: bool) -> None:
    def bad(args: Any) -> None:
        raise error

    with pytest.raises(error):
        ran(calls("a", "a") if several else calls("a"), tools=[Tool("a", bad)])


def test_stop_iteration_is_an_error_like_any_other() -> None:
    assert ran(CALL, tools=[Tool("add", lambda args: next(iter(())))]).text == "done"


def test_a_result_that_no_json_can_hold_is_made_fit() -> None:
    made: dict[str, Any] = {"nan": float("nan"), "f": len}
    made["self"] = made

    assert results(ran(CALL, tools=[Tool("add", lambda args: made)])) == [{"nan": None, "self": "[Circular]"}]


def test_a_result_too_deep_to_copy_is_a_tool_error() -> None:
    deep: list[Any] = []
    for _ in range(sys.getrecursionlimit() * 2):
        deep = [deep]
    stream = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", lambda args: deep)]).stream("x")

    assert [chunk["payload"]["error"]["name"] for chunk in stream if chunk["type"] == "tool-error"] == [
        "RecursionError"
    ]


def test_a_result_of_none_is_a_result() -> None:
    seen: list[Any] = []
    hook = processor(process_tool_result=lambda args: seen.append(args.result))
    ran(CALL, tools=[Tool("add", lambda args: None)], hooks=[hook])

    assert seen == [None]


def test_a_result_is_no_longer_the_tools_own() -> None:
    kept = {"n": 1}
    hook = processor(process_tool_result=lambda args: args.result.clear())
    ran(CALL, tools=[Tool("add", lambda args: kept)], hooks=[hook])

    assert kept == {"n": 1}


def test_arguments_that_a_tool_changes_stay_as_the_model_gave_them() -> None:
    result = ran(CALL, tools=[Tool("add", lambda args: args.clear() or 1)])

    assert [result.steps[0]["toolCalls"][0]["args"], result.tool_results[0]["args"]] == [{"a": 1}, {"a": 1}]


def test_the_hook_gets_the_arguments_as_the_model_gave_them() -> None:
    seen: list[Any] = []
    hook = processor(process_tool_result=lambda args: seen.append(args.args))
    ran(CALL, tools=[Tool("add", lambda args: args.clear() or 1)], hooks=[hook])

    assert seen == [{"a": 1}]


def test_a_client_that_changes_a_chunk_does_not_change_the_call() -> None:
    stream = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", lambda args: args)]).stream("x")
    for chunk in stream:
        if chunk["type"] == "tool-call":
            chunk["payload"]["args"]["a"] = 99

    assert results(stream.result()) == [{"a": 1}]


def test_arguments_changed_by_a_processor_are_used() -> None:
    def hook(args: Any) -> Any:
        if args.part["type"] == "tool-call":
            args.part["payload"]["args"]["a"] = 2
        return args.part

    assert results(
        ran(CALL, tools=[Tool("add", lambda args: args)], hooks=[processor(process_output_stream=hook)])
    ) == [{"a": 2}]


# -- processToolResult -------------------------------------------------------------------------------------------------


def updating(**invocation: Any) -> Any:
    return processor(
        process_tool_result=lambda args: (
            args.message_list.update_tool_invocation(
                {"type": "tool-invocation", "toolInvocation": {"toolCallId": args.tool_call_id, **invocation}}
            )
            and None
        )
    )


def test_a_result_is_replaced_through_the_list() -> None:
    assert results(
        ran(CALL, tools=[Tool("add", lambda args: "secret")], hooks=[updating(state="result", result="safe")])
    ) == ["safe"]


def test_a_result_replaced_without_a_state_is_replaced() -> None:
    assert results(ran(CALL, tools=[Tool("add", lambda args: "secret")], hooks=[updating(result="safe")])) == ["safe"]


def test_a_result_turned_into_an_error_is_nowhere() -> None:
    model = ScriptedModel([CALL, "hi"])
    hook = updating(state="output-error", errorText="withheld")
    stream = Agent(model, tools=[Tool("add", lambda args: "secret")], output_processors=[hook]).stream("x")
    everything = repr([list(stream), stream.result(), model.requests[1].prompt])

    assert ("secret" in everything, "withheld" in everything) == (False, True)


def test_the_next_processor_gets_the_replaced_result() -> None:
    seen: list[Any] = []
    hooks = [
        updating(state="result", result="safe"),
        processor("q", process_tool_result=lambda args: seen.append(args.result)),
    ]
    ran(CALL, tools=[Tool("add", lambda args: "secret")], hooks=hooks)

    assert seen == ["safe"]


def test_an_earlier_call_of_the_same_id_is_left_alone() -> None:
    results = iter(["first", "second"])

    def separate(args: Any) -> None:
        if args.step_number == 1:
            args.message_list.add("go on", "input")

    def hook(args: Any) -> None:
        if args.step_number == 1:
            args.message_list.remove_by_ids([args.message_list.get.response.db()[-1]["id"]])

    stream = Agent(
        ScriptedModel([calls("a"), calls("a"), "hi"]),
        tools=[Tool("a", lambda args: next(results))],
        input_processors=[processor("q", process_input_step=separate)],
        output_processors=[processor(process_tool_result=hook)],
    ).stream("x")
    shown = [chunk["payload"]["result"] for chunk in stream if chunk["type"] == "tool-result"]

    assert (shown, [one["result"] for one in stream.result().tool_results]) == (["first"], ["first"])


def test_a_removed_call_is_not_executed() -> None:
    seen: list[Any] = []
    hook = processor(process_output_step=lambda args: args.messages[-1]["content"]["parts"].clear())
    ran({"text": "t", **CALL}, tools=[Tool("add", seen.append)], hooks=[hook])

    assert seen == []


def test_a_call_in_a_message_of_its_own_is_executed() -> None:
    def hook(args: Any) -> Any:
        if args.part["type"] == "tool-call":
            args.message_list.add("by the way", "context")
        return args.part

    result = ran(
        {"text": "first", **CALL}, tools=[Tool("add", lambda args: 5)], hooks=[processor(process_output_stream=hook)]
    )

    assert (results(result), result.steps[0]["text"]) == ([5], "first")
