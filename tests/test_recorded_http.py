"""The provider for real endpoints against what a real model on a real server once answered.

Ordinary runs replay fixtures/cassettes with the network refused; `make record-http` records them anew, by running this
module with the server at hand. The model is a small one and talks nonsense: what is looked at is what came over the
wire, and that it arrives.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from processor_contract import APICallError, InMemoryStorage, Memory, ModelRequest, Tool
from processors import ContentFilter, WordCounter
from recorded_kit import EXACT, QUESTION, agent, body_of, model, surroundings, vcr_cassette_dir, vcr_config
from reference_kit import kinds, processor

pytestmark = [
    pytest.mark.vcr,
    pytest.mark.block_network,
    pytest.mark.usefixtures(surroundings.__name__, vcr_cassette_dir.__name__, vcr_config.__name__),
]


@pytest.fixture
def default_cassette_name(request: pytest.FixtureRequest) -> str:
    return request.node.name.removeprefix("test_").replace("_", "-")  # type: ignore[no-any-return]


def test_plain_answer() -> None:
    result = agent(streaming=False).generate(QUESTION)

    assert result.text
    assert result.usage["inputTokens"] > 0
    assert result.usage["totalTokens"] == result.usage["inputTokens"] + result.usage["outputTokens"]


def test_streamed_answer() -> None:
    stream = agent().stream(QUESTION)
    deltas = [chunk["payload"]["text"] for chunk in stream if chunk["type"] == "text-delta"]

    assert len(deltas) > 5
    assert stream.text == "".join(deltas)


def test_streamed_and_plain_answers_agree() -> None:
    assert agent(streaming=False).generate(QUESTION).text == agent().generate(QUESTION).text


def test_several_turns_with_history(vcr: Any) -> None:
    storage = InMemoryStorage()
    talking = agent(12, memory=Memory(storage))
    for question in (QUESTION, "And of Italy?", "Thank you."):
        talking.generate(question, thread="t", resource="r")

    asked = [[message["role"] for message in body_of(request)["messages"]] for request in vcr.requests]
    assert asked == [[*["user", "assistant"] * turns, "user"] for turns in range(3)]
    assert len(storage.read("t", "r")) == 6


def test_instructions_are_a_system_message(vcr: Any) -> None:
    agent(8, instructions="Answer in French.").generate(QUESTION)

    assert body_of(vcr.requests[0])["messages"][0] == {"role": "system", "content": "Answer in French."}


def test_length_cut() -> None:
    result = agent(5).generate(QUESTION)

    assert result.finish_reason == "length"
    assert result.text


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "plain"])
def test_tool_call(streaming: bool) -> None:
    called: list[Any] = []
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    weather = Tool("weather", called.append, "The weather in a city", schema)
    asking = agent(40, streaming, tools=[weather], max_steps=1)

    result = asking.generate("How is the weather in Oslo?", tool_choice={"type": "tool", "toolName": "weather"})

    assert [call["toolName"] for call in result.steps[0]["toolCalls"]] == ["weather"]
    assert [result.steps[0]["toolCalls"][0]["args"]] == called
    assert result.finish_reason == "tool-calls"


def test_json_mode() -> None:
    """By a provider option of this server's own: without a schema the model never comes to an end."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    wanted = {"openai": {"response_format": {"type": "json_object", "schema": schema}}}
    option = processor("wants", process_input_step=lambda args: {"provider_options": wanted})

    result = agent(60, input_processors=[option]).generate("A city as JSON, please.")

    assert list(json.loads(result.text)) == ["city"]


def test_json_by_a_schema() -> None:
    """This server knows JSON mode, and no schema in the present form; it says so with status 500, and a stack."""
    wanted = processor("wants", process_input_step=lambda args: {"structured_output": {"type": "object"}})

    with pytest.raises(APICallError, match="response_format") as raised:
        agent(60, input_processors=[wanted]).generate("A city as JSON, please.")

    assert (raised.value.status_code, raised.value.is_retryable) == (500, True)


def test_too_long_a_conversation() -> None:
    with pytest.raises(APICallError, match="context length is 1024 tokens") as raised:
        agent(streaming=False).generate("word " * 1100)

    assert (raised.value.status_code, raised.value.is_retryable) == (400, False)
    assert "context_length_exceeded" in str(raised.value.response_body)


def test_too_long_a_conversation_for_a_stream() -> None:
    """This server has said 200 already when it notices, and then says nothing at all."""
    with pytest.raises(APICallError, match="broke off in mid-answer"):
        agent().generate("word " * 1100)


def test_request_that_is_none() -> None:
    request = ModelRequest([{"role": "user", "content": QUESTION}], provider_options={"openai": {"messages": "none"}})

    with pytest.raises(APICallError, match="validation error") as raised:
        list(model().stream(request))

    assert raised.value.status_code == 500


def test_wrong_model_name() -> None:
    """This server answers with the model that it has, under the name that it was asked for."""
    request = ModelRequest([{"role": "user", "content": QUESTION}], settings={**EXACT, "maxOutputTokens": 4})

    chunks = list(model("no-such-model").stream(request))

    assert chunks[1]["payload"]["modelId"] == "no-such-model"
    assert kinds(chunks)[-1] == "finish"


def test_guardrails_at_work() -> None:
    guard = ContentFilter("France", "damn")
    talking = agent(16, input_processors=[ContentFilter("damn")], output_processors=[guard, WordCounter()])

    stream = talking.stream(QUESTION)
    counted = [chunk["data"]["streamed"] for chunk in stream if chunk["type"] == "data-words"]
    blocked = talking.generate("The damn capital of France is")

    assert "France" not in stream.text
    assert counted[0] > 0
    assert blocked.tripwire is not None
