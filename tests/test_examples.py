"""The examples do what they show."""

from __future__ import annotations

import recovery

GOOD = "An object whose hooks an agent calls while it works on a request."


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
