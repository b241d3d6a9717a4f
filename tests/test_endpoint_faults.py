"""The provider for real endpoints against everything that can go wrong: each time an error that says what happened."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from mock_kit import ABC, HARMLESS, ended, last, serving
from processor_contract import AbortSignal, Agent, APICallError, Cancelled, ModelRequest, Tool
from processor_contract.context import Clock
from processor_contract.models.openai_compatible import OpenAICompatible
from processor_contract.models.server import MockServer
from reference_kit import kinds, processor

pytestmark = pytest.mark.usefixtures("direct")
both_ways = pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "plain"])


class NoWait(Clock):
    """Notes how long it would have waited."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float, signal: AbortSignal | None = None) -> None:
        self.slept.append(seconds)


def model(server: MockServer, **options: Any) -> OpenAICompatible:
    return OpenAICompatible("openai/mock", base_url=f"{server.url}/v1", **options)


def request(says: str, **more: Any) -> ModelRequest:
    return ModelRequest([{"role": "user", "content": [{"type": "text", "text": says}]}], **more)


def read(server: MockServer, says: str, **options: Any) -> tuple[list[Any], APICallError]:
    """The chunks that come before the error, and the error."""
    got: list[Any] = []
    with pytest.raises(APICallError) as raised:  # noqa: PT012
        for chunk in model(server, **options).stream(request(says)):
            got.append(chunk)
    return got, raised.value


@both_ways
def test_an_answer(mock_provider: MockServer, streaming: bool) -> None:
    chunks = list(model(mock_provider, streaming=streaming).stream(request("plain")))
    delta = ["text-delta"] * (2 if streaming else 1)
    thought = ["reasoning-delta"] * (2 if streaming else 1)

    assert kinds(chunks) == [
        "stream-start", "response-metadata",
        "reasoning-start", *thought, "reasoning-end", "text-start", *delta, "text-end", "finish",
    ]  # fmt: skip
    assert chunks[-1]["payload"]["finishReason"] == "stop"
    assert chunks[-1]["payload"]["usage"]["totalTokens"] == 15


@both_ways
def test_an_agent_with_a_tool(mock_provider: MockServer, streaming: bool) -> None:
    def weather(args: Any) -> dict[str, Any]:
        return {"city": args["city"], "celsius": -4}

    result = Agent(model(mock_provider, streaming=streaming), tools=[Tool("weather", weather)]).generate("tool")

    assert (result.text, result.tool_results[0]["result"]) == ("Cold.", {"city": "Oslo", "celsius": -4})
    assert [message["role"] for message in last(mock_provider)["body"]["messages"]] == ["user", "assistant", "tool"]


@both_ways
@pytest.mark.parametrize("word", HARMLESS)
def test_what_only_looks_like_a_fault(mock_provider: MockServer, word: str, streaming: bool) -> None:
    result = Agent(model(mock_provider, streaming=streaming)).generate(word)

    assert result.text == HARMLESS[word]


def test_processors_see_what_was_really_asked_and_answered(mock_provider: MockServer) -> None:
    seen: list[Any] = []
    notes = processor("notes", process_llm_response=seen.append)
    thought = {"role": "assistant", "content": {"parts": [{"type": "reasoning", "reasoning": "Hm."}]}}

    Agent(model(mock_provider), input_processors=[notes]).generate("plain", context=[thought])

    assert seen[0].request == last(mock_provider)["body"]
    assert (seen[0].raw_response["status"], seen[0].raw_response["headers"]["server"]) == (200, "mock-provider")
    assert "earlier reasoning is left out" in seen[0].warnings[0]["message"]


# A fault, what the error says, its status, whether the call may succeed later.
BEFORE = {
    "refused": ("answered 400: the script has this request fail", 400, False),
    "locked": ("answered 401", 401, False),
    "nowhere": ("answered 404", 404, False),
    "busy": ("answered 429", 429, True),
    "down": ("answered 503: <html>down</html>", 503, True),
    "hangup": ("cannot be reached: Remote end closed connection", None, True),
    "silent": ("was silent for too long", None, True),
}
IN_MIDST = {
    "cut": ("broke off in mid-answer", None, True),
    "reset": ("broke off in mid-answer: .*reset by peer", None, True),
    "malformed": ("said something that is no JSON object", 200, False),
    "reported": ("reported an error: The server had an error", 200, True),
    "stalled": ("was silent for too long", None, True),
}


def described(error: APICallError) -> tuple[int | None, bool]:
    return error.status_code, error.is_retryable


@both_ways
@pytest.mark.parametrize("word", BEFORE)
def test_a_fault_before_the_answer(mock_provider: MockServer, word: str, streaming: bool) -> None:
    text, status, may_succeed = BEFORE[word]
    timeout = 0.1 if word == "silent" else 10

    got, error = read(mock_provider, word, streaming=streaming, read_timeout=timeout)

    assert (got, described(error)) == ([], (status, may_succeed))
    assert error.url == f"{mock_provider.url}/v1/chat/completions"
    with pytest.raises(APICallError, match=text):
        raise error


@pytest.mark.parametrize("word", IN_MIDST)
def test_a_fault_in_mid_stream(mock_provider: MockServer, word: str) -> None:
    text, status, may_succeed = IN_MIDST[word]

    got, error = read(mock_provider, word, read_timeout=0.1 if word == "stalled" else 10)

    said = [chunk["payload"]["text"] for chunk in got if chunk["type"] == "text-delta"]
    assert (said, described(error)) == ([] if word == "stalled" else ABC, (status, may_succeed))
    with pytest.raises(APICallError, match=text):
        raise error


@pytest.mark.parametrize("word", ["cut", "reset", "malformed", "reported"])
def test_a_fault_of_a_plain_answer(mock_provider: MockServer, word: str) -> None:
    got, error = read(mock_provider, word, streaming=False)

    assert (got, error.is_retryable) == ([], word in ("cut", "reset"))


