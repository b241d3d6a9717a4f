"""What the tests of the mock provider, and of the provider that talks to it, are written with: a server for a script,
the turns that all clients get, and what they are seen to do.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import traceback
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from processor_contract.models.script import Script
from processor_contract.models.server import MockServer

PROXIES = [name for each in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (each, each.upper())]
KEY = "sk-a-key"  # is there to be hidden
CHAT = "/v1/chat/completions"
VERSION = {"anthropic-version": "2023-06-01"}
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
HARMLESS = {"split": "Tromsø −4 °C ☃ 🥶", "slow": "abc", "dawdling": "abc"}  # only look like faults: their texts
PATIENCE = defaultdict(lambda: 10.0, silent=0.2, stalled=0.2)  # seconds: the server says nothing for ten minutes


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


def ended(server: MockServer) -> str:
    """How the server saw the last connection end; it sees it when it next writes."""
    while last(server)["outcome"] == "open":
        threading.Event().wait(0.005)
    return str(last(server)["outcome"])


def port_of(server: MockServer) -> int:
    """Where it listens."""
    return int(server.url.rpartition(":")[2])


def talking(server: MockServer) -> http.client.HTTPConnection:
    """A connection to it."""
    return http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)


def exchanged(server: MockServer, *pieces: bytes) -> bytes:
    """What a connection brings that these bytes go into, to its end."""
    with socket.create_connection(("127.0.0.1", port_of(server)), timeout=10) as line:
        for piece in pieces:
            line.sendall(piece)
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(65536), b""))


def everything_said(error: BaseException) -> str:
    """An error as it is printed, kept and logged, with its causes and what they hold."""
    whole = "".join(traceback.format_exception(error))
    return f"{whole} {error!r} {vars(error)} {[vars(one) for one in (error.__cause__, error.__context__) if one]}"


def question(says: str, **more: Any) -> dict[str, Any]:
    """A request in OpenAI's form."""
    return {"model": "mock", "messages": [{"role": "user", "content": says}], **more}
