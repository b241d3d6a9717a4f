"""Run: everything that lives as long as one request. Nothing of it outlives the request, and no request sees another's
(STA-3).

Flows in: the agent's settings and the call's (`Settings`). Flows out: the one object that loop, pipeline and returns
share.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .context import AbortSignal, Clock, RequestContext, Writer
from .data import (
    Chunk,
    Json,
    Message,
    Part,
    RunSummary,
    StepResult,
    Usage,
    add_usage,
    clone,
    joined_text,
    new_id,
    no_usage,
)
from .errors import Cancelled, HookFailed, RunEnded, TripWire
from .hooks import Hook
from .message_list import MessageList, ResponseState
from .processor import Processor
from .response import Response, step_of
from .run_trace import NO_TRACE, NoTrace, outcome_of

CLIENT = "AGENT"  # the `from` of every chunk an agent sends


@dataclass(slots=True)
class Settings:
    """What a request runs with: the agent's settings, overridden by the call's (CFG-4).

    `inputs`, `outputs` and `errors` are the resolved arrays, the runtime's own processors included. `max_retries` is
    None where nobody set it and there is no error processor: then a retry counts as an abort (RTY-3).
    """

    model: Any
    models: Any
    tools: dict[str, Any]
    inputs: Sequence[Processor]
    outputs: Sequence[Processor]
    errors: Sequence[Processor]
    max_retries: int | None
    max_steps: int
    stop_when: Callable[[list[StepResult]], Any] | None = None
    tool_choice: Json = None
    active_tools: list[str] | None = None
    provider_options: Json = None
    model_settings: Json = None
    structured_output: Json = None
    model_retries: int = 0  # how often a call is repeated before it counts as failed (ERR-33)
    clock: Clock = field(default_factory=Clock)
    new_id: Callable[[], str] = new_id


@dataclass(slots=True)
class Link:
    """One processor's method in one chain, planned once a request."""

    hook: Hook
    processor: Processor
    method: Callable[[Any], Any]
    wants_data: bool
    constant: list[Any]  # the arguments in the order of their class, those that never change filled in
    changing: list[tuple[int, str]]  # where the others go, by name
    index: int  # its place in the array, all chains together
    last_act: bool = False  # the runtime's own save
    seen: list[Message] = field(default_factory=list)  # the messages it was given last


@dataclass(slots=True)
class Attempt:
    """One try at one step: from processInputStep to step-finish."""

    number: int
    begun: bool = False  # step-start has passed
    chunks: list[Chunk] = field(default_factory=list)
    response_before: ResponseState = field(default_factory=ResponseState)
    data_parts: list[Part] = field(default_factory=list)
    usage: Usage = field(default_factory=no_usage)
    finish_reason: str = "other"
    provider_metadata: Json = None
    model: Any = None
    replay: list[Chunk] | None = None
    structured_output: Json = None  # what its model call was asked for
    about_call: dict[str, Json] = field(default_factory=dict)  # warnings, request, rawResponse
    recovered: bool = False  # an error processor asked for another attempt
    offered: dict[str, Any] = field(default_factory=dict)  # the tools this step offers
    renamed: dict[str, str] = field(default_factory=dict)  # ids of calls that came twice: the provider's, and ours


