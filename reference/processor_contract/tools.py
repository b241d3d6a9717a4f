"""Tools: definitions, and the calls of one step run side by side, their outcomes in call order.

Flows in: the calls that processOutputStep let pass. Flows out: the data chunks that tools send meanwhile, then the
outcomes.
"""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .context import AbortSignal, RequestContext, Writer
from .data import Chunk, Json, ToolCallInfo, clone, jsonable
from .errors import ContractError, InvalidAgent, InvalidSchema
from .pipeline import send_data
from .run import Run
from .schema import Schema
from .tracing import Span, TracingContext


@dataclass(slots=True)
class ToolContext:
    """What a tool gets besides its arguments."""

    tool_call_id: str
    request_context: RequestContext
    abort_signal: AbortSignal
    writer: Writer
    tracing_context: TracingContext


@dataclass(slots=True)
class Tool:
    """Something the model may call. `execute(args)` or `execute(args, context)` answers; None: the client answers
    itself.

    `parameters` is the JSON schema of the arguments, shown to the model and checked before each execution (TOOL-14);
    schema.py says what of JSON Schema it may hold, and anything else is refused here (TOOL-17). A tool that takes a
    context runs on a thread of its own, because it may send chunks while it works. Raises `InvalidAgent`.
    """

    name: str
    execute: Callable[..., Any] | None = None
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    takes_context: bool = field(init=False, default=False)
    schema: Schema = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidAgent(f"a tool is called {self.name!r}; give it a text as name", "CFG-37")
        try:
            self.schema = Schema(self.parameters)
        except InvalidSchema as error:
            raise InvalidAgent(f"the parameters of tool {self.name!r} cannot be checked: {error}", "TOOL-17") from error
        if self.execute is not None:
            check_plain(self.name, self.execute)
            self.takes_context = wants_context(self.name, self.execute)

    def described(self) -> dict[str, Any]:
        """The tool as a provider is told of it."""
        return {"name": self.name, "description": self.description, "parameters": clone(self.parameters)}


def check_plain(name: str, execute: Any) -> None:
    """A tool is a plain function: what an asynchronous one returns, or a generator, is no result."""
    if not callable(execute):
        found = f"tool {name!r} has {type(execute).__name__} as execute"
        raise InvalidAgent(f"{found}; give it a function, or None", "CFG-37")
    if inspect.iscoroutinefunction(execute) or inspect.isasyncgenfunction(execute):
        raise InvalidAgent(f"tool {name!r} is asynchronous; write it with `def`, without `async`", "CFG-38")
    if inspect.isgeneratorfunction(execute):
        instead = "return the result, and send chunks with context.writer"
        raise InvalidAgent(f"tool {name!r} is a generator; {instead}", "CFG-38")


def wants_context(name: str, execute: Callable[..., Any]) -> bool:
    """Whether a tool takes a context: where it needs two arguments, or calls its second one so."""
    try:
        signature = inspect.signature(execute)
    except (ValueError, TypeError):  # some functions of C do not say what they take
        return False
    places = [one for one in signature.parameters.values() if "POSITIONAL_" in one.kind.name]
    takes = len(places) > 1 and (places[1].default is places[1].empty or places[1].name == "context")
    try:
        signature.bind(*("args", "context")[: 1 + takes])
    except TypeError as error:
        raise InvalidAgent(f"tool {name!r} cannot be called with (args) or (args, context): {error}") from error
    return takes


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
    """Executes the calls, each once (TOOL-26), several at once (TOOL-27), and returns when all have ended: the outcomes
    in the order of the calls (ORD-13), each with its own call (TOOL-25).

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
    """One call, within a span of its own (CTX-8)."""
    span = run.trace.tool(outcome.call)
    _try(run, outcome, span)
    if outcome.error is None:
        span.end()
    else:
        span.end("error", error=type(outcome.error).__name__)


def _try(run: Run, outcome: Outcome, span: Span) -> None:
    """The call's result, or what answers in its place where there is none (TOOL-8)."""
    call = outcome.call
    tool = run.attempt.offered.get(call["toolName"])
    try:
        name = call["toolName"]
        if tool is None:
            offered = ", ".join(sorted(run.attempt.offered)) or "none"
            raise ContractError(f"tool {name!r} is not offered in this step (offered: {offered})", "TOOL-7")
        fault = tool.schema.fault(call["args"], "args")
        if fault is not None:
            raise ContractError(f"tool {name!r} was called with arguments that do not fit: {fault}", "TOOL-14")
        outcome.result = jsonable(_result(run, tool, call, span))  # TOOL-4, TOOL-12
    except BaseException as error:  # what is no Exception leaves the run, from whichever thread it comes
        outcome.error = error


def _result(run: Run, tool: Tool, call: ToolCallInfo, span: Span) -> Any:
    assert tool.execute is not None  # its calls are the client's
    args = clone(call["args"])  # TOOL-19: what the tool does to them stays with it
    if tool.takes_context:
        writer = Writer(lambda chunk, message_id: send_data(run, chunk, message_id))  # DAT-8, DAT-22
        tracing = TracingContext(span if run.trace.on else None)
        context = ToolContext(call["toolCallId"], run.request_context, run.signal, writer, tracing)  # RES-10
        result = tool.execute(args, context)
    else:
        result = tool.execute(args)
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise ContractError(f"tool {tool.name!r} returned something to be awaited; return the result itself", "CFG-38")
    return result
