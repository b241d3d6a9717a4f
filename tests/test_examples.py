"""The examples do what they show."""

from __future__ import annotations

from typing import Any

import pytest

import chunks
import demo
import dynamic_model
import messages
import recovery
import tool_results
from mock_kit import serving
from processor_contract import text_of
from processor_contract.processor import InputStepArgs

GOOD = "An object whose hooks an agent calls while it works on a request."
TURNS: list[dict[str, Any]] = [
    {"toolCalls": [{"name": "weather", "args": {"city": "Oslo"}}]},
    {"text": ["No idea."]},
    {"text": ["It is a damn ", "cold day in Oslo."]},
    {"text": ["As I said: ", "cold and sunny."]},
]


def test_a_conversation_that_is_too_long_is_trimmed_once() -> None:
    result, messages = recovery.trimmed()

    assert (result.text, messages) == ("Seven, with the two that I have forgotten.", [5, 3])


def test_a_weak_answer_is_tried_again_with_feedback() -> None:
    result, model = recovery.judged("A thing.", GOOD)

    assert result.text == GOOD
    assert "say more, and be exact" in model.requests[1].prompt[0]["content"]


def test_an_answer_that_stays_weak_is_blocked_with_its_score() -> None:
    result, model = recovery.judged(*["A thing."] * 4)

    assert (len(model.requests), result.text) == (4, "")
    assert result.tripwire == {
        "reason": "The answer stayed too weak.",
        "processorId": "quality-score",
        "metadata": {"score": 0.2},
    }


# -- the demo ----------------------------------------------------------------------------------------------------------


def test_the_demo_shows_a_rejected_answer_a_blocked_question_and_a_memory(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main([]) == 0

    shown = capsys.readouterr().out
    assert "asks for another attempt: the answer has fewer than 5 words" in shown
    assert "ABORTS: the question holds the word 'damn'" in shown
    assert shown.endswith("      assistant As I said: cold and sunny, minus four degrees.\n")


@pytest.mark.usefixtures("direct")
def test_the_demo_with_a_real_endpoint(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(*TURNS) as server:
        assert demo.main(["--model", "openai/mock", "--base-url", f"{server.url}/v1"]) == 0
        asked = [entry["body"]["messages"][-1]["role"] for entry in server.log()]

    shown = capsys.readouterr().out
    assert asked == ["user", "tool", "tool", "user"]
    assert "asks for another attempt: the answer has fewer than 5 words" in shown
    assert "text: 'It is a **** cold day in Oslo.'" in shown
    assert "ABORTS: the question holds the word 'damn'" in shown


@pytest.mark.usefixtures("direct")
@pytest.mark.parametrize(
    ("model", "base_url", "said"),
    [
        ("openai/mock", "http://127.0.0.1:9/v1", "the provider cannot be reached"),
        ("openai/mock", "127.0.0.1", "the base URL of a provider has to begin with http"),
        ("other/mock", "http://127.0.0.1:9/v1", "model 'other/mock' is not registered (known: openai/...)"),
    ],
)
def test_the_demo_says_in_a_line_what_is_wrong(
    model: str, base_url: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.main(["--model", model, "--base-url", base_url]) == 1

    err = capsys.readouterr().err
    assert (said in err, err.count("\n")) == (True, 1)


def test_the_demo_wants_to_know_which_model_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        demo.main(["--base-url", "http://127.0.0.1:9/v1"])

    assert "name it as well, with --model openai/NAME" in capsys.readouterr().err


def test_a_fast_model_begins_and_a_strong_one_goes_on() -> None:
    result, models = dynamic_model.asked(calls=2)

    assert (result.text, models) == ("Rain.", [dynamic_model.FAST, dynamic_model.STRONG, dynamic_model.STRONG])


def test_tools_end_beyond_five_steps_without_a_call_before() -> None:
    """No run reaches this branch: a step without calls is the last. So it is asked by hand."""
    given: Any = {**dict.fromkeys(InputStepArgs.__dataclass_fields__), "step_number": 6, "steps": [{}]}

    assert dynamic_model.DynamicModel().process_input_step(InputStepArgs(**given)) == {"tool_choice": "none"}


# -- chunks ------------------------------------------------------------------------------------------------------------


def test_the_words_of_all_steps_are_reported_once() -> None:
    call = {"text": ["one "], "tool_calls": [{"name": "check", "args": {"text": "a"}}]}
    sent = chunks.counted(call, {"text": ["two three", " four"]})

    assert [chunk["data"] for chunk in sent if chunk["type"] == "data-words"] == [4]


def test_a_phrase_is_found_across_chunks() -> None:
    read, result = chunks.filtered("the laun", "ch code", " is 7")

    assert (read, result.text) == ("the laun", "")
    assert result.tripwire is not None
    assert result.tripwire["metadata"] == {"phrase": "launch code"}


def test_what_has_no_phrase_passes_whole() -> None:
    read, result = chunks.filtered("nothing ", "to see ", "here")

    assert read == result.text == "nothing to see here"


def test_warnings_are_gathered_and_what_is_nobodys_business_is_dropped() -> None:
    sent, result = chunks.collected()

    assert [chunk["type"] for chunk in sent] == ["data-progress", "data-moderation", "data-summary"]
    assert sent[-1]["data"] == {"warnings": 1}
    assert [part["type"] for part in result.messages[-1]["content"]["parts"] if part["type"].startswith("data-")] == [
        "data-moderation",
        "data-summary",
    ]


def test_a_redacted_customer_is_redacted_for_model_and_steps() -> None:
    result, model = tool_results.asked({"name": "lookup-customer", "args": {"id": "c7"}})
    redacted = {"id": "c7", "plan": "basic", "ssn": "[REDACTED]", "email": "[REDACTED]"}

    assert model.requests[1].prompt[-1]["content"][0]["output"]["value"] == redacted
    assert [one["result"] for one in result.tool_results] == [redacted]


def test_a_page_that_gives_orders_never_reaches_the_model() -> None:
    result, model = tool_results.asked({"name": "read-page"})

    assert len(model.requests) == 1
    assert result.tripwire == {"reason": "suspected prompt injection", "processorId": "scan-tool-result"}


def test_a_call_that_does_not_fit_is_told_what_does() -> None:
    _, model = tool_results.asked({"name": "lookup-customer", "args": {"id": 7}})

    assert "args/id is of type integer" in model.requests[1].prompt[-1]["content"][0]["output"]["value"]


# -- messages ----------------------------------------------------------------------------------------------------------


def test_the_model_and_the_store_get_the_question_in_lower_case() -> None:
    model, stored = messages.lowered("HOW is the Weather?")

    assert model.requests[0].prompt[-1]["content"][0]["text"] == "how is the weather?"
    assert [text_of(one) for one in stored] == ["how is the weather?", "Grey."]


def test_what_is_no_text_is_left_as_it_is() -> None:
    file = {"type": "file", "mimeType": "text/plain", "data": "QUJD"}
    asked = {"id": "q", "role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "A"}, file]}}
    plain = {"id": "p", "role": "user", "content": {"format": 2, "content": "FLAT"}}
    model, stored = messages.lowered([asked, plain])

    assert [one["id"] for one in stored][:2] == ["q", "p"]
    assert stored[0]["content"]["parts"] == [{"type": "text", "text": "a"}, file]
    assert [one["content"][0]["text"] for one in model.requests[0].prompt] == ["a", "FLAT"]


def test_reasoning_goes_back_under_the_other_name() -> None:
    model = messages.reasoned()

    assert [part["type"] for part in model.requests[1].prompt[1]["content"]] == ["thinking", "tool-call"]
