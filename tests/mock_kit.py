"""What the tests of the mock provider are written with: a server for a script, and the turns that all clients get."""

from __future__ import annotations

import contextlib
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

from processor_contract.models.script import Script
from processor_contract.models.server import MockServer

PROXIES = [name for each in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (each, each.upper())]
WEATHER = {"name": "weather", "args": {"city": "Oslo"}}
ABC = ["a", "b", "c"]

# By the word that a question has in it. Each client is shown to make of these what its documentation promises.
TURNS: dict[str, dict[str, Any]] = {
    "plain": {"text": ["It is ", "fine."], "reasoning": ["Hm", "m."]},
    "tool": {"toolCalls": [WEATHER]},
    "celsius": {"text": ["Cold."]},  # what the tool has answered
    "json": {"json": {"city": "Oslo"}},
    "long": {"text": ["So ", "much"], "finishReason": "length"},
    "split": {"text": ["Tromsø ", "−4 °C ", "☃ 🥶"], "fault": {"splitCharacters": True}},
    "slow": {"text": ABC, "fault": {"delay": 0.01, "chunkDelay": 0.005}},
    "dawdling": {"text": ABC, "fault": {"slowRead": 0.001}},
    "refused": {"fault": {"status": 400}},
    "locked": {"fault": {"status": 401}},
    "nowhere": {"fault": {"status": 404}},
    "busy": {"fault": {"status": 429, "retryAfter": 7}},
    "down": {"fault": {"status": 503, "body": "<html>down</html>", "contentType": "text/html"}},
    "hangup": {"fault": {"hangUp": True}},
    "cut": {"text": ABC, "fault": {"cutAfter": 4}},
    "reset": {"text": ABC, "fault": {"cutAfter": 4, "reset": True}},
    "malformed": {"text": ABC, "fault": {"malformedAfter": 4}},
    "reported": {"text": ABC, "fault": {"errorAfter": 4}},
    "silent": {"text": ABC, "fault": {"delay": 600}},
    "stalled": {"text": ABC, "fault": {"chunkDelay": 600}},
}


def scripted(**turns: dict[str, Any]) -> Script:
    """A script that answers by a word of the question, as often as it is asked."""
    return Script.of({**turn, "when": {"says": word}, "times": 0} for word, turn in turns.items())


@contextlib.contextmanager
def serving(*turns: dict[str, Any], **options: Any) -> Iterator[MockServer]:
    """A server that says these turns."""
    with MockServer(Script.of(turns), **options) as server:
        yield server


def asked(url: str, body: Any = None, method: str | None = None, **headers: str) -> tuple[int, Any]:
    """Status and JSON of a request by the standard library alone."""
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, content, {"Content-Type": "application/json", **headers}, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def last(server: MockServer) -> dict[str, Any]:
    """What the server was asked last."""
    return server.log()[-1]


def question(says: str, **more: Any) -> dict[str, Any]:
    """A request in OpenAI's form."""
    return {"model": "mock", "messages": [{"role": "user", "content": says}], **more}
