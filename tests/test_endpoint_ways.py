"""How the provider for real endpoints gets there: keys that stay hidden, proxies, TLS, and URLs that are none."""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import logging
import ssl
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from layout import ROOT
from mock_kit import KEY, everything_said, last, serving
from processor_contract import Agent, APICallError, InvalidAgent, InvalidMessage, ModelRequest
from processor_contract.models import ModelRegistry
from processor_contract.models.endpoint import Endpoint
from processor_contract.models.failures import seconds
from processor_contract.models.openai_compatible import OpenAICompatible
from processor_contract.models.server import MockServer

pytestmark = pytest.mark.usefixtures("direct")
CERTIFICATE = ROOT / "tests" / "certificates" / "localhost.pem"
REQUEST = ModelRequest([{"role": "user", "content": "x"}])


def model(url: str, **options: Any) -> OpenAICompatible:
    return OpenAICompatible("openai/mock", base_url=url, **options)


def failure(url: str, **options: Any) -> APICallError:
    with pytest.raises(APICallError) as raised:
        list(model(url, **options).stream(REQUEST))
    return raised.value


# -- ids and registry --------------------------------------------------------------------------------------------------


def test_an_id_resolves_through_the_registry(mock_provider: MockServer) -> None:
    models = ModelRegistry(providers={"openai": OpenAICompatible.provider(base_url=f"{mock_provider.url}/v1")})

    result = Agent("openai/mock", models=models).generate("plain")

    assert (result.text, last(mock_provider)["body"]["model"]) == ("It is fine.", "mock")


def test_a_name_may_have_slashes(mock_provider: MockServer) -> None:
    models = ModelRegistry(providers={"local": OpenAICompatible.provider("local", base_url=f"{mock_provider.url}/v1")})

    Agent("local/org/name", models=models).generate("plain")

    assert last(mock_provider)["body"]["model"] == "org/name"


@pytest.mark.parametrize("id", ["", "openai", "openai/", "/mock"])
def test_an_id_that_names_no_model(id: str) -> None:
    with pytest.raises(InvalidAgent, match=r"names no model of a provider.*\[CFG-7\]"):
        OpenAICompatible(id)


