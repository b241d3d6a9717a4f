"""The provider for real endpoints against servers that no mock is: odd bytes, and connections that never begin."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from mock_kit import KEY, everything_said
from processor_contract import AbortSignal, APICallError, Cancelled, ModelRequest
from processor_contract.models.openai_compatible import OpenAICompatible

pytestmark = pytest.mark.usefixtures("direct")
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
SAID = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
ENDED = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'


@contextlib.contextmanager
def answering(said: bytes) -> Iterator[str]:
    """A server that reads a request and says these bytes: its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            line, _ = listening.accept()
            with line, line.makefile("rb") as request:
                length = 0
                while header := request.readline().strip().lower():
                    if header.startswith(b"content-length:"):
                        length = int(header.partition(b":")[2])
                request.read(length)
                line.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        thread.join()


def asking(url: str, signal: AbortSignal | None = None, text: str = "x", **options: Any) -> list[Any]:
    request = ModelRequest([{"role": "user", "content": text}], abort_signal=signal)
    return list(OpenAICompatible("openai/mock", base_url=url, **options).stream(request))


def failure(said: bytes) -> APICallError:
    with answering(said) as url, pytest.raises(APICallError) as raised:
        asking(url)
    return raised.value


def refusal(body: bytes, status: str = "400 Bad Request", *headers: bytes) -> APICallError:
    head = [f"HTTP/1.1 {status}".encode(), b"Content-Type: application/json", *headers]
    return failure(b"\r\n".join([*head, b"", body]))


# -- streams -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stream",
    [
        SAID + ENDED + b"data: [DONE]\n\n",
        SAID + ENDED,
        SAID + ENDED + b"data:  [DONE] \n\n",
        b": a remark\n\n" + SAID + b"data:\n\ndata\n\n" + ENDED,
        (SAID + ENDED).replace(b"\n", b"\r\n"),
        (SAID + ENDED).replace(b"data: ", b"data:"),
        b"id: 7\nretry: 5\nevent: odd\n" + SAID + ENDED,
        SAID.replace(b", ", b",\ndata: ").replace(b"[", b"[\ndata: ") + ENDED,
    ],
    ids=["whole", "no-done", "padded-done", "remarks", "crlf", "no-space", "fields", "several-lines"],
)
def test_a_stream_in_another_form(stream: bytes) -> None:
    with answering(STREAM + stream) as url:
        chunks = asking(url)

    assert [chunk["payload"]["text"] for chunk in chunks if chunk["type"] == "text-delta"] == ["a"]


@pytest.mark.parametrize(
    ("data", "said", "may_succeed"),
    [
        (b'{"message": "no more", "type": "server_error"}', "no more", True),
        (b'{"error": {"message": "no more"}}', "no more", False),
        (b'{"error": "no more"}', "no more", False),
        (b"no more", "no more", False),
        (b"[5]", "[5]", False),
    ],
)
def test_an_event_that_is_an_error(data: bytes, said: str, may_succeed: bool) -> None:
    error = failure(STREAM + SAID + b"event: error\ndata: " + data + b"\n\n" + ENDED)

    assert f"the provider reported an error: {said} (POST" in str(error)
    assert (error.is_retryable, error.status_code, error.response_body) == (may_succeed, 200, data.decode())


def test_json_may_begin_with_a_mark_of_its_order() -> None:
    whole = json.dumps({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}).encode()
    with answering(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\xef\xbb\xbf" + whole) as url:
        assert asking(url)[-1]["payload"]["finishReason"] == "stop"


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'[{"error": {"message": "wrapped", "code": 400}}]', "wrapped"),
        (b"{}", "Bad Request"),
        (b'{"error": null}', "Bad Request"),
        (b'{"detail": [{"msg": "missing"}]}', '[{"msg": "missing"}]'),
    ],
)
def test_what_a_refusal_says(body: bytes, said: str) -> None:
    assert f"the provider answered 400: {said} (POST" in str(refusal(body))


def test_a_refusal_that_goes_on_and_on_is_told_in_part() -> None:
    error = refusal(json.dumps({"error": {"message": "x" * 50_000}}).encode())

    assert len(str(error)) < 3000
    assert len(str(error.response_body)) > 50_000


