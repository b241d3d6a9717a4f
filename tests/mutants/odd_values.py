"""Mutants of several families: what nobody should give, break or return, and is taken or blamed on nobody (CFG-16,
CFG-17, DAT-25, LLM-3, LLM-11, LLM-19, MSG-29, MSG-30).
"""

from __future__ import annotations

from copy import copy
from typing import Any

from processor_contract import checks, pipeline, prompt, request, returns
from processor_contract.data import fault_of, jsonable
from processor_contract.errors import ContractError
from processor_contract.message_list import MessageList
from processor_contract.returns import Returns, Slate
from processor_contract.run import Link, Run

from . import Patch, mutant
from .messages_refused import mending


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


# -- messages ----------------------------------------------------------------------------------------------------------


@mutant("DAT-25")
def any_value_names_a_message(patch: Patch) -> None:
    """What is no text is made one."""

    def message(original: Any, own: MessageList, message_id: Any) -> Any:
        return original(own, str(message_id) or "none")

    patch.wrap(MessageList, "response_message", message)


@mutant("MSG-29")
def a_flattened_text_may_be_anything(patch: Patch) -> None:
    """The flattened text is made of the parts anyway."""

    def mend(one: Any) -> Any:
        content = one.get("content") if isinstance(one, dict) else None
        return {**one, "content": {**content, "content": ""}} if isinstance(content, dict) else one

    mending(patch, mend)


@mutant("MSG-30")
def updates_are_made_to_fit(patch: Patch) -> None:
    """A result that a processor puts in the place of another is cut as a tool's is."""

    def update(original: Any, own: MessageList, part: Any) -> Any:
        return original(own, jsonable(part))

    patch.wrap(MessageList, "update_tool_invocation", update)
