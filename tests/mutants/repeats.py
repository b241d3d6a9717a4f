"""Mutants of the family RTY: attempts that do not end, or do not begin, where they have to."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from processor_contract import loop, pipeline, request, results, tools
from processor_contract.errors import AttemptRejected, RunEnded
from processor_contract.run import Attempt, Run
from processor_contract.tools import Outcome

from . import Patch, mutant
from .abort import Chunks

# -- the end of an attempt ---------------------------------------------------------------------------------------------


def passing(patch: Patch, around: Callable[[Callable[..., Chunks], Run, Any, bool], Chunks]) -> None:
    """The runtime's own chunks go out by `around(passed, run, chunk, plainly)`."""
    patch.around(
        pipeline.passed,
        lambda original, run, chunk, *, plainly=False: around(
            lambda plainly=plainly: original(run, chunk, plainly=plainly), run, chunk, plainly
        ),
    )


def is_retry(chunk: Any) -> bool:
    return bool(chunk["type"] == "step-finish" and chunk["payload"].get("finishReason") == "retry")


@mutant("RTY-8")
def an_attempt_cannot_be_stopped_at_its_end(patch: Patch) -> None:
    """The attempt is over; what is said on its last chunk is ignored."""

    def around(passed: Callable[..., Chunks], run: Run, chunk: Any, plainly: bool) -> Chunks:
        try:
            yield from passed()
        except RunEnded:
            if not is_retry(chunk):
                raise
            run.go_on()

    passing(patch, around)


@mutant("RTY-8")
def the_end_of_an_attempt_can_be_rejected(patch: Patch) -> None:
    """A retry is granted on every chunk of a step."""

    def around(passed: Callable[..., Chunks], run: Run, chunk: Any, plainly: bool) -> Chunks:
        try:
            yield from passed(plainly=False)
        except AttemptRejected:
            if not is_retry(chunk):
                raise
            run.go_on()

    passing(patch, around)


@mutant("RTY-23")
def attempts_use_up_the_step_limit(patch: Patch) -> None:
    """The step limit is a limit of model calls."""

    def grant(original: Any, own: Run, **options: Any) -> None:
        own.settings.max_steps -= 1
        original(own, **options)

    def steps(original: Any, run: Run) -> Chunks:
        for chunk in original(run):
            yield chunk
            if chunk["type"] == "step-finish" and len(run.steps) >= run.settings.max_steps:
                return

    patch.wrap(Run, "grant_retry", grant)
    patch.around(loop.steps, steps)


@mutant("RTY-23")
def a_retry_in_the_last_step_is_too_late(patch: Patch) -> None:
    """The last step that the limit allows cannot be repeated."""

    def may(original: Any, own: Run) -> bool:
        return bool(original(own)) and own.attempt.number + 1 < own.settings.max_steps

    patch.wrap(Run, "may_retry", may)


@mutant("RTY-24")
def a_rejection_finishes_its_chain(patch: Patch) -> None:
    """All processors judge an attempt; then it is repeated."""

    def call(original: Any, run: Run, name: str, slate: Any) -> Any:
        try:
            return original(run, name, slate)
        except AttemptRejected as rejected:
            links = run.plan[name]
            at = [link.processor.id for link in links].index(str(rejected.tripwire.processor_id))
            run.plan[name] = links[at + 1 :]
            run.go_on()
            with contextlib.suppress(RunEnded):
                original(run, name, slate)
            run.plan[name] = links
            run.go_on()
            raise

    patch.around(pipeline.call, call)


@mutant("RTY-24")
def tools_of_a_rejected_answer_run(patch: Patch) -> None:
    """The tools of an answer have been asked for, and run, whoever judges it."""

    def examine(original: Any, run: Run, attempt: Attempt) -> None:
        try:
            original(run, attempt)
        except AttemptRejected:
            for each in results.open_calls(run):
                tools._execute(run, Outcome(each))
            raise

    patch.around(loop.examine, examine)


@mutant("RTY-24")
def a_rejected_answer_is_read_to_its_end(patch: Patch) -> None:
    """A rejection counts when the answer is complete and has been seen by all."""

    def answer(original: Any, run: Run, attempt: Attempt, asked: Any) -> Chunks:
        try:
            yield from original(run, attempt, asked)
        except AttemptRejected:
            run.go_on()
            loop.examine(run, attempt)
            raise

    patch.around(loop.answer, answer)


