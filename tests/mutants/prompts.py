"""Mutants of the family LLM, rules 11 to 14: what becomes of the conversation on its way to the provider."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from processor_contract import prompt, response
from processor_contract.data import Part, Prompt, clone
from processor_contract.response import Response

from . import Patch, mutant


def rewritten(patch: Patch, rewrite: Any) -> None:
    """Puts `rewrite(prompt)` in the place of every prompt that is made."""
    patch.around(prompt.to_prompt, lambda original, *args: rewrite(original(*args)))


def as_it_is(part: Part, form: prompt.Form) -> Any:
    return [(False, clone(part))]


def content(kind: str, change: Any) -> Any:
    """A rewriting that changes every part of one type."""

    def rewrite(made: Prompt) -> Prompt:
        for message in made:
            if isinstance(message["content"], list):
                parts = [change(part) if part["type"] == kind else part for part in message["content"]]
                message["content"] = [part for part in parts if part is not None]
        return made

    return rewrite


# -- parts -------------------------------------------------------------------------------------------------------------


@mutant("LLM-11")
def empty_texts_are_sent(patch: Patch) -> None:
    """A text is a text, also one of no letter."""
    for made_of in (prompt.FOR_USERS, prompt.FOR_ASSISTANTS):
        patch.set(made_of, "text", lambda part, form: [(False, {"type": "text", "text": part.get("text") or ""})])


@mutant("LLM-11")
def files_keep_their_own_form(patch: Patch) -> None:
    """A file is sent as the message has it."""
    for made_of in (prompt.FOR_USERS, prompt.FOR_ASSISTANTS):
        patch.set(made_of, "file", as_it_is)


@mutant("LLM-11")
def files_have_no_names(patch: Patch) -> None:
    """The provider needs the content of a file, and not its name."""
    rewritten(patch, content("file", lambda part: {key: value for key, value in part.items() if key != "filename"}))


@mutant("LLM-11")
def texts_before_files(patch: Patch) -> None:
    """What was written comes first, what was attached behind it."""

    def rewrite(made: Prompt) -> Prompt:
        for message in made:
            if isinstance(message["content"], list):
                message["content"].sort(key=lambda part: part["type"] == "file")
        return made

    rewritten(patch, rewrite)


@mutant("LLM-11")
def users_may_say_anything(patch: Patch) -> None:
    """A part of a kind that the table does not have is the provider's affair."""

    class Anything(dict[str, Any]):
        def __contains__(self, kind: object) -> bool:
            return True

        def __missing__(self, kind: str) -> Any:
            return as_it_is

    patch.set(prompt, "FOR_USERS", Anything(prompt.FOR_USERS))


@mutant("LLM-11")
def users_have_tools(patch: Patch) -> None:
    """A part is what it is, whoever has said it."""
    patch.set(prompt, "FOR_USERS", prompt.FOR_ASSISTANTS)


@mutant("LLM-11")
def signals_are_not_sent(patch: Patch) -> None:
    """A signal is for the runtime, and not for the model."""

    def made(original: Any, system: Any, feedback: Any, messages: Any) -> Any:
        return original(system, feedback, [message for message in messages if message["role"] != "signal"])

    patch.around(prompt.to_prompt, made)


@mutant("LLM-11")
def reasoning_stays_behind(patch: Patch) -> None:
    """What the model thought is nobody's business, not even its own."""
    rewritten(patch, content("reasoning", lambda part: None))


@mutant("LLM-11")
def sources_are_sent(patch: Patch) -> None:
    """The model wants to know where it had it from."""
    patch.set(prompt, "FOR_ASSISTANTS", {**prompt.FOR_ASSISTANTS, "source": as_it_is, "error": as_it_is})


@mutant("LLM-11")
def data_parts_are_sent(patch: Patch) -> None:
    """Data is part of the conversation."""
    patch.set(prompt, "FOR_ASSISTANTS", {**prompt.FOR_ASSISTANTS, "data-note": as_it_is})


def answered_as(patch: Patch, kinds: dict[str, str]) -> None:
    """Answers of some types are sent as others."""

    def change(part: Part) -> Part:
        output = part["output"]
        return {**part, "output": {"type": kinds.get(output["type"], output["type"]), "value": output["value"]}}

    rewritten(patch, content("tool-result", change))


@mutant("LLM-11")
def results_are_always_json(patch: Patch) -> None:
    """A text is JSON as well."""
    answered_as(patch, {"text": "json"})


@mutant("LLM-11")
def errors_are_results(patch: Patch) -> None:
    """What went wrong is told in words."""
    answered_as(patch, {"error-text": "text"})


@mutant("LLM-11")
def results_of_nothing_are_not_sent(patch: Patch) -> None:
    """A tool that gave nothing has not answered."""

    def answer(original: Any, invocation: Any) -> Any:
        return None if invocation.get("result", 0) is None else original(invocation)

    patch.around(prompt._answer, answer)


@mutant("LLM-11")
def flattened_texts_come_first(patch: Patch) -> None:
    """The text of a message is its content.content."""

    def turns(original: Any, role: str, content: Any, form: prompt.Form) -> Any:
        return original(role, {"content": content["content"]} if content.get("content") else content, form)

    patch.around(prompt._turns, turns)


