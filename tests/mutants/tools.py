"""Mutants of the family TOOL, on calls: which are executed, with what, and what their outcomes are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from processor_contract import loop, pipeline, request, response, results, schema, tools
from processor_contract.data import Chunk, clone, jsonable
from processor_contract.errors import InvalidSchema, described, told
from processor_contract.keywords import KEYWORDS
from processor_contract.message_list import MessageList
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Run
from processor_contract.tools import Outcome, Tool

from . import Patch, mutant
from .order import Chunks


def executing(patch: Patch, change: Callable[[Any, Run, Outcome], None]) -> None:
    """Puts `change(execute, run, outcome)` in the place of one call's execution."""
    patch.around(tools._execute, change)


def given(patch: Patch, change: Callable[[Any, Tool, Any], Any]) -> None:
    """Calls each tool through `change(execute, tool, args)`, with arguments that it may edit."""

    def result(original: Any, run: Run, tool: Tool, call: Any, span: Any) -> Any:
        return change(lambda args: original(run, tool, {**call, "args": args}, span), tool, clone(call["args"]))

    patch.around(tools._result, result)


# -- which calls are executed ------------------------------------------------------------------------------------------


@mutant("TOOL-6")
def client_calls_are_answered_with_an_error(patch: Patch) -> None:
    """A tool without execute cannot be run, and the model is told so."""
    patch.around(tools.answered_here, lambda original, run, name: True)


@mutant("TOOL-7")
def unknown_tools_are_left_to_the_client(patch: Patch) -> None:
    """What the runtime does not know may be the client's."""
    patch.around(tools.answered_here, lambda original, run, name: name in run.attempt.offered and original(run, name))


@mutant("TOOL-7")
def what_the_agent_has_is_executed(patch: Patch) -> None:
    """A step's limits are for the provider, who is not offered the others."""

    def execute(original: Any, run: Run, outcome: Outcome) -> None:
        run.attempt.offered = dict(run.settings.tools)
        original(run, outcome)

    executing(patch, execute)


@mutant("TOOL-23")
def calls_of_the_provider_are_executed(patch: Patch) -> None:
    """A call is a call, and a result that comes with it is none of the runtime's."""

    def unmarked(original: Any, payload: Any) -> Any:
        return original({key: value for key, value in payload.items() if key != "providerExecuted"})

    patch.around(response.call_part, unmarked)
    patch.around(results.settled, lambda original, run, part: None)


@mutant("TOOL-23")
def answers_of_the_provider_bring_a_step(patch: Patch) -> None:
    """The loop goes on as long as calls were answered, by whomever."""

    def tried(original: Any, run: Run, attempt: Attempt) -> Any:
        goes_on = yield from original(run, attempt)
        return goes_on or bool(run.steps[-1]["toolResults"])

    patch.around(loop.try_step, tried)


@mutant("TOOL-26")
def calls_of_failed_attempts_are_executed(patch: Patch) -> None:
    """What the model has asked for is done, whatever comes behind it."""

    def recover(original: Any, run: Run, attempt: Attempt, error: BaseException) -> Any:
        for call in results.open_calls(run):
            tools._execute(run, Outcome(call))
        return (yield from original(run, attempt, error))

    patch.around(loop.recover, recover)


@mutant("TOOL-27")
def one_call_after_the_other(patch: Patch) -> None:
    """Calls are executed in their order, each when the one before has ended."""

    def start(run: Run, outcomes: Any) -> set[int]:
        for outcome in outcomes:
            tools._execute(run, outcome)
        return set()

    patch.function(tools._start, start)


# -- with what ---------------------------------------------------------------------------------------------------------


@mutant("TOOL-10")
def tools_share_their_arguments(patch: Patch) -> None:
    """A tool gets the very arguments that stand in the list."""

    def result(original: Any, *given: Any) -> Any:
        with_own, tools.clone = tools.clone, lambda value: value  # type: ignore[attr-defined]
        try:
            return original(*given)
        finally:
            tools.clone = with_own  # type: ignore[attr-defined]

    patch.around(tools._result, result)