def test_the_base_url_may_come_from_the_environment(mock_provider: MockServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{mock_provider.url}/v1/")

    assert Agent(OpenAICompatible("openai/mock")).generate("plain").text == "It is fine."


@pytest.mark.parametrize(
    "url",
    ["", "localhost:80", "ftp://host/v1", "http://", "http://host:port", "http://host:0", "http://ho st", "http://ü",
     f"http://{'a' * 70}"],
)
def test_a_base_url_that_is_none(url: str) -> None:
    with pytest.raises(InvalidAgent, match="the base URL of a provider has to begin with http"):
        Endpoint(url, "OPENAI_API_KEY", 1, 1)


def test_a_base_url_with_a_user_is_refused_and_not_shown() -> None:
    with pytest.raises(InvalidAgent, match="holds a user; put the key into OPENAI_API_KEY") as raised:
        model("http://user:secret@host/v1")

    assert "secret" not in str(raised.value)


def test_a_query_goes_along_and_is_not_shown() -> None:
    with serving({"fault": {"status": 400}}) as server:
        error = failure(f"{server.url}/v1?key=secret")

    assert (error.status_code, error.url) == (400, f"{server.url}/v1/chat/completions")
    assert "secret" not in repr(model("http://host/v1?key=secret"))


# -- the key -----------------------------------------------------------------------------------------------------------


def test_the_key_goes_to_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    with recording() as (url, seen):
        failure(f"{url}/v1")
        monkeypatch.setenv("MY_KEY", " sk-mine\n")
        failure(f"{url}/v1", key_variable="MY_KEY")
        monkeypatch.delenv("MY_KEY")
        failure(f"{url}/v1", key_variable="MY_KEY")

    assert [headers.get("Authorization") for _, headers in seen] == [f"Bearer {KEY}", "Bearer sk-mine", None]


def test_openai_itself_wants_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")

    with pytest.raises(InvalidAgent, match="openai/mock needs a key; set the environment variable OPENAI_API_KEY"):
        list(OpenAICompatible("openai/mock").stream(REQUEST))


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 401, "body": {"error": {"message": f"the key {KEY} is wrong"}}},
        {"status": 500, "body": f"you sent {KEY}" + "x" * 100_000},
        {"status": 500, "body": "x" * 65_532 + KEY},
        {"status": 418, "body": "y" * 196 + KEY},
        {"body": {"error": KEY}},
        {"body": {"choices": [], "key": KEY}},
        {"body": KEY},
        {"errorAfter": 1, "body": {"error": {"message": KEY}}},
    ],
)
def test_the_key_is_in_no_error(fault: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving({"text": "x", "fault": fault}) as server:
        error = failure(f"{server.url}/v1")

    assert "sk-" not in everything_said(error)
    assert caplog.text == ""


def test_the_key_is_nowhere_in_the_model(mock_provider: MockServer) -> None:
    asking = model(f"{mock_provider.url}/v1")
    list(asking.stream(ModelRequest([{"role": "user", "content": "plain"}])))

    assert KEY not in repr(asking) + str(vars(asking))


@pytest.mark.parametrize("fault", [{"hangUp": True}, {"cutAfter": 2, "reset": True}, {"status": 400}, {"body": ""}])
def test_the_key_is_in_no_variable_of_a_trace(fault: dict[str, Any]) -> None:
    with serving({"text": "abc", "fault": fault}) as server:
        error = failure(f"{server.url}/v1")
    gone = failure(f"{server.url}/v1")

    traces = [traceback.TracebackException.from_exception(one, capture_locals=True) for one in (error, gone)]
    assert "sk-" not in "".join(line for trace in traces for line in trace.format())


def test_a_key_of_a_letter_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with serving({"fault": {"status": 400, "body": "a text"}}) as server:
        assert "a text" in str(failure(f"{server.url}/v1"))


@pytest.mark.parametrize("key", ["sk-two\nlines", "sk-ü", "sk-two words"])
def test_a_key_that_no_header_can_hold(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)

    with pytest.raises(InvalidAgent, match="the key in OPENAI_API_KEY holds a character") as raised:
        list(model("http://127.0.0.1:9/v1").stream(REQUEST))

    assert "sk-" not in everything_said(raised.value)


# -- proxies -----------------------------------------------------------------------------------------------------------


class Recording(http.server.BaseHTTPRequestHandler):
    """Notes what it is asked, and refuses it."""

    seen: list[tuple[str, Any]]

    def refuse(self) -> None:
        self.seen.append((f"{self.command} {self.path}", self.headers))
        self.send_error(403 if self.command == "CONNECT" else 418)

    do_POST = do_CONNECT = refuse

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def recording() -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """A server that notes what it is asked: its address, and the notes."""
    seen: list[tuple[str, Any]] = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Noting", (Recording,), {"seen": seen}))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(name="proxy")
def a_proxy() -> Iterator[tuple[str, list[Any]]]:
    with recording() as proxy:
        yield proxy


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy", "HTTP_PROXY"])
def test_a_proxy_is_asked_for_the_endpoint(variable: str, proxy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, proxy[0].replace("//", "//me:p%40ss@"))

    error = failure("http://far.invalid:8080/v1?x=1")

    (line, headers), *_ = proxy[1]
    assert (line, error.status_code) == ("POST http://far.invalid:8080/v1/chat/completions?x=1", 418)
    assert headers["Host"] == "far.invalid:8080"
    assert headers["Proxy-Authorization"] == "Basic " + base64.b64encode(b"me:p@ss").decode()


def test_a_proxy_is_asked_for_a_tunnel(proxy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", proxy[0].removeprefix("http://"))

    error = failure("https://far.invalid/v1")

    assert [line for line, _ in proxy[1]] == ["CONNECT far.invalid:443"]
    assert [headers.get("Authorization") for _, headers in proxy[1]] == [None]
    assert "the proxy refused" in str(error)
    assert not error.is_retryable


@pytest.mark.parametrize("exempt", ["*", "127.0.0.1", "other,127.0.0.1"])
def test_no_proxy_is_asked_for_what_is_exempt(
    exempt: str, proxy: Any, mock_provider: MockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy[0])
    monkeypatch.setenv("no_proxy", exempt)

    assert (Agent(model(f"{mock_provider.url}/v1")).generate("plain").text, proxy[1]) == ("It is fine.", [])


@pytest.mark.parametrize("url", ["socks5://me:secret@proxy:1080", "https://me:secret@proxy", "http://", "http://p:x"])
def test_a_proxy_of_another_kind_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", url)

    with pytest.raises(InvalidAgent, match="the proxy for http is no http:// address") as raised:
        list(model("http://far.invalid/v1").stream(REQUEST))

    assert "secret" not in str(raised.value)


# -- TLS ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(name="secure")
def a_secure_server() -> Iterator[str]:
    """A server whose certificate nobody has signed: its address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with serving({"text": "safe", "times": 0}) as server:
        listening = server._listening
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
        yield server.url.replace("http://127.0.0.1", "https://localhost")


def test_a_certificate_that_nobody_signed_is_not_trusted(secure: str) -> None:
    error = failure(f"{secure}/v1")

    assert "the provider's certificate is not trusted: self" in str(error)
    assert not error.is_retryable


def test_a_certificate_that_is_trusted(secure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))

    assert Agent(model(f"{secure}/v1")).generate("x").text == "safe"


def test_a_certificate_of_somebody_else(secure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))

    assert "is not trusted: IP address mismatch" in str(failure(f"{secure.replace('localhost', '127.0.0.1')}/v1"))


def test_no_tls_where_it_is_expected(mock_provider: MockServer) -> None:
    error = failure(f"{mock_provider.url.replace('http:', 'https:')}/v1")

    assert "no TLS connection with the provider" in str(error)
    assert not error.is_retryable


# -- odd values --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
def test_a_request_that_json_cannot_hold(value: Any) -> None:
    request = ModelRequest([{"role": "user", "content": "x"}], settings={"seed": value})

    with pytest.raises(InvalidMessage, match="the request holds what JSON cannot"):
        list(model("http://127.0.0.1:9/v1").stream(request))


def test_a_circular_request() -> None:
    circle: dict[str, Any] = {}
    circle["itself"] = circle

    with pytest.raises(InvalidMessage, match="the request holds what JSON cannot"):
        list(model("http://127.0.0.1:9/v1").stream(ModelRequest([], provider_options={"openai": circle})))


@pytest.mark.parametrize(
    ("header", "expected"),
    [(None, None), ("7", 7.0), (" 7 ", 7.0), ("-1", None), ("nan", None), ("soon", None), ("", None)],
)
def test_when_to_come_back(header: str | None, expected: float | None) -> None:
    assert seconds(header) == expected


def test_when_to_come_back_may_be_a_date() -> None:
    assert seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert (seconds("Wed, 21 Oct 2999 07:28:00 GMT") or 0) > 1e9


def test_a_huge_answer_arrives_whole() -> None:
    text = "é" * 3_000_000
    with serving({"text": [text, text]}) as server:
        assert len(Agent(model(f"{server.url}/v1")).generate("x").text) == 6_000_000


def test_a_huge_request_arrives_whole() -> None:
    text = "é" * 3_000_000
    with serving({"text": "read"}) as server:
        Agent(model(f"{server.url}/v1")).generate(text)

        assert last(server)["body"]["messages"][0]["content"] == text


def test_an_event_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("processor_contract.models.events.LONGEST_EVENT", 10_000)
    with serving({"text": "x" * 20_000}) as server:
        error = failure(f"{server.url}/v1")

    assert "the provider's stream cannot be read" in str(error)


def test_what_is_sent_is_json(mock_provider: MockServer) -> None:
    list(model(f"{mock_provider.url}/v1").stream(ModelRequest([{"role": "user", "content": "plain"}])))

    assert json.loads(json.dumps(last(mock_provider)["body"])) == {
        "model": "mock",
        "messages": [{"role": "user", "content": "plain"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
