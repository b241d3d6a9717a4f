"""Mutants of the family STA: state that lives too long, too short, or in the wrong hands."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from processor_contract import agent, loop, pipeline
from processor_contract.run import Link, Run

from . import Patch, mutant


def handed_out(patch: Patch, choose: Callable[[Run, str, Link, Any], Any]) -> None:
    """Every call gets the state that `choose(run, hook name, link, args)` says; None leaves it as it is."""
    plan = pipeline.plan

    def planned(run: Run) -> None:
        plan(run)
        for name, links in run.plan.items():
            for link in links:
                if "state" in link.hook.fields:
                    link.method = _handing(run, name, link, link.method, choose)

    patch.function(plan, planned)


def give(link: Link, name: str, value: Any) -> None:
    """Every call of this link gets the value as this argument, where it has one."""
    if name in link.hook.fields:
        link.constant[link.hook.fields.index(name)] = value


def _handing(run: Run, name: str, link: Link, method: Callable[[Any], Any], choose: Callable[..., Any]) -> Any:
    def called(args: Any) -> Any:
        chosen = choose(run, name, link, args)
        if chosen is not None:
            args.state = chosen
        return method(args)

    return called


def kept(run: Run, *key: Any) -> dict[str, Any]:
    """A state of this run under a key of the mutant's own."""
    return run.states.setdefault(":".join(map(str, key)), {})


@mutant("STA-1")
def one_state_for_all(patch: Patch) -> None:
    """A request has one state, which all processors share."""
    patch.set(Run, "state_of", lambda run, processor_id: run.states.setdefault("", {}))


@mutant("STA-1")
def one_state_for_each_hook(patch: Patch) -> None:
    """State belongs to the hook: every processor of a chain gets the same object."""
    handed_out(patch, lambda run, name, link, args: kept(run, name))


@mutant("STA-2")
def state_by_object(patch: Patch) -> None:
    """State is kept by the processor object instead of its id."""
    handed_out(patch, lambda run, name, link, args: kept(run, id(link.processor)))


@mutant("STA-3")
def state_kept_in_the_process(patch: Patch) -> None:
    """A processor's state is made once and kept from request to request."""
    states: dict[str, dict[str, Any]] = {}
    patch.set(Run, "state_of", lambda run, processor_id: states.setdefault(processor_id, {}))


@mutant("STA-3")
def state_begins_as_the_last_one_ended(patch: Patch) -> None:
    """Each request gets a new object, but with what the last one left in it."""
    last: dict[str, dict[str, Any]] = {}

    def state_of(run: Run, processor_id: str) -> dict[str, Any]:
        if processor_id not in run.states:
            run.states[processor_id] = last[processor_id] = dict(last.get(processor_id, {}))
        return run.states[processor_id]

    patch.set(Run, "state_of", state_of)


@mutant("STA-4")
def state_made_for_each_hook(patch: Patch) -> None:
    """Each hook of a processor has a state of its own."""
    handed_out(patch, lambda run, name, link, args: kept(run, name, link.processor.id))


