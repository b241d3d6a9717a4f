"""What hooks behind the model call may return, and what is refused; settings that cannot work; the provider's side."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from processor_contract import (
    Agent,
    APICallError,
    HookFailed,
    InvalidAgent,
    InvalidMessage,
    ScriptedModel,
    Tool,
)
from reference_kit import CALL, hooked, ids, inputs, kinds, message, outputs, processor, texts
from returns_kit import SAID, returning

# -- processOutputStream -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    ["text", 5, [], {}, {"type": None}, {"type": "text-delta"}, {"type": "text-delta", "payload": {}}, {"payload": {}}],
)
def test_what_is_no_chunk_is_refused(wrong: Any) -> None:
    with pytest.raises(HookFailed, match=r"processor 'p' failed in processOutputStream: .*\[STR-20\]"):
        returning("process_output_stream", wrong, "hi").generate("x")


@pytest.mark.parametrize("kind", ["start", "step-start", "step-finish", "finish", "error", "tripwire", "abort"])
def test_a_control_chunk_cannot_be_made_up(kind: str) -> None:
    agent = outputs(
        "hi",
        process_output_stream=lambda args: (
            {"type": kind, "payload": {}} if args.part["type"] == "text-delta" else args.part
        ),
    )

    with pytest.raises(HookFailed, match=rf"returned a chunk of type '{kind}' for one of type 'text-delta'.*\[STR-4\]"):
        agent.generate("x")


def test_a_control_chunk_may_be_replaced_by_one_of_its_type() -> None:
    stream = outputs(
        "hi",
        process_output_stream=lambda args: (
            {**args.part, "payload": {"mine": 1}} if args.part["type"] == "step-start" else args.part
        ),
    ).stream("x")

    assert next(chunk["payload"] for chunk in stream if chunk["type"] == "step-start") == {"mine": 1}


def test_dropped_chunks_reach_neither_the_next_nor_the_client() -> None:
    seen: list[str] = []

    def look(args: Any) -> Any:
        seen.append(args.part["type"])
        return args.part

    agent = Agent(
        ScriptedModel(["hi"]),
        output_processors=[
            processor("a", process_output_stream=lambda args: None if args.part["type"] == "text-delta" else args.part),
            processor("b", process_output_stream=look),
        ],
    )
    got = kinds(agent.stream("x"))

    assert ("text-delta" in seen, "text-delta" in got) == (False, False)


def test_everything_may_be_dropped() -> None:
    stream = outputs("hi", process_output_stream=lambda args: None).stream("x")

    assert (kinds(stream), stream.result().text) == (["start", "finish"], "")


def test_dropping_the_models_finish_changes_nothing() -> None:
    result = outputs(
        "hi", process_output_stream=lambda args: None if args.part["type"] == "finish" else args.part
    ).generate("x")

    assert (result.finish_reason, result.usage["totalTokens"]) == ("stop", 2)


def test_dropping_an_error_does_not_undo_it() -> None:
    agent = outputs(APICallError("down"), process_output_stream=lambda args: None)

    with pytest.raises(APICallError, match="down"):
        agent.generate("x")


def test_the_parts_of_the_stream_are_as_they_came() -> None:
    seen: list[Any] = []

    def spoil(args: Any) -> Any:
        if args.part["type"] == "text-delta":
            args.part["payload"]["text"] = "spoiled"
        seen[:] = [part["payload"]["text"] for part in args.stream_parts if part["type"] == "text-delta"]
        return args.part

    outputs(["a", "b"], process_output_stream=spoil).generate("x")

    assert seen == ["a", "b"]


# -- processOutputStep and processOutputResult -------------------------------------------------------------------------


def test_a_later_processor_sees_the_text_as_the_one_before_left_it() -> None:
    seen: list[str] = []
    agent = Agent(
        ScriptedModel(["secret"]),
        output_processors=[
            processor(
                "a", process_output_step=lambda args: args.messages[-1]["content"]["parts"][0].update(text="***")
            ),
            processor("b", process_output_step=lambda args: seen.append(args.text)),
        ],
    )

    assert (agent.generate("x").text, seen) == ("***", ["***"])


def test_a_response_replaced_under_another_id_is_the_step() -> None:
    seen: list[str] = []
    agent = Agent(
        ScriptedModel(["secret"]),
        output_processors=[
            processor(
                "a", process_output_step=lambda args: [*args.messages[:-1], message("new", "***", role="assistant")]
            ),
            processor("b", process_output_step=lambda args: seen.append(args.text)),
        ],
    )
    result = agent.generate("x")

    assert (seen, result.text, ids(result.messages), result.steps[0]["text"]) == (["***"], "***", ["new"], "***")


def test_text_added_at_the_end_counts_to_the_last_step() -> None:
    agent = Agent(
        ScriptedModel([{"text": "first. ", **CALL}, "second. "]),
        tools=[Tool("add", lambda args: 1)],
        output_processors=[
            processor(process_output_result=lambda args: [*args.messages, message(None, "third.", role="assistant")])
        ],
    )
    result = agent.generate("x")

    assert ([step["text"] for step in result.steps], result.text) == (
        ["first. ", "second. third."],
        "first. second. third.",
    )


def test_each_step_keeps_its_text_when_another_is_removed() -> None:
    def separate(args: Any) -> None:
        if args.step_number == 1:
            args.message_list.add("go on", "input")

    agent = Agent(
        ScriptedModel([{"text": "first", **CALL}, "second"]),
        tools=[Tool("add", lambda args: 1)],
        input_processors=[processor("q", process_input_step=separate)],
        output_processors=[processor(process_output_result=lambda args: args.messages[1:])],
    )
    result = agent.generate("x")

    assert ([step["text"] for step in result.steps], texts(result.messages)) == (["", "second"], ["assistant: second"])


def test_a_users_message_among_the_response_is_no_answer() -> None:
    agent = outputs("hi", process_output_step=lambda args: [*args.messages, message("u", "a question")])
    result = agent.generate("x")

    assert (result.text, ids(result.messages)[-1]) == ("hi", "u")


def test_a_step_whose_message_a_processor_removed_while_it_streamed_says_the_rest() -> None:
    def hook(args: Any) -> Any:
        if args.part["type"] == "text-delta" and args.part["payload"]["text"] == "b":
            args.message_list.remove_by_ids(ids(args.message_list.get.response.db()))
        return args.part

    assert outputs(["a", "b", "c"], process_output_stream=hook).generate("x").text == "bc"


# -- what cannot work --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"max_steps": 0}, {"max_steps": -1}, {"max_steps": 1.5}, {"max_steps": True}])
def test_a_step_limit_that_is_none_is_refused(options: Any) -> None:
    with pytest.raises(InvalidAgent, match=r"max_steps is .*use a whole number from 1 \[CFG-29\]"):
        Agent(ScriptedModel([]), **options)
    with pytest.raises(InvalidAgent, match=r"max_steps is .*use a whole number from 1 \[CFG-29\]"):
        Agent(ScriptedModel([])).generate("x", **options)


@pytest.mark.parametrize("id", ["message-history", "prepare-step"])
@pytest.mark.parametrize("array", ["input_processors", "output_processors", "error_processors"])
def test_the_runtimes_ids_are_refused(id: str, array: str) -> None:
    one = processor(id, process_input=print, process_output_step=print, process_api_error=print)
    with pytest.raises(InvalidAgent, match=r"is the runtime's own; choose another \[CFG-3\]"):
        Agent(ScriptedModel([]), **hooked(array, [one]))


@pytest.mark.parametrize("id", ["message-history", "prepare-step"])
def test_the_runtimes_ids_are_refused_from_a_function(id: str) -> None:
    agent = Agent(ScriptedModel([]), input_processors=lambda context: [processor(id, process_input=print)])

    with pytest.raises(InvalidAgent, match=r"is the runtime's own; choose another \[CFG-3\]"):
        agent.generate("x")


async def later(args: Any) -> None:
    """What a program that awaits would await."""


@pytest.mark.parametrize("hook", ["process_input", "process_llm_response", "process_output_stream"])
def test_an_asynchronous_hook_is_refused(hook: str) -> None:
    with pytest.raises(InvalidAgent, match=rf"{hook} of processor 'p' is asynchronous.*\[CFG-26\]"):
        returning(hook, later)


def test_an_asynchronous_alert_is_refused() -> None:
    one = processor(process_input=print)
    one.on_violation = later  # type: ignore[assignment]
    with pytest.raises(InvalidAgent, match=r"on_violation of processor 'p' is asynchronous.*\[CFG-26\]"):
        Agent(ScriptedModel([]), input_processors=[one])


def test_an_asynchronous_tool_is_refused() -> None:
    with pytest.raises(InvalidAgent, match="tool 'add' is asynchronous"):
        Tool("add", later)


@pytest.mark.parametrize("input", [None, 5, [5], {"role": "user"}, [{"role": "user", "content": "text"}]])
def test_an_input_that_is_none_is_refused(input: Any) -> None:
    with pytest.raises(InvalidMessage, match=r"\[MSG-29\]"):
        Agent(ScriptedModel([])).generate(input)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_the_step_limit_ends_a_run_in_order(turns: int) -> None:
    model = ScriptedModel([CALL], repeat=True)
    result = Agent(model, tools=[Tool("add", lambda args: 1)]).generate("x", max_steps=turns)

    assert (len(model.requests), len(result.steps), result.finish_reason) == (turns, turns, "tool-calls")


# -- the provider's side -----------------------------------------------------------------------------------------------


def test_a_control_chunk_cannot_come_out_of_a_cache() -> None:
    chunks: list[Any] = [
        {"type": kind, "payload": {}} for kind in ("start", "step-start", "step-finish", "tripwire", "abort")
    ]
    agent = inputs(process_llm_request=lambda args: {"response": {"chunks": [*chunks, *SAID]}})
    stream = agent.stream("x")

    assert (kinds(stream), stream.result().text) == (
        ["start", "step-start", "text-delta", "step-finish", "finish"],
        "cached",
    )


def test_data_may_come_from_a_provider() -> None:
    data = {"type": "data-x", "data": {"n": 1}}
    stream = Agent(ScriptedModel([{"chunks": [data, *SAID]}])).stream("x")

    assert (data in list(stream), stream.result().messages[0]["content"]["parts"][0]) == (True, data)


def test_a_providers_own_chunks_are_not_edited() -> None:
    part = {"type": "text-delta", "payload": {"text": "mine"}}
    result = {"type": "tool-result", "payload": {"toolCallId": "c", "toolName": "search", "result": "raw"}}

    class Constant:
        id = "constant/one"

        def stream(self, request: Any) -> Any:
            return [part, result, *SAID[1:]]

    def spoil(args: Any) -> Any:
        args.part["payload"]["text"] = args.part["payload"]["result"] = "spoiled"
        return args.part

    Agent(Constant(), output_processors=[processor(process_output_stream=spoil)]).generate("x")

    assert (part["payload"], result["payload"]["result"]) == ({"text": "mine"}, "raw")  # type: ignore[index]


def test_a_provider_that_edits_its_request_edits_nothing_else() -> None:
    tool = Tool("add", lambda args: 1, parameters={"type": "object", "properties": {}})
    settings = {"temperature": 0}

    class Editing:
        id = "editing/one"

        def stream(self, request: Any) -> Any:
            request.tools[0]["parameters"].clear()
            request.settings.clear()
            request.prompt.clear()
            return SAID

    hook = processor(process_input_step=lambda args: {"model_settings": settings})
    Agent(Editing(), tools=[tool], input_processors=[hook]).generate("x")

    assert (tool.parameters, settings) == ({"type": "object", "properties": {}}, {"temperature": 0})


def test_nobody_can_change_the_parts_that_have_come() -> None:
    seen: list[str] = []

    def spoil(args: Any) -> Any:
        with contextlib.suppress(AttributeError, TypeError):
            args.stream_parts.clear()
        with contextlib.suppress(AttributeError, TypeError):
            del args.stream_parts[0]
        args.stream_parts[0]["type"] = "spoilt"
        next(iter(args.stream_parts))["type"] = "spoilt"
        args.stream_parts[:1][0]["type"] = "spoilt"
        return args.part

    def look(args: Any) -> Any:
        seen.append(f"{len(args.stream_parts)} {args.stream_parts[0]['type']}")
        return args.part

    one, other = processor("a", process_output_stream=spoil), processor("b", process_output_stream=look)
    Agent(ScriptedModel(["hi"]), output_processors=[one, other]).generate("x")

    assert seen == [f"{number} step-start" for number in (1, 2, 3, 4, 5, 6)]
