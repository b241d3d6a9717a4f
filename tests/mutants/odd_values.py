"""Mutants of several families: requests and settings that are none, and are taken or blamed on nobody (CFG-16, CFG-17,
CFG-37, CFG-38, LLM-3, LLM-11, LLM-19).
"""

from __future__ import annotations

from copy import copy
from typing import Any

from processor_contract import checks, pipeline, prompt, request, returns, tools
from processor_contract.agent import Agent
from processor_contract.data import fault_of, jsonable
from processor_contract.errors import ContractError
from processor_contract.hooks import HOOKS
from processor_contract.returns import Returns, Slate
from processor_contract.run import Link, Run
from processor_contract.settings import is_tool
from processor_contract.tools import Tool

from . import Patch, mutant


def blaming_nobody(patch: Patch, *rules: str) -> None:
    """What a hook broke in place is an error of the run's, which names no processor."""

    def wrongly_made(original: Any, run: Run, what: str, rule: str) -> Exception:
        return ContractError(what, rule) if rule in rules else original(run, what, rule)

    patch.around(pipeline.wrongly_made, wrongly_made)


# -- requests ----------------------------------------------------------------------------------------------------------


@mutant("LLM-3")
def an_emptied_prompt_blames_nobody(patch: Patch) -> None:
    """Who empties a prompt in place has returned nothing, and so done nothing."""
    blaming_nobody(patch, "LLM-3")


@mutant("LLM-19")
def a_broken_prompt_blames_nobody(patch: Patch) -> None:
    """Who breaks a prompt in place has returned nothing, and so done nothing."""
    blaming_nobody(patch, "LLM-19")


@mutant("LLM-19")
def replayed_chunks_that_are_none_are_passed_over(patch: Patch) -> None:
    """What is sound of a cached answer is replayed."""

    def around(original: Returns, run: Run, link: Link, slate: Slate, returned: Any) -> bool:
        response = returned.get("response") if isinstance(returned, dict) else None
        if isinstance(response, dict) and isinstance(response.get("chunks"), list):
            sound = [each for each in response["chunks"] if isinstance(each, dict) and fault_of(each) is None]
            returned = {**returned, "response": {"chunks": sound}}
        return original(run, link, slate, returned)

    patch.returned("process_llm_request", around)


@mutant("LLM-19")
def replayed_chunks_are_made_to_fit(patch: Patch) -> None:
    """A chunk that holds itself is cut where it comes again."""
    patch.set(returns, "clone", jsonable)


@mutant("LLM-11")
def addresses_are_sent_as_they_are(patch: Patch) -> None:
    """A `data:` address is an address."""

    def file(original: Any, part: Any, form: Any) -> Any:
        return [(answers, {**made, "data": part.get("data")}) for answers, made in original(part, form)]

    patch.around(prompt._file, file)


@mutant("LLM-11")
def an_address_knows_its_type_better(patch: Patch) -> None:
    """The type in a `data:` address goes before the part's."""

    def file(original: Any, part: Any, form: Any) -> Any:
        return original({key: value for key, value in part.items() if key != "mimeType"} if held(part) else part, form)

    def held(part: Any) -> bool:
        return str(part.get("data")).startswith("data:")

    patch.around(prompt._file, file)


# -- settings ----------------------------------------------------------------------------------------------------------


@mutant("CFG-16")
def returned_settings_are_made_to_fit(patch: Patch) -> None:
    """Settings that hold themselves are cut where they come again."""
    patch.set(returns, "clone", jsonable)


@mutant("CFG-16")
def given_settings_are_made_to_fit(patch: Patch) -> None:
    """Settings of a call that hold themselves are cut where they come again."""
    patch.set(checks, "clone", jsonable)


@mutant("CFG-16")
def spoiled_settings_blame_nobody(patch: Patch) -> None:
    """Who spoils settings in place has returned nothing, and so done nothing."""
    blaming_nobody(patch, "CFG-16")


@mutant("CFG-17")
def parameters_of_tools_are_shared(patch: Patch) -> None:
    """A step has tools of its own, with the parameters that all have."""
    patch.function(request.own_tool, copy)


@mutant("CFG-37")
def instructions_that_are_none_are_passed_over(patch: Patch) -> None:
    """An agent without a text has no instructions."""

    def checked(original: Any, given: Any) -> Any:
        return original(given if isinstance(given, (str, list, tuple)) else ())

    patch.around(checks.checked_instructions, checked)


@mutant("CFG-37")
def hooks_that_are_none_are_passed_over(patch: Patch) -> None:
    """A processor has the hooks that can be called."""

    def plain(original: Any, processor: Any) -> None:
        for name in [name for name in HOOKS if not callable(getattr(processor, name, original))]:
            delattr(processor, name)
        original(processor)

    patch.around(checks.check_plain, plain)


@mutant("CFG-37")
def what_is_no_tool_is_not_offered(patch: Patch) -> None:
    """Of the tools those are offered that are some."""
    patch.around(checks.tools_by_name, lambda original, given: original(filter(is_tool, given)))


@mutant("CFG-37")
def tools_are_made_to_fit(patch: Patch) -> None:
    """A tool without a name gets one, and one that cannot be executed is the client's."""

    def made(original: Any, own: Tool) -> None:
        own.name = own.name or "tool"
        own.execute = own.execute if callable(own.execute) else None
        original(own)

    patch.wrap(Tool, "__post_init__", made)


@mutant("CFG-37")
def what_a_call_cannot_use_it_does_not_bring(patch: Patch) -> None:
    """A call goes on without what it cannot use."""
    needed = {"prepare_step": "__call__", "stop_when": "__call__", "request_context": "get", "abort_signal": "on_abort"}

    def run(original: Any, own: Agent, given: Any, options: dict[str, Any]) -> Run:
        sound = {name: one for name, one in options.items() if hasattr(one, needed.get(name, "__class__"))}
        return original(own, given, sound)  # type: ignore[no-any-return]

    patch.wrap(Agent, "_run", run)


@mutant("CFG-38")
def asynchronous_tools_are_started(patch: Patch) -> None:
    """What a tool returns is its result, also where that is still on its way."""

    def result(original: Any, run: Run, tool: Tool, call: Any, span: Any) -> Any:
        assert tool.execute is not None
        coroutine = tool.execute(call["args"], None)
        coroutine.close()
        return type(coroutine).__name__

    patch.function(tools.check_plain, lambda name, execute: None)
    patch.around(tools._result, result)
