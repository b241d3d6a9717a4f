"""Messages to prompt: which parts go, in which form, and in which order."""

from __future__ import annotations

import re
from typing import Any

import pytest

from layout import ROOT
from processor_contract import ContractError
from processor_contract.prompt import FOR_ASSISTANTS, FOR_USERS, to_prompt
from reference_kit import message, parts


def prompt_of(*messages: Any, system: Any = (), feedback: Any = ()) -> Any:
    return to_prompt(system, feedback, messages)


def assistant(*given: Any) -> Any:
    return {"role": "assistant", "content": {"parts": list(given)}}


def invocation(id: str, **members: Any) -> Any:
    return {
        "type": "tool-invocation",
        "toolInvocation": {"toolCallId": id, "toolName": "add", "args": {"n": id}, **members},
    }


def call(id: str) -> Any:
    return {"type": "tool-call", "toolCallId": id, "toolName": "add", "input": {"n": id}}


def answer(id: str, kind: str, value: Any) -> Any:
    return {"type": "tool-result", "toolCallId": id, "toolName": "add", "output": {"type": kind, "value": value}}


TEXT = {"type": "text", "text": "hi"}


def test_a_users_text_is_content() -> None:
    assert prompt_of(message("a", "hi")) == [{"role": "user", "content": [TEXT]}]


def test_a_signal_is_a_users_message() -> None:
    assert prompt_of(message("a", "hi", role="signal")) == [{"role": "user", "content": [TEXT]}]


def test_flattened_text_stands_in_where_there_are_no_parts() -> None:
    assert prompt_of({"role": "user", "content": {"content": "hi"}}) == [{"role": "user", "content": [TEXT]}]


def test_parts_come_before_flattened_text() -> None:
    one = {"role": "user", "content": {"parts": parts("hi"), "content": "old"}}

    assert prompt_of(one) == [{"role": "user", "content": [TEXT]}]


@pytest.mark.parametrize(
    "empty", [[], [{"type": "step-start"}], [{"type": "source", "source": {}}], [{"type": "data-x"}], parts("")]
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_of_which_nothing_is_sent_is_left_out(empty: Any, role: str) -> None:
    assert prompt_of({"role": role, "content": {"parts": empty}}, message("a", "hi")) == [
        {"role": "user", "content": [TEXT]}
    ]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"data": "aGk="}, {"mediaType": None, "data": "aGk="}),
        ({"data": "aGk=", "mimeType": "text/plain"}, {"mediaType": "text/plain", "data": "aGk="}),
        (
            {"data": "https://a.test/x.png", "mimeType": "image/png"},
            {"mediaType": "image/png", "data": "https://a.test/x.png"},
        ),
        ({"data": "data:text/plain;base64,aGk="}, {"mediaType": "text/plain", "data": "aGk="}),
        ({"data": "data:text/plain;base64,aGk=", "mimeType": "a/b"}, {"mediaType": "a/b", "data": "aGk="}),
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_file_is_an_address_or_what_is_in_it(role: str, given: Any, sent: Any) -> None:
    one = {"role": role, "content": {"parts": [{"type": "file", **given}]}}

    assert prompt_of(one) == [{"role": role, "content": [{"type": "file", **sent}]}]


@pytest.mark.parametrize(
    "part",
    [
        *parts("hi"),
        {"type": "reasoning", "reasoning": ""},
        {"type": "file", "mimeType": "a/b", "data": "x"},
        invocation("1", state="call"),
    ],
)
def test_what_a_provider_attached_goes_back(part: Any) -> None:
    attached = {"mock": {"signature": ["s"]}}
    marked = {**part, "providerMetadata": attached, "providerExecuted": True}

    assert prompt_of(assistant(marked))[0]["content"][0]["providerOptions"] == attached


def test_a_call_that_the_provider_owes_is_sent_in_the_last_message_only() -> None:
    own = assistant(*parts("hi"), {**invocation("1", state="call"), "providerExecuted": True})

    assert prompt_of(own, own) == [
        {"role": "assistant", "content": [TEXT]},
        {"role": "assistant", "content": [TEXT, {**call("1"), "providerExecuted": True}]},
    ]


