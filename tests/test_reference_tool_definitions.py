"""Tools: how they are defined, and which definitions are refused."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import Agent, HookFailed, InvalidAgent, ScriptedModel, Tool
from processor_contract.tools import Tool as Made
from reference_kit import CALL, processor, texts
from tool_kit import calls, ran, results

FINISH: dict[str, Any] = {"type": "finish", "payload": {"finishReason": "tool-calls"}}
OWN = {"providerExecuted": True}


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
