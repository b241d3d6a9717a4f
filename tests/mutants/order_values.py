"""Mutants of the family ORD, rules 22 and 31 to 37: what each one gets of what came before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from processor_contract import agent, errors, loop, pipeline, results
from processor_contract.data import clone
from processor_contract.hooks import HOOKS
from processor_contract.message_list import MessageList
from processor_contract.returns import Returns, Slate
from processor_contract.run import Attempt, Link, Run
from processor_contract.settings import STEP_OVERRIDES

from . import Patch, mutant
from .order import Chunks, replan
from .order_runs import is_history


def view_kept(patch: Patch, *hooks: str, renewed_by: Callable[[Any], bool] = lambda value: False) -> None:
    """Takes a chain's messages at its beginning, and again after some returns; every processor gets a copy."""
    views: dict[int, Any] = {}

    def keep(hook: str) -> None:
        sees = HOOKS[hook].sees
        assert sees is not None

        def seen(message_list: MessageList) -> Any:
            return clone(views.setdefault(id(message_list), clone(sees(message_list))))

        def returned(original: Returns, run: Run, link: Link, slate: Slate, value: Any) -> bool:
            stops = original(run, link, slate, value)
            if renewed_by(value):
                views.pop(id(run.message_list), None)
            return stops

        def fresh(chain: Any, run: Run, slate: Slate) -> Any:
            views.pop(id(run.message_list), None)
            return chain(run, slate)

        patch.cell(hook, sees=seen)
        patch.returned(hook, returned)
        patch.chain(hook, fresh)

    for hook in hooks:
        keep(hook)


@mutant("ORD-22")
def messages_computed_once_a_chain(patch: Patch) -> None:
    """The messages of a chain are taken from the list at its beginning."""
    view_kept(patch, "process_input", "process_input_step")


@mutant("ORD-22")
def messages_handed_on_as_returned(patch: Patch) -> None:
    """The next processor gets the array that the one before it returned; the list is looked at by the next hook."""
    view_kept(patch, "process_input", "process_input_step", renewed_by=lambda value: isinstance(value, (list, dict)))


