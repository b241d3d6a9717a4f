"""Mutants of the family LLM, rules 2 to 9 and 15 to 20: requests that are changed or answered by a processor."""

from __future__ import annotations

from typing import Any

from processor_contract import loop, pipeline, prompt, results
from processor_contract.data import Chunk, clone
from processor_contract.errors import ContractError, WrongReturn
from processor_contract.models import ModelRequest
from processor_contract.returns import Returns, Slate
from processor_contract.run import Attempt, Link, Run

from . import Patch, mutant
from .odd_values import blaming_nobody
from .stream_chunks import passing


def handed_on(patch: Patch, name: str) -> None:
    """An attempt begins with what the one before it had under this name."""

    def begin(original: Any, run: Run, number: int) -> Attempt:
        before = getattr(run.attempt, name)
        attempt: Attempt = original(run, number)
        setattr(attempt, name, before)
        return attempt

    patch.wrap(Run, "begin_attempt", begin)


# -- what processLLMRequest returns ------------------------------------------------------------------------------------


@mutant("LLM-2")
def returned_prompts_are_shown_only(patch: Patch) -> None:
    """The prompt goes to the next processor, and what was converted goes to the provider."""

    def around(chain: Any, run: Run, slate: Slate) -> Slate:
        made = clone(slate["prompt"])
        return {**chain(run, slate), "prompt": made}

    patch.chain("process_llm_request", around)


@mutant("LLM-2")
def only_the_first_step_s_prompt_can_be_replaced(patch: Patch) -> None:
    """What a processor returns for the first call is remembered, and later ones are passed over."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        return slate["step_number"] == 0 and original(run, link, slate, returned)

    patch.returned("process_llm_request", around)


@mutant("LLM-2")
def nothing_returned_is_an_empty_prompt(patch: Patch) -> None:
    """A hook has to return the prompt that it wants sent."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if returned is None:
            slate["prompt"] = slate["prompt"][:1]
        return original(run, link, slate, returned)

    patch.returned("process_llm_request", around)


@mutant("LLM-19")
def what_is_no_prompt_is_passed_over(patch: Patch) -> None:
    """Returns in a wrong form change nothing."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        try:
            return original(run, link, slate, returned)
        except WrongReturn as error:
            if error.rule != "LLM-19":
                raise
            return False

    patch.returned("process_llm_request", around)


@mutant("LLM-19")
def every_return_is_an_error(patch: Patch) -> None:
    """A hook that returns nothing has forgotten something."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if returned is None:
            raise WrongReturn("returned nothing", "LLM-19")
        return original(run, link, slate, returned)

    patch.returned("process_llm_request", around)


# -- empty prompts -----------------------------------------------------------------------------------------------------


@mutant("LLM-3")
def an_empty_prompt_is_sent(patch: Patch) -> None:
    """The provider says itself what it does not like."""

    def made(original: Any, *args: Any) -> Any:
        try:
            return original(*args)
        except ContractError:
            return [{"role": "user", "content": []}]

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if isinstance(returned, dict) and returned.get("prompt") == []:
            slate["prompt"] = [{"role": "user", "content": []}]
            return False
        return original(run, link, slate, returned)

    patch.around(prompt.to_prompt, made)
    patch.returned("process_llm_request", around)


@mutant("LLM-3")
def an_empty_prompt_blames_nobody(patch: Patch) -> None:
    """The error says what is wrong, and not who did it."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if isinstance(returned, dict) and returned.get("prompt") == []:
            slate["prompt"].clear()
            return False
        return original(run, link, slate, returned)

    patch.returned("process_llm_request", around)
    blaming_nobody(patch, "LLM-3")


@mutant("LLM-3")
def system_messages_are_no_prompt(patch: Patch) -> None:
    """A prompt needs a user's message."""

    def made(original: Any, system: Any, feedback: Any, messages: Any) -> Any:
        if not messages:
            raise ContractError("the prompt holds no message", "LLM-3")
        return original(system, feedback, messages)

    patch.around(prompt.to_prompt, made)


# -- responses ---------------------------------------------------------------------------------------------------------