@mutant("STA-4")
def state_copied_for_each_call(patch: Patch) -> None:
    """A hook gets a copy of the state; what it writes is copied back."""
    plan = pipeline.plan

    def copying(link: Link, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def called(args: Any) -> Any:
            state, args.state = args.state, copy.deepcopy(args.state)
            try:
                return method(args)
            finally:
                state.clear()
                state.update(args.state)

        return called

    def planned(run: Run) -> None:
        plan(run)
        for link in [link for links in run.plan.values() for link in links if "state" in link.hook.fields]:
            link.method = copying(link, link.method)

    patch.function(plan, planned)


@mutant("STA-4")
def state_made_for_each_step(patch: Patch) -> None:
    """Each step begins with empty state."""
    handed_out(patch, lambda run, name, link, args: kept(run, run.attempt.number, link.processor.id))


@mutant("STA-5")
def input_hooks_have_their_own_state(patch: Patch) -> None:
    """processInput and processInputStep, which the documents' list leaves out, get an object apart from the others'."""
    apart = ("process_input", "process_input_step")
    handed_out(patch, lambda run, name, link, args: kept(run, "in", link.processor.id) if name in apart else None)


@mutant("STA-6")
def durations_in_state(patch: Patch) -> None:
    """The runtime notes in state how long processOutputStream took."""

    def noted(run: Run, name: str, link: Link, args: Any) -> None:
        if name == "process_output_stream":
            args.state["duration"] = 0

    handed_out(patch, noted)


@mutant("STA-6")
def attempts_in_state(patch: Patch) -> None:
    """The runtime notes in state which step is being made."""

    def begin(original: Callable[..., Any], run: Run, number: int) -> Any:
        for state in run.states.values():
            state["step"] = number
        return original(run, number)

    patch.wrap(Run, "begin_attempt", begin)


@mutant("STA-7")
def state_shared_while_requests_overlap(patch: Patch) -> None:
    """State is kept on the agent and thrown away when the last running request has ended."""
    running: set[str] = set()
    states: dict[str, dict[str, Any]] = {}
    stream_of = loop.stream_of

    def state_of(run: Run, processor_id: str) -> dict[str, Any]:
        running.add(run.id)
        return states.setdefault(processor_id, {})

    def streamed(run: Run) -> Any:
        try:
            yield from stream_of(run)
        finally:
            running.discard(run.id)
            if not running:
                states.clear()

    patch.set(Run, "state_of", state_of)
    patch.function(stream_of, streamed)


@mutant("STA-8")
def state_for_each_array(patch: Patch) -> None:
    """An object listed in several arrays has a state in each."""
    handed_out(patch, lambda run, name, link, args: kept(run, link.hook.array, link.processor.id))


@mutant("STA-8")
def error_processors_have_their_own_state(patch: Patch) -> None:
    """processAPIError gets an object apart from the other hooks'."""
    handed_out(
        patch, lambda run, name, link, args: kept(run, "e", link.processor.id) if name == "process_api_error" else None
    )


@mutant("STA-9")
def rejection_clears_state(patch: Patch) -> None:
    """Rejecting an attempt, or a failed call, takes back what processors noted."""

    def reject(original: Callable[..., Any], run: Run) -> None:
        original(run)
        for state in run.states.values():
            state.clear()

    patch.wrap(Run, "reject_attempt", reject)


@mutant("STA-9")
def state_made_for_each_attempt(patch: Patch) -> None:
    """Each attempt at a step begins with new state."""
    handed_out(patch, lambda run, name, link, args: kept(run, id(run.attempt), link.processor.id))


@mutant("STA-10")
def endings_keep_state(patch: Patch) -> None:
    """Only a request that ends well clears the agent's states; an abort, an error or an early close skips that."""
    states: dict[str, dict[str, Any]] = {}

    def state_of(run: Run, processor_id: str) -> dict[str, Any]:
        return states.setdefault(processor_id, {})

    stream_of = loop.stream_of

    def streamed(run: Run) -> Any:
        yield from stream_of(run)
        if run.finish_reason in ("stop", "tool-calls"):
            states.clear()

    patch.set(Run, "state_of", state_of)
    patch.function(stream_of, streamed)


@mutant("STA-11")
def state_by_thread(patch: Patch) -> None:
    """State is remembered with the thread, like its messages."""
    states: dict[Any, dict[str, Any]] = {}

    def state_of(run: Run, processor_id: str) -> dict[str, Any]:
        if run.message_list.thread is None:
            return run.states.setdefault(processor_id, {})
        return states.setdefault((run.message_list.thread, processor_id), {})

    patch.set(Run, "state_of", state_of)


@mutant("STA-12")
def overriding_processors_have_their_own_state(patch: Patch) -> None:
    """The states of a call's own processors are kept apart from those of the agent's."""
    own: set[int] = set()

    def noted(by: Any, options: Any, settings: Any) -> None:
        own.update(id(one) for one in options.output_processors or ())

    patch.settled(noted)
    handed_out(
        patch,
        lambda run, name, link, args: kept(run, "call", link.processor.id) if id(link.processor) in own else None,
    )


@mutant("STA-12")
def functions_processors_keep_state(patch: Patch) -> None:
    """What a function of the agent returns is kept with its states, from request to request."""
    named: dict[int, dict[str, Any]] = {}
    array = agent.Agent._array

    def resolved(own: agent.Agent, name: str, override: Any, context: Any) -> list[Any]:
        made = array(own, name, override, context)
        if callable(own._arrays[name]):
            for processor in made:
                named.setdefault(id(processor), {})
        return made

    patch.set(agent.Agent, "_array", resolved)
    handed_out(patch, lambda run, name, link, args: named.get(id(link.processor)))


@mutant("STA-13")
def retries_counted_by_the_agent(patch: Patch) -> None:
    """A request goes on counting where the one before it ended."""
    last: list[Run] = []
    begin = Run.__init__

    def made(run: Run, *args: Any, **named: Any) -> None:
        begin(run, *args, **named)
        if last:
            run.retries = last[0].retries
        last[:] = [run]

    patch.set(Run, "__init__", made)


@mutant("STA-13")
def retries_never_reset(patch: Patch) -> None:
    """Retries are counted for the lifetime of the agent."""
    granted = [0]

    def grant(original: Callable[..., Any], run: Run, **named: Any) -> None:
        original(run, **named)
        granted[0] += 1

    begin = Run.__init__

    def made(run: Run, *args: Any, **named: Any) -> None:
        begin(run, *args, **named)
        run.retries = granted[0]

    patch.wrap(Run, "grant_retry", grant)
    patch.set(Run, "__init__", made)


@mutant("STA-14")
def list_wrapped_for_each_hook(patch: Patch) -> None:
    """Each hook gets a message list of its own that shows the same messages."""
    plan = pipeline.plan

    def planned(run: Run) -> None:
        plan(run)
        for links in run.plan.values():
            for link in links:
                give(link, "message_list", copy.copy(run.message_list))

    patch.function(plan, planned)


@mutant("STA-14")
def list_of_the_agent(patch: Patch) -> None:
    """Hooks get the list of the agent's first request, kept for all that follow."""
    first: list[Any] = []
    plan = pipeline.plan

    def planned(run: Run) -> None:
        plan(run)
        first.append(run.message_list)
        for link in run.plan["process_input"]:
            give(link, "message_list", first[0])

    patch.function(plan, planned)


@mutant("STA-15")
def tool_results_have_their_own_state(patch: Patch) -> None:
    """processToolResult, which the documents' list leaves out, gets an object apart from the other hooks'."""
    handed_out(
        patch,
        lambda run, name, link, args: kept(run, "t", link.processor.id) if name == "process_tool_result" else None,
    )


@mutant("STA-16")
def retries_counted_over_the_run(patch: Patch) -> None:
    """An accepted step leaves the count as it is."""

    def accept(original: Callable[..., Any], run: Run) -> None:
        counts = run.retries, run.api_retries
        original(run)
        run.retries, run.api_retries = counts

    patch.wrap(Run, "accept_step", accept)


@mutant("STA-16")
def api_retries_counted_over_the_run(patch: Patch) -> None:
    """An accepted step resets the count of aborts only."""

    def accept(original: Callable[..., Any], run: Run) -> None:
        count = run.api_retries
        original(run)
        run.api_retries = count

    patch.wrap(Run, "accept_step", accept)
