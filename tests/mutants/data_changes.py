"""Mutants of the family DAT, rules 7, 11, 13, 16 to 18, 22, 26: what processors do with data, and when it goes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from processor_contract import pipeline, tools
from processor_contract.context import Writer
from processor_contract.data import Chunk, clone, jsonable
from processor_contract.errors import AttemptRejected, ContractError, HookFailed, RunEnded
from processor_contract.hooks import HOOKS
from processor_contract.returns import Slate
from processor_contract.run import Link, Run
from processor_contract.tools import Outcome

from . import Patch, mutant
from .data_chunks import data, senders
from .stream_chunks import STREAM

# -- what they may do with it ------------------------------------------------------------------------------------------


def on_data(patch: Patch, change: Callable[[Run, Chunk, Callable[[], Chunk | None]], Chunk | None]) -> None:
    """`change(run, as it came, passing)` stands for the passing of a data chunk."""

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Any:
        if not chunk["type"].startswith("data-"):
            return original(run, chunk, **more)
        return change(run, clone(chunk), lambda: original(run, chunk, **more))

    patch.around(pipeline.through_stream, passed)


@mutant("DAT-7")
def an_abort_on_data_drops_it(patch: Patch) -> None:
    """Who aborts on a data chunk does not want that chunk."""

    def change(run: Run, came: Chunk, passing: Callable[[], Chunk | None]) -> Chunk | None:
        try:
            return passing()
        except (RunEnded, HookFailed):
            run.go_on()
            return None

    on_data(patch, change)


@mutant("DAT-7")
def a_caught_verdict_is_undone(patch: Patch) -> None:
    """The sender is told, and decides."""

    def change(run: Run, came: Chunk, passing: Callable[[], Chunk | None]) -> Chunk | None:
        try:
            return passing()
        except (RunEnded, HookFailed) as verdict:
            run.go_on()
            raise ContractError("refused", "DAT-7") from verdict

    on_data(patch, change)


@mutant("DAT-7")
def a_retry_on_data_is_an_abort(patch: Patch) -> None:
    """A data chunk is not what could be tried again."""

    def change(run: Run, came: Chunk, passing: Callable[[], Chunk | None]) -> Chunk | None:
        try:
            return passing()
        except AttemptRejected as rejected:
            raise run.end_with(RunEnded(rejected.tripwire)) from None

    on_data(patch, change)


@mutant("DAT-16")
def data_can_only_be_looked_at(patch: Patch) -> None:
    """The opt-in is for looking."""

    def change(run: Run, came: Chunk, passing: Callable[[], Chunk | None]) -> Chunk | None:
        passing()
        return came

    on_data(patch, change)


@mutant("DAT-16")
def data_can_be_changed_and_not_dropped(patch: Patch) -> None:
    """Data for which nothing is returned goes on as it came."""
    on_data(patch, lambda run, came, passing: passing() or came)


@mutant("DAT-17")
def data_comes_with_a_state_of_its_own(patch: Patch) -> None:
    """Data is handled apart from the answer, with its own state."""
    states: dict[int, dict[str, Any]] = {}

    def change(run: Run, link: Link, slate: Slate, args: Any) -> None:
        if link.hook is HOOKS[STREAM] and data(slate):
            args.state = states.setdefault(id(link), {})

    patch.arguments(change)


@mutant("DAT-18")
def one_chunk_a_call(patch: Patch) -> None:
    """A writer is done when it has sent."""
    used: set[int] = set()

    def custom(original: Any, own: Writer, chunk: Any, **options: Any) -> None:
        if id(own) in used:
            raise ContractError("the writer is done", "DAT-18")
        used.add(id(own))
        original(own, chunk, **options)

    constant_writer(patch)
    patch.wrap(Writer, "custom", custom)


def constant_writer(patch: Patch) -> None:
    """Each call of processOutputStream gets a writer of its own."""

    def called(original: Any, run: Run, link: Any, slate: Slate) -> Any:
        kept.append(Writer(lambda chunk, message_id: pipeline.send_data(run, chunk, message_id)))
        return original(run, link, {**slate, "writer": kept[-1]})

    kept: list[Writer] = []  # all of them, so that no two have one id
    patch.around(pipeline.arguments, called)


# -- when it goes out --------------------------------------------------------------------------------------------------


@mutant("DAT-11")
def data_goes_out_behind_the_next_chunk(patch: Patch) -> None:
    """Data waits until the chunk that is being handled has gone out."""

    def delivered(original: Any, run: Run, chunk: Chunk, *message_id: Any) -> None:
        original(run, chunk, *message_id)
        if len(run.outbox) > 1 and run.outbox[-2]["type"].startswith("data-") and not chunk["type"].startswith("data-"):
            last = run.outbox.pop()
            run.outbox.appendleft(last)

    patch.around(pipeline.deliver, delivered)


@mutant("DAT-11")
def data_of_a_failed_attempt_waits_for_the_next(patch: Patch) -> None:
    """What an error processor sends belongs to the attempt that it makes possible."""
    waiting: dict[str, list[Chunk]] = {}

    def sent(send: Any, who: str, run: Run, chunk: Chunk) -> None:
        if who == "process_api_error":
            waiting.setdefault(run.id, []).append(chunk)
        else:
            send(chunk)

    def began(original: Any, own: Run, *args: Any) -> Any:
        attempt = original(own, *args)
        own.outbox.extend(waiting.pop(own.id, []))
        return attempt

    senders(patch, sent)
    patch.wrap(Run, "begin_attempt", began)


@mutant("DAT-13")
def a_run_id_is_added(patch: Patch) -> None:
    """Every chunk says whose it is."""
    senders(patch, lambda send, who, run, chunk: send({**chunk, "runId": run.id}))


@mutant("DAT-13")
def a_chunk_is_the_sender_s_object(patch: Patch) -> None:
    """What is sent is not copied."""
    patch.set(pipeline, "jsonable", lambda chunk: chunk if chunk.get("data") == {"n": 1} else jsonable(chunk))


@mutant("DAT-22")
def data_waits_for_the_tools(patch: Patch) -> None:
    """What tools send goes out when all have ended."""

    def run_tools(original: Any, run: Run, calls: Any) -> Iterator[Chunk]:
        inner = original(run, calls)
        held: list[Chunk] = []
        while True:
            try:
                held.append(next(inner))
            except StopIteration as done:
                yield from held
                return done.value  # type: ignore[no-any-return]

    patch.around(tools.run_tools, run_tools)


@mutant("DAT-22")
def one_tool_has_the_writer(patch: Patch) -> None:
    """Whoever sends first holds the stream until its tool has ended."""
    holds: list[Writer] = []

    class Locked(Writer):
        """A writer that has to hold the stream to send."""

        def custom(self, *args: Any, **options: Any) -> None:
            holds.append(self)
            if holds[0] is self:
                super().custom(*args, **options)

    def executed(original: Any, run: Run, outcome: Outcome) -> None:
        original(run, outcome)
        holds.clear()

    patch.set(tools, "Writer", Locked)
    patch.around(tools._execute, executed)


@mutant("DAT-26")
def chunks_overtake_each_other(patch: Patch) -> None:
    """Each thread passes the chain on its own."""

    def begin(original: Any, own: Run, *args: Any, **more: Any) -> None:
        original(own, *args, **more)
        own.sending = nullcontext()  # type: ignore[assignment]

    patch.wrap(Run, "__init__", begin)


@mutant("DAT-26")
def what_is_sent_within_waits(patch: Patch) -> None:
    """Data sent while a chunk is handled passes when that chunk has passed."""
    waiting: dict[str, list[tuple[Any, Chunk]]] = {}

    def sent(send: Any, who: str, run: Run, chunk: Chunk) -> None:
        if who == STREAM:
            waiting.setdefault(run.id, []).append((send, chunk))
        else:
            send(chunk)

    def passed(original: Any, run: Run, chunk: Chunk, **more: Any) -> Any:
        left = original(run, chunk, **more)
        for send, held in waiting.pop(run.id, []):
            send(held)
        return left

    senders(patch, sent)
    patch.around(pipeline.through_stream, passed)
