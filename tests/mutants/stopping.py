"""Mutants of the family RES, rules 9 to 14: who is told of a cancellation, who is awaited, and when it is too late."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from processor_contract import pipeline, stream, tools
from processor_contract.context import AbortSignal
from processor_contract.errors import Cancelled
from processor_contract.models import calling
from processor_contract.returns import Slate
from processor_contract.run import Run

from . import Patch, mutant
from .cancel import at_the_end, deaf
from .order import Chunks

LEFT_OPEN: list[Any] = []  # provider streams that nobody closes, not even the collector


class Unclosed:
    """An iterator that cannot be closed."""

    def __init__(self, chunks: Iterator[Any]) -> None:
        self._chunks = chunks
        LEFT_OPEN.append(chunks)

    def __iter__(self) -> Unclosed:
        return self

    def __next__(self) -> Any:
        return next(self._chunks)


class Uninformed:
    """A model that is called with another signal, and whose stream is not closed."""

    def __init__(self, model: Any, signal: Callable[[Any], AbortSignal | None]) -> None:
        self.id = model.id
        self._model = model
        self._signal = signal

    def stream(self, request: Any) -> Any:
        return Unclosed(self._model.stream(dataclasses.replace(request, abort_signal=self._signal(request))))


def called_with(patch: Patch, signal: Callable[[Any], AbortSignal | None]) -> None:
    """Gives the provider another signal."""
    patch.around(
        calling.called,
        lambda called, model, request, *rest: called(Uninformed(model, signal), request, *rest),
    )


@mutant("RES-9")
def provider_is_not_told(patch: Patch) -> None:
    """The answer is thrown away as it comes."""
    called_with(patch, lambda request: None)


@mutant("RES-9")
def provider_is_not_told_of_closing(patch: Patch) -> None:
    """The provider gets the caller's signal; a reader who leaves has none."""
    signals: dict[int, AbortSignal | None] = {}

    def plan(original: Any, run: Run) -> None:
        original(run)
        signals[id(run.signal)] = run.caller_signal

    patch.around(pipeline.plan, plan)
    called_with(patch, lambda request: signals[id(request.abort_signal)])


@mutant("RES-9")
def provider_is_not_told_once_it_answers(patch: Patch) -> None:
    """A call can be given up; an answer comes anyhow."""
    early: dict[int, AbortSignal] = {}

    def signal(request: Any) -> AbortSignal:
        own = early[id(request)] = AbortSignal()
        request.abort_signal.on_abort(lambda reason: own.abort(reason) if id(request) in early else None)
        return own

    def followed(original: Any, first: Any, chunks: Any, request: Any) -> Chunks:
        early.pop(id(request), None)
        yield from original(first, chunks, request)

    called_with(patch, signal)
    patch.around(calling.followed, followed)


@mutant("RES-9")
def provider_is_told_in_the_first_step(patch: Patch) -> None:
    """The signal is handed out once."""
    given: set[int] = set()

    def once(request: Any) -> AbortSignal | None:
        if id(request.abort_signal) in given:
            return None
        given.add(id(request.abort_signal))
        signal: AbortSignal = request.abort_signal
        return signal

    called_with(patch, once)


def tool_signals(patch: Patch, dead: Callable[[Run], bool]) -> None:
    """Gives tools a signal that never fires."""

    made = tools.ToolContext
    deaf: set[str] = set()

    def context(call: str, request_context: Any, signal: AbortSignal, *others: Any) -> Any:
        return made(call, request_context, AbortSignal() if call in deaf else signal, *others)

    def started(original: Any, run: Run, outcomes: Any) -> Any:
        if dead(run):
            deaf.update(outcome.call["toolCallId"] for outcome in outcomes)
        return original(run, outcomes)

    patch.set(tools, "ToolContext", context)
    patch.around(tools._start, started)


@mutant("RES-10")
def tools_have_a_dead_signal(patch: Patch) -> None:
    """A tool that has started has started."""
    tool_signals(patch, lambda run: True)


@mutant("RES-10")
def later_tools_have_a_dead_signal(patch: Patch) -> None:
    """The signal is handed out once."""
    tool_signals(patch, lambda run: run.attempt.number > 0)


def hook_signals(patch: Patch, give: Callable[[Run, int], AbortSignal | None]) -> None:
    """Gives the hooks another signal, by the place in the chain."""

    def plan(original: Any, run: Run) -> None:
        original(run)
        for links in run.plan.values():
            for place, link in enumerate(links):
                if "abort_signal" in link.hook.fields:
                    link.constant[link.hook.fields.index("abort_signal")] = give(run, place)

    patch.around(pipeline.plan, plan)


@mutant("RES-11")
def signal_for_the_first_processor_only(patch: Patch) -> None:
    """The signal goes to the chain, that is to its first processor."""
    hook_signals(patch, lambda run, place: None if place else run.caller_signal)


@mutant("RES-11")
def each_processor_has_its_own_signal(patch: Patch) -> None:
    """Nobody can fire another's signal."""

    def own(run: Run, place: int) -> AbortSignal | None:
        signal = AbortSignal()
        if run.caller_signal is None:
            return None
        run.caller_signal.on_abort(signal.abort)
        return signal

    hook_signals(patch, own)


@mutant("RES-11")
def hooks_have_a_dead_signal(patch: Patch) -> None:
    """The hooks' signal is one of the run's own."""
    signals: dict[str, AbortSignal] = {}
    hook_signals(
        patch,
        lambda run, place: signals.setdefault(run.id, AbortSignal()) if run.caller_signal else None,
    )