def test_the_table_in_spec_has_the_parts_that_are_sent() -> None:
    text = (ROOT / "SPEC.md").read_text("utf-8")
    rows = re.findall(r"^\| `(user|assistant)`[^|]*\| `([a-z-]+)`[^|]*\| (?!nothing)", text, re.M)

    assert {role: {kind for each, kind in rows if each == role} for role in ("user", "assistant")} == {
        "user": set(FOR_USERS),
        "assistant": set(FOR_ASSISTANTS),
    }


def test_reasoning_and_files_go_in_the_providers_form() -> None:
    given = assistant(
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "file", "mimeType": "image/png", "data": "...", "filename": "a.png"},
        {"type": "file", "mimeType": "image/png", "data": "..."},
    )
    file = {"type": "file", "mediaType": "image/png", "data": "..."}

    assert prompt_of(given)[0]["content"] == [{"type": "reasoning", "text": "hm"}, {**file, "filename": "a.png"}, file]


@pytest.mark.parametrize(("role", "sent"), [("user", []), ("assistant", [{"type": "odd", "deep": {"n": [1]}}])])
def test_parts_that_the_contract_does_not_name_are_an_assistants_own(role: str, sent: Any) -> None:
    odd = {"role": role, "content": {"parts": [*parts("hi"), {"type": "odd", "deep": {"n": [1]}}]}}

    assert prompt_of(odd) == [{"role": role, "content": [TEXT, *sent]}]


def test_the_prompt_shares_nothing_with_the_messages() -> None:
    def said() -> Any:
        text = {"type": "text", "text": "hi", "providerMetadata": {"deep": {"n": [1]}}}
        return assistant(text, invocation("1", state="result", result={"n": [1]}))

    one = said()
    made = prompt_of(one)
    made[0]["content"][0]["providerOptions"]["deep"].clear()
    made[0]["content"][1]["input"].clear()
    made[1]["content"][0]["output"]["value"].clear()

    assert one == said()


def test_calls_and_answers_go_in_pairs() -> None:
    given = assistant(
        *parts("hi"),
        invocation("1", state="result", result={"n": 1}),
        invocation("2", state="result", result="two"),
        {"type": "step-start"},
        *parts("hi"),
        invocation("3", state="output-error", errorText="broken"),
        *parts("hi"),
    )

    assert prompt_of(given) == [
        {"role": "assistant", "content": [TEXT, call("1"), call("2")]},
        {"role": "tool", "content": [answer("1", "json", {"n": 1}), answer("2", "text", "two")]},
        {"role": "assistant", "content": [TEXT, call("3")]},
        {"role": "tool", "content": [answer("3", "error-text", "broken")]},
        {"role": "assistant", "content": [TEXT]},
    ]


@pytest.mark.parametrize("state", ["call", "partial-call", None])
def test_a_call_without_an_answer_is_not_sent(state: Any) -> None:
    assert prompt_of(assistant(*parts("hi"), invocation("1", state=state))) == [
        {"role": "assistant", "content": [TEXT]}
    ]


def test_a_result_of_nothing_is_a_result() -> None:
    assert prompt_of(assistant(invocation("1", state="result")))[1]["content"] == [answer("1", "json", None)]


def test_system_messages_come_first_and_feedback_last_of_them() -> None:
    made = prompt_of(
        message("a", "hi"), system=[{"role": "system", "content": "Be brief."}], feedback=["too long", "too rude"]
    )

    assert [(one["role"], "too" in str(one["content"])) for one in made] == [
        ("system", False),
        ("system", True),
        ("system", True),
        ("user", False),
    ]


def test_feedback_has_the_reason_word_for_word() -> None:
    assert "100 % {wrong}\n" in prompt_of(feedback=["100 % {wrong}\n"])[0]["content"]


def test_system_messages_alone_are_a_prompt() -> None:
    assert prompt_of(system=[{"role": "system", "content": "Be brief."}]) == [
        {"role": "system", "content": "Be brief."}
    ]


@pytest.mark.parametrize("messages", [[], [assistant()], [assistant(invocation("1", state="call"))]])
def test_a_prompt_of_nothing_is_an_error(messages: Any) -> None:
    with pytest.raises(ContractError, match=r"the prompt holds no message.*\[LLM-3\]"):
        prompt_of(*messages)
