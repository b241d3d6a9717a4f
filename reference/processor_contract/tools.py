"""Tools: definitions, and the calls of one step run side by side, their outcomes in call order.

Flows in: the calls that processOutputStep let pass. Flows out: the data chunks that tools send meanwhile, then the
outcomes.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .context import AbortSignal, RequestContext, Writer
from .data import Chunk, Json, ToolCallInfo, clone, jsonable
from .errors import ContractError, InvalidAgent
from .pipeline import send_data
from .run import Run


@dataclass(slots=True)
class ToolContext:
    """What a tool gets besides its arguments."""

    tool_call_id: str
    request_context: RequestContext
    abort_signal: AbortSignal
    writer: Writer


@dataclass(slots=True)
class Tool:
    """Something the model may call. `execute(args)` or `execute(args, context)` answers; None: the client answers
    itself.

    `parameters` is the JSON schema of the arguments, shown to the model. A tool that takes a context runs on a thread
    of its own, because it may send chunks while it works.
    """

    name: str
    execute: Callable[..., Any] | None = None
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    takes_context: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        if inspect.iscoroutinefunction(self.execute):
            raise InvalidAgent(f"tool {self.name!r} is asynchronous; write it with `def`, without `async`")
        if self.execute is not None:
            with contextlib.suppress(ValueError):  # some functions of C do not say what they take
                self.takes_context = len(inspect.signature(self.execute).parameters) > 1

    def described(self) -> dict[str, Any]:
        """The tool as a provider is told of it."""
        return {"name": self.name, "description": self.description, "parameters": clone(self.parameters)}


@dataclass(slots=True)
class Outcome:
    """What became of one call: a result that JSON can hold, or the error that answers the model."""

    call: ToolCallInfo
    result: Json = None
    error: BaseException | None = None


def answered_here(run: Run, tool_name: str) -> bool:
    """Whether the runtime answers a call of this tool: all but those that the client has to execute (TOOL-6)."""
    tool = run.attempt.offered.get(tool_name)
    return tool is None or tool.execute is not None


def run_tools(run: Run, calls: Sequence[ToolCallInfo]) -> Generator[Chunk, None, list[Outcome]]:
    """Executes the calls, several at once (ORD-13), and returns when all have ended.

    Raises Cancelled as soon as the signal fires, without waiting for what still runs.
    """
    outcomes = [Outcome(call) for call in calls]
    running = _start(run, outcomes)
    while True:
        with run.woken:
            run.woken.wait_for(lambda: run.outbox or not running or run.signal.aborted)
        yield from run.outgoing()
        run.check_cancelled()
        if not running and not run.outbox:
            break
    if run.ending is not None:
        raise run.ending
    for outcome in outcomes:
        if outcome.error is not None and not isinstance(outcome.error, Exception):
            raise outcome.error
    return outcomes


def _start(run: Run, outcomes: Sequence[Outcome]) -> set[int]:
    """Starts the calls; the set returned holds the numbers of those still running."""
    running = set(range(len(outcomes)))

    def work(number: int) -> None:
        try:
            _execute(run, outcomes[number])
        finally:
            with run.woken:
                running.discard(number)
                run.woken.notify_all()

    tools = [run.attempt.offered.get(outcome.call["toolName"]) for outcome in outcomes]
    nobody_interrupts = run.caller_signal is None and not run.closable
    alone = len(outcomes) == 1 and nobody_interrupts and not (tools[0] and tools[0].takes_context)
    for number in range(len(outcomes)):
        if alone:
            work(number)
            continue
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(work, number), name=f"tool-{run.id}-{number}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no threads here: one after the other
            work(number)
    return running


def _execute(run: Run, outcome: Outcome) -> None:
    call = outcome.call
    tool = run.attempt.offered.get(call["toolName"])
    try:
        if tool is None:
            offered = ", ".join(sorted(run.attempt.offered)) or "none"
            raise ContractError(f"tool {call['toolName']!r} is not offered in this step (offered: {offered})", "TOOL-7")
        if tool.takes_context:
            writer = Writer(lambda chunk, message_id: send_data(run, chunk, message_id))
            context = ToolContext(call["toolCallId"], run.request_context, run.signal, writer)
            outcome.result = jsonable(tool.execute(clone(call["args"]), context))
        else:
            outcome.result = jsonable(tool.execute(clone(call["args"])))
    except BaseException as error:  # what is no Exception leaves the run, from whichever thread it comes
        outcome.error = error
