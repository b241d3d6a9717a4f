"""Mutants of the family CTX, rules 1 to 7: a request context that is lost, copied or kept, and no tracing context."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from processor_contract import tools
from processor_contract.agent import Agent
from processor_contract.context import RequestContext
from processor_contract.hooks import HOOKS
from processor_contract.returns import Slate
from processor_contract.run import Link, Run
from processor_contract.tracing import NO_SPAN, Span, TracingContext

from . import Patch, mutant


def handed(patch: Patch, argument: str, choose: Any) -> None:
    """Every hook that has this argument gets what `choose(run, link, the right one)` says."""

    def change(run: Run, link: Link, slate: Slate, args: Any) -> None:
        if argument in link.hook.fields:
            setattr(args, argument, choose(run, link, getattr(args, argument)))

    patch.arguments(change)


def copy(context: RequestContext) -> RequestContext:
    return RequestContext({key: context.get(key) for key in context})


@mutant("CTX-1")
def hooks_have_an_empty_context(patch: Patch) -> None:
    """Each hook gets a context, but not what the caller put into his."""
    handed(patch, "request_context", lambda run, link, context: RequestContext())


@mutant("CTX-1")
def context_of_the_first_step(patch: Patch) -> None:
    """The context is handed over with the first step."""
    handed(patch, "request_context", lambda run, link, context: RequestContext() if run.attempt.number else context)


@mutant("CTX-1")
def context_for_the_first_processor(patch: Patch) -> None:
    """Only the first processor of an array gets the caller's context."""
    handed(patch, "request_context", lambda run, link, context: RequestContext() if link.index else context)


@mutant("CTX-2")
def hooks_have_copies_of_the_context(patch: Patch) -> None:
    """Each hook gets a copy, so that nobody disturbs the others."""
    handed(patch, "request_context", lambda run, link, context: copy(context))


@mutant("CTX-2")
def tools_have_copies_of_the_context(patch: Patch) -> None:
    """Tools get a copy: what they set stays with them."""
    made = tools.ToolContext
    patch.set(tools, "ToolContext", lambda call, context, *others: made(call, copy(context), *others))


@mutant("CTX-2")
def functions_have_copies_of_the_context(patch: Patch) -> None:
    """The functions that make arrays get a copy."""

    def array(original: Any, own: Agent, name: str, override: Any, context: RequestContext) -> Any:
        return original(own, name, override, copy(context))

    patch.wrap(Agent, "_array", array)


@mutant("CTX-2")
def error_hooks_have_a_context_of_their_own(patch: Patch) -> None:
    """An error processor is another world, and gets another context."""
    error = HOOKS["process_api_error"]
    handed(patch, "request_context", lambda run, link, context: copy(context) if link.hook is error else context)


def without_one(patch: Patch, made: Any) -> None:
    """Where the caller gave no context the request has `made(agent)`."""

    def run(original: Any, own: Agent, given: Any, options: Any) -> Any:
        context = options.get("request_context")
        return original(own, given, {**options, "request_context": made(own) if context is None else context})

    patch.wrap(Agent, "_run", run)


@mutant("CTX-3")
def no_context_unless_given(patch: Patch) -> None:
    """Hooks have no context where the caller gave none."""
    given: set[int] = set()

    def run(original: Any, own: Agent, input: Any, options: Any) -> Any:
        made = original(own, input, options)
        if options.get("request_context") is not None:
            given.add(id(made))
        return made

    patch.wrap(Agent, "_run", run)
    handed(patch, "request_context", lambda run, link, context: context if id(run) in given else None)


@mutant("CTX-3")
def tools_have_no_context_unless_given(patch: Patch) -> None:
    """Tools have no context where there is nothing in it."""
    made = tools.ToolContext

    def context(call: str, request_context: RequestContext, *others: Any) -> Any:
        return made(call, request_context if len(request_context) else None, *others)  # type: ignore[arg-type]

    patch.set(tools, "ToolContext", context)


@mutant("CTX-5")
def context_stays_with_the_agent(patch: Patch) -> None:
    """An agent makes one context, for all requests that bring none."""
    kept: dict[int, RequestContext] = {}
    without_one(patch, lambda own: kept.setdefault(id(own), RequestContext()))


@mutant("CTX-6")
def tracing_context_only_when_traced(patch: Patch) -> None:
    """Where nobody traces there is no tracing context."""
    handed(patch, "tracing_context", lambda run, link, context: context if run.trace.on else None)


@mutant("CTX-6")
def tracing_context_of_the_first_step(patch: Patch) -> None:
    """The tracing context is handed over with the first step."""
    handed(patch, "tracing_context", lambda run, link, context: None if run.attempt.number else context)


@mutant("CTX-6")
def tracing_context_for_the_first_processor(patch: Patch) -> None:
    """Only the first processor of an array gets a tracing context."""
    handed(patch, "tracing_context", lambda run, link, context: None if link.index else context)


@mutant("CTX-7")
def spans_need_a_tracer(patch: Patch) -> None:
    """Who begins a span where nobody traces is told so."""
    span = vars(TracingContext)["span"]

    @contextlib.contextmanager
    def begun(context: TracingContext, name: str, **attributes: Any) -> Iterator[Span]:
        if context.current_span is None:
            raise RuntimeError("nobody traces")
        with span(context, name, **attributes) as made:
            yield made

    patch.set(TracingContext, "span", begun)


@mutant("CTX-7")
def nobody_traces_their_own(patch: Patch) -> None:
    """What hooks and tools begin is not part of the trace."""
    patch.set(TracingContext, "span", lambda context, name, **attributes: contextlib.nullcontext(NO_SPAN))
