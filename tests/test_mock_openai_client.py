"""The official `openai` package against the mock: its answers, and for each fault the error that it documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from mock_kit import ABC, HARMLESS, KEY, PATIENCE, last
from processor_contract.models.server import MockServer

pytestmark = pytest.mark.usefixtures("direct")
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]

# What its documentation promises for each fault; a broken event is handed on as what reading it raised.
ERRORS = {
    "refused": openai.BadRequestError,
    "locked": openai.AuthenticationError,
    "nowhere": openai.NotFoundError,
    "busy": openai.RateLimitError,
    "down": openai.InternalServerError,
    "hangup": openai.APIConnectionError,
    "silent": openai.APITimeoutError,
    "cut": openai.APIConnectionError,
    "reset": openai.APIConnectionError,
    "malformed": json.JSONDecodeError,
}
IN_MID_STREAM = {
    **{word: ERRORS[word] for word in ("cut", "reset", "malformed")},
    "reported": openai.APIError,
    "stalled": openai.APITimeoutError,
}


@pytest.fixture(name="client")
def a_client(mock_provider: MockServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{mock_provider.url}/v1", api_key=KEY, max_retries=0, timeout=10) as client:
        yield client


def asking(client: openai.OpenAI, says: str, **more: Any) -> Any:
    return client.chat.completions.create(model="mock", messages=[{"role": "user", "content": says}], **more)


def pieces(client: openai.OpenAI, says: str, **more: Any) -> Iterator[Any]:
    """The deltas of a stream."""
    with asking(client, says, stream=True, **more) as stream:
        for chunk in stream:
            yield from (choice.delta for choice in chunk.choices)


def test_a_plain_answer(client: openai.OpenAI) -> None:
    answer = asking(client, "plain")

    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("It is fine.", "stop")
    assert answer.choices[0].message.reasoning_content == "Hmm."
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (10, 5, 15)


def test_a_streamed_answer(client: openai.OpenAI) -> None:
    deltas = list(pieces(client, "plain"))

    assert [delta.content for delta in deltas if delta.content] == ["It is ", "fine."]


def test_usage_in_the_stream(client: openai.OpenAI) -> None:
    chunks = list(asking(client, "plain", stream=True, stream_options={"include_usage": True}))

    assert [chunk.usage.total_tokens for chunk in chunks if chunk.usage is not None] == [15]
    assert chunks[-1].choices == []


@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
def test_a_tool_call_and_its_answer(client: openai.OpenAI, streamed: bool) -> None:
    question = {"role": "user", "content": "tool"}
    options: Any = {"model": "mock", "tools": TOOLS}
    if streamed:
        with client.chat.completions.stream(messages=[question], **options) as stream:
            stream.until_done()
            message = stream.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(messages=[question], **options).choices[0].message
    call = message.tool_calls[0]
    told = {"role": "assistant", "tool_calls": [call.model_dump(include={"id", "type", "function"})]}
    answered = {"role": "tool", "tool_call_id": call.id, "content": '{"celsius": -4}'}

    final = client.chat.completions.create(messages=[question, told, answered], **options)

    assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"city": "Oslo"})
    assert final.choices[0].message.content == "Cold."


@pytest.mark.parametrize("format", [{"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "city"}}])
def test_json_mode(client: openai.OpenAI, format: Any) -> None:
    answer = asking(client, "json", response_format=format)

    assert json.loads(answer.choices[0].message.content) == {"city": "Oslo"}


def test_an_answer_cut_by_its_length(client: openai.OpenAI) -> None:
    assert asking(client, "long").choices[0].finish_reason == "length"


@pytest.mark.parametrize("word", HARMLESS)
@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
def test_faults_that_only_look_like_some(client: openai.OpenAI, word: str, streamed: bool) -> None:
    if streamed:
        text = "".join(delta.content or "" for delta in pieces(client, word))
    else:
        text = asking(client, word).choices[0].message.content

    assert text == HARMLESS[word]


@pytest.mark.parametrize("word", ERRORS)
def test_a_fault_of_a_plain_answer(client: openai.OpenAI, word: str) -> None:
    with pytest.raises(ERRORS[word]):
        asking(client.with_options(timeout=PATIENCE[word]), word)


@pytest.mark.parametrize("word", ["refused", "locked", "nowhere", "busy", "down", "hangup", "silent"])
def test_a_fault_before_a_stream(client: openai.OpenAI, word: str) -> None:
    with pytest.raises(ERRORS[word]):
        asking(client.with_options(timeout=PATIENCE[word]), word, stream=True)


@pytest.mark.parametrize("word", IN_MID_STREAM)
def test_a_fault_in_mid_stream(client: openai.OpenAI, word: str) -> None:
    got: list[str] = []

    with pytest.raises(IN_MID_STREAM[word]):
        got.extend(delta.content or "" for delta in pieces(client.with_options(timeout=PATIENCE[word]), word))

    assert [text for text in got if text] == ([] if word == "stalled" else ABC)


def test_an_error_says_what_the_script_says(client: openai.OpenAI) -> None:
    with pytest.raises(openai.RateLimitError) as raised:
        asking(client, "busy")

    assert raised.value.response.headers["retry-after"] == "7"
    assert raised.value.type == "rate_limit_error"


def test_a_busy_provider_is_asked_again(mock_provider: MockServer, client: openai.OpenAI) -> None:
    before = len(mock_provider.log())

    with pytest.raises(openai.InternalServerError):
        asking(client.with_options(max_retries=1), "down")

    assert len(mock_provider.log()) - before == 2


def test_the_key_is_not_in_the_log(mock_provider: MockServer, client: openai.OpenAI) -> None:
    asking(client, "plain")

    assert last(mock_provider)["headers"]["authorization"] == "***"
    assert KEY not in json.dumps(mock_provider.log())


def test_the_models(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["mock"]
