"""Requests within one another, and the request context that they share or do not."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import (
    Agent,
    RequestContext,
    ScriptedModel,
    Tool,
)
from reference_kit import CALL, inputs, message, outputs, processor

# -- within one another ------------------------------------------------------------------------------------------------


def test_a_hook_may_make_a_request_of_its_own_agent() -> None:
    held: list[Agent] = []

    def hook(args: Any) -> Any:
        if args.messages[0]["content"]["parts"][0]["text"] == "outer":
            args.state["inner"] = held[0].generate("inner").text
            return [message(None, args.state["inner"])]
        assert args.state == {}
        return None

    model = ScriptedModel(lambda request, number: f"to {request.prompt[-1]['content'][0]['text']}")
    held.append(Agent(model, input_processors=[processor(process_input=hook)]))

    assert held[0].generate("outer").text == "to to inner"


def test_a_tool_may_make_a_request_of_its_own_agent() -> None:
    held: list[Agent] = []
    model = ScriptedModel(
        lambda request, number: CALL if request.prompt[-1]["content"][0].get("text") == "outer" else "hi"
    )
    held.append(Agent(model, tools=[Tool("add", lambda args: held[0].generate("inner").text)]))
    result = held[0].generate("outer")

    assert [one["result"] for one in result.tool_results] == ["hi"]


def test_an_inner_abort_is_not_the_outer_runs() -> None:
    inner = inputs(process_input=lambda args: args.abort("inner"))
    seen: list[Any] = []
    outer = inputs("hi", process_input=lambda args: seen.append(inner.generate("x").tripwire))

    assert (outer.generate("x").text, seen[0]["reason"]) == ("hi", "inner")


def test_a_writer_of_another_run_writes_to_its_own() -> None:
    kept: list[Any] = []
    first = inputs("hi", process_input_step=lambda args: kept.append(args.writer)).stream("x")
    next(first)
    next(first)
    second = outputs("hi", process_output_step=lambda args: kept[0].custom({"type": "data-x"}))
    second.generate("x")

    assert "data-x" in [chunk["type"] for chunk in first]


# -- request context ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [{}, {"user": "me"}])
def test_the_request_context_is_the_callers_own(values: Any) -> None:
    context, seen = RequestContext(values), []
    agent = inputs("hi", process_input=lambda args: seen.append(args.request_context))
    agent.generate("x", request_context=context)

    assert seen[0] is context


def test_an_empty_request_context_brings_out_what_was_set() -> None:
    context = RequestContext()
    inputs("hi", process_input=lambda args: args.request_context.set("user", "me")).generate(
        "x", request_context=context
    )

    assert (context.get("user"), list(context), len(context), context.has("other")) == ("me", ["user"], 1, False)


def test_without_one_each_request_has_a_context_of_its_own() -> None:
    seen: list[Any] = []
    agent = Agent(
        ScriptedModel(["a", "b"]),
        input_processors=[processor(process_input=lambda args: seen.append(args.request_context))],
    )
    agent.generate("x")
    agent.generate("x")

    assert seen[0] is not seen[1]
