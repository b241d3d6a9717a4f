"""The steps of a run, in SPEC order.

Flows in: a run whose hooks are planned. Flows out: the client's chunks, one generator for a request, pulled by its
reader; what became of the run stands in the run.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import chain
from typing import Any

from .data import CONTROL_CHUNKS, Chunk, Json, ToolCallInfo, add_usage, clone, fault_of
from .errors import (
    AttemptRejected,
    CallFailed,
    Cancelled,
    HookFailed,
    InvalidMessage,
    ProviderFailed,
    RunEnded,
    RunFailed,
    caused_by,
    told,
)
from .models import ModelRequest
from .models.calling import called
from .pipeline import blamed, call, deliver, save, send, through_stream
from .request import ask
from .run import Attempt, Run
from .tools import Outcome, answered_here, run_tools

Chunks = Iterator[Chunk]


def input_phase(run: Run) -> None:
    """processInput, once, before the loop (ORD-2); what it leaves of the system messages holds for the run (MSG-10)."""
    try:
        call(run, "process_input", {})
        run.message_list.everything()  # so that a message broken in place is noticed here
    except InvalidMessage as error:
        raise blamed(run, error) from error
    run.system_before = run.message_list.system_state()


def stream_of(run: Run) -> Chunks:
    """The client's chunks: `start`, the steps, `finish`; or how it ended instead, always with one terminal chunk
    (STR-1).
    """
    try:
        run.check_cancelled()
        yield run.chunk("start", {})
        yield from steps(run)
        call(run, "process_output_result", {})  # ORD-15, ORD-30; also where the step limit ended the run (PER-38)
        yield from run.outgoing()
        save(run)
        run.follow_response()
        run.ended = True
        yield run.chunk("finish", {"finishReason": run.finish_reason, "usage": dict(run.usage)})
    except (RunEnded, HookFailed, Cancelled) as ending:
        yield from ended_by(run, ending)
    except Exception as error:
        yield from ended_by(run, blamed(run, error))


def ended_by(run: Run, ending: RunEnded | HookFailed | RunFailed | Cancelled) -> Chunks:
    """The last chunks of a run that something ended: what was sent before, and the terminal chunk.

    Nothing that stands later runs (ORD-25), so nothing is stored either (PER-9).
    """
    if run.ended:
        return iter(())
    try:
        run.commit()  # it is decided here, also for who closes the stream before the last chunk
    except Cancelled as cancelled:
        return chain(run.outgoing(), aborted(run, cancelled)) if run.claim() else iter(())
    run.ended = True
    if isinstance(ending, RunEnded):
        run.tripwire, run.error = ending.tripwire, None  # TRI-18: it wins over a failure that was surfacing
        run.finish_reason = "other"  # TRI-3, TRI-7
        last = run.chunk("tripwire", clone(ending.tripwire.payload()))  # TRI-14
    else:
        run.error = ending if run.error is None else caused_by(ending, run.error)
        run.finish_reason = "error"
        last = run.chunk("error", {"error": described(ending)})  # ERR-10
    return chain(run.outgoing(), [last])


def aborted(run: Run, cancelled: Cancelled) -> Chunks:
    """The end of a cancelled run, from now on: one `abort` chunk and no tripwire (RES-6, TRI-6)."""
    run.ended = True
    run.error = cancelled
    run.finish_reason = "aborted"
    return iter([run.chunk("abort", {"reason": cancelled.reason} if cancelled.reason is not None else {})])


def steps(run: Run) -> Chunks:
    """One step after the other, each tried until an attempt is accepted, as long as calls were answered (ORD-23)."""
    number = 0
    while True:
        attempt = run.begin_attempt(number)
        try:
            goes_on = yield from try_step(run, attempt)
        except AttemptRejected as rejected:
            yield from reject(run, attempt)
            run.grant_retry(feedback=rejected.tripwire.reason)
            continue  # RTY-7: the same step number; RTY-25: from processInputStep
        except CallFailed as failed:
            if (yield from recover(run, attempt, failed.error)):
                continue  # ERR-17: again from processInputStep; ERR-38: it has been no step
            yield from surface(run, attempt, failed.error)
            return
        number += 1  # accepted: attempts do not count (RTY-23)
        if not goes_on or number >= run.settings.max_steps:  # ORD-26
            return
        if stops(run):
            return


def stops(run: Run) -> bool:
    """Whether the call's `stop_when` ends the loop here; what it raises ends the run as a hook's exception does
    (ERR-28).
    """
    if run.settings.stop_when is None:
        return False
    try:
        return bool(run.settings.stop_when(run.shown_steps()))
    except Exception as error:
        raise run.end_with(HookFailed("stop-when", "stopWhen", error)) from error


def try_step(run: Run, attempt: Attempt) -> Generator[Chunk, None, bool]:
    """One attempt at a step (ORD-1). Returns whether the loop goes on."""
    request = ask(run, attempt)
    yield from run.outgoing()
    yield from passed(run, run.chunk("step-start", {}))  # ORD-17
    run.provider_called()
    yield from answer(run, attempt, request)
    examine(run, attempt)  # ORD-9, ORD-10; not after a failed call (ORD-36, ERR-36)
    yield from run.outgoing()
    calls = open_calls(run)  # ORD-27: the answer is complete, and has been examined
    answerable = [each for each in calls if answered_here(run, each["toolName"])]
    if answerable:
        outcomes = yield from run_tools(run, answerable)
        for outcome in outcomes:  # ORD-13: in call order, when all have ended
            yield from settle(run, outcome)
    chunk = through_stream(run, run.chunk("step-finish", ending_payload(attempt)))  # ORD-18
    run.accept_step()
    run.finish_reason = attempt.finish_reason
    if chunk is not None:
        deliver(run, chunk)
    yield from run.outgoing()
    return bool(answerable) and len(answerable) == len(calls)


# -- the answer --------------------------------------------------------------------------------------------------------


def answer(run: Run, attempt: Attempt, request: ModelRequest) -> Chunks:
    """The provider's chunks, each through the whole processOutputStream chain and then to the client (ORD-8)."""
    recording = bool(run.plan["process_llm_response"])
    with closing(provided(run, attempt, request)) as parts:
        for part in parts:
            run.check_cancelled()
            fault = fault_of(part)
            if fault is not None:
                raise CallFailed(ProviderFailed(f"the model gave a part that {fault}", "ERR-1"))
            if recording:
                attempt.chunks.append(clone(part))  # LLM-5: as it came
            kind = part["type"]
            if kind in SILENT:
                yield from SILENT[kind](run, attempt, part["payload"])
                continue
            if kind == "tool-result":
                part = settled(run, part)  # ORD-35
            send(run, run.chunk(kind, part["payload"]) if "payload" in part else clone(part))
            while run.outbox:
                yield run.outbox.popleft()
    run.response.close_texts()


