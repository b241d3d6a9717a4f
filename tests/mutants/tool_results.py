"""Mutants of the family TOOL, on results: how processors change them, and where they are then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from processor_contract import results
from processor_contract.data import Chunk, Json, clone, is_answered
from processor_contract.errors import AttemptRejected, RunEnded
from processor_contract.message_list import MessageList
from processor_contract.prompt import to_prompt
from processor_contract.response import Response
from processor_contract.returns import Slate, ignored
from processor_contract.run import Run
from processor_contract.tools import Outcome

from . import Patch, mutant
from .order import Chunks


def noting(patch: Patch) -> dict[tuple[str, str], Json]:
    """Every result as it was before processToolResult, by run and call."""
    raw: dict[tuple[str, str], Json] = {}

    def examine(original: Any, run: Run, info: Any, result: Json, provider_executed: Any) -> Any:
        raw[run.id, info["toolCallId"]] = clone(result)
        return original(run, info, result, provider_executed)

    patch.around(results.examine_result, examine)
    return raw


def deriving(patch: Patch, change: Callable[[Run, Slate, Json], None]) -> None:
    """Changes what a processToolResult gets; `change(run, slate, raw)` has the tool's own result."""

    def derive(run: Run, slate: Slate) -> None:
        slate.setdefault("raw", clone(slate["result"]))
        before(run, slate)
        change(run, slate, slate["raw"])

    before: Any = patch.cell("process_tool_result", derive=derive).derive


@mutant("TOOL-2")
def updates_are_lost(patch: Patch) -> None:
    """updateToolInvocation finds no call before the result is in the list."""
    patch.wrap(MessageList, "update_tool_invocation", lambda original, own, part: False)


@mutant("TOOL-2")
def an_update_finds_the_last_call(patch: Patch) -> None:
    """updateToolInvocation changes the call that was made last."""

    def find(original: Any, own: MessageList, tool_call_id: str) -> Any:
        parts = [part for message in own.live("response") for part in message["content"].get("parts", [])]
        return next((part for part in reversed(parts) if "toolInvocation" in part), None)

    patch.wrap(MessageList, "find_invocation", find)


@mutant("TOOL-3")
def the_chunk_has_the_tool_s_result(patch: Patch) -> None:
    """What the tool returned goes to the client, and what processors made of it to the model."""
    raw = noting(patch)

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        outcome_of = results.outcome_of
        results.outcome_of = lambda *given: shown(run, *outcome_of(*given))
        try:
            yield from original(run, outcome)
        finally:
            results.outcome_of = outcome_of

    def shown(run: Run, kind: str, payload: Any) -> Any:
        return kind, {
            **payload,
            "result": raw.get((run.id, payload["toolCallId"])),
        } if kind == "tool-result" else payload

    patch.around(results.settle, settle)


@mutant("TOOL-9")
def the_provider_s_results_have_no_hook(patch: Patch) -> None:
    """processToolResult is for the tools that the runtime executes."""
    patch.chain(
        "process_tool_result", lambda chain, run, slate: slate if slate["provider_executed"] else chain(run, slate)
    )


@mutant("TOOL-9")
def every_result_says_who_executed_it(patch: Patch) -> None:
    """providerExecuted is true or false."""

    def told(chain: Any, run: Run, slate: Slate) -> Any:
        slate["provider_executed"] = bool(slate["provider_executed"])
        return chain(run, slate)

    patch.chain("process_tool_result", told)


@mutant("TOOL-15")
def accepted_steps_keep_the_tool_s_results(patch: Patch) -> None:
    """A step is noted with what its tools returned."""
    raw = noting(patch)

    def accept(original: Any, run: Run) -> None:
        original(run)
        for result in run.steps[-1]["toolResults"]:
            result["result"] = clone(raw.get((run.id, result["toolCallId"])))

    patch.wrap(Run, "accept_step", accept)


@mutant("TOOL-15")
def the_model_gets_the_tool_s_results(patch: Patch) -> None:
    """Redaction is for people; the model needs to know."""
    raw = noting(patch)

    def prompt(original: Any, *given: Any) -> Any:
        made = original(*given)
        for message in made:
            for content in message["content"] if message["role"] == "tool" else ():
                found = [value for (_, call_id), value in raw.items() if call_id == content["toolCallId"]]
                if found and content["output"]["type"] != "error-text":
                    content["output"]["value"] = clone(found[-1])
        return made

    patch.around(to_prompt, prompt)


@mutant("TOOL-16")
def redactors_start_from_the_tool_s_result(patch: Patch) -> None:
    """Every processor is given what the tool returned, and the last word counts."""
    deriving(patch, lambda run, slate, raw: slate.update(result=clone(raw)))


@mutant("TOOL-18")
def updates_are_seen_at_the_end(patch: Patch) -> None:
    """What processors made of a result is read back when all of them have run."""
    deriving(patch, lambda run, slate, raw: slate.update(result=clone(raw)))


