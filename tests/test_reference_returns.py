"""What hooks before the model call may return, hook by hook, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import (
    Agent,
    HookFailed,
    MessageList,
    ScriptedModel,
    Tool,
)
from reference_kit import CALL, ids, inputs, message, processor
from returns_kit import SAID, returning

MESSAGE_HOOKS = [
    "process_input",
    "process_input_step",
    "process_output_step",
    "process_tool_result",
    "process_output_result",
]


@pytest.mark.parametrize("hook", MESSAGE_HOOKS)
@pytest.mark.parametrize(
    "harmless",
    [
        pytest.param(None, id="nothing"),
        pytest.param(lambda args: args.messages, id="the same array"),
        pytest.param(lambda args: list(args.messages), id="a copy of the array"),
        pytest.param(lambda args: args.message_list, id="the same list"),
        pytest.param({}, id="an empty object"),
        pytest.param({"messages": None, "system_messages": None}, id="an object of nothing"),
        pytest.param(lambda args: {"messages": args.messages}, id="an object with the same array"),
        pytest.param(lambda args: args.messages.clear(), id="nothing, after emptying the array"),
    ],
)
def test_what_changes_nothing(hook: str, harmless: Any) -> None:
    assert returning(hook, harmless).generate("x").text == "hi"


@pytest.mark.parametrize("hook", MESSAGE_HOOKS)
@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        pytest.param("text", "MSG-25", id="text"),
        pytest.param(5, "MSG-25", id="number"),
        pytest.param(True, "MSG-25", id="truth"),
        pytest.param((), "MSG-25", id="tuple"),
        pytest.param({"messages": "text"}, "MSG-25", id="messages that are text"),
        pytest.param({"system_messages": "Be nice."}, "MSG-25", id="system messages that are text"),
        pytest.param({"system_messages": [5]}, "MSG-29", id="a system message that is a number"),
        pytest.param(MessageList(), "MSG-12", id="a list of its own"),
        pytest.param(["text"], "MSG-29", id="an array of texts"),
        pytest.param([message("a", "1"), message("a", "2")], "MSG-5", id="an id twice"),
        pytest.param([{"role": "user", "content": "text"}], "MSG-29", id="content that is text"),
    ],
)
def test_what_no_message_hook_may_return(hook: str, wrong: Any, rule: str) -> None:
    with pytest.raises(HookFailed, match="processor 'p' failed in") as raised:
        returning(hook, wrong).generate("x")

    assert raised.value.rule == rule


@pytest.mark.parametrize(
    ("hook", "rule"), {**dict.fromkeys(MESSAGE_HOOKS, "MSG-25"), "process_input_step": "CFG-15"}.items()
)
def test_an_object_with_an_unknown_key_is_refused(hook: str, rule: str) -> None:
    with pytest.raises(HookFailed, match="processor 'p' failed in") as raised:
        returning(hook, {"odd": 1}).generate("x")

    assert rule == raised.value.rule


@pytest.mark.parametrize("hook", ["process_output_step", "process_tool_result"])
@pytest.mark.parametrize("empty", [[], {"messages": []}])
def test_an_empty_array_changes_nothing_after_the_answer(hook: str, empty: Any) -> None:
    assert returning(hook, empty).generate("x").text == "hi"


@pytest.mark.parametrize("empty", [[], {"messages": []}])
def test_an_empty_array_removes_the_response_at_the_end(empty: Any) -> None:
    result = returning("process_output_result", empty, "hi").generate("x")

    assert (result.text, result.messages) == ("", [])


def test_what_a_hook_added_to_the_list_stays_when_it_returns_the_messages_it_got() -> None:
    seen: list[Any] = []

    def hook(args: Any) -> Any:
        args.message_list.add([message("added", "by the way")], "context")
        return args.messages

    agent = Agent(
        ScriptedModel(["hi"]),
        input_processors=[
            processor(process_input=hook),
            processor("q", process_input=lambda args: seen.extend(args.messages)),
        ],
    )
    agent.generate(message("u", "hello"))

    assert ids(seen) == ["u", "added"]


# -- processInputStep --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "harmless",
    [
        {"model": None},
        {"tools": None},
        {"active_tools": None},
        {"messages": None, "message_list": None},
        {"tool_choice": None},
    ],
)
def test_an_override_of_nothing_changes_nothing(harmless: Any) -> None:
    assert returning("process_input_step", harmless).generate("x").text == "hi"


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"tools": ["add"]}, "CFG-16"),
        ({"tools": {"add": "add"}}, "CFG-16"),
        ({"active_tools": "add"}, "CFG-16"),
        ({"active_tools": 5}, "CFG-16"),
        ({"model": "unknown"}, "CFG-7"),
        ({"model": 5}, "CFG-7"),
        ({"odd": 1}, "CFG-15"),
    ],
)
def test_an_override_that_cannot_be_is_refused(wrong: Any, rule: str) -> None:
    with pytest.raises(HookFailed, match="processor 'p' failed in processInputStep") as raised:
        returning("process_input_step", wrong).generate("x")

    assert raised.value.rule == rule


def test_messages_and_the_list_together_are_refused() -> None:
    agent = returning("process_input_step", lambda args: {"messages": [], "message_list": args.message_list})

    with pytest.raises(HookFailed, match=r"returned both messages and message_list.*\[MSG-26\]"):
        agent.generate("x")


@pytest.mark.parametrize("active", [["add"], ("add",), {"add"}, frozenset({"add"})])
def test_active_tools_may_be_any_collection(active: Any) -> None:
    model = ScriptedModel(["hi"])
    Agent(
        model,
        tools=[Tool("add"), Tool("other")],
        input_processors=[processor(process_input_step=lambda args: {"active_tools": active})],
    ).generate("x")

    assert [tool["name"] for tool in model.requests[0].tools] == ["add"]


def test_overrides_add_up_and_end_with_their_step() -> None:
    model = ScriptedModel([CALL, "hi"])

    def first(args: Any) -> Any:
        return {"tool_choice": "required"} if args.step_number == 0 else None

    def second(args: Any) -> Any:
        return {"model_settings": {"choice": args.tool_choice}}

    agent = Agent(
        model,
        tools=[Tool("add", lambda args: 1)],
        input_processors=[processor("a", process_input_step=first), processor("b", process_input_step=second)],
    )
    agent.generate("x")

    assert [(one.tool_choice, one.settings) for one in model.requests] == [
        ("required", {"choice": "required"}),
        (None, {"choice": None}),
    ]


# -- processLLMRequest -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(
    "harmless", [None, {}, {"prompt": None}, {"response": None}, lambda args: {"prompt": args.prompt}]
)
def test_a_request_hook_that_changes_nothing(harmless: Any) -> None:
    assert returning("process_llm_request", harmless, "hi").generate("x").text == "hi"


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ("text", "LLM-19"),
        ([], "LLM-19"),
        ({"odd": 1}, "LLM-19"),
        ({"prompt": "text"}, "LLM-19"),
        ({"prompt": ["text"]}, "LLM-19"),
        ({"prompt": []}, "LLM-3"),
        ({"response": "text"}, "LLM-19"),
        ({"response": {}}, "LLM-19"),
        ({"response": {"chunks": "text"}}, "LLM-19"),
        ({"response": {"chunks": ["text"]}}, "LLM-19"),
        ({"response": {"chunks": [{"type": "text-delta"}]}}, "LLM-19"),
        ({"response": {"chunks": [{"type": "text-delta", "payload": {"text": 5}}]}}, "LLM-19"),
    ],
)
def test_what_no_request_hook_may_return(wrong: Any, rule: str) -> None:
    with pytest.raises(HookFailed, match="processor 'p' failed in processLLMRequest") as raised:
        returning("process_llm_request", wrong, "hi").generate("x")

    assert raised.value.rule == rule


def test_a_response_is_replayed_without_a_call() -> None:
    model = ScriptedModel(["never"])
    agent = Agent(model, input_processors=[processor(process_llm_request=lambda args: {"response": {"chunks": SAID}})])

    assert (agent.generate("x").text, model.requests) == ("cached", [])


def test_a_replayed_response_is_a_copy() -> None:
    def spoil(args: Any) -> Any:
        if args.part["type"] == "text-delta":
            args.part["payload"]["text"] = "spoiled"
        return args.part

    agent = Agent(
        ScriptedModel([]),
        input_processors=[processor(process_llm_request=lambda args: {"response": {"chunks": SAID}})],
        output_processors=[processor("q", process_output_stream=spoil)],
    )
    agent.generate("x")

    assert SAID[0] == {"type": "text-delta", "payload": {"text": "cached"}}


def test_the_first_response_wins_and_the_later_hooks_still_run() -> None:
    seen: list[str] = []

    def second(args: Any) -> Any:
        seen.append("second")
        return {"response": {"chunks": [{"type": "text-delta", "payload": {"text": "second"}}]}}

    agent = Agent(
        ScriptedModel([]),
        input_processors=[
            processor("a", process_llm_request=lambda args: {"response": {"chunks": SAID}}),
            processor("b", process_llm_request=second),
        ],
    )

    assert (agent.generate("x").text, seen) == ("cached", ["second"])


def test_a_replay_uses_nothing() -> None:
    agent = inputs(process_llm_request=lambda args: {"response": {"chunks": SAID}})

    assert agent.generate("x").usage == {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}


@pytest.mark.parametrize("anything", [None, 5, "text", [], {"odd": 1}])
def test_what_a_response_hook_returns_is_ignored(anything: Any) -> None:
    assert returning("process_llm_response", anything, "hi").generate("x").text == "hi"