@mutant("RTY-24")
def other_results_are_settled_after_a_rejection(patch: Patch) -> None:
    """All results of a step pass their hook; then the step is repeated."""

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        try:
            yield from original(run, outcome)
        except AttemptRejected as rejected:
            run.go_on()
            for call in results.open_calls(run):
                if call["toolCallId"] != outcome.call["toolCallId"]:
                    yield from original(run, Outcome(call, result={}))
            raise rejected

    patch.around(results.settle, settle)


@mutant("RTY-24")
def other_results_go_out_after_a_rejection(patch: Patch) -> None:
    """Results that are there go out, hook or not."""

    def settle(original: Any, run: Run, outcome: Outcome) -> Chunks:
        try:
            yield from original(run, outcome)
        except AttemptRejected:
            for call in results.open_calls(run):
                if call["toolCallId"] != outcome.call["toolCallId"]:
                    yield run.chunk("tool-result", {**call, "result": {}})
            raise

    patch.around(results.settle, settle)


# -- the beginning of the next one -------------------------------------------------------------------------------------


def asking(patch: Patch, again: Callable[[Callable[[], Any], Run, Attempt, Any], Any]) -> None:
    """A repeated attempt asks by `again(ask, run, attempt, what the rejected one asked)`."""
    asked: dict[str, Any] = {}

    def ask(original: Any, run: Run, attempt: Attempt) -> Any:
        def anew() -> Any:
            return original(run, attempt)

        if run.retries and run.id in asked:
            before, made = asked[run.id]
            made = again(anew, run, attempt, (before, made))
        else:
            made = anew()
        asked[run.id] = attempt, made
        return made

    patch.around(request.ask, ask)


@mutant("RTY-25")
def a_repeated_attempt_is_not_prepared_again(patch: Patch) -> None:
    """The same prompt goes to the model once more."""

    def again(anew: Callable[[], Any], run: Run, attempt: Attempt, before: Any) -> Any:
        earlier, made = before
        attempt.model, attempt.offered = earlier.model, earlier.offered
        return made

    asking(patch, again)


@mutant("RTY-25")
def a_rejected_prompt_is_sent_as_it_was(patch: Patch) -> None:
    """A repetition begins behind processInputStep: what that said holds for the step."""
    kept: dict[str, tuple[int, Any]] = {}

    def chain(original: Any, run: Run, slate: Any) -> Any:
        number, said = kept.get(run.id, (-1, None))
        if run.retries and number == slate["step_number"]:
            return said
        made = original(run, slate)
        kept[run.id] = slate["step_number"], made
        return made

    patch.chain("process_input_step", chain)


@mutant("RTY-25")
def the_input_is_processed_again(patch: Patch) -> None:
    """A repetition begins at the beginning."""

    def again(anew: Callable[[], Any], run: Run, attempt: Attempt, before: Any) -> Any:
        pipeline.call(run, "process_input", {})
        return anew()

    asking(patch, again)


@mutant("RTY-25")
def system_messages_of_a_rejected_attempt_stay(patch: Patch) -> None:
    """System messages are reset with each step, and a repeated attempt is the same step."""

    def begin(original: Any, own: Run, number: int) -> Attempt:
        if own.retries:
            own.system_before = own.message_list.system_state()
        attempt: Attempt = original(own, number)
        return attempt

    patch.wrap(Run, "begin_attempt", begin)


@mutant("RTY-25")
def overrides_of_a_rejected_attempt_stay(patch: Patch) -> None:
    """What processInputStep chose holds for the step, however often it is tried."""
    kept: dict[str, Any] = {}

    def chain(original: Any, run: Run, slate: Any) -> Any:
        if run.retries and run.id in kept:
            slate = {**slate, **{key: kept[run.id][key] for key in ("model", "active_tools", "tool_choice")}}
        kept[run.id] = made = original(run, slate)
        return made

    patch.chain("process_input_step", chain)


@mutant("RTY-25")
def messages_of_a_rejected_attempt_go(patch: Patch) -> None:
    """What processInputStep added for an attempt falls with it."""
    before: dict[str, set[str]] = {}

    def begin(original: Any, own: Run, number: int) -> Attempt:
        attempt: Attempt = original(own, number)
        before[own.id] = {message["id"] for message in own.message_list.everything()}
        return attempt

    def reject(original: Any, own: Run) -> None:
        original(own)
        added = [each["id"] for each in own.message_list.everything() if each["id"] not in before[own.id]]
        own.message_list.remove_by_ids(added)

    patch.wrap(Run, "begin_attempt", begin)
    patch.wrap(Run, "reject_attempt", reject)