@mutant("TOOL-18")
def a_result_counts_with_its_state(patch: Patch) -> None:
    """A part whose state still says that the call is open has no result."""
    patch.around(is_answered, lambda original, invocation: invocation.get("state") != "call")


@mutant("TOOL-18")
def returned_results_are_ignored(patch: Patch) -> None:
    """processToolResult changes the list, and returns nothing of use."""
    patch.cell("process_tool_result", returns=ignored)


@mutant("TOOL-19")
def updates_replace_the_arguments(patch: Patch) -> None:
    """The invocation handed over takes the place of the one that is there."""

    def update(original: Any, own: MessageList, part: Any) -> Any:
        found = own.find_invocation(part["toolInvocation"]["toolCallId"])
        if found is not None:
            found["toolInvocation"]["args"] = clone(part["toolInvocation"].get("args", {}))
        return original(own, part)

    patch.wrap(MessageList, "update_tool_invocation", update)


@mutant("TOOL-20")
def withheld_results_come_back(patch: Patch) -> None:
    """The tool has not failed, so its result is put where the error was."""

    def examine(original: Any, run: Run, info: Any, result: Json, provider_executed: Any) -> Any:
        invocation = original(run, info, clone(result), provider_executed)
        if invocation is not None and invocation["state"] == "output-error":
            invocation.update(state="result", result=clone(result))
        return invocation

    patch.around(results.examine_result, examine)


@mutant("TOOL-20")
def withheld_results_are_null_results(patch: Patch) -> None:
    """The client gets a result for every call that was executed."""
    patch.around(
        results.outcome_of,
        lambda original, invocation, error=None: (
            original(invocation, error) if error else original({**invocation, "state": "result"})
        ),
    )


@mutant("TOOL-20")
def a_withheld_result_needs_a_reason(patch: Patch) -> None:
    """Without a text there is no error, so the result stands."""

    def examine(original: Any, run: Run, info: Any, result: Json, provider_executed: Any) -> Any:
        invocation = original(run, info, clone(result), provider_executed)
        if invocation is not None and invocation.get("errorText") == results.WITHHELD:
            invocation.update(state="result", result=clone(result))
        return invocation

    patch.around(results.examine_result, examine)


@mutant("TOOL-21")
def the_provider_s_results_go_out_as_they_came(patch: Patch) -> None:
    """The stream is the provider's; processors change what is kept."""

    def settled(original: Any, run: Run, part: Chunk) -> Any:
        original(run, part)
        return part

    patch.around(results.settled, settled)


@mutant("TOOL-22")
def results_answer_calls_of_their_own_step(patch: Patch) -> None:
    """A result whose call is not in the present answer answers none."""
    patch.wrap(Response, "invocation", lambda original, own, call_id, *, anywhere=False: original(own, call_id))


@mutant("TOOL-24")
def results_outlive_their_calls(patch: Patch) -> None:
    """The tool has been executed, so the client is told."""

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        before = run.response.invocation(outcome.call["toolCallId"])
        yield from original(run, outcome)
        if before is not None and run.response.invocation(outcome.call["toolCallId"]) is None:
            yield run.chunk("tool-result", {**outcome.call, "result": outcome.result})

    patch.around(results.settle, settle)
    patch.around(results.settled, lambda original, run, part: original(run, part) or part)


@mutant("TOOL-24")
def who_comes_later_gets_what_was_taken_out(patch: Patch) -> None:
    """A processor is given the tool's result wherever the list has none."""

    def fall_back(run: Run, slate: Slate, raw: Json) -> None:
        if slate["result"] is None:
            slate["result"] = clone(raw)

    deriving(patch, fall_back)


@mutant("TOOL-24")
def failures_outlive_their_calls(patch: Patch) -> None:
    """A tool that failed has no result to take out."""

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        gone = run.response.invocation(outcome.call["toolCallId"]) is None
        yield from original(run, outcome)
        if gone and outcome.error is not None:
            yield run.chunk("tool-error", {**outcome.call, "error": {"name": "Error", "message": str(outcome.error)}})

    patch.around(results.settle, settle)


@mutant("TOOL-33")
def steps_of_a_result_are_the_ones_before(patch: Patch) -> None:
    """The current step is not completed, so it is not among the steps."""
    deriving(patch, lambda run, slate, raw: slate.update(steps=run.shown_steps()))


@mutant("TOOL-37")
def an_abort_withholds_a_result(patch: Patch) -> None:
    """What a processor refuses is taken out, and the run goes on."""

    def refused(chain: Any, run: Run, slate: Slate) -> Any:
        try:
            return chain(run, slate)
        except AttemptRejected:
            raise
        except RunEnded:
            run.go_on()
            return {**slate, "result": None}

    patch.chain("process_tool_result", refused)


@mutant("TOOL-37")
def a_result_cannot_be_asked_for_again(patch: Patch) -> None:
    """The tool has acted, so its step is not repeated."""
    patch.cell("process_tool_result", retries=False)
