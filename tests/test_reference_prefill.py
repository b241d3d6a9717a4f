"""PrefillErrorHandler: which refusals it mends, how, and what it leaves."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import Agent, APICallError, InMemoryStorage, Memory, ScriptedModel, text_of
from processor_contract.processors import PrefillErrorHandler
from processor_contract.processors.prefill_error_handler import REMINDER
from reference_kit import processor

ASKED: Any = [
    {"role": "user", "content": {"parts": [{"type": "text", "text": "Count."}]}},
    {"role": "assistant", "content": {"parts": [{"type": "text", "text": "One,"}]}},
]
REFUSED = APICallError("This model does not support assistant message prefill.", status_code=400)


def asked(*turns: Any, **options: Any) -> tuple[ScriptedModel, Any]:
    model = ScriptedModel(turns)
    agent = Agent(model, error_processors=[PrefillErrorHandler()], **options)
    try:
        return model, agent.generate(ASKED, thread="t", resource="r").text
    except APICallError as error:
        return model, error


@pytest.mark.parametrize(
    "error",
    [
        REFUSED,
        APICallError("Prefill is not supported when enable_thinking is set"),
        APICallError("The conversation must end with a user message."),
        APICallError("Bad request", response_body='{"message": "requests ending with a model turn"}'),
        APICallError("Bad request", response_body='{"message": "the request cannot end with a model turn"}'),
    ],
)
def test_a_refused_prefill_is_answered_with_a_word_of_the_user(error: APICallError) -> None:
    model, text = asked(error, "two, three.")

    assert text == "two, three."
    assert model.requests[1].prompt[-1] == {"role": "user", "content": [{"type": "text", "text": REMINDER}]}


@pytest.mark.parametrize("error", [APICallError("context length exceeded"), APICallError("The user must pay.")])
def test_other_errors_go_their_way(error: APICallError) -> None:
    model, raised = asked(error, "two, three.")

    assert (len(model.requests), raised) == (1, error)


def test_it_tries_once_for_each_step() -> None:
    model, raised = asked(REFUSED, REFUSED, "two, three.")

    assert (len(model.requests), raised) == (2, REFUSED)


def test_what_others_had_repeated_takes_nothing_from_it() -> None:
    busy = APICallError("busy", status_code=503)
    patient = processor("patient", process_api_error=lambda args: {"retry": args.error is busy})
    model = ScriptedModel([busy, REFUSED, "two, three."])

    assert Agent(model, error_processors=[patient, PrefillErrorHandler()]).generate(ASKED).text == "two, three."


def test_nothing_of_it_is_stored() -> None:
    store = InMemoryStorage()
    asked(REFUSED, "two, three.", memory=Memory(store))

    assert [text_of(message) for message in store.read("t", "r")] == ["Count.", "One,", "two, three."]