@mutant("LLM-11")
def flattened_texts_are_forgotten(patch: Patch) -> None:
    """A message is its parts."""
    patch.around(prompt._text_parts, lambda original, text: [])


@mutant("LLM-11")
def empty_messages_are_sent(patch: Patch) -> None:
    """Every message of the list has its message in the prompt."""
    patch.around(prompt._messages, lambda original, role, said: original(role, said) or [{"role": role, "content": []}])


# -- order -------------------------------------------------------------------------------------------------------------


@mutant("LLM-12")
def prompts_have_no_neighbours_of_one_role(patch: Patch) -> None:
    """Messages of one role that stand side by side are one."""

    def rewrite(made: Prompt) -> Prompt:
        merged: Prompt = []
        for message in made:
            if merged and message["role"] == merged[-1]["role"] != "system":
                merged[-1] = {**message, "content": [*merged[-1]["content"], *message["content"]]}
            else:
                merged.append(message)
        return merged

    rewritten(patch, rewrite)


# -- what providers attach ---------------------------------------------------------------------------------------------


@mutant("LLM-13")
def nothing_attached_is_sent(patch: Patch) -> None:
    """What the provider attached is for the reader of the message."""
    patch.around(prompt._said, lambda original, part, made, **named: original({}, made, **named))


@mutant("LLM-13")
def what_is_attached_to_calls_is_lost(patch: Patch) -> None:
    """A call is its name and its arguments."""

    def call_part(original: Any, payload: Any) -> Part:
        part: Part = original({key: value for key, value in payload.items() if key != "providerMetadata"})
        return part

    patch.around(response.call_part, call_part)


def bare(patch: Patch, bare_place: str) -> None:
    """The chunks at this place of a part say whose they are, and nothing else."""

    def speak(original: Any, own: Response, kind: str, place: str, payload: Any) -> None:
        original(own, kind, place, {"id": payload.get("id", "")} if place == bare_place else payload)

    patch.wrap(Response, "_speak", speak)


@mutant("LLM-13")
def what_comes_with_the_end_is_lost(patch: Patch) -> None:
    """A part is complete before its end comes."""
    bare(patch, "end")


@mutant("LLM-13")
def what_comes_before_the_text_is_lost(patch: Patch) -> None:
    """A part begins with its first word."""
    bare(patch, "start")


# -- calls and answers -------------------------------------------------------------------------------------------------


@mutant("LLM-14")
def steps_are_not_told_apart(patch: Patch) -> None:
    """What an assistant's message holds was said at once."""

    def turns(original: Any, role: str, content: Any, form: prompt.Form) -> Any:
        return [[entry for turn in original(role, content, form) for entry in turn]]

    patch.around(prompt._turns, turns)


@mutant("LLM-14")
def each_call_has_its_own_messages(patch: Patch) -> None:
    """A call and its answer are a pair of messages."""

    def rewrite(made: Prompt) -> Prompt:
        pairs: Prompt = []
        for message in made:
            if message["role"] != "tool" or len(message["content"]) == 1:
                pairs.append(message)
                continue
            said = pairs.pop()["content"]
            for number, answer in enumerate(message["content"]):
                own = [part for part in said if part.get("toolCallId") == answer["toolCallId"]]
                before = [part for part in said if part["type"] != "tool-call"] if number == 0 else []
                pairs.append({"role": "assistant", "content": [*before, *own]})
                pairs.append({"role": "tool", "content": [answer]})
        return pairs

    rewritten(patch, rewrite)


@mutant("LLM-14")
def text_behind_an_answer_stands_before_it(patch: Patch) -> None:
    """A step-start alone begins a new message."""

    def turns(original: Any, role: str, content: Any, form: prompt.Form) -> Any:
        made: list[Any] = [[]]
        for part in content.get("parts") or ():
            if part.get("type") == "step-start":
                made.append([])
            else:
                made[-1].append(part)
        if len(made) < 2:
            return original(role, content, form)
        return [[entry for turn in original(role, {"parts": parts}, form) for entry in turn] for parts in made if parts]

    patch.around(prompt._turns, turns)


@mutant("LLM-14")
def open_calls_are_sent(patch: Patch) -> None:
    """The model is told what it called, answered or not."""

    def invocation(original: Any, part: Part, form: prompt.Form) -> Any:
        state = part["toolInvocation"].get("state")
        return original({**part, "providerExecuted": True} if state == "call" else part, replace(form, awaits=True))

    patch.around(prompt._invocation, invocation)


@mutant("LLM-14")
def the_provider_s_results_are_a_tool_s(patch: Patch) -> None:
    """Whoever executed it, a result is a result."""

    def invocation(original: Any, part: Part, form: prompt.Form) -> Any:
        return original({key: value for key, value in part.items() if key != "providerExecuted"}, form)

    patch.around(prompt._invocation, invocation)


@mutant("LLM-14")
def the_provider_owes_nothing(patch: Patch) -> None:
    """A call is sent with its answer, or not at all."""

    def invocation(original: Any, part: Part, form: prompt.Form) -> Any:
        return original(part, replace(form, awaits=False))

    patch.around(prompt._invocation, invocation)
