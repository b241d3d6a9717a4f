"""What tools gave, and what becomes of it: the hook, the list, the chunk.

Flows in: the outcomes of a step's calls, and the provider's own results in mid-stream. Flows out: parts of the list and
chunks for the client, both as the processors left them.
"""

from __future__ import annotations

from typing import Any

from .data import Chunk, Json, ToolCallInfo, clone
from .errors import described, told
from .pipeline import Chunks, call, passed
from .run import Run
from .tools import Outcome


def open_calls(run: Run) -> list[ToolCallInfo]:
    """The step's calls without an answer, as the response has them now (TOOL-5); the provider's own are not ours."""
    return [
        {key: part["toolInvocation"].get(key) for key in ("toolCallId", "toolName", "args")}  # type: ignore[misc]
        for part in run.response.parts()
        if part.get("type") == "tool-invocation"
        and part["toolInvocation"].get("state") == "call"
        and not part.get("providerExecuted")
    ]


def settle(run: Run, outcome: Outcome) -> Chunks:
    """One outcome: processToolResult, then the list, then its chunk (ORD-11, ORD-12). An error has no hook (TOOL-8)."""
    info: dict[str, Any] = clone(outcome.call)
    if outcome.error is not None:
        invocation = run.response.invocation(info["toolCallId"])
        if invocation is not None:
            invocation.update(state="output-error", errorText=told(outcome.error))
        yield from passed(run, run.chunk("tool-error", {**info, "error": described(outcome.error)}))
    else:
        result = examine_result(run, info, outcome.result, None)
        yield from run.outgoing()
        # ORD-29; a copy, so that changing the chunk changes what the client sees and nothing else (PER-36)
        yield from passed(run, run.chunk("tool-result", {**info, "result": clone(result)}))


def examine_result(run: Run, info: dict[str, Any], result: Json, provider_executed: bool | None) -> Json:
    """processToolResult on one result; it enters the list as the processors leave it, and is returned (TOOL-3)."""
    slate = {
        "step_number": run.attempt.number,  # ORD-14: of the step that called the tool
        "tool_name": info["toolName"],
        "tool_call_id": info["toolCallId"],
        "args": info["args"],
        "result": result,
        "provider_executed": provider_executed,
    }
    result = call(run, "process_tool_result", slate)["result"]
    invocation = run.response.invocation(info["toolCallId"], anywhere=bool(provider_executed))
    if invocation is not None:
        if invocation.get("state") != "call":  # a processor has answered it: the raw value is nowhere
            return invocation.get("result")
        invocation.update(state="result", result=result)
    return result


def settled(run: Run, part: Chunk) -> Chunk:
    """A provider's tool result as the processors left it; the provider keeps its own."""
    payload = {**part["payload"]}
    settle_provider_result(run, payload)
    return {**part, "payload": payload}


def settle_provider_result(run: Run, payload: dict[str, Any]) -> None:
    """A result the provider itself made, in mid-stream: the hook sees the raw value, everything after it the new one
    (TOOL-9).
    """
    invocation = run.response.invocation(payload["toolCallId"], anywhere=True)
    args = clone(invocation.get("args")) if invocation is not None else payload.get("args")
    info = {"toolCallId": payload["toolCallId"], "toolName": payload["toolName"], "args": args}
    payload["result"] = clone(examine_result(run, info, payload.get("result"), True))
