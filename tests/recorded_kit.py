"""Recorded HTTP: what a cassette keeps, what it leaves out, and how one is played where threads are at work.

Cassettes are in fixtures/cassettes, recorded from a llama.cpp server by `make record-http`. vcrpy keeps the books; what
it does not do is done here. It is not thread-safe: it puts its own connection class in a place that all threads share,
and takes it out again whenever a connection is made, so that another thread gets a real one meanwhile. `on_this_thread`
therefore gives each thread a cassette of its own and never touches that place. And a request that no cassette has must
not look like a failure of the provider, which error processors would recover from: `Missed` is no Exception.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import pytest
import vcr.stubs
from vcr.cassette import Cassette
from vcr.errors import CannotOverwriteExistingCassetteException
from vcr.matchers import body, method, uri
from vcr.record_mode import RecordMode

from layout import ROOT
from processor_contract import Agent, Processor
from processor_contract.models.endpoint import Exchange
from processor_contract.models.openai_compatible import OpenAICompatible
from reference_kit import processor

CASSETTES = ROOT / "fixtures" / "cassettes"
SERVER = "http://127.0.0.1:8317/v1"  # tools/record_http.py starts it there
MODEL = "gemma-3-270m"
KEY = "sk-the-key-that-was-set-while-recording"  # no server asks for it; it must be in no cassette

QUESTION = "The capital of France is"
EXACT = {"temperature": 0, "seed": 7}

KEPT_HEADERS = ("content-type", "retry-after")
# What is different each time, or tells of the machine: found, and what stands there instead.
SCRUBBED = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "00000000-0000-0000-0000-000000000000"),
    (re.compile(r'("created": ?)\d+'), r"\g<1>1767225600"),
    (re.compile(r"(/[\w.@~+-]+)+/(?=[\w-]+\.\w+)"), "/"),
)


class Missed(BaseException):
    """A request that the cassette does not have, or has played already."""

    def __init__(self, *, cassette: Any, failed_request: Any) -> None:
        said = CannotOverwriteExistingCassetteException(cassette=cassette, failed_request=failed_request)
        super().__init__(str(said))


def scrubbed(text: str) -> str:
    """A body without what is different each time, or tells of the machine."""
    for pattern, instead in SCRUBBED:
        text = pattern.sub(instead, text)
    return text


def kept_request(request: Any) -> Any:
    """A request as it is kept, and as it is looked for."""
    request.headers = {name: value for name, value in request.headers.items() if name.lower() in KEPT_HEADERS}
    request.body = scrubbed(request.body.decode())
    return request


def kept_response(response: dict[str, Any]) -> dict[str, Any]:
    """A response as it is kept."""
    headers = {name: value for name, value in response["headers"].items() if name.lower() in KEPT_HEADERS}
    content = scrubbed(response["body"]["string"].decode()).encode()
    return {**response, "headers": headers, "body": {"string": content}}


CONFIG = {
    "match_on": ("method", "uri", "body"),
    "before_record_request": kept_request,
    "before_record_response": kept_response,
}

_played: ContextVar[Any] = ContextVar("played")


@contextlib.contextmanager
def on_this_thread(name: str) -> Iterator[Any]:
    """Plays a cassette to this thread, and to those that a run starts for itself, and to no other."""
    cassette = Cassette.load(
        path=str(CASSETTES / f"{name}.yaml"),
        record_mode=RecordMode.NONE,
        match_on=(method, uri, body),
        before_record_request=kept_request,
    )
    token = _played.set(type("Played", (vcr.stubs.VCRHTTPConnection,), {"cassette": cassette}))
    try:
        yield cassette
    finally:
        _played.reset(token)


def connected(exchange: Exchange, parts: Any, way: Any) -> Any:
    """A connection of the present thread's cassette, in the place of `Exchange._connect`."""
    return _played.get()(way.host, way.port)


def body_of(request: Any) -> dict[str, Any]:
    """The JSON of a recorded request."""
    return json.loads(request.body)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def vcr_cassette_dir() -> str:
    """Where pytest-recording looks for cassettes."""
    return str(CASSETTES)


@pytest.fixture
def vcr_config() -> dict[str, Any]:
    """How it looks for a request, and what it keeps."""
    return dict(CONFIG)


@pytest.fixture
def surroundings(direct: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, a key that must not get into a cassette, and misses that nobody swallows."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(vcr.stubs, "CannotOverwriteExistingCassetteException", Missed)


def model(name: str = MODEL, streaming: bool = True) -> OpenAICompatible:
    """The recorded model. vcrpy's connection is one that is made late: of the time-outs it knows the first alone."""
    return OpenAICompatible(f"openai/{name}", base_url=SERVER, streaming=streaming, connect_timeout=120)


def settled(**settings: Any) -> Processor:
    """A processor that sets the model settings of each step."""
    return processor("settings", process_input_step=lambda args: {"model_settings": {**EXACT, **settings}})


def agent(tokens: int = 24, streaming: bool = True, **options: Any) -> Agent:
    inputs = [*options.pop("input_processors", []), settled(maxOutputTokens=tokens)]
    return Agent(model(streaming=streaming), input_processors=inputs, **options)
