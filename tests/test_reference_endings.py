"""A thousand requests at once that end in every way there is leave nothing behind."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from processor_contract import (
    AbortSignal,
    Agent,
    APICallError,
    Cancelled,
    HookFailed,
    Memory,
    ModelRequest,
    Processor,
    ScriptedModel,
    SQLiteStorage,
    Tool,
    ToolContext,
)

REQUESTS = 1000
THREADS = 50
CALL = {"tool_calls": [{"name": "lookup"}]}


class Judge(Processor):
    """Notes in its state whose request it sees, and ends each as its words say."""

    id = "judge"

    def __init__(self) -> None:
        self.strangers: list[Any] = []

    def _look(self, args: Any) -> str:
        who: str = args.request_context.get("who")
        if args.state.setdefault("who", who) != who:
            self.strangers.append((args.state["who"], who))
        return str(args.request_context.get("ends"))

    def process_input_step(self, args: Any) -> None:
        self._look(args)

    def process_output_stream(self, args: Any) -> Any:
        if self._look(args) == "cancelled" and args.part["type"] == "text-delta":
            args.request_context.get("signal").abort()
        return args.part

    def process_output_step(self, args: Any) -> None:
        ends = self._look(args)
        if ends == "aborted" and args.step_number == 1:
            args.abort("no")
        if ends == "retried and aborted" and args.step_number == 1:
            args.abort("no", retry=True)
        if ends == "crashed" and args.step_number == 1:
            raise ValueError("broken")

    def process_api_error(self, args: Any) -> dict[str, bool]:
        self._look(args)
        return {"retry": True}


def answer(request: ModelRequest, number: int) -> Any:
    """Every conversation asks for the tool first; those that fail say so."""
    said = str(request.prompt)
    if "lookup" not in said:
        return CALL
    return APICallError("refused") if "failed" in said else ["one ", "two"]


def aborted(agent: Agent, options: Any) -> None:
    assert agent.generate("aborted", **options).tripwire is not None


def crashed(agent: Agent, options: Any) -> None:
    try:
        agent.generate("crashed", **options)
    except HookFailed:
        return
    raise AssertionError("nothing was raised")


def failed(agent: Agent, options: Any) -> None:
    try:
        agent.generate("failed", **options)
    except APICallError:
        return
    raise AssertionError("nothing was raised")


def cancelled(agent: Agent, options: Any) -> None:
    signal = AbortSignal()
    options["request_context"].set("signal", signal)
    try:
        agent.generate("cancelled", abort_signal=signal, **options)
    except Cancelled:
        return
    raise AssertionError("nothing was raised")


def closed(agent: Agent, options: Any) -> None:
    with agent.stream("closed", **options) as stream:
        next(chunk for chunk in stream if chunk["type"] == "tool-call")


def left_unread(agent: Agent, options: Any) -> None:
    next(agent.stream("left unread", **options))


ENDINGS: dict[str, Callable[[Agent, Any], None]] = {
    "aborted": aborted,
    "retried and aborted": aborted,
    "crashed": crashed,
    "failed": failed,
    "cancelled": cancelled,
    "closed": closed,
    "left unread": left_unread,
}


def open_files() -> int:
    """How many files this process has open, where the system says so."""
    return len(os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else 0


def test_a_thousand_requests_that_end_badly_leave_nothing_behind(tmp_path: Path) -> None:
    from processor_contract import RequestContext

    judge, store = Judge(), SQLiteStorage(str(tmp_path / "messages.sqlite"))

    def lookup(args: Any, context: ToolContext) -> str:
        return "found"

    agent = Agent(
        ScriptedModel(answer),
        tools=[Tool("lookup", lookup)],
        input_processors=[judge],
        output_processors=[judge],
        error_processors=[judge],
        max_processor_retries=2,
        memory=Memory(store),
    )
    names = list(ENDINGS)

    def one(number: int) -> None:
        ends = names[number % len(names)]
        context = RequestContext({"who": number, "ends": ends})
        ENDINGS[ends](agent, {"thread": f"t{number}", "resource": "r", "request_context": context})

    threads, files = threading.active_count(), open_files()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(one, range(REQUESTS)))
    gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith(("run-", "tool-")):
            thread.join(10)

    assert judge.strangers == []
    assert threading.active_count() == threads
    assert open_files() <= files
    assert [number for number in range(REQUESTS) if store.read(f"t{number}", "r")] == []
    store.close()


def test_an_exception_in_stop_when_ends_a_stream_too() -> None:
    def broken(steps: Any) -> bool:
        raise ValueError("broken")

    agent = Agent(ScriptedModel(answer), tools=[Tool("lookup", lambda args: "found")])
    stream = agent.stream("hi", stop_when=broken)

    assert [chunk["type"] for chunk in stream][-2:] == ["step-finish", "error"]