@mutant("TOOL-10")
def tool_hook_sees_the_response_only(patch: Patch) -> None:
    """processToolResult is about the answer, so it sees the answer."""
    patch.cell("process_tool_result", sees=MessageList.response)


@mutant("TOOL-14")
def arguments_are_not_checked(patch: Patch) -> None:
    """The schema is for the model; a tool looks after itself."""
    patch.wrap(schema.Schema, "fault", lambda original, own, *value: None)


@mutant("TOOL-14")
def defaults_are_filled_in(patch: Patch) -> None:
    """What the schema gives a default for is passed with it."""

    def filled(execute: Any, tool: Tool, args: Any) -> Any:
        for name, one in tool.parameters.get("properties", {}).items():
            if "default" in one:
                args.setdefault(name, one["default"])
        return execute(args)

    given(patch, filled)


@mutant("TOOL-14")
def unnamed_members_are_left_out(patch: Patch) -> None:
    """A tool gets what its schema names."""

    def cut(execute: Any, tool: Tool, args: Any) -> Any:
        named = tool.parameters.get("properties", args)
        return execute({name: value for name, value in args.items() if name in named})

    given(patch, cut)


@mutant("TOOL-17")
def unknown_keywords_are_passed_over(patch: Patch) -> None:
    """What a validator does not know it does not check."""

    class Everything(frozenset[str]):
        def __contains__(self, keyword: object) -> bool:
            return keyword not in KEYWORDS

    patch.set(schema, "ANNOTATIONS", Everything())


@mutant("TOOL-17")
def lists_are_refused(patch: Patch) -> None:
    """Only flat objects are checked, so a tool that takes a list cannot be offered."""

    def take(original: Any, own: schema.Schema, node: Any, at: str) -> None:
        if isinstance(node, dict) and "items" in node:
            raise InvalidSchema(f"{at} has items")
        original(own, node, at)

    patch.wrap(schema.Schema, "_take", take)


@mutant("TOOL-38")
def ids_are_the_model_s(patch: Patch) -> None:
    """A call keeps the id it came with."""
    patch.around(results.complete_call, lambda original, run, part: part)


# -- what the provider is asked ----------------------------------------------------------------------------------------


def asked(patch: Patch, change: Callable[[Run, Slate], None]) -> None:
    """Changes what the processInputStep chain comes to."""

    def chosen(chain: Any, run: Run, slate: Slate) -> Slate:
        result: Slate = chain(run, slate)
        change(run, result)
        return result

    patch.chain("process_input_step", chosen)


@mutant("TOOL-28")
def choice_is_that_of_the_call(patch: Patch) -> None:
    """Tool choice is an option of the call, and stays what it was."""
    asked(patch, lambda run, slate: slate.update(tool_choice=run.settings.tool_choice))


@mutant("TOOL-29")
def all_tools_are_offered(patch: Patch) -> None:
    """activeTools is a hint for processors."""
    asked(patch, lambda run, slate: slate.update(active_tools=None))


@mutant("TOOL-30")
def no_active_tools_are_all(patch: Patch) -> None:
    """An empty list is no list."""
    asked(patch, lambda run, slate: slate.update(active_tools=slate["active_tools"] or None))


@mutant("TOOL-30")
def active_tools_of_a_call_are_for_its_first_step(patch: Patch) -> None:
    """What a call says about tools is said about the step that it begins with."""
    asked(
        patch,
        lambda run, slate: (
            slate.update(active_tools=None) if run.steps and not run.plan["process_input_step"] else None
        ),
    )


@mutant("TOOL-31")
def a_choice_forbids_the_others(patch: Patch) -> None:
    """Where one tool was asked for no other is executed."""

    def offered(original: Any, chosen: Any) -> Any:
        tools: dict[str, Any] = original(chosen)
        choice = chosen["tool_choice"]
        name = choice.get("toolName") if isinstance(choice, dict) else None
        return {key: tool for key, tool in tools.items() if name in (None, key)}

    patch.around(request.offered_tools, offered)


# -- what comes of it --------------------------------------------------------------------------------------------------


