"""The one loop that calls hooks.

Flows in: a run, the name of a hook and a slate, the values that the chain's processors hand on to each other. Flows
out: the slate as the chain left it; or RunEnded, AttemptRejected, HookFailed, Cancelled.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

from .context import Writer
from .data import Chunk, clone
from .errors import ContractError, HookFailed, RunEnded, TripWire, WrongReturn
from .hooks import HOOKS
from .processor import Processor
from .returns import Slate
from .run import Link, Run, verdict


def plan(run: Run) -> None:
    """Decides, once a request, which method is called where: array order in every chain (ORD-3, ORD-4, ORD-5)."""
    settings = run.settings
    arrays = {"input": settings.inputs, "output": settings.outputs, "error": settings.errors}
    run.direct_writer = Writer(lambda chunk, message_id: send_data(run, chunk, message_id, past_processors=True))
    writer = Writer(lambda chunk, message_id: send_data(run, chunk, message_id))
    for name, hook in HOOKS.items():
        fields = {each.name for each in dataclasses.fields(hook.args)}
        run.plan[name] = links = []
        for processor in arrays[hook.chain]:
            method = getattr(processor, name, None)
            if method is None:
                continue
            offered = {
                "processor_id": processor.id,
                "request_context": run.request_context,
                "tracing_context": run.tracing_context,
                "tripwire": None,
                "message_list": run.message_list,
                "writer": writer,
                "abort_signal": run.caller_signal,
            }
            constants = {key: value for key, value in offered.items() if key in fields}
            if "state" in fields:
                constants["state"] = run.state_of(processor.id)  # STA-4: the same object in every hook
            links.append(Link(hook, processor, method, constants, getattr(processor, "process_data_parts", False)))


def call(run: Run, name: str, slate: Slate) -> Slate:
    """Calls the chain of one hook, one processor after the other (ORD-3), and returns the slate as it left it."""
    hook = HOOKS[name]
    slate.setdefault("retry_count", run.retries)
    for link in run.plan[name]:
        if hook.skips is not None and hook.skips(link, slate):
            continue
        run.check_cancelled()
        if hook.derive is not None:
            hook.derive(run, slate)
        fields = {**link.constants, **slate}
        if hook.sees is not None:
            fields["messages"] = hook.sees(run.message_list)  # MSG-2: a fresh array for each processor
        if "system_messages" in hook.args.__dataclass_fields__:
            fields["system_messages"] = run.message_list.get_all_system_messages()
        args = hook.args(**fields)
        failure: Exception | None = None
        if name == "process_output_result" and getattr(link.processor, "commits", False):
            run.commit()  # RES-16: the save is the last act
        try:
            returned = link.method(args)
        except TripWire as tripwire:
            args.tripwire = args.tripwire or tripwire
        except Exception as error:
            failure = error
        run.check_cancelled()  # RES-12: what a hook comes to after the signal has fired is ignored
        if args.tripwire is not None:  # TRI-2: final, whatever the hook did after it
            raise stopped(run, link, args.tripwire)
        if run.ending is not None:  # DAT-7: it happened while a chunk of this hook's writer was handled
            raise run.ending
        if failure is not None:
            raise run.end_with(HookFailed(link.processor.id, hook.wire, failure))  # ERR-9: fails closed
        try:
            if hook.returns(run, link, slate, returned):
                break
        except ContractError as error:
            raise run.end_with(HookFailed(link.processor.id, hook.wire, error)) from error
    run.check_cancelled()
    return slate


def stopped(run: Run, link: Link, tripwire: TripWire) -> RunEnded | HookFailed:
    """The end of a chain by an abort, reported to the processor's `on_violation` before any chunk (TRI-5)."""
    ending: RunEnded | HookFailed = verdict(run, link, tripwire)
    if type(ending) is RunEnded:
        ending = run.end_with(ending)
    report(link.processor, tripwire)
    return ending


def report(processor: Processor, tripwire: TripWire) -> None:
    """Calls `on_violation`, once; what it raises is swallowed."""
    callback = getattr(processor, "on_violation", None)
    if callback is None:
        return
    violation: dict[str, Any] = {"processorId": tripwire.processor_id, "message": tripwire.reason}
    if tripwire.metadata is not None:
        violation["detail"] = tripwire.metadata
    with contextlib.suppress(Exception):
        callback(violation)


def through_stream(run: Run, chunk: Chunk, **slate: Any) -> Chunk | None:
    """Passes a chunk through the whole processOutputStream chain (ORD-8); None where it was dropped."""
    if not run.plan["process_output_stream"]:
        run.check_cancelled()
        return chunk
    run.stream_parts.append(clone(chunk))  # STR-6: copies, as they were before the chain
    slate.update(part=chunk, stream_parts=run.stream_parts)
    passed: Chunk | None = call(run, "process_output_stream", slate)["part"]
    return passed


def send_data(run: Run, chunk: Any, message_id: str | None, *, past_processors: bool = False) -> None:
    """What `writer.custom` does: the chunk passes whoever wants data, goes out and becomes a part (DAT-1)."""
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if not isinstance(kind, str) or not kind.startswith("data-"):
        raise WrongReturn(f"writer.custom got a chunk of type {kind!r}; its type has to begin with 'data-'", "DAT-2")
    if run.ended or run.signal.aborted:
        return  # what comes after the end is ignored
    with run.chain_lock:
        passed: Chunk | None = clone(chunk)
        if not past_processors:
            try:
                passed = through_stream(run, clone(chunk), writer=run.direct_writer)
            except RunEnded as ending:
                raise run.end_with(ending) from None  # DAT-7: stands even if the sender catches it
        if passed is not None:
            deliver(run, passed, message_id)


def deliver(run: Run, chunk: Chunk, message_id: str | None = None) -> None:
    """A chunk that has passed the chain goes to the list and to the client, as it is now (PER-14, PER-16)."""
    if chunk["type"].startswith("data-"):
        if not chunk.get("transient"):
            run.attempt.data_parts.append(run.response.add_data(clone(chunk), message_id))
    else:
        run.response.take(chunk)
    run.post(chunk)