@mutant("LLM-4")
def a_replay_is_live(patch: Patch) -> None:
    """fromCache is what the provider says of its own cache."""
    patch.chain("process_llm_response", lambda chain, run, slate: chain(run, {**slate, "from_cache": False}))


@mutant("LLM-4")
def a_replay_has_no_response_hook(patch: Patch) -> None:
    """processLLMResponse runs when the provider was called."""
    patch.chain("process_llm_response", lambda chain, run, slate: slate if slate["from_cache"] else chain(run, slate))


@mutant("LLM-4")
def once_cached_always_cached(patch: Patch) -> None:
    """fromCache says whether anything of this run was replayed."""

    def around(chain: Any, run: Run, slate: Slate) -> Any:
        before = run.states.setdefault("\0cached", {})
        before["once"] = slate["from_cache"] or before.get("once", False) or bool(run.steps)
        return chain(run, {**slate, "from_cache": before["once"]})

    patch.chain("process_llm_response", around)


@mutant("LLM-7")
def a_replay_is_paid_for(patch: Patch) -> None:
    """The provider is asked all the same, to see whether the answer has changed."""

    def provided(original: Any, run: Run, attempt: Attempt, asked: ModelRequest) -> Any:
        if attempt.replay is not None:
            next(iter(attempt.model.stream(asked)), None)
        return original(run, attempt, asked)

    patch.around(loop.provided, provided)


@mutant("LLM-7")
def one_response_answers_every_step(patch: Patch) -> None:
    """What was replayed once is replayed until the run ends."""
    handed_on(patch, "replay")


@mutant("LLM-7")
def the_last_response_counts(patch: Patch) -> None:
    """A later processor replaces the response of an earlier one."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if isinstance(returned, dict) and returned.get("response") is not None:
            run.attempt.replay = None
        return original(run, link, slate, returned)

    patch.returned("process_llm_request", around)


@mutant("LLM-7")
def a_response_ends_the_chain(patch: Patch) -> None:
    """Where there is an answer nobody needs to see the request."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        original(run, link, slate, returned)
        return run.attempt.replay is not None

    patch.returned("process_llm_request", around)


@mutant("LLM-7")
def a_prompt_wins_over_a_response(patch: Patch) -> None:
    """Who changes the prompt wants it sent."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        if isinstance(returned, dict) and returned.get("prompt") is not None:
            returned = {"prompt": returned["prompt"]}
        return original(run, link, slate, returned)

    patch.returned("process_llm_request", around)


@mutant("LLM-7")
def the_processor_s_own_chunks_are_replayed(patch: Patch) -> None:
    """The chunks that were returned are the ones that go through the hooks."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        first = run.attempt.replay is None
        original(run, link, slate, returned)
        if first and run.attempt.replay is not None:
            run.attempt.replay = returned["response"]["chunks"]
        return False

    patch.returned("process_llm_request", around)
    patch.set(pipeline, "clone", lambda value: value)
    patch.set(loop, "clone", lambda value: value)


@mutant("LLM-18")
def a_replay_bypasses_the_stream_hooks(patch: Patch) -> None:
    """What was filtered when it was said is not filtered again."""

    def through(original: Any, run: Run, chunk: Any, *args: Any, **named: Any) -> Any:
        if run.attempt.replay is not None and chunk["type"] in ("text-start", "text-delta", "text-end", "tool-call"):
            return chunk
        return original(run, chunk, *args, **named)

    patch.around(pipeline.through_stream, through)


@mutant("LLM-18")
def a_replay_is_not_streamed(patch: Patch) -> None:
    """A client that wants to see how an answer comes wants to see one that comes."""

    def change(run: Run, came: Chunk, left: Chunk | None) -> Chunk | None:
        return None if run.attempt.replay is not None and came["type"] == "text-delta" else left

    passing(patch, change)


@mutant("LLM-18")
def a_replay_bypasses_the_step_hooks(patch: Patch) -> None:
    """What was checked when it was said is not checked again."""

    def around(chain: Any, run: Run, slate: Slate) -> Any:
        return slate if run.attempt.replay is not None else chain(run, slate)

    patch.chain("process_output_step", around)


@mutant("LLM-18")
def a_replay_calls_no_tools(patch: Patch) -> None:
    """Tools ran when the answer was live."""
    patch.around(results.open_calls, lambda original, run: [] if run.attempt.replay is not None else original(run))


