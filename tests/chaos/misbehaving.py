"""Adapters that go wrong, one way each: `python -m chaos.misbehaving <way>`. test_engine_chaos.py says what each gets.

Every class below is one way, called by its name in kebab case; all but the way is the miniature.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

from chaos import mini

Json = Any


LATE = {"call": "late", "model": "mock/one", "mode": "stream", "prompt": [], "tools": [], "signal": False}


def write(data: bytes) -> None:
    """Straight to the file, past every buffer."""
    while data:
        data = data[os.write(1, data) :]


class HangsAtStart(mini.Mini):
    def initialize(self, params: Json) -> Json:
        time.sleep(60)


class DiesAtStart(mini.Mini):
    def initialize(self, params: Json) -> Json:
        sys.stderr.write("cannot find my framework\n")
        sys.stderr.flush()
        os._exit(3)


class StopsInHello(mini.Mini):
    def initialize(self, params: Json) -> Json:
        write(b'{"jsonrpc": "2.0", "id": "r1", "res')
        time.sleep(60)


class Greets(mini.Mini):
    def initialize(self, params: Json) -> Json:
        write(b"Welcome to the adapter!\n")
        return super().initialize(params)


class SpeaksProtocolTwo(mini.Mini):
    def initialize(self, params: Json) -> Json:
        return {**super().initialize(params), "protocol": 2}


class RefusesProtocolOne(mini.Mini):
    def initialize(self, params: Json) -> Json:
        raise ValueError("I speak protocols 2 and 3")


class InventsACapability(mini.Mini):
    def initialize(self, params: Json) -> Json:
        return {**super().initialize(params), "capabilities": ["generate", "telepathy"]}


class ForgetsItsName(mini.Mini):
    def initialize(self, params: Json) -> Json:
        hello = super().initialize(params)
        del hello["implementation"]
        return hello


class HangsInRun(mini.Mini):
    def steps(self, run: mini.Run) -> Json:
        time.sleep(60)


class IsAnEcho(mini.Mini):
    def receive(self, line: str) -> None:
        mini.out(line.rstrip())


class HoldsAnAnswer(mini.Mini):
    """The model has answered, and nothing more comes."""

    def step(self, run: mini.Run) -> Json:
        self.ask("model/call", run=run.name, **LATE)
        time.sleep(60)


class SaysALastWord(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        self.chunk(run, {"type": "text-delta", "payload": {"id": "0", "text": "."}})
        time.sleep(60)


class DiesInRun(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        os._exit(1)


class IsKilledInRun(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        os.kill(os.getpid(), signal.SIGKILL)


class DiesInALine(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        write(b'{"jsonrpc": "2.0", "method": "stream/ch')
        os._exit(0)


class DiesBeforeItsChild(mini.Mini):
    """Its child keeps the pipe open, so that there is no end to read."""

    def step(self, run: mini.Run) -> Json:
        subprocess.Popen(["sleep", "60"])
        os._exit(1)


class ClosesItsOutput(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        os.close(1)
        time.sleep(60)


class PrintsInRun(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        write(b"calling the model now\n")
        return super().step(run)


class WritesAnEmptyLine(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        write(b"\n")
        return super().step(run)


class WritesAList(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        write(b"[1, 2]\n")
        return super().step(run)


class WritesNaN(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        self.send(method="stream/chunk", params={"run": run.name, "chunk": {"type": "score", "payload": float("nan")}})
        return super().step(run)


class NeverEndsALine(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        while True:
            write(b"babble " * 1000)


class WritesHalfACharacter(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        write(b'{"jsonrpc": "2.0", "method": "stream/chunk", "params": {"text": "caf\xc3"}}\n')
        return super().step(run)


class WritesAByteOrderMark(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        write(b'\xef\xbb\xbf{"jsonrpc": "2.0"}\n')
        return super().step(run)


class ForgetsTheVersion(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        write(b'{"method": "stream/chunk", "params": {}}\n')
        return super().step(run)


class AnswersTwice(mini.Mini):
    def serve(self, message: Json) -> None:
        super().serve(message)
        if message["method"] == "run/start":
            super().send(id=message["id"], result={})


class AnswersNobody(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        self.send(id="r999", result={})
        return super().step(run)


class AnswersWithAnError(mini.Mini):
    def run_start(self, params: Json) -> Json:
        raise KeyError("what is a run?")


class AnswersWithNothing(mini.Mini):
    def run_start(self, params: Json) -> Json:
        return {}


class UsesAHandleTwice(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        for _ in range(2):
            self.ask("tool/call", run=run.name, handle="same", tool="look", toolCallId="c", args={}, tokens={})
        return super().step(run)


class InventsAMethod(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        return self.ask("hook/skip", run=run.name)


class InventsARun(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        return self.ask("model/next", run="another", call="c1")


class InventsAHook(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        key = next(iter(run.session.processors))
        return self.ask(
            "hook/call", run=run.name, handle="h", processor=key, hook="processAPIError", arguments={}, tokens={}
        )


class InventsATool(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        return self.ask("tool/call", run=run.name, handle="h", tool="hammer", toolCallId="c", args={}, tokens={})


class InventsAModelCall(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        return self.ask("model/next", run=run.name, call="c0")


class CallsTheModelTwice(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        return [self.ask("model/call", run=run.name, **LATE) for _ in range(2)]


class AsksTwiceAtOnce(mini.Mini):
    """Two open requests with one id."""

    def hook(self, run: mini.Run, array: str, hook: str, **arguments: Json) -> Json:
        params = {"run": run.name, "tool": "look", "toolCallId": "c", "args": {}, "tokens": {}}
        self.send(id="same", method="tool/call", params={**params, "handle": "h1"})
        self.send(id="same", method="tool/call", params={**params, "handle": "h2"})
        time.sleep(60)


class LosesAResult(mini.Mini):
    def object_do(self, params: Json) -> Json:
        return {"results": super().object_do(params)["results"][1:]}


class AnswersNeither(mini.Mini):
    """Neither result nor error."""

    def run_start(self, params: Json) -> Json:
        self.send(id="r3")
        time.sleep(60)


class CountsItsRequests(mini.Mini):
    """Ids are texts."""

    def step(self, run: mini.Run) -> Json:
        self.send(id=7, method="model/next", params={"run": run.name, "call": "c1"})
        return super().step(run)


class LeavesOutTokens(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        return self.ask("tool/call", run=run.name, handle="h", tool="look", toolCallId="c", args={})


class LeavesAHandleEmpty(mini.Mini):
    """Only the full check sees it."""

    asked = False

    def step(self, run: mini.Run) -> Json:
        if not self.asked:
            self.asked = True
            self.ask("tool/call", run=run.name, handle="", tool="look", toolCallId="c", args={}, tokens={})
        return super().step(run)


class ReadsTooLittle(mini.Mini):
    def run_read(self, params: Json) -> Json:
        return {"chunks": [{"type": "start"}], "done": False}


class SendsAChunkWithoutType(mini.Mini):
    def run_read(self, params: Json) -> Json:
        return {"chunks": [{"payload": {}}], "done": True}


class FloodsStderr(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        for number in range(20_000):
            sys.stderr.write(f"debug line {number} of very many, each of some length\n")
        sys.stderr.flush()
        return super().step(run)


class IgnoresShutdown(mini.Mini):
    def __init__(self, send: Any) -> None:
        super().__init__(send)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.stays = True

    def shutdown(self, params: Json) -> Json:
        time.sleep(60)


class StopsReading(mini.Mini):
    deaf = False

    def session_open(self, params: Json) -> Json:
        self.deaf = True
        return super().session_open(params)


class NeverEnds(mini.Mini):
    def steps(self, run: mini.Run) -> Json:
        while True:
            self.model(run)


class Drips(mini.Mini):
    def step(self, run: mini.Run) -> Json:
        while True:
            self.chunk(run, {"type": "text-delta", "payload": {"id": "0", "text": "."}})
            time.sleep(0.05)


class CallsAfterTheEnd(mini.Mini):
    """A hook call that comes when the session is long closed."""

    def session_close(self, params: Json) -> Json:
        for run in self.runs.values():
            if run.session is self.sessions[params["session"]]:
                self.at_once([(self.after, run)])
        return super().session_close(params)

    def after(self, run: mini.Run) -> None:
        try:
            self.ask("model/call", run=run.name, **LATE)
        except mini.Failed as failed:
            sys.stderr.write(f"refused: {failed}\n")


class CallsTwiceAfterTheEnd(CallsAfterTheEnd):
    """Two calls when the session is closed, one after the other, with one id."""

    def after(self, run: mini.Run) -> None:
        names = self.names
        for _ in range(2):
            self.names = itertools.repeat(0)  # type: ignore[assignment]
            super().after(run)
        self.names = names

    def session_close(self, params: Json) -> Json:
        for run in self.runs.values():
            self.after(run)
        return {}


class CallsAfterTheOutcome(mini.Mini):
    """The caller has its outcome, and the model is asked once more."""

    left_over: mini.Run | None = None

    def run_start(self, params: Json) -> Json:
        result = super().run_start(params)
        self.left_over = self.runs[params["run"]]
        return result

    def tick(self, params: Json) -> Json:
        run, self.left_over = self.left_over, None
        if run is not None:
            self.ask("model/call", run=run.name, **LATE)
        return {}


class EndsLinesLikeWindows(mini.Mini):
    def send(self, **message: Json) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message})
        mini.out(line + "\r")


def called(way: type[Any]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", way.__name__).lower()


WAYS = {called(way): way for way in list(globals().values()) if isinstance(way, type) and way.__module__ == __name__}

if __name__ == "__main__":
    adapter = WAYS[sys.argv[1]](mini.out)
    for line in sys.stdin:
        adapter.receive(line)
        while getattr(adapter, "deaf", False):
            time.sleep(60)
    while getattr(adapter, "stays", False):
        time.sleep(60)
