"""Mutants of rules that say what a hook is given, and that the documents' examples work as written: ORD-38, TRI-20,
RTY-30, ERR-39, MSG-51, MSG-52, CFG-34, CFG-35, RES-27 and RES-28.
"""

from __future__ import annotations

from typing import Any

from processor_contract import loop, returns
from processor_contract.context import AbortSignal
from processor_contract.errors import RunEnded
from processor_contract.hooks import HOOKS
from processor_contract.processor import HookArgs
from processor_contract.returns import Returns, Slate
from processor_contract.run import Link, Run

from . import Patch, mutant
from .contexts import handed
from .order import replan
from .state import give
from .step_settings import STEP, returning, without


def unplanned(patch: Patch, hook: str) -> None:
    """The hook is planned nowhere."""
    replan(patch, lambda run: run.plan[hook].clear())


@mutant("ORD-38")
def tool_results_have_no_hook(patch: Patch) -> None:
    """There are eight hooks: a tool's result is the tool's affair."""
    unplanned(patch, "process_tool_result")


@mutant("ORD-38")
def failures_have_no_hook(patch: Patch) -> None:
    """There are eight hooks: a failure is the end."""
    unplanned(patch, "process_api_error")


@mutant("TRI-20")
def the_model_is_asked_all_the_same(patch: Patch) -> None:
    """An abort in processInput ends its chain, and the run goes on."""

    def phase(original: Any, run: Run) -> None:
        try:
            original(run)
        except RunEnded:
            run.go_on()
            run.system_before = run.message_list.system_state()

    patch.around(loop.input_phase, phase)


@mutant("TRI-20")
def only_what_the_user_says_is_shown_to_filters(patch: Patch) -> None:
    """processInput sees what the user said, and nothing that an assistant did."""
    everything = HOOKS["process_input"].sees
    assert everything is not None
    patch.cell("process_input", sees=lambda list_: [one for one in everything(list_) if one["role"] == "user"])


def deaf_to_aborts(patch: Patch, when: Any) -> None:
    """An abort for which `when(args)` holds is none."""

    def chosen(abort: Any, args: HookArgs, *reason: Any, **named: Any) -> None:
        if not when(args):
            abort(args, *reason, **named)

    patch.wrap(HookArgs, "abort", chosen)


@mutant("RTY-30")
def the_last_attempt_is_always_good_enough(patch: Patch) -> None:
    """When the attempts are used up the last answer stands, whatever a guardrail says of it."""
    deaf_to_aborts(patch, lambda args: args.retry_count >= 3)


@mutant("RTY-30")
def an_answer_has_two_attempts(patch: Patch) -> None:
    """One more attempt is enough for anybody: after it, an abort ends the run."""
    patch.wrap(Run, "may_retry", lambda may_retry, run: run.retries < 1 and may_retry(run))


def hidden_instructions(patch: Patch, hook: str) -> None:
    """This hook is not shown the system messages."""
    handed(patch, "system_messages", lambda run, link, right: [] if link.hook is HOOKS[hook] else right)


def listless(patch: Patch, hook: str) -> None:
    """This hook has no message list."""

    def change(run: Run) -> None:
        for link in run.plan[hook]:
            if not link.last_act:
                give(link, "message_list", None)

    replan(patch, change)


@mutant("ERR-39")
def error_hooks_have_no_list(patch: Patch) -> None:
    """Whoever looks at a failure gets the messages, and nothing to change them with."""
    listless(patch, "process_api_error")


@mutant("ERR-39")
def error_hooks_do_not_know_their_step(patch: Patch) -> None:
    """A failure is a failure, in whichever step."""

    def told(chain: Any, run: Run, slate: Any) -> Any:
        return chain(run, {**slate, "step_number": 0, "steps": []})

    patch.chain("process_api_error", told)


@mutant("MSG-51")
def the_question_stays_as_it_was_asked(patch: Patch) -> None:
    """What processInput returns is for the processors behind it; the model is asked what the user wrote."""

    def phase(original: Any, run: Run) -> None:
        copies: Any = [dict(one) for one in run.message_list.everything()]
        original(run)
        run.message_list.clear()
        run.message_list.add(copies, "input")

    patch.around(loop.input_phase, phase)


@mutant("MSG-52")
def input_hooks_have_no_list(patch: Patch) -> None:
    """The question is handed over as an array, which is enough."""
    listless(patch, "process_input")


@mutant("MSG-52")
def instructions_are_hidden_from_the_input(patch: Patch) -> None:
    """The agent's instructions are no affair of a processor of the question."""
    hidden_instructions(patch, "process_input")


@mutant("CFG-34")
def messages_in_the_object_are_passed_over(patch: Patch) -> None:
    """An object has settings; messages are returned as an array."""
    returning(patch, lambda run, link, slate, value: without(value, "messages"))


@mutant("CFG-34")
def the_list_in_the_object_is_a_wrong_return(patch: Patch) -> None:
    """The list is returned by itself, or not at all."""
    patch.set(returns, "STEP_KEYS", returns.STEP_KEYS - {"message_list"})


@mutant("CFG-34")
def arrays_are_for_other_hooks(patch: Patch) -> None:
    """processInputStep returns an object, and an array is passed over."""

    def take(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        return original(run, link, slate, None if isinstance(returned, list) else returned)

    patch.returned(STEP, take)


@mutant("CFG-35")
def input_steps_have_no_list(patch: Patch) -> None:
    """The conversation is handed over as an array, which is enough."""
    listless(patch, "process_input_step")


@mutant("CFG-35")
def input_steps_do_not_see_the_instructions(patch: Patch) -> None:
    """The agent's instructions are no affair of a processor."""
    hidden_instructions(patch, "process_input_step")


@mutant("RES-27")
def the_result_comes_without_a_list(patch: Patch) -> None:
    """What is finished cannot be changed: processOutputResult has no list."""
    listless(patch, "process_output_result")


@mutant("RES-28")
def signals_are_for_tools(patch: Patch) -> None:
    """A signal stops providers and tools; hooks have none."""
    handed(patch, "abort_signal", lambda run, link, signal: None)


@mutant("RES-28")
def a_signal_says_what_was_when_the_hook_began(patch: Patch) -> None:
    """A hook is told whether the caller has fired; later it need not be told."""

    def as_it_is(run: Run, link: Link, signal: AbortSignal | None) -> AbortSignal | None:
        if signal is None:
            return None
        now = AbortSignal()
        now.aborted = signal.aborted
        return now

    handed(patch, "abort_signal", as_it_is)