def test_a_redirect_is_told_as_one_whatever_its_page_says() -> None:
    error = refusal(b"<html>Moved</html>", "301 Moved Permanently", b"Location: https://elsewhere.invalid")

    assert "answered 301: it redirects, which is not followed" in str(error)


@pytest.mark.parametrize(("after", "seconds"), [(b"0.5", 0.5), (b"3", 3.0), (b"9" * 400, None), (b"1e3", None)])
def test_a_compressed_refusal_is_a_refusal(after: bytes, seconds: float | None) -> None:
    error = refusal(b"\x1f\x8b", "429 Too Many Requests", b"Content-Encoding: gzip", b"Retry-After: " + after)

    assert (error.status_code, error.is_retryable, error.retry_after) == (429, True, seconds)
    assert "answered 429: Too Many Requests" in str(error)


def test_a_compressed_answer_is_an_error() -> None:
    error = refusal(b"\x1f\x8b", "200 OK", b"Content-Encoding: gzip")

    assert "is encoded as 'gzip', which was not asked for" in str(error)
    assert (error.status_code, error.is_retryable) == (200, False)


# -- the key -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        f"{KEY}\r\n\r\n",
        f"HTTP/1.1 200 {KEY}\r\nContent-Type: x/{KEY}\r\n\r\n",
        f"HTTP/1.1 401 {KEY}\r\n\r\n",
        f"HTTP/1.1 401 No\r\n\r\nYou sent {KEY.upper()}",
        f"HTTP/1.1 200 OK\r\nContent-Encoding: {KEY}\r\n\r\n",
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n{KEY}\r\n",
    ],
)
def test_the_key_is_in_no_error_wherever_a_server_puts_it(said: str) -> None:
    assert KEY not in everything_said(failure(said.encode())).lower()


@pytest.mark.parametrize("written", ["sk-a/b+c", r"sk-a\/b+c", "sk-a%2Fb%2Bc", "sk-a%2fb%2bc", "SK-A/B+C"])
def test_the_key_is_found_in_whichever_way_it_is_written(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a/b+c")

    assert refusal(b"you sent " + written.encode()).response_body == "you sent ***"


def test_a_key_that_comes_back_in_a_header_is_not_shown_to_processors() -> None:
    with answering(STREAM.replace(b"\r\n\r\n", f"\r\nX-Sent: Bearer {KEY}\r\n\r\n".encode()) + ENDED) as url:
        begun = asking(url)[0]["payload"]

    assert begun["rawResponse"]["headers"]["x-sent"] == "Bearer ***"


# -- cancellation before there is an answer ----------------------------------------------------------------------------


@contextlib.contextmanager
def silent() -> Iterator[int]:
    """A server that takes connections and never says or reads a thing: its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@contextlib.contextmanager
def full() -> Iterator[int]:
    """A server that takes no connection any more, so that the next one waits: its port."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening, contextlib.ExitStack() as waiting:
        for _ in range(4):
            line = waiting.enter_context(socket.socket())
            line.setblocking(False)
            line.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


def cancelled(url: str, text: str = "x") -> float:
    """How long a call takes that is cancelled soon."""
    signal = AbortSignal()
    timer = threading.Timer(0.1, signal.abort, ["enough"])
    started = time.monotonic()
    timer.start()
    with pytest.raises(Cancelled, match="enough"):
        asking(url, signal, text, connect_timeout=20, read_timeout=20)
    timer.join()
    assert signal._listeners == {}
    return time.monotonic() - started


def test_a_signal_ends_the_connecting() -> None:
    with full() as port:
        assert cancelled(f"http://127.0.0.1:{port}/v1") < 5


def test_a_signal_ends_the_agreeing_on_keys() -> None:
    with silent() as port:
        assert cancelled(f"https://127.0.0.1:{port}/v1") < 5


def test_a_signal_ends_the_asking_for_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    with silent() as port:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        assert cancelled("https://far.invalid/v1") < 5


def test_a_signal_ends_the_sending() -> None:
    with silent() as port:
        assert cancelled(f"http://127.0.0.1:{port}/v1", "x" * 30_000_000) < 5


def test_a_name_that_has_several_addresses_is_tried_at_each(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(STREAM + SAID + ENDED) as url:
        port = int(url.rpartition(":")[2].partition("/")[0])
        found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", at)) for at in (9, port)]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **more: found)

        assert asking(url, AbortSignal())[-1]["payload"]["finishReason"] == "stop"
