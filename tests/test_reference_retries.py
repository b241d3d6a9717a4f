"""Rejected attempts: what falls with them, what stays, and how often there is another."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import Agent, ScriptedModel, Tool
from reference_kit import CALL, hooked, ids, kinds, message, part_kinds, processor, remembering, texts

DATA = {"type": "data-x", "data": 1}


def once(then: Any = lambda args: None) -> Any:
    """A hook that asks for another attempt the first time, after doing something."""

    def hook(args: Any) -> None:
        if args.retry_count == 0:
            then(args)
            args.abort("again", retry=True)

    return hook


def retried(
    *turns: Any, then: Any = lambda args: None, inputs: Any = (), hook: str = "process_output_step", **options: Any
) -> Any:
    """The result of a run whose first attempt is rejected in an output hook."""
    agent = Agent(
        ScriptedModel(turns or ["bad", "good"]),
        input_processors=inputs,
        output_processors=[processor("judge", **{hook: once(then)})],
        max_processor_retries=3,
        **options,
    )
    return agent.generate(message("u", "hi"))


def test_the_rejected_answer_is_gone() -> None:
    assert texts(retried().messages) == ["assistant: good"]


def test_messages_added_to_the_response_by_the_rejecting_hook_are_gone() -> None:
    result = retried(then=lambda args: args.message_list.add([message("x", "note", role="assistant")], "response"))

    assert texts(result.messages) == ["assistant: good"]


@pytest.mark.parametrize("source", ["input", "context"])
def test_messages_added_elsewhere_by_the_rejecting_hook_stay(source: str) -> None:
    seen: list[Any] = []
    model = ScriptedModel(["bad", "good"])
    Agent(
        model,
        output_processors=[
            processor(
                process_output_step=once(lambda args: args.message_list.add([message("x", "note")], source)),
                process_output_result=lambda args: seen.extend(args.message_list.get.all.db()),
            )
        ],
        max_processor_retries=1,
    ).generate("hi")

    assert texts(seen) == ["user: hi", "user: note", "assistant: good"]


def test_a_message_that_a_rejecting_hook_removed_from_the_response_is_back_in_its_place() -> None:
    def reject(args: Any) -> None:
        if args.step_number == 1 and args.retry_count == 0:
            args.message_list.remove_by_ids(ids(args.message_list.get.response.db()))
            args.message_list.add([message("x", "note")], "context")
            args.abort("again", retry=True)

    seen: list[Any] = []
    agent = Agent(
        ScriptedModel([{"text": "first", **CALL}, "bad", "good"]),
        tools=[Tool("add", lambda args: 1)],
        output_processors=[
            processor(
                process_output_step=reject,
                process_output_result=lambda args: seen.extend(args.message_list.get.all.db()),
            )
        ],
        max_processor_retries=1,
    )
    agent.generate("hi")

    assert texts(seen) == ["user: hi", "assistant: first", "user: note", "assistant: good"]


@pytest.mark.parametrize(
    "hook",
    ["process_input_step", "process_llm_request", "process_llm_response"],
)
def test_data_of_a_rejected_attempt_is_gone(hook: str) -> None:
    result = retried(
        inputs=[processor(**hooked(hook, lambda args: args.writer.custom(DATA) if args.retry_count == 0 else None))]
    )

    assert part_kinds(result) == ["text"]


@pytest.mark.parametrize("kind", ["step-start", "text-delta", "step-finish"])
def test_data_sent_while_a_chunk_of_a_rejected_attempt_is_handled_is_gone(kind: str) -> None:
    def send(args: Any) -> Any:
        if args.part["type"] == kind and args.retry_count == 0:
            args.writer.custom(DATA)
        return args.part

    agent = Agent(
        ScriptedModel(["bad", "good"]),
        output_processors=[processor(process_output_stream=send, process_output_step=once())],
        max_processor_retries=1,
    )

    assert part_kinds(agent.generate("hi")) == ["text"]


def test_data_of_a_rejected_attempt_was_seen_by_the_client() -> None:
    agent = Agent(
        ScriptedModel(["bad", "good"]),
        input_processors=[
            processor(process_input_step=lambda args: args.writer.custom(DATA) if args.retry_count == 0 else None)
        ],
        output_processors=[processor("judge", process_output_step=once())],
        max_processor_retries=1,
    )

    assert kinds(agent.stream("hi"))[:3] == ["start", "data-x", "step-start"]


@pytest.mark.parametrize("message_id", ["other", None])
def test_a_message_opened_for_data_of_a_rejected_attempt_is_gone(message_id: str | None) -> None:
    def send(args: Any) -> None:
        if args.retry_count == 0:
            args.writer.custom(DATA, message_id=message_id)

    result = retried("bad", {}, inputs=[processor(process_input_step=send)])

    assert result.messages == []


def test_data_put_into_a_remembered_message_by_a_rejected_attempt_is_gone() -> None:
    seen: list[Any] = []

    def send(args: Any) -> None:
        if args.retry_count == 0:
            args.writer.custom(DATA, message_id="old")

    agent, storage = remembering(
        "bad",
        "good",
        input_processors=[processor(process_input_step=send)],
        output_processors=[
            processor(
                "judge",
                process_output_step=once(),
                process_output_result=lambda args: seen.extend(args.message_list.get.remembered.db()),
            )
        ],
        max_processor_retries=1,
    )
    storage.append("t", "r", [message("old", "old", role="assistant")])
    agent.generate("hi", thread="t", resource="r")

    assert seen[0]["content"]["parts"] == [{"type": "text", "text": "old"}]


def test_the_mark_of_a_later_step_is_set_once_however_often_it_is_tried() -> None:
    def send(args: Any) -> None:
        if args.step_number == 1:
            args.writer.custom(DATA)

    def reject(args: Any) -> None:
        if args.step_number == 1 and args.retry_count < 2:
            args.abort("again", retry=True)

    agent = Agent(
        ScriptedModel([CALL, "bad", "bad", "good"]),
        tools=[Tool("add", lambda args: 1)],
        input_processors=[processor(process_input_step=send)],
        output_processors=[processor("judge", process_output_step=reject)],
        max_processor_retries=5,
    )

    assert part_kinds(agent.generate("hi")) == ["tool-invocation", "step-start", "data-x", "text"]


def test_tool_results_of_a_rejected_attempt_are_gone() -> None:
    result = retried(CALL, {"text": "good"}, hook="process_tool_result", tools=[Tool("add", lambda args: 1)])

    assert (part_kinds(result), [step["toolResults"] for step in result.steps]) == (["text"], [[]])


def test_the_feedback_is_in_the_next_prompt_only() -> None:
    model = ScriptedModel(["bad", CALL, "good"])
    agent = Agent(
        model,
        instructions="Be brief.",
        tools=[Tool("add", lambda args: 1)],
        output_processors=[
            processor(
                process_output_step=lambda args: args.abort("too rude", retry=True) if args.text == "bad" else None
            )
        ],
        max_processor_retries=1,
    )
    agent.generate("hi")
    systems = [[one["content"] for one in request.prompt if one["role"] == "system"] for request in model.requests]

    assert [["Be brief." in one or "too rude" in one for one in each] for each in systems] == [
        [True],
        [True, True],
        [True],
    ]


def test_system_messages_of_a_rejected_attempt_are_set_back() -> None:
    model = ScriptedModel(["bad", "good"])
    agent = Agent(
        model,
        input_processors=[processor(process_input_step=lambda args: args.message_list.add_system("just once"))],
        output_processors=[processor("judge", process_output_step=once())],
        max_processor_retries=1,
    )
    agent.generate("hi")

    assert sum(one["content"] == "just once" for one in model.requests[1].prompt) == 1


def test_in_place_edits_of_the_response_in_a_rejected_attempt_are_undone() -> None:
    def reject(args: Any) -> None:
        if args.step_number == 1 and args.retry_count == 0:
            args.messages[-1]["content"]["parts"][0]["text"] = "spoiled"
            args.abort("again", retry=True)

    agent = Agent(
        ScriptedModel([{"text": "first", **CALL}, "bad", "good"]),
        tools=[Tool("add", lambda args: 1)],
        output_processors=[processor(process_output_step=reject)],
        max_processor_retries=1,
    )

    assert agent.generate("hi").text == "firstgood"


@pytest.mark.parametrize(("retries", "attempts"), [(None, 1), (0, 1), (1, 2), (3, 4)])
def test_the_budget_limits_the_attempts(retries: int | None, attempts: int) -> None:
    model = ScriptedModel(["bad"], repeat=True)
    agent = Agent(model, output_processors=[processor(process_output_step=lambda args: args.abort("no", retry=True))])
    result = agent.generate("hi", max_processor_retries=retries)

    assert (attempts, True) == (len(model.requests), (result.tripwire or {})["retry"])


@pytest.mark.parametrize("count", [-1, 1.5, "2", True])
def test_a_budget_that_is_no_number_is_refused(count: Any) -> None:
    from processor_contract import InvalidAgent

    with pytest.raises(InvalidAgent, match=r"max_processor_retries is .*use a whole number from 0 \[CFG-8\]"):
        Agent(ScriptedModel([]), max_processor_retries=count)
