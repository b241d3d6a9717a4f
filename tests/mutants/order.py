"""Mutants of the family ORD, rules 1 to 12: hooks at the wrong place, in the wrong order, too often or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from processor_contract import loop, pipeline, results, tools
from processor_contract.agent import DEFAULT_RETRIES_WITH_ERROR_PROCESSORS
from processor_contract.data import Chunk, clone
from processor_contract.hooks import HOOKS
from processor_contract.memory import HISTORY_ID
from processor_contract.returns import Slate
from processor_contract.run import Attempt, Run
from processor_contract.tools import Outcome

from . import Patch, mutant

Chunks = Iterator[Chunk]
STREAM = "process_output_stream"
OUTPUT_HOOKS = [name for name, hook in HOOKS.items() if hook.array == "output"]
ERROR_HOOKS = [name for name, hook in HOOKS.items() if hook.array == "error"]
RESPONSE = "process_llm_response"  # of the input array, but on the way back
INPUT_HOOKS = [name for name, hook in HOOKS.items() if hook.array == "input" and name != RESPONSE]


def replan(patch: Patch, change: Callable[[Run], Any]) -> None:
    """Changes the chains of every run, after they are planned."""
    patch.around(pipeline.plan, lambda plan, run: (plan(run), change(run)))


def turn(run: Run, *hooks: str) -> None:
    """Reverses the chains of some hooks."""
    for hook in hooks:
        run.plan[hook].reverse()


def swap(patch: Patch, hook: str, behind: str) -> None:
    """Holds one hook back until another has run."""
    waiting: dict[str, Slate] = {}

    def first(chain: Any, run: Run, slate: Slate) -> Any:
        return waiting.setdefault(run.id, slate)

    def second(chain: Any, run: Run, slate: Slate) -> Any:
        slate = chain(run, slate)
        if run.id in waiting:
            held(run, hook, waiting.pop(run.id))
        return slate

    held = pipeline.call
    patch.chain(hook, first)
    patch.chain(behind, second)


@mutant("ORD-1")
def request_hooks_before_input_step(patch: Patch) -> None:
    """processInputStep is called when the request is complete, behind processLLMRequest."""
    swap(patch, "process_input_step", behind="process_llm_request")


@mutant("ORD-1")
def output_step_before_the_model(patch: Patch) -> None:
    """processOutputStep runs with what the step before left, where the next one begins."""
    swap(patch, "process_output_step", behind="process_input_step")


@mutant("ORD-2")
def input_in_every_step(patch: Patch) -> None:
    """processInput runs again in every further step."""

    def again(chain: Any, run: Run, slate: Slate) -> Any:
        if slate["step_number"]:
            pipeline.call(run, "process_input", {})
        return chain(run, slate)

    patch.chain("process_input_step", again)


@mutant("ORD-2")
def input_once_for_the_agent(patch: Patch) -> None:
    """processInput is taken for a set-up: it runs in the first request of an agent only."""
    seen: set[Any] = set()

    def once(chain: Any, run: Run, slate: Slate) -> Any:
        if run.models in seen:
            return slate
        seen.add(run.models)
        return chain(run, slate)

    patch.chain("process_input", once)


@mutant("ORD-2")
def input_behind_the_first_input_step(patch: Patch) -> None:
    """processInput looks at the input when the first step has prepared it."""
    swap(patch, "process_input", behind="process_input_step")


@mutant("ORD-3")
def output_chains_reversed(patch: Patch) -> None:
    """Output processors are called from the last to the first, like layers of an onion."""
    replan(patch, lambda run: turn(run, *OUTPUT_HOOKS))


@mutant("ORD-3")
def input_chains_reversed(patch: Patch) -> None:
    """Input processors are wrapped around the model one after the other, so that the last one comes first."""
    replan(patch, lambda run: turn(run, *INPUT_HOOKS))


@mutant("ORD-3")
def llm_response_chain_reversed(patch: Patch) -> None:
    """processLLMResponse is taken for the way back of processLLMRequest."""
    replan(patch, lambda run: turn(run, RESPONSE))


@mutant("ORD-3")
def error_chain_reversed(patch: Patch) -> None:
    """Error processors are tried like nested handlers, the one listed last being the innermost."""
    replan(patch, lambda run: turn(run, *ERROR_HOOKS))


@mutant("ORD-3")
def one_order_for_all_arrays(patch: Patch) -> None:
    """Objects are registered once: one in several arrays has its place in the first of them everywhere."""

    def registered(run: Run) -> None:
        order = [*run.settings.inputs, *run.settings.outputs, *run.settings.errors]
        for hook in (*OUTPUT_HOOKS, *ERROR_HOOKS):
            run.plan[hook].sort(key=lambda link: (link.processor.id == HISTORY_ID, order.index(link.processor)))

    replan(patch, registered)


@mutant("ORD-4")
def llm_response_from_the_output_array(patch: Patch) -> None:
    """processLLMResponse is taken from outputProcessors, because it handles an answer."""
    patch.cell("process_llm_response", array="output")


@mutant("ORD-4")
def error_hook_from_the_input_array(patch: Patch) -> None:
    """processAPIError is taken from inputProcessors, like the other hooks around the model call."""
    patch.cell("process_api_error", array="input")


@mutant("ORD-4")
def error_array_needs_a_number_of_retries(patch: Patch) -> None:
    """Who sets no number of retries wants no recovery."""

    def unasked(run: Run) -> None:
        if run.settings.max_retries == DEFAULT_RETRIES_WITH_ERROR_PROCESSORS:
            run.plan["process_api_error"] = []

    replan(patch, unasked)


@mutant("ORD-4")
def output_step_from_the_input_array(patch: Patch) -> None:
    """processOutputStep is taken from inputProcessors, like processInputStep."""
    patch.cell("process_output_step", array="input")


@mutant("ORD-5")
def hooks_from_any_array(patch: Patch) -> None:
    """Every hook of every listed object is called, whichever array lists it."""

    def merged(plan: Any, run: Run) -> None:
        arrays = {name: list(getattr(run.settings, name)) for name in ("inputs", "outputs", "errors")}
        for name, array in arrays.items():
            others = [one for other in arrays.values() for one in other if one not in array]
            setattr(run.settings, name, [*array, *dict.fromkeys(others)])
        plan(run)

    patch.around(pipeline.plan, merged)


@mutant("ORD-6")
def input_step_only_once(patch: Patch) -> None:
    """processInputStep runs in the first step only: the steps after it just carry tool results."""
    patch.chain("process_input_step", lambda chain, run, slate: slate if slate["step_number"] else chain(run, slate))


@mutant("ORD-6")
def llm_request_only_once(patch: Patch) -> None:
    """processLLMRequest runs on the first prompt only."""
    patch.chain("process_llm_request", lambda chain, run, slate: slate if slate["step_number"] else chain(run, slate))


@mutant("ORD-7")
def prepare_step_first(patch: Patch) -> None:
    """prepareStep is put before the input processors instead of behind them."""
    replan(patch, lambda run: run.plan["process_input_step"].sort(key=lambda one: one.processor.id != "prepare-step"))


@mutant("ORD-8")
def client_before_the_last_link(patch: Patch) -> None:
    """The last output processor observes: it gets a chunk when the client has it."""

    def observed(answer: Any, run: Run, attempt: Attempt, request: Any) -> Chunks:
        links = run.plan[STREAM]
        try:
            run.plan[STREAM] = links[:-1]
            for chunk in answer(run, attempt, request):
                yield chunk
                run.plan[STREAM] = links[-1:]
                pipeline.through_stream(run, chunk)
                run.plan[STREAM] = links[:-1]
        finally:
            run.plan[STREAM] = links

    patch.around(loop.answer, observed)


@mutant("ORD-8")
def one_pass_for_each_processor(patch: Patch) -> None:
    """Each output processor gets the whole answer before the next one gets any of it."""

    def passes(answer: Any, run: Run, attempt: Attempt, request: Any) -> Chunks:
        links = run.plan[STREAM]
        try:
            run.plan[STREAM] = links[:1]
            chunks = list(answer(run, attempt, request))
            for link in links[1:]:
                run.plan[STREAM] = [link]
                chunks = [passed for passed in [pipeline.through_stream(run, chunk) for chunk in chunks] if passed]
        finally:
            run.plan[STREAM] = links
        yield from chunks

    patch.around(loop.answer, passes)


@mutant("ORD-9")
def llm_response_after_output_step(patch: Patch) -> None:
    """processLLMResponse closes the step: it runs when processOutputStep has accepted the answer."""
    swap(patch, "process_llm_response", behind="process_output_step")


@mutant("ORD-10")
def tools_before_output_step(patch: Patch) -> None:
    """processOutputStep judges the step as a whole, when its tools have run."""
    waiting: dict[str, Slate] = {}

    def late(chain: Any, run: Run, slate: Slate) -> Any:
        if any(tools.answered_here(run, each["toolName"]) for each in results.open_calls(run)):
            return waiting.setdefault(run.id, slate)
        return chain(run, slate)

    def ran(run_tools: Any, run: Run, calls: Any) -> Any:
        outcomes = yield from run_tools(run, calls)
        call(run, "process_output_step", waiting.pop(run.id))
        return outcomes

    call = pipeline.call
    patch.chain("process_output_step", late)
    patch.around(tools.run_tools, ran)


@mutant("ORD-11")
def result_in_the_list_before_its_hook(patch: Patch) -> None:
    """The result is put into the list at once, and processToolResult may change it there."""

    def listed(chain: Any, run: Run, slate: Slate) -> Any:
        part = run.message_list.find_invocation(slate["tool_call_id"])
        if part is not None:
            part["toolInvocation"].update(state="result", result=slate["result"])
        return chain(run, slate)

    patch.chain("process_tool_result", listed)


@mutant("ORD-11")
def tool_hook_once_a_step(patch: Patch) -> None:
    """processToolResult runs once for all calls of a step."""
    seen: dict[str, Attempt] = {}

    def once(chain: Any, run: Run, slate: Slate) -> Any:
        if seen.get(run.id) is run.attempt:
            return slate
        seen[run.id] = run.attempt
        return chain(run, slate)

    patch.chain("process_tool_result", once)


@mutant("ORD-12")
def tool_result_chunk_before_its_hook(patch: Patch) -> None:
    """The client is told of a result as soon as it is there; processToolResult then cares for the conversation."""

    def early(settle: Any, run: Run, outcome: Outcome) -> Chunks:
        if outcome.error is not None:
            yield from settle(run, outcome)
            return
        payload: dict[str, Any] = clone(outcome.call)
        yield from pipeline.passed(run, run.chunk("tool-result", {**payload, "result": clone(outcome.result)}))
        results.examine_result(run, outcome.call, outcome.result, None)

    patch.around(results.settle, early)
