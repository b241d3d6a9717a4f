"""Mutants of the family CTX, rules 13 to 17: too much or too little in a span, and spans too many or too few."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from processor_contract import run_trace, tools, tracing
from processor_contract.agent import Agent
from processor_contract.run import Run
from processor_contract.run_trace import RunTrace, TracedModel
from processor_contract.tracing import NO_SPAN, Span, Tracer, TracingContext

from . import Patch, mutant
from .spans import about_processors


@mutant("CTX-13")
def spans_have_no_description(patch: Patch) -> None:
    """A description is for whoever reads the code."""
    about_processors(patch, lambda span, link: span.attributes.pop("description", None))


@mutant("CTX-13")
def every_span_has_a_description(patch: Patch) -> None:
    """A processor without a description is described by its id."""
    about_processors(patch, lambda span, link: span.attributes.setdefault("description", link.processor.id))


@mutant("CTX-14")
def arguments_are_in_the_trace(patch: Patch) -> None:
    """The span of a tool says what it was called with."""

    def tool(original: Any, trace: RunTrace, call: Any) -> Span:
        span: Span = original(trace, call)
        span.set(args=call["args"])
        return span

    patch.wrap(RunTrace, "tool", tool)


@mutant("CTX-14")
def results_are_in_the_trace(patch: Patch) -> None:
    """The span of a tool says what it came to."""

    def work(original: Any, run: Run, outcome: Any, span: Span) -> None:
        original(run, outcome, span)
        span.set(result=outcome.result)

    patch.around(tools._try, work)


@mutant("CTX-14")
def reasons_are_in_the_trace(patch: Patch) -> None:
    """The span of a run says why it was aborted."""

    def finish(original: Any, run: Run) -> None:
        if run.tripwire is not None and isinstance(run.trace, RunTrace):
            run.trace._root.set(reason=run.tripwire.reason)
        original(run)

    patch.wrap(Run, "finish", finish)


@mutant("CTX-14")
def answers_are_in_the_trace(patch: Patch) -> None:
    """The span of a model call has its answer."""

    def told(original: Any, part: Any, span: Span) -> Any:
        text = (part.get("payload") or {}).get("text", "") if isinstance(part, dict) else ""
        span.set(text=span.attributes.get("text", "") + text)
        return original(part, span)

    patch.around(run_trace.ended_with, told)


@mutant("CTX-14")
def errors_are_in_the_trace(patch: Patch) -> None:
    """The span of a model call says what the provider said."""

    def stream(original: Any, model: TracedModel, request: Any) -> Any:
        try:
            yield from original(model, request)
        except Exception as error:
            model._above.set(error=str(error))
            raise

    patch.wrap(TracedModel, "stream", stream)

    def step_ended(original: Any, trace: RunTrace, *given: Any) -> None:
        step = trace._step
        if step is not None and "error" in step.attributes:
            trace._root.set(error=step.attributes["error"])
        original(trace, *given)

    patch.wrap(RunTrace, "step_ended", step_ended)


@mutant("CTX-15")
def all_requests_are_one_trace(patch: Patch) -> None:
    """A trace belongs to the agent."""
    kept: dict[int, Any] = {}

    def begin(original: Any, tracer: Tracer, *given: Any, **attributes: Any) -> Span:
        root: Span = original(tracer, *given, **attributes)
        assert root._tree is not None
        root._tree.id = kept.setdefault(id(tracer), root._tree.id)
        return root

    patch.wrap(Tracer, "begin", begin)


@mutant("CTX-15")
def a_run_has_another_id_in_its_trace(patch: Patch) -> None:
    """The span of the run has an id that no chunk has."""

    def trace(original: Any, own: Agent, run_id: str, within: Any) -> Any:
        return original(own, f"trace of {run_id}", within)

    patch.wrap(Agent, "_trace", trace)


@mutant("CTX-16")
def added_spans_stand_below_the_run(patch: Patch) -> None:
    """What somebody adds is added to the trace."""
    made = TracingContext.__init__

    def init(context: TracingContext, current: Any = None) -> None:
        made(context, root_of(current) if current is not None else None)

    def root_of(span: Span) -> Span:
        while span._parent is not None:
            span = span._parent
        return span

    patch.set(TracingContext, "__init__", init)


@mutant("CTX-16")
def tools_share_the_current_span(patch: Patch) -> None:
    """There is one current span, that of the step in which the tools run."""
    made: Any = tools.ToolContext

    def context(*given: Any) -> Any:
        *others, tracing = given
        return made(*others, TracingContext((tracing.current_span or NO_SPAN)._parent))

    patch.set(tools, "ToolContext", context)


@mutant("CTX-16")
def spans_of_one_s_own_are_ok(patch: Patch) -> None:
    """Whether it went well is said by who began it."""

    @contextmanager
    def span(own: TracingContext, name: str, **attributes: Any) -> Iterator[Span]:
        made = (own.current_span or NO_SPAN).child(name, **attributes)
        try:
            yield made
        finally:
            made.end()

    patch.set(TracingContext, "span", span)


@mutant("CTX-16")
def aborts_are_errors_of_one_s_own(patch: Patch) -> None:
    """An abort is an exception like any other."""
    patch.set(tracing, "TripWire", ())


@mutant("CTX-17")
def every_chunk_has_a_span(patch: Patch) -> None:
    """Each call of a hook is a span, whichever hook it is."""
    patch.set(run_trace, "STREAM", "")


@mutant("CTX-17")
def attempts_share_the_span_of_their_chunks(patch: Patch) -> None:
    """The chunks that a processor is given in a run are one span."""

    def ended(original: Any, trace: RunTrace, outcome: str, *given: Any) -> None:
        streams, trace._streams = trace._streams, {}
        original(trace, outcome, *given)
        trace._streams = {link: span for link, span in streams.items() if not span.ended}

    def called(original: Any, trace: RunTrace, link: Any, args: Any) -> None:
        before = trace._step
        if link.hook.wire == "processOutputStream":
            trace._step = None
        original(trace, link, args)
        trace._step = before

    patch.wrap(RunTrace, "step_ended", ended)
    patch.wrap(RunTrace, "called", called)


@mutant("CTX-17")
def chunks_are_not_counted(patch: Patch) -> None:
    """The span of the chunks says one, as every other call is one."""

    def called(original: Any, trace: RunTrace, link: Any, args: Any) -> None:
        original(trace, link, args)
        if link.hook.wire == "processOutputStream":
            args.tracing_context.current_span.set(chunks=1)

    patch.wrap(RunTrace, "called", called)