def test_a_refusal_says_when_to_come_back(mock_provider: MockServer) -> None:
    _, error = read(mock_provider, "busy")

    assert error.retry_after == 7.0
    assert "rate_limit_error" in str(error.response_body)


def test_the_model_s_own_retries_wait_as_long_as_was_asked_for() -> None:
    clock = NoWait()
    busy = ({"fault": {"status": 429, "retryAfter": 7}}, {"fault": {"status": 503}})
    with serving(*busy, {"text": "at last"}) as server:
        result = Agent(model(server), max_retries=2, clock=clock).generate("x")

    assert (result.text, clock.slept) == ("at last", [7.0, 2.0])


def test_an_error_in_an_answer_that_began_well_is_repeated_too() -> None:
    busy = {"fault": {"body": {"error": {"code": 503, "message": "soon"}}}}
    with serving(busy, {"text": "at last"}) as server:
        assert Agent(model(server), max_retries=1, clock=NoWait()).generate("x").text == "at last"


def test_an_error_processor_gets_the_error(mock_provider: MockServer) -> None:
    seen: list[Any] = []
    notes = processor("notes", process_api_error=lambda args: seen.append(args.error))

    with pytest.raises(APICallError) as raised:
        Agent(model(mock_provider), error_processors=[notes]).generate("refused")

    assert seen == [raised.value]


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("<html>hello</html>", "text/html", "answered with content type 'text/html'"),
        ("", "text/plain", "answered with content type 'text/plain'"),
        ("{}", "application/json", "has no choices"),
        ('{"choices": []}', "application/json", "has no choices"),
        ("[1]", "application/json", "no JSON object"),
        ("", "application/json", "no JSON object"),
        ("[" * 100_000, "application/json", "no JSON object"),
        ('{"error": "closed"}', "application/json", "reported an error: closed"),
        ('{"error": {"code": 503, "message": "soon"}}', "application/json", "reported an error: soon"),
    ],
)
def test_an_answer_that_is_none(body: str, kind: str, text: str) -> None:
    with serving({"fault": {"body": body, "contentType": kind}}) as server:
        got, error = read(server, "x")

    assert (got, error.status_code) == ([], 503 if "503" in body else 200)
    assert text in str(error)


def test_a_stream_under_another_content_type() -> None:
    with serving({"text": "a", "fault": {"contentType": "text/html"}}) as server:
        _, error = read(server, "x")

    assert "content type 'text/html'" in str(error)
    assert str(error.response_body).startswith("data: {")


def test_a_redirect_is_not_followed() -> None:
    with serving({"fault": {"status": 307, "body": ""}}) as server:
        _, error = read(server, "x")

    assert "answered 307: it redirects, which is not followed" in str(error)
    assert described(error) == (307, False)


def test_an_endpoint_that_does_not_stream() -> None:
    whole = {"choices": [{"message": {"content": "all at once"}, "finish_reason": "stop"}]}
    with serving({"fault": {"body": whole}}) as server:
        assert Agent(model(server)).generate("x").text == "all at once"


def test_nobody_listens() -> None:
    with serving({"text": "x"}) as server:
        pass

    _, error = read(server, "x")

    assert described(error) == (None, True)
    assert "cannot be reached" in str(error)


# -- cancellation ------------------------------------------------------------------------------------------------------


@pytest.fixture
def endless() -> Iterator[MockServer]:
    """A server whose answer goes on and on."""
    with serving({"text": ["x" * 10_000] * 5_000, "fault": {"chunkDelay": 0.001}}) as server:
        yield server


def test_a_stream_that_is_closed_closes_the_connection(endless: MockServer) -> None:
    stream = Agent(model(endless)).stream("x")
    while next(stream)["type"] != "text-delta":
        pass
    stream.close()

    assert ended(endless) == "gone"


def test_a_signal_closes_the_connection(endless: MockServer) -> None:
    signal = AbortSignal()
    stream = Agent(model(endless)).stream("x", abort_signal=signal)
    while next(stream)["type"] != "text-delta":
        pass
    signal.abort("enough")

    assert kinds(stream) == ["abort"]
    assert ended(endless) == "gone"


@pytest.mark.parametrize("word", ["silent", "stalled"])
def test_a_signal_wakes_who_waits_for_an_answer_or_in_its_midst(mock_provider: MockServer, word: str) -> None:
    signal = AbortSignal()
    threading.Timer(0.05, signal.abort, ["enough"]).start()

    with pytest.raises(Cancelled, match="enough"):
        list(model(mock_provider).stream(request(word, abort_signal=signal)))


def test_a_cancelled_call_is_no_failure_of_the_provider(mock_provider: MockServer) -> None:
    signal, seen = AbortSignal(), []
    notes = processor("notes", process_api_error=lambda args: seen.append(args.error))
    threading.Timer(0.05, signal.abort, ["enough"]).start()

    with pytest.raises(Cancelled, match="enough"):
        Agent(model(mock_provider), error_processors=[notes]).generate("silent", abort_signal=signal)

    assert seen == []


def test_a_signal_that_has_fired_sends_nothing(mock_provider: MockServer) -> None:
    signal, before = AbortSignal(), len(mock_provider.log())
    signal.abort("before")

    with pytest.raises(Cancelled, match="before"):
        list(model(mock_provider).stream(request("silent", abort_signal=signal)))

    assert len(mock_provider.log()) == before


def test_a_call_takes_its_listener_off(mock_provider: MockServer) -> None:
    signal = AbortSignal()
    list(model(mock_provider).stream(request("plain", abort_signal=signal)))
    read(mock_provider, "refused")

    assert signal._listeners == {}
