"""Turns of the scripted model in both ways of asking a provider."""

from __future__ import annotations

import pytest

from processor_conformance.faults import SuiteError
from processor_conformance.model_script import USAGE, answer
from processor_conformance.words import Json


def asked(turn: Json, mode: str = "stream") -> Json:
    return answer(turn, mode, "mock/one", 1, lambda kind: f"{kind}-1")


def kinds(turn: Json) -> list[str]:
    return [part["type"] for part in asked(turn)["parts"]]


def test_text_as_parts() -> None:
    assert asked({"text": ["he", "llo"]})["parts"] == [
        {"type": "response-metadata", "payload": {"id": "response-1", "modelId": "mock/one"}},
        {"type": "text-start", "payload": {"id": "text-1"}},
        {"type": "text-delta", "payload": {"id": "text-1", "text": "he"}},
        {"type": "text-delta", "payload": {"id": "text-1", "text": "llo"}},
        {"type": "text-end", "payload": {"id": "text-1"}},
        {"type": "finish", "payload": {"finishReason": "stop", "usage": USAGE}},
    ]


def test_text_as_content() -> None:
    content = [{"type": "text", "text": "hello"}]
    assert asked({"text": ["he", "llo"]}, "generate") == {"content": content, "finishReason": "stop", "usage": USAGE}


def test_reasoning_text_and_calls_come_in_this_order() -> None:
    turn = {"toolCalls": [{"id": "c1", "name": "look", "args": {"n": 1}}], "text": ["x"], "reasoning": ["hm"]}
    assert [kind for kind in kinds(turn) if kind[-5:] != "start" and kind[-3:] != "end"] == [
        "response-metadata", "reasoning-delta", "text-delta", "tool-call", "finish",
    ]  # fmt: skip
    assert asked(turn, "generate")["content"] == [
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "x"},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "args": {"n": 1}},
    ]


@pytest.mark.parametrize("mode", ["stream", "generate"])
def test_calls_finish_as_tool_calls_unless_said_otherwise(mode: str) -> None:
    calls = [{"id": "c1", "name": "look", "args": {}}]
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}

    def finish(turn: Json) -> tuple[str, Json]:
        made = asked(turn, mode)
        end = made["parts"][-1]["payload"] if mode == "stream" else made
        return end["finishReason"], end["usage"]

    assert finish({"toolCalls": calls}) == ("tool-calls", USAGE)
    assert finish({"toolCalls": calls, "finishReason": "length", "usage": usage}) == ("length", usage)


def test_an_empty_answer_has_no_text_part() -> None:
    assert kinds({"text": []}) == ["response-metadata", "finish"]


def test_parts_go_out_as_they_are() -> None:
    parts = [{"type": "source", "payload": {"url": "u"}}]
    assert asked({"parts": parts}) == {"parts": parts}


def test_parts_as_content_join_the_deltas_of_a_block() -> None:
    parts = [
        {"type": "text-delta", "payload": {"id": "a", "text": "1"}},
        {"type": "text-delta", "payload": {"id": "b", "text": "2"}},
        {"type": "text-delta", "payload": {"id": "a", "text": "3"}},
        {"type": "finish", "payload": {"finishReason": "length", "usage": {"totalTokens": 3}}},
    ]
    assert asked({"parts": parts}, "generate") == {
        "content": [{"type": "text", "text": "13"}, {"type": "text", "text": "2"}],
        "finishReason": "length",
        "usage": {"totalTokens": 3},
    }


@pytest.mark.parametrize("error", ["cut off", {"message": "cut off"}])
def test_an_error_part_fails_a_call_that_is_not_streamed(error: Json) -> None:
    parts = [{"type": "error", "payload": {"error": error}}]
    assert asked({"parts": parts}, "generate") == {"error": {"message": "cut off", "token": "error-1"}}


@pytest.mark.parametrize("mode", ["stream", "generate"])
def test_a_call_that_fails(mode: str) -> None:
    assert asked({"error": {"message": "no", "token": "e"}}, mode) == {"error": {"message": "no", "token": "e"}}


def test_a_pulled_turn_is_pulled_only_as_a_stream() -> None:
    turn = {"pull": True, "parts": [{"open": "g"}, {"type": "finish", "payload": {"finishReason": "stop"}}]}
    assert asked(turn) == {"pull": True}
    assert asked(turn, "generate")["content"] == []


def test_gates_among_parts_need_a_pulled_turn() -> None:
    with pytest.raises(SuiteError, match='not "pull": true'):
        asked({"parts": [{"open": "g"}]})
