"""What stays behind after many requests: nothing. And what Python's developer mode has to say: nothing."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import processor_contract
from processor_contract import (
    AbortSignal,
    Agent,
    APICallError,
    InMemoryStorage,
    Memory,
    ModelRequest,
    ScriptedModel,
    Tool,
)
from reference_kit import CALL, processor

SOURCE_ROOT = Path(processor_contract.__file__).parent.parent


def answering(request: ModelRequest, number: int) -> Any:
    last = request.prompt[-1]
    return "hi" if last["role"] == "tool" else APICallError("down") if last["content"][0]["text"] == "fail" else CALL


class Ends:
    """One agent, and requests that end in all ways there are."""

    def __init__(self) -> None:
        self.model = ScriptedModel(answering)
        self.signal = AbortSignal()
        self.agent = Agent(
            self.model,
            tools=[Tool("add", lambda args: 1)],
            input_processors=[processor(process_input=self.judge)],
            output_processors=[processor("q", data=True, process_output_stream=self.send)],
            memory=Memory(InMemoryStorage(), read_only=True),
        )

    def judge(self, args: Any) -> None:
        text = args.messages[-1]["content"]["parts"][0]["text"]
        if text == "abort":
            args.abort("no")
        if text == "raise":
            raise ValueError("broken")

    def send(self, args: Any) -> Any:
        if args.part["type"] == "step-start":
            args.writer.custom({"type": "data-x", "data": "x" * 100})
        return args.part

    def once(self) -> None:
        options: Any = {"abort_signal": self.signal, "thread": "t", "resource": "r"}
        self.agent.generate("x", **options)
        self.agent.generate("abort")
        for text in ("raise", "fail"):
            with pytest.raises((ValueError, APICallError, processor_contract.HookFailed)):
                self.agent.generate(text)
        with self.agent.stream("x") as stream:
            next(stream)
        next(self.agent.stream("x", abort_signal=self.signal))
        self.model.requests.clear()


def test_memory_does_not_grow_with_requests() -> None:
    ends = Ends()
    for _ in range(50):
        ends.once()
    tracemalloc.start()
    sizes = []
    for _ in range(3):
        for _ in range(100):
            ends.once()
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()

    assert sizes[2] - sizes[1] < 20_000, sizes


def living() -> int:
    """How many runs, streams and message lists there are."""
    gc.collect()
    return sum(type(one).__name__ in ("Run", "Stream", "MessageList") for one in gc.get_objects())


def test_no_run_stays_behind() -> None:
    ends = Ends()
    before = living()
    for _ in range(10):
        ends.once()

    assert living() == before


def test_no_listener_and_no_thread_stays_behind() -> None:
    before = threading.active_count()
    ends = Ends()
    for _ in range(10):
        ends.once()
    gc.collect()

    assert (len(ends.signal._listeners), threading.active_count()) == (0, before)


PROGRAM = """
import gc, threading
from processor_contract import *

class Everything(Processor):
    id = "everything"
    process_data_parts = True
    def process_input(self, args): args.state["n"] = 1
    def process_input_step(self, args): args.writer.custom({"type": "data-x", "data": 1})
    def process_llm_request(self, args): return {"prompt": args.prompt}
    def process_llm_response(self, args): pass
    def process_output_stream(self, args): return args.part
    def process_output_step(self, args): return []
    def process_tool_result(self, args): pass
    def process_output_result(self, args): return args.messages
    def process_api_error(self, args): return {"retry": True}

one = Everything()
storage = SQLiteStorage(":memory:")
call = {"tool_calls": [{"name": "add"}, {"name": "add", "id": "other"}]}
agent = Agent(
    ScriptedModel([APICallError("down"), call, "hi"]),
    tools=[Tool("add", lambda args, context: 1)],
    input_processors=[one], output_processors=[one], error_processors=[one], memory=Memory(storage),
)
print(agent.generate("x", thread="t", resource="r", abort_signal=AbortSignal()).text)
stream = Agent(ScriptedModel(["a"])).stream("x")
next(stream)
stream.close()
next(Agent(ScriptedModel(["a"])).stream("x"))
storage.close()
gc.collect()
print(threading.active_count())
"""


def test_developer_mode_has_nothing_to_say() -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE_ROOT)}
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    assert (done.stdout.split(), done.stderr) == (["hi", "1"], "")
