"""The one loop that calls hooks.

Flows in: a run, the name of a hook and a slate, the values that the chain's processors hand on to each other. Flows
out: the slate as the chain left it; or RunEnded, AttemptRejected, HookFailed, Cancelled.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .context import Writer
from .data import Chunk, StreamParts, clone, jsonable
from .errors import (
    AttemptRejected,
    Cancelled,
    ContractError,
    HookFailed,
    InvalidMessage,
    NotSaved,
    RunEnded,
    RunFailed,
    TripWire,
    WrongReturn,
)
from .hooks import HOOKS, Hook
from .processor import HookArgs, Processor
from .returns import Slate
from .run import Link, Run
from .run_trace import UNTRACED

Chunks = Iterator[Chunk]


def plan(run: Run) -> None:
    """Decides, once a request, which method is called where: array order in every chain (ORD-3, ORD-4, ORD-5).

    A processor without the hook is passed over (ORD-37); one that stands in several arrays has its place in each
    (ORD-24).
    """
    settings = run.settings
    arrays = {"input": settings.inputs, "output": settings.outputs, "error": settings.errors}
    run.writer = Writer(lambda chunk, message_id: send_data(run, chunk, message_id))
    run.direct_writer = Writer(lambda chunk, message_id: send_data(run, chunk, message_id, past_processors=True))
    for array in arrays.values():
        for index, processor in enumerate(array):
            with contextlib.suppress(AttributeError):  # CTX-11: for information only; some objects take none
                processor.processor_index = index
    for name, hook in HOOKS.items():
        methods = [(index, each, getattr(each, name, None)) for index, each in enumerate(arrays[hook.array])]
        run.plan[name] = [
            link_of(run, hook, each, method, index) for index, each, method in methods if method is not None
        ]
    results = run.plan["process_output_result"]
    if results and getattr(results[-1].processor, "commits", False):
        results[-1].last_act = True


def link_of(run: Run, hook: Hook, processor: Processor, method: Callable[[Any], Any], index: int) -> Link:
    """One place of a chain, with everything that stays the same in all its calls of this request."""
    wants_data = getattr(processor, "process_data_parts", False)
    constants = {
        "processor_id": processor.id,
        "request_context": run.request_context,  # CTX-1, CTX-2: the one object
        "tracing_context": UNTRACED,
        "_tripwire": None,
        "_tell": run.silence,
        "message_list": run.message_list,  # STA-14: the run's own
        "state": run.state_of(processor.id),  # STA-4, STA-5, STA-15: the same object in every hook
        "stream_parts": StreamParts(run.passing if wants_data else run.passing_without_data),  # STR-14
        "abort_signal": run.caller_signal,  # RES-11, RES-28
    }
    changing = [(place, name) for place, name in enumerate(hook.fields) if name not in constants]
    constant = [constants.get(name) for name in hook.fields]
    return Link(hook, processor, method, wants_data, constant, changing, index)


def nothing() -> None:
    """Whom an abort tells that comes after its call."""


def call(run: Run, name: str, slate: Slate) -> Slate:
    """Calls the chain of one hook, one processor after the other (ORD-3), and returns the slate as it left it."""
    slate.setdefault("retry_count", run.retries)
    slate.setdefault("writer", run.writer)
    trace = run.trace
    for link in run.plan[name]:
        hook = link.hook
        if link.last_act or (hook.skips is not None and hook.skips(link, slate)):
            continue
        args = arguments(run, link, slate)
        run.called = link
        if trace.on:  # asked here, because it is asked for every chunk
            trace.called(link, args)
        try:
            returned = link.method(args)
        except Exception as error:
            raise ended(run, link, args, error) from error
        args._tell = nothing  # an abort that is kept for later counts for nothing
        if args._tripwire is not None or run.ending is not None or (run.signal.aborted and not run.committed):
            raise ended(run, link, args)
        try:
            last = hook.returns(run, link, slate, returned)
        except Exception as error:
            raise ended(run, link, args, error) from error
        if trace.on:
            trace.returned(link, args)
        if last:
            break
    return slate


def save(run: Run) -> None:
    """The runtime's own last act, when all that the others sent is with the client; from here on a cancellation comes
    too late (RES-14, PER-2, DAT-23).
    """
    run.commit()
    for link in run.plan["process_output_result"]:
        if link.last_act:
            args = arguments(run, link, {"retry_count": run.retries, "writer": run.writer})
            run.trace.called(link, args)
            try:
                link.method(args)
            except Exception as error:
                failed = run.end_with(NotSaved(link.processor.id, link.hook.wire, error))  # PER-40
                run.trace.returned(link, args, failed)
                raise failed from error
            run.trace.returned(link, args)


def arguments(run: Run, link: Link, slate: Slate) -> HookArgs:
    """What this call gets: what the chain before it left, seen afresh (ORD-22, ORD-31). Raises Cancelled."""
    hook = link.hook
    if run.signal.aborted:
        run.check_cancelled()
    if hook.derive is not None:
        hook.derive(run, slate)
    if hook.sees is not None:
        link.seen = hook.sees(run.message_list)
        slate["messages"] = link.seen.copy()  # MSG-14: an array of its own; MSG-2: the messages are live
        slate["system_messages"] = run.message_list.get_all_system_messages()  # MSG-3, MSG-15
    values = link.constant.copy()
    for place, name in link.changing:
        values[place] = slate[name]
    return hook.args(*values)


def ended(run: Run, link: Link, args: HookArgs, error: Exception | None = None) -> Exception:
    """What ends this chain, which its trace is told."""
    args._tell = nothing
    ending = ending_of(run, link, args, error)
    run.trace.returned(link, args, ending)
    return ending


def ending_of(run: Run, link: Link, args: HookArgs, error: Exception | None) -> Exception:
    """A cancellation, an abort, a verdict on data that was sent meanwhile, or an exception."""
    if run.signal.aborted and not run.committed:
        return Cancelled(run.signal.reason)  # RES-12: what a hook comes to after the signal has fired is ignored
    if args._tripwire is None and isinstance(error, TripWire):
        args._tripwire = error
    if run.ending is not None:  # DAT-7, TRI-17: it happened while a chunk of this hook's writer was handled
        return run.ending
    if args._tripwire is not None:  # TRI-2: final, whatever the hook did after it
        return stopped(run, link, args._tripwire)
    assert error is not None  # nothing else ends a chain
    return run.end_with(HookFailed(link.processor.id, link.hook.wire, error))  # ERR-9, ERR-37: fails closed


def blamed(run: Run, error: Exception) -> HookFailed | RunFailed:
    """What broke the run: for a message that was broken in place, the hook that ran last (MSG-53), whatever failed at
    it first.
    """
    if not isinstance(error, ContractError):
        error = run.message_list.broken() or error
    if isinstance(error, InvalidMessage) and run.called is not None:
        return HookFailed(run.called.processor.id, run.called.hook.wire, error)
    return RunFailed(error)


def stopped(run: Run, link: Link, tripwire: TripWire) -> RunEnded | HookFailed:
    """The end of a chain by an abort, reported to the processor's `on_violation` before any chunk (TRI-9, TRI-10), and
    by nothing else (TRI-11).
    """
    ending = verdict(run, link, tripwire)
    report(link.processor, ending.tripwire)
    return ending if isinstance(ending, AttemptRejected) else run.end_with(ending)


def verdict(run: Run, link: Link, tripwire: TripWire) -> RunEnded:
    """What an abort comes to: another attempt where the hook and the budget allow it, else the end of the run (RTY-1,
    TRI-1).
    """
    reason = tripwire.reason
    if tripwire.processor_id is None:  # raised by hand
        reason = reason or f"Tripwire triggered by {link.processor.id}"  # TRI-4
    # Another object: one raised by hand is perhaps one for many requests, and nothing in a verdict may keep it back.
    tripwire = TripWire(
        reason if isinstance(reason, str) else str(carried(reason)),
        retry=None if tripwire.retry is None else bool(tripwire.retry),
        metadata=carried(tripwire.metadata),
        processor_id=tripwire.processor_id or link.processor.id,
    )
    granted = bool(tripwire.retry) and link.hook.retries and run.may_retry()
    return AttemptRejected(tripwire) if granted else RunEnded(tripwire)


def carried(value: Any) -> Any:
    """What a verdict carries, as JSON holds it: it reaches the client whatever somebody put into it (TRI-12)."""
    try:
        return jsonable(value)
    except Exception:
        return "[no JSON]"


def report(processor: Processor, tripwire: TripWire) -> None:
    """Calls `on_violation`, once; what it raises is swallowed (TRI-5, TRI-8)."""
    callback = getattr(processor, "on_violation", None)
    if callback is None:
        return
    violation: dict[str, Any] = {"processorId": tripwire.processor_id, "message": tripwire.reason}
    if tripwire.metadata is not None:
        violation["detail"] = tripwire.metadata
    with contextlib.suppress(Exception):
        callback(violation)


def through_stream(run: Run, chunk: Chunk, writer: Writer | None = None) -> Chunk | None:
    """Passes a chunk through the whole processOutputStream chain (ORD-8, ORD-34); None where it was dropped."""
    if not run.plan["process_output_stream"]:
        run.check_cancelled()
        return chunk
    run.passing.append(chunk)  # STR-6, STR-13: as it was before the chain, which gets a copy to edit
    if chunk["type"][:5] != "data-":  # STR-14
        run.passing_without_data.append(chunk)
    slate: Slate = {"part": clone(chunk), "writer": writer or run.writer}
    passed: Chunk | None = call(run, "process_output_stream", slate)["part"]
    return passed


def wrongly_made(run: Run, what: str, rule: str) -> Exception:
    """The end of a run by what the hook that ran last made of something: as if it had returned that."""
    assert run.called is not None  # nobody else was there to make it
    return run.end_with(HookFailed(run.called.processor.id, run.called.hook.wire, WrongReturn(what, rule)))


def send(run: Run, chunk: Chunk) -> None:
    """A chunk on its whole way: through processOutputStream, then to the list and the client (ORD-8)."""
    passed = through_stream(run, chunk)
    if passed is None:
        return
    try:
        deliver(run, passed)
    except RecursionError:
        if passed is chunk:  # no processor has had it
            raise
        raise wrongly_made(run, "made a chunk that holds itself, or is nested too deep", "STR-20") from None


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


def deliver(run: Run, chunk: Chunk, message_id: str | None = None) -> None:
    """A chunk that has passed the chain goes to the list and to the client, as it is now (PER-14, PER-16, PER-33)."""
    if chunk["type"].startswith("data-"):
        chunk = jsonable(chunk)  # DAT-27: also what a processor made of it
        if not chunk.get("transient"):  # DAT-15, DAT-21
            run.attempt.data_parts.append(run.response.add_data(clone(chunk), message_id))
    else:
        run.response.take(chunk)
    run.outbox.append(chunk)


def send_data(run: Run, chunk: Any, message_id: str | None, *, past_processors: bool = False) -> None:
    """What `writer.custom` does, from any thread: the chunk, of any type that begins with `data-` (DAT-14), passes
    whoever wants data (DAT-12) and may change or drop it (DAT-16), goes out and becomes a part (DAT-1, PER-32).
    """
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if not isinstance(kind, str) or not kind.startswith("data-"):
        raise WrongReturn(f"writer.custom got a chunk of type {kind!r}; its type has to begin with 'data-'", "DAT-2")
    if silenced(run):
        return
    if past_processors:  # DAT-4; without the lock: a processor may wait for a thread of its own that sends this
        deliver(run, chunk, message_id)
        return run.wake()
    with run.sending:  # DAT-26
        if silenced(run):
            return
        try:
            passed = through_stream(run, jsonable(chunk), writer=run.direct_writer)  # DAT-13, DAT-27
        except RunEnded as ending:
            raise run.end_with(ending) from None  # DAT-7: stands even if the sender catches it
        if passed is not None:
            deliver(run, passed, message_id)
    run.wake()


def silenced(run: Run) -> bool:
    """Whether nothing more may be sent: the run has ended, or an abort has decided that it will (TRI-2, TRI-15,
    DAT-24).
    """
    return run.ended or run.silent or run.signal.aborted or run.ending is not None
