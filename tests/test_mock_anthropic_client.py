"""The official `anthropic` package against the mock: its answers, and for each fault the error that it documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from mock_kit import HARMLESS, KEY, PATIENCE, last
from processor_contract.models.server import MockServer

pytestmark = pytest.mark.usefixtures("direct")
TOOLS = [{"name": "weather", "input_schema": {"type": "object"}}]

ERRORS = {
    "refused": anthropic.BadRequestError,
    "locked": anthropic.AuthenticationError,
    "nowhere": anthropic.NotFoundError,
    "busy": anthropic.RateLimitError,
    "down": anthropic.InternalServerError,
    "hangup": anthropic.APIConnectionError,
    "silent": anthropic.APITimeoutError,
}
# In mid-stream the package hands on what its HTTP library and the reading of an event raise.
IN_MID_STREAM = {
    "cut": {"RemoteProtocolError"},
    "reset": {"ReadError"},
    "malformed": {"JSONDecodeError"},
    "reported": {"APIStatusError"},
    "stalled": {"ReadTimeout", "APITimeoutError"},  # the latter where a busy machine is late with the beginning, too
}


@pytest.fixture(name="client")
def a_client(mock_provider: MockServer) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=mock_provider.url, api_key=KEY, max_retries=0, timeout=10) as client:
        yield client


def asked(client: anthropic.Anthropic, says: Any, streamed: bool = False, **more: Any) -> Any:
    """The message that a question brings."""
    messages = [{"role": "user", "content": says}] if isinstance(says, str) else says
    options: Any = {"model": "mock", "max_tokens": 4000, "messages": messages, **more}
    if not streamed:
        return client.messages.create(**options)
    with client.messages.stream(**options) as stream:
        return stream.get_final_message()


both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])


@both_ways
def test_an_answer_with_thinking(client: anthropic.Anthropic, streamed: bool) -> None:
    message = asked(client, "plain", streamed, thinking={"type": "enabled", "budget_tokens": 1024})
    thinking, text = message.content

    assert (thinking.type, thinking.thinking, bool(thinking.signature)) == ("thinking", "Hmm.", True)
    assert (text.type, text.text, message.stop_reason) == ("text", "It is fine.", "end_turn")
    assert (message.usage.input_tokens, message.usage.output_tokens) == (10, 5)


def test_a_stream_comes_in_pieces(client: anthropic.Anthropic) -> None:
    messages: Any = [{"role": "user", "content": "plain"}]
    with client.messages.stream(model="mock", max_tokens=10, messages=messages) as stream:
        assert list(stream.text_stream) == ["It is ", "fine."]


@both_ways
def test_a_tool_call_and_its_answer(client: anthropic.Anthropic, streamed: bool) -> None:
    first = asked(client, "tool", streamed, tools=TOOLS)
    use = first.content[0]
    told = [part.model_dump(include={"type", "id", "name", "input"}) for part in first.content]
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "celsius -4"}
    conversation = [
        {"role": "user", "content": "tool"},
        {"role": "assistant", "content": told},
        {"role": "user", "content": [result]},
    ]

    final = asked(client, conversation, streamed, tools=TOOLS)

    assert (use.name, use.input, first.stop_reason) == ("weather", {"city": "Oslo"}, "tool_use")
    assert final.content[0].text == "Cold."


@both_ways
def test_an_answer_cut_by_its_length(client: anthropic.Anthropic, streamed: bool) -> None:
    assert asked(client, "long", streamed).stop_reason == "max_tokens"


@both_ways
@pytest.mark.parametrize("word", HARMLESS)
def test_faults_that_only_look_like_some(client: anthropic.Anthropic, word: str, streamed: bool) -> None:
    assert asked(client, word, streamed).content[0].text == HARMLESS[word]


@both_ways
@pytest.mark.parametrize("word", ERRORS)
def test_a_fault_before_the_answer(client: anthropic.Anthropic, word: str, streamed: bool) -> None:
    with pytest.raises(ERRORS[word]):
        asked(client.with_options(timeout=PATIENCE[word]), word, streamed)


@pytest.mark.parametrize("word", ["cut", "reset"])
def test_a_plain_answer_that_is_cut(client: anthropic.Anthropic, word: str) -> None:
    with pytest.raises(anthropic.APIConnectionError):
        asked(client, word)


@pytest.mark.parametrize("word", IN_MID_STREAM)
def test_a_fault_in_mid_stream(client: anthropic.Anthropic, word: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        asked(client.with_options(timeout=PATIENCE[word]), word, streamed=True)

    assert type(raised.value).__name__ in IN_MID_STREAM[word]


def test_thinking_has_to_come_back_signed(client: anthropic.Anthropic) -> None:
    forged = {"type": "thinking", "thinking": "Hmm.", "signature": "mine"}
    conversation = [
        {"role": "user", "content": "plain"},
        {"role": "assistant", "content": [forged, {"type": "text", "text": "It is fine."}]},
        {"role": "user", "content": "plain"},
    ]

    with pytest.raises(anthropic.BadRequestError, match="signature"):
        asked(client, conversation)


def test_the_key_is_not_in_the_log(mock_provider: MockServer, client: anthropic.Anthropic) -> None:
    asked(client, "plain")

    headers = last(mock_provider)["headers"]
    assert {headers[name] for name in ("x-api-key", "authorization") if name in headers} == {"***"}
    assert KEY not in json.dumps(mock_provider.log())
