"""The least that the runner can drive: each output processor is shown one chunk, and all ends in good order."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

Json = Any
PART = {"type": "text-start", "payload": {"id": "t"}}
END: Json = {"finishReason": "stop", "usage": {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}}
CHUNKS: dict[str, Json] = {
    "start": {},
    "step-start": {},
    "text-start": {"id": "t"},
    "text-end": {"id": "t"},
    "step-finish": END,
    "finish": END,
}
HELLO = {
    "protocol": 1,
    "implementation": {"name": "tiny", "version": "1.0"},
    "revisions": ["nine-hook"],
    "capabilities": ["generate", "stream"],
}


def connect(send: Callable[[str], None]) -> Callable[[str], None]:
    """Takes what sends a line to the runner, gives what takes one from it."""
    return _Tiny(send).receive


def connect_late(send: Callable[[str], None]) -> Callable[[str], None]:
    """The same, but one more chunk of the last run comes when its session is closed."""
    return _Late(send).receive


def connect_endless(send: Callable[[str], None]) -> Callable[[str], None]:
    """The same, but its runs do not end."""
    return _Endless(send).receive


def connect_six(send: Callable[[str], None]) -> Callable[[str], None]:
    """The same in the other revision."""
    return _Tiny(send, {**HELLO, "revisions": ["six-hook"]}).receive


def connect_in_part(send: Callable[[str], None]) -> Callable[[str], None]:
    """The same, and it says that it calls one hook only."""
    return _Tiny(send, {**HELLO, "hooks": ["processOutputStream"]}).receive


def connect_odd(send: Callable[[str], None]) -> Callable[[str], None]:
    """The same, but it speaks of a hook that there is not."""
    return _Tiny(send, {**HELLO, "hooks": ["processOutput"]}).receive


class _Tiny:
    def __init__(self, send: Callable[[str], None], hello: Json = HELLO) -> None:
        self.send = send
        self.hello = hello
        self.keys: list[str] = []
        self.calls = 0
        self.answered = threading.Semaphore(0)

    def receive(self, line: str) -> None:
        message = json.loads(line)
        if "method" not in message:
            self.answered.release()
        elif message["method"] == "run/start":
            threading.Thread(target=self.run, args=(message,), daemon=True).start()
        else:
            self.keys = message["params"].get("agent", {}).get("outputProcessors", self.keys)
            self.say(id=message["id"], result=self.hello if message["method"] == "initialize" else {})

    def run(self, message: Json) -> None:
        run, mode = message["params"]["run"], message["params"]["mode"]
        for number, key in enumerate(self.keys):
            self.calls += 1
            tokens = {"state": f"{run}-{number}"}
            called = {"handle": f"h{self.calls}", "hook": "processOutputStream", "processor": key, "tokens": tokens}
            self.say(
                id=f"a{self.calls}", method="hook/call", params={"run": run, "arguments": {"part": PART}, **called}
            )
            self.answered.acquire()
        for kind, payload in CHUNKS.items() if mode == "stream" else ():
            chunk = {"type": kind, "runId": run, "from": "AGENT", "payload": payload}
            self.say(method="stream/chunk", params={"run": run, "chunk": chunk})
        self.say(id=message["id"], result={"outcome": {"text": "", "finishReason": "stop", "usage": {}, "steps": []}})

    def say(self, **message: Json) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", **message}))


class _Late(_Tiny):
    last = ""

    def receive(self, line: str) -> None:
        message = json.loads(line)
        self.last = message.get("params", {}).get("run", self.last)
        super().receive(line)
        if message.get("method") == "session/close":
            self.say(method="stream/chunk", params={"run": self.last, "chunk": {"type": "text-delta"}})


class _Endless(_Tiny):
    def say(self, **message: Json) -> None:
        if "outcome" not in message.get("result", {}):
            super().say(**message)
