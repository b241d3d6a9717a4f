"""The steps of a run, in SPEC order.

Flows in: a run whose hooks are planned. Flows out: the client's chunks, one generator for a request, pulled by its
reader; what became of the run stands in the run.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from itertools import chain
from typing import Any

from .data import PASSED_OVER, Chunk, add_usage, clone, fault_from_outside
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
    described,
)
from .models import ModelRequest
from .models.calling import called
from .pipeline import Chunks, blamed, call, deliver, passed, save, send, through_stream
from .request import ask
from .results import complete_call, open_calls, settle, settled
from .run import Attempt, Run
from .tools import answered_here, run_tools

FINISH_REASONS = ("stop", "length", "tool-calls", "content-filter", "error", "other")  # those that a model may give


def input_phase(run: Run) -> None:
    """processInput, once, before the loop (ORD-2): who aborts here keeps the question from the model (TRI-20). What it
    leaves of the system messages holds for the run (MSG-10).
    """
    try:
        call(run, "process_input", {})
        run.message_list.everything()  # so that a message broken in place is noticed here
    except InvalidMessage as error:
        raise blamed(run, error) from error
    run.system_before = run.message_list.system_state()


def stream_of(run: Run) -> Chunks:
    """The client's chunks: `start`, the steps, `finish`; or how it ended instead, always with one terminal chunk
    (STR-1), in the order of the grammar (STR-7).
    """
    try:
        run.check_cancelled()
        yield run.chunk("start", {})
        yield from steps(run)
        call(run, "process_output_result", {})  # ORD-15, ORD-30; also where the step limit ended the run (PER-38)
        yield from run.outgoing()
        run.follow_response()
        save(run)
        run.finish()
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
    if isinstance(ending, RunEnded):
        run.tripwire, run.error = ending.tripwire, None  # TRI-18: it wins over a failure that was surfacing
        run.finish_reason = "other"  # TRI-3, TRI-7
        last = run.chunk("tripwire", clone(ending.tripwire.payload()))  # TRI-14
    else:
        run.error = ending if run.error is None else caused_by(ending, run.error)
        run.finish_reason = "error"
        last = run.chunk("error", {"error": described(ending)})  # ERR-10
    run.finish()
    return chain(run.outgoing(), [last])


def aborted(run: Run, cancelled: Cancelled) -> Chunks:
    """The end of a cancelled run, from now on: one `abort` chunk and no tripwire (RES-6, TRI-6)."""
    run.error = cancelled
    run.finish_reason = "aborted"
    run.finish()
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
    run.accept_step()  # STR-18: whatever became of its chunk
    run.finish_reason = attempt.finish_reason  # TOOL-36: the model's own, whatever became of its calls
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
            fault = fault_from_outside(part)
            if fault is not None:
                raise CallFailed(ProviderFailed(f"the model gave a part that {fault}", "ERR-45"))
            try:
                yield from taken(run, attempt, part, recording)
            except RecursionError:
                refuse_endless(part)
                raise
            while run.outbox:
                yield run.outbox.popleft()
    run.response.close_texts()


def taken(run: Run, attempt: Attempt, part: Chunk, recording: bool) -> Chunks:
    """One of them: noted, and sent on its way unless it is one that only the runtime sees."""
    kind = part["type"]
    if recording and kind != "stream-start":
        attempt.chunks.append(short(part))  # LLM-10: as it came
    if kind in SILENT:
        return SILENT[kind](run, attempt, part.get("payload", {}))
    if kind == "tool-call":
        part = complete_call(run, part)
    elif kind == "tool-result":
        result = settled(run, part)  # ORD-35
        if result is None:
            return iter(())
        part, kind = result, result["type"]
    send(run, run.chunk(kind, part["payload"]) if "payload" in part else clone(part))
    return iter(())


def refuse_endless(part: Chunk) -> None:
    """Raises CallFailed for a part that nobody can copy: it is the provider's, and not the run's, that it fails."""
    try:
        clone(part)
    except RecursionError:
        fault = "holds itself, or is nested too deep"
        raise CallFailed(ProviderFailed(f"the model gave a part that {fault}", "ERR-45")) from None


def provided(run: Run, attempt: Attempt, request: ModelRequest) -> Generator[Chunk, None, None]:
    """The provider's own chunks, or the replayed ones (LLM-7), which go the same way (LLM-18)."""
    if attempt.replay is None:
        return called(run.trace.model(attempt.model), request, run.settings.model_retries, run.settings.clock)
    return (chunk for chunk in attempt.replay)


def finished(run: Run, attempt: Attempt, payload: dict[str, Any]) -> Chunks:
    """The model's own `finish`: never sent to the client; processors see it where the step may end the run (ORD-16)."""
    reason = payload.get("finishReason")
    attempt.finish_reason = reason if reason in FINISH_REASONS else "other"  # RES-17
    attempt.provider_metadata = payload.get("providerMetadata")  # RES-26: whatever the reason
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


def noted(run: Run, attempt: Attempt, payload: dict[str, Any]) -> Chunks:
    """What a provider says of its call; a replay has had none (LLM-8)."""
    if attempt.replay is None:
        attempt.about_call.update(clone(payload))
    return iter(())


def nothing(run: Run, attempt: Attempt, payload: dict[str, Any]) -> Chunks:
    """Parts that only processLLMResponse sees."""
    return iter(())


SILENT = {
    "finish": finished,
    "error": failed_part,
    "stream-start": noted,
    # What is the runtime's to say cannot come from a provider, or out of a cache (STR-21).
    **dict.fromkeys(("response-metadata", *PASSED_OVER), nothing),
}


def examine(run: Run, attempt: Attempt) -> None:
    """processLLMResponse, then processOutputStep, on the whole answer and before any tool starts (ORD-9, ORD-10)."""
    if run.plan["process_llm_response"]:
        slate = {
            "model": attempt.model,  # LLM-16
            "step_number": attempt.number,
            "from_cache": attempt.replay is not None,  # LLM-4
        }
        call(run, "process_llm_response", slate)
    slate = {
        "step_number": attempt.number,
        "finish_reason": attempt.finish_reason,
        "provider_metadata": attempt.provider_metadata,
        "usage": dict(attempt.usage),
    }
    call(run, "process_output_step", slate)


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
    run.trace.step_ended("retry", attempt.finish_reason, attempt.usage)


def recover(run: Run, attempt: Attempt, error: BaseException) -> Generator[Chunk, None, bool]:
    """processAPIError on a call that failed, in whatever way (ERR-1, ERR-14). Says whether the step is tried again.

    An abort there goes its way as from any other hook, and takes the error's place (ERR-34).
    """
    run.reject_attempt()  # ERR-5: the hook sees nothing of the failed attempt; ERR-25: what it changes itself stays
    granted = run.may_retry()  # ERR-22: without one it is asked all the same
    slate = {
        "error": error,  # ERR-12: not wrapped
        "step_number": attempt.number,
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
    run.trace.step_ended("retry", attempt.finish_reason, attempt.usage)
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
    run.trace.step_ended("error", attempt.finish_reason, attempt.usage)


# -- helpers -----------------------------------------------------------------------------------------------------------


def short(part: Chunk) -> Chunk:
    """A copy of a provider's chunk in its short form (LLM-5): what else it holds is no part of it."""
    brief: Chunk = {"type": part["type"], "payload": part["payload"]} if "payload" in part else part
    return clone(brief)  # type: ignore[no-any-return]


def ending_payload(attempt: Attempt) -> dict[str, Any]:
    """What `step-finish` carries."""
    return {"finishReason": attempt.finish_reason, "usage": dict(attempt.usage)}