@mutant("TOOL-8")
def a_tool_s_error_is_its_result(patch: Patch) -> None:
    """A tool that raises has answered with an error."""

    def execute(original: Any, run: Run, outcome: Outcome) -> None:
        original(run, outcome)
        if outcome.error is not None:
            outcome.result, outcome.error = {"error": told(outcome.error)}, None

    executing(patch, execute)


@mutant("TOOL-11")
def errors_have_the_hook(patch: Patch) -> None:
    """processToolResult runs behind every tool."""

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        if outcome.error is not None:
            results.examine_result(run, outcome.call, described(outcome.error), None)
        yield from original(run, outcome)

    patch.around(results.settle, settle)


@mutant("TOOL-4")
def results_are_handed_on_as_they_are(patch: Patch) -> None:
    """processToolResult gets the object that the tool returned."""
    patch.set(tools, "jsonable", lambda value: value)


@mutant("TOOL-4")
def results_become_texts(patch: Patch) -> None:
    """What is handed on is a text: that can always be stored."""
    patch.set(tools, "jsonable", lambda value: json.dumps(jsonable(value)))


@mutant("TOOL-12")
def dates_are_left_out(patch: Patch) -> None:
    """What JSON has no form for is left out."""

    def without(value: Any) -> Any:
        return (
            {key: item for key, item in value.items() if not hasattr(item, "isoformat")}
            if isinstance(value, dict)
            else value
        )

    patch.set(tools, "jsonable", lambda value: jsonable(without(value)))


@mutant("TOOL-12")
def results_are_only_copied_where_they_must_be(patch: Patch) -> None:
    """What JSON can hold needs no copy."""

    def fit(value: Any) -> Any:
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            return jsonable(value)
        return value

    patch.set(tools, "jsonable", fit)


@mutant("TOOL-13")
def nothing_is_no_answer(patch: Patch) -> None:
    """A tool that returns nothing has not answered yet."""

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        if outcome.error is not None or outcome.result is not None:
            yield from original(run, outcome)

    patch.around(results.settle, settle)


@mutant("TOOL-25")
def results_are_found_by_the_tool_s_name(patch: Patch) -> None:
    """The results of a step are kept by tool."""

    def ran(run_tools: Any, run: Run, calls: Any) -> Any:
        outcomes = yield from run_tools(run, calls)
        by_name = {outcome.call["toolName"]: outcome.result for outcome in outcomes}
        for outcome in outcomes:
            outcome.result = clone(by_name[outcome.call["toolName"]])
        return outcomes

    patch.around(tools.run_tools, ran)


@mutant("TOOL-36")
def a_step_without_calls_has_stopped(patch: Patch) -> None:
    """Where no call is left the model has nothing more to say."""

    def examine(original: Any, run: Run, attempt: Attempt) -> None:
        original(run, attempt)
        if attempt.finish_reason == "tool-calls" and not results.open_calls(run):
            attempt.finish_reason = "stop"

    patch.around(loop.examine, examine)


@mutant("TOOL-32")
def outcomes_lack_the_arguments(patch: Patch) -> None:
    """What was asked stands in the call's own chunk."""

    def shown(original: Any, *outcome: Any) -> Any:
        kind, payload = original(*outcome)
        return kind, {key: value for key, value in payload.items() if key != "args"}

    patch.around(results.outcome_of, shown)


@mutant("TOOL-34")
def failures_are_kept_as_results(patch: Patch) -> None:
    """The list holds what the model is told, and that is the error's text."""

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        yield from original(run, outcome)
        invocation = run.response.invocation(outcome.call["toolCallId"])
        if outcome.error is not None and invocation is not None:
            invocation.update(state="result", result=told(outcome.error))

    patch.around(results.settle, settle)


@mutant("TOOL-35")
def what_is_shown_is_what_is_kept(patch: Patch) -> None:
    """A chunk that has passed goes into the list, tool results included."""

    def deliver(original: Any, run: Run, chunk: Chunk, *more: Any) -> None:
        original(run, chunk, *more)
        if chunk["type"] == "tool-result":
            invocation = run.response.invocation(chunk["payload"]["toolCallId"])
            if invocation is not None:
                invocation["result"] = clone(chunk["payload"].get("result"))

    patch.around(pipeline.deliver, deliver)