def provided(run: Run, attempt: Attempt, request: ModelRequest) -> Generator[Chunk, None, None]:
    """The provider's own chunks, or the replayed ones (LLM-4)."""
    if attempt.replay is None:
        return called(attempt.model, request, run.settings.model_retries, run.settings.clock)
    return (chunk for chunk in attempt.replay)


def finished(run: Run, attempt: Attempt, payload: dict[str, Any]) -> Chunks:
    """The model's own `finish`: never sent to the client; processors see it where the step may end the run (ORD-16)."""
    reason = payload.get("finishReason")
    attempt.finish_reason = reason if isinstance(reason, str) and reason else "other"
    attempt.provider_metadata = payload.get("providerMetadata")
    usage = payload.get("usage")
    add_usage(attempt.usage, usage)
    if attempt.replay is None:
        run.count_usage(usage)
    if attempt.finish_reason == "error":
        raise CallFailed(ProviderFailed("the model finished with reason 'error'"))
    last = attempt.number + 1 >= run.settings.max_steps
    if last or not any(answered_here(run, each["toolName"]) for each in open_calls(run)):
        through_stream(run, run.chunk("finish", payload))
        yield from run.outgoing()


def failed_part(run: Run, attempt: Attempt, payload: dict[str, Any]) -> Chunks:
    """An error part in mid-stream: held back until recovery is ruled out (ERR-4)."""
    error = payload.get("error")
    raise CallFailed(
        error if isinstance(error, BaseException) else ProviderFailed(f"the model's stream failed: {error}")
    )


def nothing(run: Run, attempt: Attempt, payload: dict[str, Any]) -> Chunks:
    """Parts that only processLLMResponse sees."""
    return iter(())


SILENT = {
    "finish": finished,
    "error": failed_part,
    # What is the runtime's to say cannot come from a provider, or out of a cache (STR-4).
    **dict.fromkeys(("response-metadata", "stream-start", *CONTROL_CHUNKS - {"finish", "error"}), nothing),
}


