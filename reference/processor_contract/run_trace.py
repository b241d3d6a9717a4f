"""The spans of one request: run, step, model call, tool, processor, each below what it runs in (CTX-8).

Flows in: what the loop, the pipeline and the tools say as it happens. Flows out: spans. Where nobody traces a run has
`NO_TRACE`, which is told the same and does nothing (CTX-7).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .data import Chunk, ToolCallInfo, Usage, add_usage, no_usage
from .errors import AttemptRejected, Cancelled, RunEnded
from .tracing import NO_SPAN, Span, TracingContext

if TYPE_CHECKING:
    from .models import Model, ModelRequest
    from .processor import HookArgs
    from .run import Link

STREAM = "processOutputStream"  # CTX-17: one span for all its calls in an attempt
UNTRACED = TracingContext()


class NoTrace:
    """What a run that nobody traces tells its story to."""

    on = False

    def step(self, number: int, retry_count: int) -> None:
        """An attempt at a step has begun."""

    def step_ended(self, outcome: str, finish_reason: str, usage: Usage) -> None:
        """It was accepted, rejected or failed."""

    def called(self, link: Link, args: HookArgs) -> None:
        """A hook is about to be called."""

    def returned(self, link: Link, args: HookArgs, ending: BaseException | None = None) -> None:
        """It has returned, or ends its chain with this."""

    def model(self, model: Model) -> Model:
        """The model, each call of it a span."""
        return model

    def tool(self, call: ToolCallInfo) -> Span:
        """A tool has been started."""
        return NO_SPAN

    def end(self, outcome: str, **attributes: Any) -> None:
        """The run has ended."""


NO_TRACE = NoTrace()


class RunTrace(NoTrace):
    """The spans of one request, below its root."""

    on = True

    def __init__(self, root: Span) -> None:
        self._root = root
        self._step: Span | None = None
        self._streams: dict[int, Span] = {}  # of processOutputStream: by the identity of its link
        self._stopped: dict[int, str] = {}  # what such a call came to where it was not ok

    @property
    def _here(self) -> Span:
        """The step, or what is before and after all steps."""
        return self._step or self._root

    def step(self, number: int, retry_count: int) -> None:
        self._step = self._root.child(f"step {number}", kind="step", stepNumber=number, retryCount=retry_count)

    def step_ended(self, outcome: str, finish_reason: str, usage: Usage) -> None:
        self._end_streams("ok")
        self._here.end(outcome, finishReason=finish_reason, usage={**usage})
        self._step = None

    def _end_streams(self, outcome: str) -> None:
        streams, self._streams = self._streams, {}
        stopped, self._stopped = self._stopped, {}
        for link, span in streams.items():
            span.end(stopped.get(link, outcome))

    def called(self, link: Link, args: HookArgs) -> None:
        span = self._streams.get(id(link)) or self._processor(link)
        if link.hook.wire == STREAM:
            self._streams[id(link)] = span
            span.set(chunks=span.attributes.get("chunks", 0) + 1)
        args.tracing_context = TracingContext(span)

    def _processor(self, link: Link) -> Span:
        """The span of a hook's call, which says whose it is (CTX-10, CTX-11, CTX-13)."""
        processor = link.processor
        name, description = (getattr(processor, key, None) for key in ("name", "description"))
        about = {"processorId": processor.id, "processorIndex": link.index, "hook": link.hook.wire}
        if description is not None:
            about["description"] = description
        return self._here.child(name or processor.id, kind="processor", **about)

    def returned(self, link: Link, args: HookArgs, ending: BaseException | None = None) -> None:
        span = args.tracing_context.current_span or NO_SPAN
        outcome = "ok" if ending is None else outcome_of(ending)
        if outcome == "error":
            span.set(error=type(ending.__cause__ or ending).__name__)  # type: ignore[union-attr]
        if link.hook.wire != STREAM:
            span.end(outcome)
        elif outcome != "ok":
            self._stopped[id(link)] = outcome

    def model(self, model: Model) -> Model:
        return TracedModel(model, self._here)

    def tool(self, call: ToolCallInfo) -> Span:
        about = {"toolName": call["toolName"], "toolCallId": call["toolCallId"]}
        return self._here.child(call["toolName"], kind="tool", **about)

    def end(self, outcome: str, **attributes: Any) -> None:
        self._end_streams("cancelled" if outcome == "cancelled" else "ok")
        if self._step is not None:
            self._step.end(outcome)
        self._root.end(outcome, **attributes)


class TracedModel:
    """A model, each call of which is a span, repeated ones too."""

    def __init__(self, model: Model, above: Span) -> None:
        self.id = model.id
        self._model = model
        self._above = above

    def stream(self, request: ModelRequest) -> Iterator[Chunk]:
        span = self._above.child(self.id, kind="model", model=self.id)
        outcome = "cancelled"  # unless it comes to an end
        parts: Iterator[Chunk] = iter(())
        try:
            parts = iter(self._model.stream(request))
            for part in parts:
                outcome = ended_with(part, span) or outcome
                yield part
            outcome = "ok" if outcome == "cancelled" else outcome
        except Exception as error:
            outcome = "error"
            span.set(error=type(error).__name__)
            raise
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                close()
            span.end(outcome)


def ended_with(part: Any, span: Span) -> str | None:
    """How a model call ends with this part, whatever becomes of it; None where it goes on."""
    kind, payload = (part.get(key) for key in ("type", "payload")) if isinstance(part, dict) else (None, None)
    if kind == "error":
        return "error"
    if kind != "finish" or not isinstance(payload, dict):
        return None
    usage = no_usage()
    add_usage(usage, payload.get("usage"))
    reason = payload.get("finishReason")
    span.set(usage=usage, finishReason=reason if isinstance(reason, str) else "other")
    return "error" if reason == "error" else "ok"


def outcome_of(ending: BaseException) -> str:
    """What a call, a step or a run came to, by what ended it (CTX-12)."""
    if isinstance(ending, Cancelled):
        return "cancelled"
    if isinstance(ending, AttemptRejected):
        return "retry"
    return "aborted" if isinstance(ending, RunEnded) else "error"