@mutant("LLM-18")
def a_replay_is_not_stored(patch: Patch) -> None:
    """An answer that is kept elsewhere need not be kept twice."""

    def saved(original: Any, run: Run) -> None:
        if run.attempt.replay is None:
            original(run)
        else:
            run.commit()

    patch.around(pipeline.save, saved)


@mutant("RES-3")
def a_replay_has_no_usage(patch: Patch) -> None:
    """The usage of a step is what was paid for it."""

    def finished(original: Any, run: Run, attempt: Attempt, payload: Any) -> Any:
        return original(run, attempt, {**payload, "usage": None} if attempt.replay is not None else payload)

    patch.around(loop.finished, finished)


# -- what the hooks are given ------------------------------------------------------------------------------------------


@mutant("LLM-15")
def the_agent_s_model_is_shown(patch: Patch) -> None:
    """The model in processLLMRequest is the one that the agent was made with."""
    patch.chain("process_llm_request", lambda chain, run, slate: chain(run, {**slate, "model": run.settings.model}))


@mutant("LLM-15")
def the_request_counts_from_one(patch: Patch) -> None:
    """The first call has the number 1."""
    patch.chain(
        "process_llm_request",
        lambda chain, run, slate: chain(run, {**slate, "step_number": slate["step_number"] + 1}),
    )


@mutant("LLM-15")
def the_request_has_no_steps(patch: Patch) -> None:
    """Steps are the business of output processors."""
    patch.derived("process_llm_request", lambda run, slate: slate.update(steps=[]))


@mutant("LLM-16")
def the_answer_is_the_agent_s_model_s(patch: Patch) -> None:
    """The model in processLLMResponse is the one that the agent was made with."""
    patch.chain("process_llm_response", lambda chain, run, slate: chain(run, {**slate, "model": run.settings.model}))


@mutant("LLM-16")
def a_replay_has_no_model(patch: Patch) -> None:
    """Nobody answered a replay."""
    patch.chain(
        "process_llm_response",
        lambda chain, run, slate: chain(run, {**slate, "model": None if slate["from_cache"] else slate["model"]}),
    )


@mutant("LLM-17")
def the_answer_s_steps_are_those_before_it(patch: Patch) -> None:
    """The step of an answer is not complete before its tools have run."""
    patch.derived("process_llm_response", lambda run, slate: slate["steps"].pop())


@mutant("LLM-17")
def the_answer_s_step_is_still_empty(patch: Patch) -> None:
    """The step has begun, and nothing of it is known yet."""

    def emptied(run: Run, slate: Slate) -> None:
        slate["steps"][-1] = {"text": "", "toolResults": []}

    patch.derived("process_llm_response", emptied)


# -- what the provider says of its call --------------------------------------------------------------------------------


@mutant("LLM-8")
def nobody_hears_what_the_provider_says(patch: Patch) -> None:
    """Warnings and bodies stay with the provider's client."""
    patch.set(loop.SILENT, "stream-start", loop.nothing)


@mutant("LLM-8")
def the_first_processor_hears_it(patch: Patch) -> None:
    """What was handed out once is gone."""
    patch.derived("process_llm_response", lambda run, slate: run.attempt.about_call.clear())


@mutant("LLM-9")
def what_was_said_once_stays(patch: Patch) -> None:
    """What the provider says of a call holds until it says something else."""
    handed_on(patch, "about_call")


@mutant("LLM-9")
def what_nobody_gave_is_empty(patch: Patch) -> None:
    """A body that nobody gave is an empty one."""

    def emptied(run: Run, slate: Slate) -> None:
        for name in ("request", "raw_response"):
            slate[name] = slate[name] or {}

    patch.derived("process_llm_response", emptied)


@mutant("LLM-9")
def a_replay_speaks_of_its_call(patch: Patch) -> None:
    """What the chunks of an answer say of its call is said of the answer, whenever it was."""

    def noted(original: Any, run: Run, attempt: Attempt, payload: Any) -> Any:
        attempt.about_call.update(clone(payload))
        return iter(())

    patch.around(loop.noted, noted)