@mutant("ORD-22")
def settings_of_the_agent_for_everyone(patch: Patch) -> None:
    """Each processInputStep gets the settings of the agent; what they return is put together at the end."""
    overrides: dict[str, Slate] = {}

    def apart(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        own = dict(slate)
        stops = original(run, link, own, returned)
        overrides[run.id].update({key: own[key] for key in STEP_OVERRIDES if own[key] is not slate[key]})
        return stops

    def together(chain: Any, run: Run, slate: Slate) -> Any:
        overrides[run.id] = {}
        return {**chain(run, slate), **overrides[run.id]}

    patch.returned("process_input_step", apart)
    patch.chain("process_input_step", together)


def raw_for_everyone(patch: Patch, hook: str, key: str) -> None:
    """Gives every processor of a chain what the first one got; the last one that changed it decides."""
    raw: dict[str, Any] = {}

    def keep(chain: Any, run: Run, slate: Slate) -> Any:
        raw[run.id] = slate[key]
        return chain(run, slate)

    patch.derived(hook, lambda run, slate: slate.update({key: raw[run.id]}))
    patch.chain(hook, keep)


@mutant("ORD-31")
def raw_chunk_for_everyone(patch: Patch) -> None:
    """Every output processor gets the chunk of the model."""
    raw_for_everyone(patch, "process_output_stream", "part")


@mutant("ORD-31")
def raw_prompt_for_everyone(patch: Patch) -> None:
    """Every processLLMRequest gets the prompt as the runtime made it."""
    raw_for_everyone(patch, "process_llm_request", "prompt")


@mutant("ORD-31")
def raw_result_for_everyone(patch: Patch) -> None:
    """Every processToolResult gets the result as the tool returned it."""
    patch.cell("process_tool_result", derive=lambda run, slate: slate.update(steps=[*run.steps, run.current_step()]))


@mutant("ORD-31")
def answer_read_once_a_chain(patch: Patch) -> None:
    """processOutputStep and processOutputResult get copies of the answer as their chain began with it."""
    view_kept(patch, "process_output_step", "process_output_result")


@mutant("ORD-31")
def only_returned_changes_reach_the_next(patch: Patch) -> None:
    """The next processor gets new messages only where the one before it returned some."""
    view_kept(patch, "process_input", "process_input_step", renewed_by=lambda value: value is not None)


@mutant("ORD-32")
def tool_result_hook_from_the_input_array(patch: Patch) -> None:
    """processToolResult is taken from inputProcessors, because results are input of the next step."""
    patch.cell("process_tool_result", array="input")


@mutant("ORD-32")
def output_result_hook_from_the_input_array(patch: Patch) -> None:
    """processOutputResult is taken from inputProcessors, like processInput."""
    patch.cell("process_output_result", array="input")


@mutant("ORD-33")
def override_drops_prepare_step(patch: Patch) -> None:
    """The input processors of a call replace the whole chain, prepareStep included."""

    def settings(original: Any, own: agent.Agent, options: agent.CallOptions, context: Any) -> Any:
        kept = options.prepare_step if options.input_processors is None else None
        return original(own, replace(options, prepare_step=kept), context)

    patch.wrap(agent.Agent, "_settings", settings)


@mutant("ORD-33")
def prepare_step_gets_the_settings_of_the_agent(patch: Patch) -> None:
    """prepareStep is called with the settings of the agent, and what it returns is put over the chain's."""

    def apart(chain: Any, run: Run, slate: Slate) -> Any:
        links = run.plan["process_input_step"]
        own = dict(slate)
        run.plan["process_input_step"] = [link for link in links if link.processor.id != agent.PREPARE_STEP_ID]
        chain(run, slate)
        run.plan["process_input_step"] = [link for link in links if link.processor.id == agent.PREPARE_STEP_ID]
        prepared = chain(run, dict(own))
        run.plan["process_input_step"] = links
        return {**slate, **{key: prepared[key] for key in STEP_OVERRIDES if prepared[key] is not own[key]}}

    patch.chain("process_input_step", apart)


@mutant("ORD-34")
def answer_collected_before_the_hooks(patch: Patch) -> None:
    """The answer is read to its end before its chunks pass."""
    patch.around(loop.provided, lambda provided, *asked: (part for part in list(provided(*asked))))


@mutant("ORD-34")
def deltas_joined_before_the_hooks(patch: Patch) -> None:
    """Texts are put together, and processOutputStream gets each as one chunk."""

    def joined(provided: Any, *asked: Any) -> Chunks:
        pieces: list[str] = []
        for part in provided(*asked):
            if part["type"] == "text-delta":
                pieces.append(part["payload"]["text"])
                continue
            if pieces and part["type"] == "text-end":
                yield {"type": "text-delta", "payload": {"id": part["payload"]["id"], "text": "".join(pieces)}}
                pieces.clear()
            yield part

    patch.around(loop.provided, joined)


@mutant("ORD-35")
def provider_results_after_the_answer(patch: Patch) -> None:
    """All results of a step are processed behind its answer, those of the provider too."""
    waiting: list[Any] = []

    def examine(original: Any, run: Run, attempt: Attempt) -> None:
        while waiting:
            settled(*waiting.pop(0))
        original(run, attempt)

    def later(run: Run, part: Any) -> Any:
        waiting.append((run, part))
        return part

    settled = results.settled
    patch.function(settled, later)
    patch.around(loop.examine, examine)


@mutant("ORD-36")
def output_step_after_a_failed_call(patch: Patch) -> None:
    """processOutputStep closes every step, also one whose call has failed for good."""

    def surface(original: Any, run: Run, attempt: Attempt, error: BaseException) -> Chunks:
        loop.examine(run, attempt)
        yield from original(run, attempt, error)

    patch.around(loop.surface, surface)


@mutant("ORD-36")
def no_output_step_after_a_recovery(patch: Patch) -> None:
    """A step whose call was repeated has had its hook."""
    patch.chain("process_output_step", lambda chain, run, slate: slate if run.api_retries else chain(run, slate))


@mutant("ORD-36")
def error_shown_before_its_hook(patch: Patch) -> None:
    """The client is told of a failure when it happens; processAPIError then sees whether it can be mended."""

    def recover(original: Any, run: Run, attempt: Attempt, error: BaseException) -> Any:
        yield from pipeline.passed(run, run.chunk("error", {"error": errors.described(error)}))
        return (yield from original(run, attempt, error))

    patch.around(loop.recover, recover)


@mutant("ORD-37")
def chain_ends_at_a_gap(patch: Patch) -> None:
    """An object without the hook ends the chain, as one without a handler ends a chain of handlers."""

    def cut(run: Run) -> None:
        arrays = {"input": run.settings.inputs, "output": run.settings.outputs, "error": run.settings.errors}
        for name, hook in HOOKS.items():
            array = [one for one in arrays[hook.array] if not is_history(one)]
            gap = next((at for at, one in enumerate(array) if not hasattr(one, name)), len(array))
            run.plan[name] = [
                one for one in run.plan[name] if is_history(one.processor) or one.processor in array[:gap]
            ]

    replan(patch, cut)