@mutant("RES-11")
def hooks_always_have_a_signal(patch: Patch) -> None:
    """There is always a signal, so that nobody has to ask."""
    hook_signals(patch, lambda run, place: run.caller_signal or run.signal)


@mutant("RES-11")
def signal_for_the_model_hooks_only(patch: Patch) -> None:
    """A call that has failed needs no signal."""

    def plan(original: Any, run: Run) -> None:
        original(run)
        for link in run.plan["process_api_error"]:
            link.constant[link.hook.fields.index("abort_signal")] = None

    patch.around(pipeline.plan, plan)


@mutant("RES-12")
def everything_is_awaited(patch: Patch) -> None:
    """A cancellation takes effect when what is running has ended."""
    patch.around(stream.beside, lambda beside, run, work: work())


class Awaited:
    """Something of a run that is awaited although the signal has fired."""

    def __init__(self, patch: Patch) -> None:
        self._running = threading.Condition()
        self._count = 0

        def beside(original: Any, run: Run, work: Any) -> Any:
            try:
                return original(run, work)
            except Cancelled:
                with self._running:
                    self._running.wait_for(lambda: self._count == 0, timeout=30)
                raise

        patch.around(stream.beside, beside)

    def doing(self, work: Callable[[], Any]) -> Any:
        """Does the work, and is awaited meanwhile."""
        with self._running:
            self._count += 1
        try:
            return work()
        finally:
            with self._running:
                self._count -= 1
                self._running.notify_all()


@mutant("RES-12")
def tools_are_awaited(patch: Patch) -> None:
    """What a tool has begun it ends, and the caller waits."""
    awaited = Awaited(patch)

    def start(original: Any, run: Run, outcomes: Any) -> set[int]:
        for outcome in outcomes:
            awaited.doing(partial(tools._execute, run, outcome))
        return set()

    patch.around(tools._start, start)


@mutant("RES-12")
def providers_are_awaited(patch: Patch) -> None:
    """The provider's next chunk is awaited."""
    awaited = Awaited(patch)

    class Slow:
        def __init__(self, model: Any) -> None:
            self.id = model.id
            self._model = model

        def stream(self, request: Any) -> Chunks:
            chunks = self._model.stream(request)
            while True:
                try:
                    chunk = awaited.doing(lambda: next(chunks))
                except StopIteration:
                    return
                yield chunk

    patch.around(calling.called, lambda called, model, *rest: called(Slow(model), *rest))


@mutant("RES-12")
def hooks_are_awaited(patch: Patch) -> None:
    """A hook that has begun gives its verdict."""
    awaited = Awaited(patch)

    def plan(original: Any, run: Run) -> None:
        original(run)
        for links in run.plan.values():
            for link in links:
                link.method = waiting(link.method)

    def waiting(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda args: awaited.doing(lambda: method(args))

    patch.around(pipeline.plan, plan)


@mutant("RES-12")
def late_aborts_are_violations(patch: Patch) -> None:
    """A verdict is a verdict whenever it comes."""

    def chain(original: Any, run: Run, slate: Slate) -> Slate:
        with deaf(run):
            result: Slate = original(run, slate)
        return result

    patch.chain("process_output_step", chain)


@mutant("RES-12")
def late_failures_are_mended(patch: Patch) -> None:
    """A call that fails has failed whenever it does."""

    def chain(original: Any, run: Run, slate: Slate) -> Slate:
        with deaf(run):
            result: Slate = original(run, slate)
        return result

    patch.around(calling.check_cancelled, lambda original, request: None)
    patch.chain("process_api_error", chain)


@mutant("RES-13")
def closing_ends_the_reading_only(patch: Patch) -> None:
    """The reader leaves; the run goes on for whoever asks for its result."""
    patch.wrap(stream.Stream, "close", lambda original, own: None)


@mutant("RES-13")
def closed_stream_is_empty(patch: Patch) -> None:
    """Who closes a stream reads no more."""

    def end(original: Any, own: Any) -> None:
        original(own)
        own._chunks = iter(())

    patch.wrap(stream.Stream, "_end", end)


@mutant("RES-13")
def closed_stream_reports_other(patch: Patch) -> None:
    """A stream that was closed has ended for a reason of its own."""

    def change(run: Run, chunk: Any) -> Chunks:
        run.finish_reason = "other" if run.caller_signal is None else run.finish_reason
        yield chunk

    at_the_end(patch, change)


@mutant("RES-13")
def closing_waits_for_a_pause(patch: Patch) -> None:
    """A stream can be closed while nobody reads."""

    def close(original: Any, own: Any) -> None:
        if own._pulling.acquire(blocking=False):
            own._pulling.release()
            original(own)

    patch.wrap(stream.Stream, "close", close)


@mutant("RES-14")
def closed_is_aborted_at_any_time(patch: Patch) -> None:
    """A closed stream is an aborted one."""

    def close(original: Any, own: Any) -> None:
        original(own)
        own._run.finish_reason = "aborted"

    patch.wrap(stream.Stream, "close", close)


@mutant("RES-14")
def fired_is_aborted_at_any_time(patch: Patch) -> None:
    """A run whose signal has fired is an aborted one."""

    def result(original: Any, own: Any) -> Any:
        made = original(own)
        if own._run.caller_signal is not None and own._run.caller_signal.aborted:
            made.finish_reason = "aborted"
        return made

    patch.wrap(stream.Stream, "result", result)
