"""Tools: side by side, in call order, with copies of their arguments, and whatever goes wrong in them."""

from __future__ import annotations

import contextvars
import sys
import threading
from typing import Any

import pytest

from processor_contract import Agent, HookFailed, InvalidAgent, ScriptedModel, Tool
from processor_contract.tools import Tool as Made
from reference_kit import CALL, kinds, processor, texts

FINISH: dict[str, Any] = {"type": "finish", "payload": {"finishReason": "tool-calls"}}
OWN = {"providerExecuted": True}


def calls(*names: str) -> dict[str, Any]:
    return {
        "tool_calls": [
            {"name": name, "id": f"{name}-{number}", "args": {"n": number}} for number, name in enumerate(names)
        ]
    }


def ran(*turns: Any, tools: Any, hooks: Any = (), **options: Any) -> Any:
    return Agent(ScriptedModel([*turns, "done"]), tools=tools, output_processors=hooks, **options).generate("x")


def results(result: Any) -> list[Any]:
    return [one["result"] for one in result.tool_results]


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


# -- definitions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("execute", "expected"),
    [
        (None, False),
        (lambda args: 1, False),
        (lambda args, context: 1, True),
        (lambda *args: 1, False),
        (max, False),
        (dict, False),
    ],
)
def test_a_tool_knows_whether_it_takes_a_context(execute: Any, expected: bool) -> None:
    assert expected is Made("t", execute).takes_context


@pytest.mark.parametrize(
    ("execute", "expected"),
    [
        (lambda args, limit=10: limit, False),
        (lambda args, context=None: 1, True),
        (lambda args, limit, *more: 1, True),
        (lambda args, *, flag=1: 1, False),
    ],
)
def test_a_second_argument_with_a_default_is_the_tools_own(execute: Any, expected: bool) -> None:
    assert expected is Made("t", execute).takes_context


def generator(args: Any) -> Any:
    yield args


async def later(args: Any) -> Any:
    return args


async def laters(args: Any) -> Any:
    yield args


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ({"name": ""}, "a tool is called ''; give it a text"),
        ({"name": 7}, "a tool is called 7; give it a text"),
        ({"execute": "text"}, "tool 't' has str as execute"),
        ({"execute": later}, "tool 't' is asynchronous"),
        ({"execute": laters}, "tool 't' is asynchronous"),
        ({"execute": generator}, "tool 't' is a generator"),
        ({"execute": lambda: 1}, "tool 't' cannot be called with"),
        ({"execute": lambda args, context, more: 1}, "tool 't' cannot be called with"),
        ({"execute": lambda args, *, needed: 1}, "tool 't' cannot be called with"),
        ({"parameters": {"type": "objekt"}}, r"parameters of tool 't' cannot be checked: .*\[TOOL-17\]"),
        ({"parameters": None}, "parameters of tool 't' cannot be checked"),
    ],
)
def test_a_tool_that_cannot_work_is_refused_when_it_is_made(definition: Any, message: str) -> None:
    with pytest.raises(InvalidAgent, match=message):
        Tool(**{"name": "t", "execute": lambda args: 1, **definition})


def test_something_to_be_awaited_is_no_result() -> None:
    stream = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", lambda args: later(args))]).stream("x")
    errors = [chunk["payload"]["error"]["message"] for chunk in stream if chunk["type"] == "tool-error"]

    assert errors == ["tool 'add' returned something to be awaited; return the result itself [CFG-38]"]


@pytest.mark.parametrize("args", ["text", [1], 7, None])
def test_arguments_that_are_no_object_do_not_fit(args: Any) -> None:
    seen: list[Any] = []
    turn = {"chunks": [{"type": "tool-call", "payload": {"toolCallId": "c", "toolName": "add", "args": args}}, FINISH]}
    result = Agent(ScriptedModel([turn, "hi"]), tools=[Tool("add", seen.append)]).generate("x")

    assert (seen, result.text, result.tool_results) == ([], "hi", [])


def test_a_call_without_arguments_has_none() -> None:
    turn = {"chunks": [{"type": "tool-call", "payload": {"toolCallId": "c", "toolName": "add"}}, FINISH]}

    assert results(ran(turn, tools=[Tool("add", lambda args: args)])) == [{}]


def test_something_huge_is_a_result_like_any_other() -> None:
    huge = {"text": "x" * 2_000_000, "list": list(range(50_000))}

    assert results(ran(CALL, tools=[Tool("add", lambda args: huge)])) == [huge]


def test_hundreds_of_calls_have_their_own_results() -> None:
    many = {"tool_calls": [{"name": "a", "id": f"c{number}", "args": {"n": number}} for number in range(300)]}

    assert results(ran(many, tools=[Tool("a", lambda args: args["n"])])) == list(range(300))


def test_a_providers_second_result_takes_the_place_of_its_first() -> None:
    call = {"toolCallId": "p", "toolName": "search", "providerExecuted": True}
    turn = {
        "chunks": [
            {"type": "tool-call", "payload": {**call, "args": {}}},
            *({"type": "tool-result", "payload": {**call, "result": value}} for value in ("half", "whole")),
            FINISH,
        ]
    }
    seen: list[Any] = []
    hook = processor(process_tool_result=lambda args: seen.append(args.result))
    result = Agent(ScriptedModel([turn]), output_processors=[hook]).generate("x")

    assert (seen, results(result)) == (["half", "whole"], ["whole"])


def test_the_result_of_a_provider_call_that_came_twice_is_that_of_the_later_one() -> None:
    def call(n: int) -> Any:
        return {"type": "tool-call", "payload": {"toolCallId": "p", "toolName": "s", "args": {"n": n}, **OWN}}

    def found(value: str) -> Any:
        return {"type": "tool-result", "payload": {"toolCallId": "p", "toolName": "s", "result": value, **OWN}}

    turn = {"chunks": [call(1), found("one"), call(2), found("two"), FINISH]}

    assert results(Agent(ScriptedModel([turn])).generate("x")) == ["one", "two"]


def test_the_context_of_a_tool() -> None:
    seen: list[Any] = []
    agent = Agent(ScriptedModel([CALL, "hi"]), tools=[Tool("add", lambda args, context: seen.append(context))])
    from processor_contract import RequestContext

    context = RequestContext()
    agent.generate("x", request_context=context)

    assert (seen[0].tool_call_id, seen[0].request_context is context, seen[0].abort_signal.aborted) == (
        "c1",
        True,
        False,
    )


def test_a_call_for_the_client_ends_the_run() -> None:
    result = ran(calls("mine"), tools=[Tool("mine")])

    assert (result.finish_reason, result.tool_results) == ("tool-calls", [])


def test_tools_that_are_none_are_refused_by_name() -> None:
    agent = Agent(
        ScriptedModel(["hi"]), input_processors=[processor(process_input_step=lambda args: {"tools": ["add"]})]
    )

    with pytest.raises(HookFailed, match=r"returned tools as a value of type list.*\[CFG-16\]"):
        agent.generate("x")


def test_parallel_results_go_into_one_message() -> None:
    result = ran(calls("a", "a"), tools=[Tool("a", lambda args: args["n"])])

    assert texts(result.messages) == ["assistant: done"]