def examine(run: Run, attempt: Attempt) -> None:
    """processLLMResponse, then processOutputStep, on the whole answer and before any tool starts (ORD-9, ORD-10)."""
    if run.plan["process_llm_response"]:
        slate = {
            "model": attempt.model,
            "step_number": attempt.number,
            "from_cache": attempt.replay is not None,
            "warnings": None,
            "request": None,
            "raw_response": None,
        }
        call(run, "process_llm_response", slate)
    slate = {
        "step_number": attempt.number,
        "finish_reason": attempt.finish_reason,
        "provider_metadata": attempt.provider_metadata,
        "usage": dict(attempt.usage),
    }
    call(run, "process_output_step", slate)


# -- tools -------------------------------------------------------------------------------------------------------------


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


# -- when it does not go well ------------------------------------------------------------------------------------------


def reject(run: Run, attempt: Attempt) -> Chunks:
    """The end of an attempt to be repeated: its response goes, `step-finish` with reason `retry` comes (RTY-24)."""
    yield from run.outgoing()
    run.go_on()
    run.reject_attempt()
    attempt.finish_reason = "retry"
    if attempt.begun:
        yield from passed(run, run.chunk("step-finish", ending_payload(attempt)), plainly=True)  # RTY-26, RTY-27
    run.response.reject(attempt.data_parts)  # RTY-18, PER-11: what was sent on the step-finish falls with the attempt


def recover(run: Run, attempt: Attempt, error: BaseException) -> Generator[Chunk, None, bool]:
    """processAPIError on a call that failed, in whatever way (ERR-1, ERR-14). Says whether the step is tried again.

    An abort there goes its way as from any other hook, and takes the error's place (ERR-34).
    """
    run.reject_attempt()  # ERR-5: the hook sees nothing of the failed attempt; ERR-25: what it changes itself stays
    granted = run.may_retry()  # ERR-22: without one it is asked all the same
    slate = {
        "error": error,  # ERR-12: not wrapped
        "step_number": attempt.number,
        "steps": run.shown_steps(),  # ERR-19
        "retry_count": run.api_retries,  # ERR-20
    }
    feedback: str | None = None
    try:
        call(run, "process_api_error", slate)
    except AttemptRejected as rejected:  # RTY-11: acts as {retry: true}, with feedback
        run.go_on()
        attempt.recovered = True
        feedback = rejected.tripwire.reason
    except HookFailed as failed:
        caused_by(failed, error)  # ERR-11
        raise
    yield from run.outgoing()
    if not (attempt.recovered and granted):
        return False
    attempt.finish_reason = "retry"
    yield from passed(run, run.chunk("step-finish", ending_payload(attempt)), plainly=True)
    run.response.reject(attempt.data_parts)  # RTY-18: those of the error processors, and those sent with it
    run.grant_retry(feedback=feedback, to_error_processor=True)
    return True


def surface(run: Run, attempt: Attempt, error: BaseException) -> Chunks:
    """A failure that nobody recovered: `error`, then `step-finish`; the run goes on to its end with reason `error`
    (ERR-6), processOutputResult included (ERR-30).
    """
    run.error = error  # ERR-32: whatever processors make of the chunk
    run.finish_reason = attempt.finish_reason = "error"
    yield from passed(run, run.chunk("error", {"error": described(error)}), plainly=True)
    yield from passed(run, run.chunk("step-finish", ending_payload(attempt)), plainly=True)


# -- helpers -----------------------------------------------------------------------------------------------------------


def passed(run: Run, chunk: Chunk, *, plainly: bool = False) -> Chunks:
    """A chunk of the runtime's own, through processOutputStream to the client; `plainly`: a retry asked for there is
    an abort.
    """
    try:
        send(run, chunk)
    except AttemptRejected as rejected:
        if not plainly:
            raise
        run.go_on()
        raise run.end_with(RunEnded(rejected.tripwire)) from None  # RTY-8, TRI-18
    yield from run.outgoing()


def ending_payload(attempt: Attempt) -> dict[str, Any]:
    """What `step-finish` carries."""
    return {"finishReason": attempt.finish_reason, "usage": dict(attempt.usage)}


def described(error: BaseException) -> dict[str, Any]:
    """An exception as chunks carry it."""
    return {"name": type(error).__name__, "message": told(error)}