class Run:
    """One request: its conversation, its processors' states, its counters and what has become of it.

    It is made for the request and dropped with it: no state, list or count is another request's, whether they overlap
    (STA-7), how this one ends (STA-10) or which thread it speaks of (STA-11).
    """

    def __init__(self, settings: Settings, message_list: MessageList, request_context: RequestContext) -> None:
        self.id = settings.new_id()
        self.settings = settings
        self.models = settings.models
        self.message_list = message_list
        self.response = Response(message_list)
        self.request_context = request_context
        self.trace: NoTrace = NO_TRACE
        self.caller_signal: AbortSignal | None = None
        self.signal = AbortSignal()  # fires with the caller's, and when the stream is closed
        self.plan: dict[str, list[Link]] = {}
        self.called: Link | None = None  # the hook that was called last
        self.writer: Writer | None = None
        self.direct_writer: Writer | None = None  # sends past the processors (DAT-4)
        self.states: dict[str, dict[str, Any]] = {}
        self.outbox: deque[Chunk] = deque()  # chunks on their way to the client
        self.passing: list[Chunk] = []  # every chunk that came to the processOutputStream chain, as it came (STR-12)
        self.passing_without_data: list[Chunk] = []
        self.woken = threading.Condition()  # something has come to the outbox, or a tool has ended
        self.signal.on_abort(self.wake)
        self.sending = threading.RLock()  # what several threads send passes the chain one at a time
        self.steps: list[StepResult] = []
        self.usage: Usage = no_usage()
        self.attempt = Attempt(number=0)
        self.retries = 0  # granted since the last accepted step, all of them (RTY-5, RTY-19, STA-13)
        self.api_retries = 0  # of these, to error processors
        self.feedback: list[str] = []
        self.system_before: dict[str | None, list[dict[str, Any]]] = {}
        self.ending: RunEnded | HookFailed | None = None  # the first one decides (TRI-2)
        self.silent = False  # a processor has called abort: what its hook, or a tool, still sends is ignored (TRI-2)
        self.in_step = False  # there is a step that could be repeated (RTY-2)
        self.tripwire: TripWire | None = None
        self.error: BaseException | None = None
        self.finish_reason = "other"
        self.ended = False
        self.closable = False  # the caller holds the stream, which another thread may close
        self.committed = False
        self.abandoned = False
        self._deciding = threading.Lock()

    # -- state -----------------------------------------------------------------------------------------------------

    def state_of(self, processor_id: str) -> dict[str, Any]:
        """The processor's own object: one per id and request, empty at first (STA-1, STA-2, STA-3, STA-6).

        The id alone decides: not the array (STA-8), and not whether the processor came with the agent, the call or a
        function (STA-12).
        """
        return self.states.setdefault(processor_id, {})

    # -- chunks ----------------------------------------------------------------------------------------------------

    def chunk(self, kind: str, payload: dict[str, Any]) -> Chunk:
        """A chunk as the client gets it (STR-8)."""
        return {"type": kind, "runId": self.id, "from": CLIENT, "payload": payload}  # type: ignore[typeddict-unknown-key]

    def outgoing(self) -> Iterator[Chunk]:
        """The chunks that wait for the client, in order."""
        while self.outbox:
            yield self.outbox.popleft()

    def wake(self, reason: Any = None) -> None:
        """Tells the loop, where it waits for tools, that something has come."""
        with self.woken:
            self.woken.notify_all()

    # -- ending ----------------------------------------------------------------------------------------------------

    def check_cancelled(self) -> None:
        """Raises Cancelled once the signal has fired: no further hook runs (RES-4), or none at all (RES-8)."""
        if self.signal.aborted and not self.committed:
            raise Cancelled(self.signal.reason)

    def commit(self) -> None:
        """From here on the run ends by itself, and a cancellation comes too late (RES-14). Raises Cancelled."""
        with self._deciding:
            self.committed = self.committed or not (self.signal.aborted or self.abandoned)
        if not self.committed:
            raise Cancelled(self.signal.reason)

    def claim(self) -> bool:
        """The run says itself how it ends; False where its caller waits no longer."""
        with self._deciding:
            self.committed = not self.abandoned
        return self.committed

    def abandon(self) -> bool:
        """The caller waits no longer; says whether that was in time (RES-12)."""
        with self._deciding:
            self.abandoned = not self.committed
        return self.abandoned

    def end_with(self, ending: RunEnded | HookFailed) -> RunEnded | HookFailed:
        """Notes how the run ends; the first one decides. Returns the one that does."""
        if self.ending is None:
            self.ending = ending
        return self.ending

    def finish(self) -> None:
        """The run has ended; with it everything in its trace (CTX-9)."""
        self.ended = True
        outcome = "aborted" if self.tripwire is not None else "ok" if self.error is None else outcome_of(self.error)
        self.trace.end(outcome, finishReason=self.finish_reason, usage={**self.usage}, steps=len(self.steps))

    def silence(self) -> None:
        """A processor has called abort: nothing is sent any more."""
        self.silent = True

    def go_on(self) -> None:
        """What would have ended the run has become another attempt, or another ending."""
        self.ending = None
        self.silent = False

    def may_retry(self) -> bool:
        """Whether there is a step to repeat, and the budget grants another attempt at it (RTY-2, RTY-3, RTY-30)."""
        return self.in_step and self.retries < (self.settings.max_retries or 0)

    def grant_retry(self, *, feedback: str | None, to_error_processor: bool = False) -> None:
        """Counts a granted retry and notes its feedback (RTY-15, RTY-21)."""
        self.retries += 1
        self.api_retries += to_error_processor
        if feedback is not None:
            self.feedback.append(feedback)

    # -- steps -----------------------------------------------------------------------------------------------------

    def begin_attempt(self, number: int) -> Attempt:
        """A fresh attempt, with the system messages as processInput left them (MSG-10); states stay (STA-9)."""
        self.message_list.reset_system(self.system_before)
        self.response.begin_attempt()
        self.attempt = Attempt(number)
        self.trace.step(number, self.retries)
        self.in_step = True
        return self.attempt

    def provider_called(self) -> None:
        """From here on, what comes into the response is the attempt's: a rejection sets it back to this (RTY-4)."""
        added = self.response.added(self.attempt.data_parts)  # data sent before the call falls with the attempt too
        deep = bool(self.settings.max_retries)
        self.attempt.response_before = self.message_list.response_state(deep=deep, without=added)
        self.attempt.begun = True

    def reject_attempt(self) -> None:
        """Takes out what the attempt added to the response, its data parts included (RTY-4, RTY-17, RTY-18, PER-11)."""
        self.response.close_texts()
        if self.attempt.begun:
            self.message_list.reset_response(self.attempt.response_before)
        self.response.reject(self.attempt.data_parts)

    def current_step(self) -> StepResult:
        """The step being made, from the response as it stands."""
        self.response.flush()
        step = step_of(self.response.parts())
        step["finishReason"] = self.attempt.finish_reason
        step["usage"] = dict(self.attempt.usage)  # type: ignore[typeddict-item]
        return step

    def shown_steps(self, *current: StepResult) -> list[StepResult]:
        """The accepted steps, and the current one where given, as hooks get them: what they do to them stays theirs."""
        return [clone(step) for step in (*self.steps, *current)]

    def accept_step(self) -> None:
        """The step's `step-finish` has passed: it counts (RTY-16); retry count and feedback start again (STA-16,
        RTY-21).
        """
        self.steps.append(self.current_step())
        self.trace.step_ended("ok", self.attempt.finish_reason, self.attempt.usage)
        self.response.accept()
        self.in_step = False
        self.retries = self.api_retries = 0
        self.feedback.clear()

    def count_usage(self, usage: Any) -> None:
        """Adds a model call's usage to the run's, accepted or not (RES-3, RTY-29)."""
        add_usage(self.usage, usage)

    def follow_response(self) -> None:
        """Makes the steps say what the response says now; text that processors added counts to the last one (RES-2)."""
        self.response.flush()
        *parts, added = self.response.by_step()
        for step, now in zip(self.steps, map(step_of, parts), strict=True):
            for key in set(step) - {"finishReason", "usage"}:  # all that follows the parts
                del step[key]  # type: ignore[misc]
            step.update(now)
        if self.steps:
            self.steps[-1]["text"] += joined_text(added)

    def summary(self) -> RunSummary:
        """The run so far, as processOutputResult gets it (RES-19), made anew for each processor (RES-15): text of the
        accepted steps, usage of all calls.
        """
        self.follow_response()
        return {
            "text": "".join(step["text"] for step in self.steps),  # RES-20
            "usage": clone(self.usage),
            "finishReason": self.finish_reason,
            "steps": self.shown_steps(),
        }
