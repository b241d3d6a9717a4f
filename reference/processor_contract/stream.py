"""What the caller holds: iterate the chunks, ask for the result, close.

Flows in: a run and its generator of chunks. Flows out: chunks to the reader; `RunResult`, a copy of what became of the
run. Where the caller gave a signal, what a run does meanwhile is done on a thread, so that a provider, a tool or a hook
that does not heed the signal keeps nobody (RES-12).
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeVar

from .data import Chunk, Json, Message, StepResult, Usage, clone, no_usage
from .errors import Cancelled, ContractError, HookFailed, InvalidObject, NotSaved, RunFailed
from .loop import aborted
from .pipeline import blamed
from .run import Run
from .structured import Answer, answer_of, wanted

Done = TypeVar("Done")
READ_WITHIN = "a hook reads the stream of its own run; read it where it was asked for"


@dataclass(slots=True)
class RunResult:
    """What became of a request, the same in both modes (RES-1).

    `text` joins the accepted steps' texts; after an abort it is empty and `tripwire` holds `{reason, processorId,
    retry?, metadata?}`. `usage` counts every model call. `error` is the provider's own exception after an unrecovered
    failure. Where structured output was asked for, `object` is the answer as an object, `object_error` says what was
    wrong with it, and `used_fallback` that the object is the `fallbackValue` which was to be taken then. What the steps
    brought besides text (`reasoning`, `sources`, `files`, `tool_results`) is there for all of them (RES-33).
    """

    text: str = ""
    finish_reason: str = "other"
    usage: Usage = field(default_factory=no_usage)
    steps: list[StepResult] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    tripwire: dict[str, Json] | None = None
    error: BaseException | None = None
    answer: Answer = field(default_factory=Answer)

    @property
    def object(self) -> Json:
        """The object that was asked for; None where none was. Raises `InvalidObject` where there is none to be had."""
        return wanted(self.answer)

    @property
    def object_error(self) -> InvalidObject | None:
        """Why the answer is no object, or not one that fits the schema."""
        return self.answer.error

    @property
    def used_fallback(self) -> bool:
        """Whether `object` is the `fallbackValue`, and not what the model said."""
        return self.answer.fallback

    @property
    def reasoning(self) -> str:
        """The reasoning of all steps, joined."""
        return "".join(step.get("reasoning", "") for step in self.steps)

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The sources of all steps."""
        return [source for step in self.steps for source in step.get("sources", ())]

    @property
    def files(self) -> list[dict[str, Any]]:
        """The files of all steps."""
        return [file for step in self.steps for file in step.get("files", ())]

    @property
    def tool_results(self) -> list[dict[str, Any]]:
        """The tool results of all steps."""
        return [result for step in self.steps for result in step["toolResults"]]


class Stream:
    """The stream of one request: pulled by whoever reads it, computed no further than it is read.

    Iterating yields the client's chunks. `result()` reads the rest and returns the `RunResult`. `close()` cancels what
    has not happened yet; after it, one `abort` chunk is left to read. Also a context manager that closes.
    """

    def __init__(self, run: Run, chunks: Iterator[Chunk], release: Callable[[], None] = lambda: None) -> None:
        self._run = run
        self._chunks = chunks
        self._release = release
        self._started = False  # a generator that has not begun cannot be told of a cancellation: it sees the signal
        self._worker: int | None = None  # the thread that computes a chunk now, where the reader only waits
        self._pulling = threading.RLock()

    @property
    def run_id(self) -> str:
        """The id that every chunk of this run carries."""
        return self._run.id

    def __iter__(self) -> Iterator[Chunk]:
        return self

    def __next__(self) -> Chunk:
        if self._run.caller_signal is None:
            return self._pull()
        if self._worker == threading.get_ident():
            raise ContractError(READ_WITHIN)
        return self._waited(self._pull)

    def drain(self) -> None:
        """Reads the stream to its end and forgets the chunks."""
        self._waited(self._pull_rest)

    def _waited(self, pull: Callable[[Iterator[Chunk]], Done]) -> Done:
        """What `pull` brings, or the end of a run that is cancelled meanwhile."""
        chunks = self._chunks
        try:
            return beside(self._run, lambda: pull(chunks))
        except StopIteration:
            if self._chunks is chunks:
                raise
            return pull(self._chunks)  # the stream was closed at this moment
        except Cancelled as cancelled:
            # Whoever is still at work keeps the old generator and holds the old lock.
            self._chunks, self._pulling = aborted(self._run, cancelled), threading.RLock()
            self._started = False  # the new one has not begun, and has nothing to be told
            return pull(self._chunks)

    def _pull(self, chunks: Iterator[Chunk] | None = None) -> Chunk:
        run = self._run
        with self._pulling:
            chunks = self._chunks if chunks is None else chunks
            if run.caller_signal is not None:
                self._worker = threading.get_ident()
            try:
                if run.signal.aborted and self._started and not (run.committed or run.ended):
                    return chunks.throw(Cancelled(run.signal.reason))  # type: ignore[attr-defined,no-any-return]
                self._started = True
                chunk = next(chunks)
                if self._chunks is not chunks:
                    chunks.close()  # type: ignore[attr-defined]
                return chunk
            except StopIteration:
                self._release()
                raise
            except BaseException as error:
                if running(chunks):
                    raise ContractError(READ_WITHIN) from error
                broken_off(run, error)  # Ctrl-C, say: nobody goes on with this run
                raise
            finally:
                self._worker = None
                if run.ended:
                    self._release()

    def _pull_rest(self, chunks: Iterator[Chunk]) -> None:
        with contextlib.suppress(StopIteration):
            while True:
                self._pull(chunks)

    def result(self) -> RunResult:
        """Reads the stream to its end and returns what became of it.

        Raises `HookFailed` where a hook failed, `NotSaved` (with the result in it) where only the store did,
        `RunFailed` where something else kept the run from going on. After an unrecovered provider failure it returns,
        and `error` holds it (ERR-31).
        """
        self.drain()
        if isinstance(self._run.error, (HookFailed, RunFailed)):
            raise failure_of(self._run, self._run.error)
        return result_of(self._run)

    @property
    def text(self) -> str:
        """The text of the result; reads the stream to its end."""
        return self.result().text

    def close(self) -> None:
        """Cancels the run if it has not ended (RES-13): nothing further runs, nothing is persisted (RES-4, PER-21)."""
        if self._run.ended:
            return
        self._run.signal.abort("the stream was closed")
        if self._pulling.acquire(blocking=False):  # otherwise the thread that pulls will see the signal
            try:
                if not (running(self._chunks) or self._run.ended):  # a hook that closes its own stream is told later
                    self._end()
            finally:
                self._pulling.release()

    def _end(self) -> None:
        """Pulls the generator to its end; what it still says is left for the reader."""
        left = list(self)
        self._chunks = iter(left)

    def __del__(self) -> None:
        self._release()  # a stream that nobody reads to its end must not stay with the caller's signal
        self._run.trace.end("cancelled")

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def beside(run: Run, work: Callable[[], Done]) -> Done:
    """What the work comes to; on a thread of its own where the caller gave a signal, and awaited until that fires.

    Raises Cancelled then: what is running is left alone and finds, when it is done, that nothing of it counts (RES-12).
    A thread for each piece of work costs some 50 microseconds, and leaves none behind when a stream is forgotten.
    """
    if run.caller_signal is None or run.signal.aborted:
        return work()
    results: list[Done] = []
    errors: list[BaseException] = []
    finished, woken = threading.Event(), threading.Event()

    def act() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finished.set()
        woken.set()

    thread = threading.Thread(target=contextvars.copy_context().run, args=(act,), name=f"run-{run.id}", daemon=True)
    take_off = run.signal.on_abort(lambda reason: woken.set())
    try:
        thread.start()
        woken.wait()
    except RuntimeError:  # no threads here
        return work()
    except BaseException as interrupt:  # Ctrl-C, say
        if run.abandon():
            broken_off(run, interrupt)
        raise
    finally:
        take_off()
    if not finished.is_set() and run.abandon():
        raise Cancelled(run.signal.reason)
    thread.join()
    for error in errors:
        raise error
    return results[0]


def running(chunks: Iterator[Chunk]) -> bool:
    """Whether the generator computes a chunk at this moment."""
    return bool(getattr(chunks, "gi_running", False))


def broken_off(run: Run, error: BaseException) -> None:
    """The end of a run that something tore apart: it counts as cancelled, and the provider and tools are told."""
    run.error = Cancelled(type(error).__name__)
    run.finish_reason = "aborted"
    run.finish()
    run.signal.abort(run.error.reason)


def failure_of(run: Run, error: BaseException) -> BaseException:
    """What the caller is told by an exception; one that says only that the answer was not saved brings it (PER-40)."""
    if isinstance(error, NotSaved):
        try:
            error.result = result_of(run)
        except HookFailed as failed:  # why it was not saved is why there is no copy of it
            return failed
        error.result.finish_reason, error.result.error = run.steps[-1]["finishReason"], None
    return error


def messages_of(run: Run) -> list[Message]:
    """Copies of the response's messages. Raises `HookFailed` where one was edited into what cannot be copied."""
    try:
        return clone(run.message_list.response())  # type: ignore[no-any-return]
    except (ContractError, RecursionError) as error:
        failed = blamed(run, error)
    raise failed  # whose cause is what is wrong with the message, and not what we stumbled over


def result_of(run: Run) -> RunResult:
    """A copy of what became of a run, however it ended (RES-7, RES-24); shares nothing with it."""
    tripped = run.tripwire is not None  # TRI-16: no text; the steps accepted before it
    return RunResult(
        text="" if tripped else "".join(step["text"] for step in run.steps),  # RES-5
        finish_reason=run.finish_reason,
        usage=clone(run.usage),
        steps=clone(run.steps),
        messages=messages_of(run),
        tripwire=clone(run.tripwire.payload()) if run.tripwire is not None else None,
        error=run.error,
        answer=answer_of(run),
    )
