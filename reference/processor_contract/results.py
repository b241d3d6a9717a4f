"""What tools gave, and what becomes of it: the hook, the list, the chunk.

Flows in: the outcomes of a step's calls, and the provider's own calls and results in mid-stream. Flows out: parts of
the list and chunks for the client, both as the processors left them.
"""

from __future__ import annotations

from typing import Any

from .data import Chunk, Json, ToolCallInfo, clone, is_answered, jsonable, new_id
from .errors import described, told
from .pipeline import Chunks, call, passed
from .response import CALL_MEMBERS, call_info
from .run import Run
from .tools import Outcome

WITHHELD = "the result was withheld"


def open_calls(run: Run) -> list[ToolCallInfo]:
    """The step's calls without an answer, as the response has them now (TOOL-5); the provider's own are not ours
    (TOOL-23).
    """
    return [
        {key: part["toolInvocation"].get(key) for key in CALL_MEMBERS}  # type: ignore[misc]
        for part in run.response.parts()
        if part.get("type") == "tool-invocation"
        and part["toolInvocation"].get("state") == "call"
        and not part.get("providerExecuted")
    ]


def settle(run: Run, outcome: Outcome) -> Chunks:
    """One outcome: processToolResult, then the list, then its chunk (ORD-11, ORD-12); errors have no hook (TOOL-11)."""
    call_id = outcome.call["toolCallId"]
    if outcome.error is None:
        invocation = examine_result(run, outcome.call, outcome.result, None)
        error = None
        yield from run.outgoing()
    else:
        invocation, error = run.response.invocation(call_id), described(outcome.error)
        if invocation is not None:
            invocation.update(state="output-error", errorText=told(outcome.error))  # TOOL-8, TOOL-34
    if invocation is not None:  # TOOL-24: else a processor has taken the call out, and its outcome with it
        kind, payload = outcome_of(invocation, error)
        yield from passed(run, run.chunk(kind, payload))  # ORD-29


def outcome_of(invocation: dict[str, Any], error: Json = None) -> tuple[str, dict[str, Any]]:
    """The type and the payload of the chunk that tells an outcome, as it stands in the list (TOOL-3, TOOL-32).

    The payload is a copy, so that changing the chunk changes what the client sees and nothing else (TOOL-35, PER-36).
    """
    info = call_info(invocation)
    if invocation.get("state") == "output-error":  # also where a processor has made it one (TOOL-20)
        error = error or {"name": "ResultWithheld", "message": invocation["errorText"]}
        return "tool-error", {**info, "error": error}
    return "tool-result", {**info, "result": clone(invocation.get("result"))}


def examine_result(run: Run, info: ToolCallInfo, result: Json, provider_executed: bool | None) -> dict[str, Any] | None:
    """processToolResult on one result, which enters the list as the processors leave it (TOOL-15).

    Returns the live invocation, read back from there; None where the call is not in the list any more (TOOL-24).
    """
    before = run.response.invocation(info["toolCallId"], anywhere=bool(provider_executed))
    if before is not None:  # a further result of one call takes the place of the one before
        before["state"] = "call"
        before.pop("result", None)
    slate = {
        "step_number": run.attempt.number,  # ORD-14: of the step that called the tool
        "tool_name": info["toolName"],
        "tool_call_id": info["toolCallId"],
        "args": clone(info["args"]),
        "result": result,
        "provider_executed": provider_executed,
    }
    result = call(run, "process_tool_result", slate)["result"]
    invocation = run.response.invocation(info["toolCallId"], anywhere=bool(provider_executed))
    if invocation is None:
        return None
    if invocation.get("state") == "output-error":
        invocation.pop("result", None)
        if not isinstance(invocation.get("errorText"), str):
            invocation["errorText"] = WITHHELD
    else:
        if is_answered(invocation):  # TOOL-18: a processor has replaced it, in whichever way
            result = invocation.get("result")
        invocation.update(state="result", result=jsonable(result))
    return invocation


# -- what the provider did itself --------------------------------------------------------------------------------------


def complete_call(run: Run, part: Chunk) -> Chunk:
    """A call of the model with arguments, if only none, and an id that no other call of its step has (TOOL-38)."""
    payload = {**part["payload"]}
    payload.setdefault("args", {})
    given = payload["toolCallId"]
    if run.response.invocation(given) is not None:
        payload["toolCallId"] = run.attempt.renamed[given] = new_id()
    return {**part, "payload": payload}


def settled(run: Run, part: Chunk) -> Chunk | None:
    """A provider's result as the processors left it, before anything else has it (TOOL-9, TOOL-21); None where its call
    was taken out (TOOL-24). The hook gets the raw value, and the provider keeps its own.
    """
    payload = part["payload"]
    call_id = run.attempt.renamed.get(payload["toolCallId"], payload["toolCallId"])
    invocation = run.response.invocation(call_id, anywhere=True)  # TOOL-22
    if invocation is None:
        return None
    info: Any = {"toolCallId": call_id, "toolName": payload["toolName"], "args": invocation.get("args")}
    invocation = examine_result(run, info, clone(payload.get("result")), True)
    if invocation is None:
        return None
    kind, told_of = outcome_of(invocation)
    others = {key: value for key, value in payload.items() if key != "result"}
    return {**part, "type": kind, "payload": {**others, **told_of}}
