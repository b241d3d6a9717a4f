"""Requests and answers with an odd value in any place: refused or passed over, and never a mistake of ours."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from mock_kit import VERSION
from processor_contract.models.anthropic_dialect import SIGNATURE, AnthropicDialect
from processor_contract.models.dialect import Dialect, Refused, says
from processor_contract.models.openai_answer import Answering
from processor_contract.models.openai_dialect import OpenAIDialect
from processor_contract.models.script import Script

ODD: tuple[Any, ...] = (None, 0, -1, 1.5, True, "", "x", [], {}, [None], [{}], [[]], {"type": 5}, {"type": "text"})
MISSING = "(nothing)"
(TURN,) = Script.of([{"text": "x", "reasoning": "y", "toolCalls": [{"name": "a"}]}]).turns

CALL = {"index": 0, "id": "c", "function": {"name": "a", "arguments": "{}"}}
OPENAI = {
    "model": "m",
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [{"type": "function", "function": {"name": "a"}}],
    "tool_choice": {"type": "function", "function": {"name": "a"}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "x"}},
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "json"}]},
        {"role": "assistant", "content": "x", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ],
}
ANTHROPIC = {
    "model": "m",
    "max_tokens": 3000,
    "stream": False,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "tools": [{"name": "a", "input_schema": {}}],
    "messages": [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "", "signature": SIGNATURE},
                {"type": "text", "text": "x"},
                {"type": "tool_use", "id": "u", "name": "a", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "u", "content": [{"type": "text", "text": "x"}]}],
        },
    ],
}
ANSWER = {
    "id": "x",
    "created": 1,
    "model": "m",
    "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
    "choices": [
        {
            "delta": {"content": [{"text": "a"}], "reasoning": "b", "refusal": "c", "tool_calls": [CALL]},
            "finish_reason": "stop",
        }
    ],
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in a value."""
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*path, key))


def variants(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The value with something odd, or nothing, in each of its places."""
    for *way, last in places(value):
        for odd in (*ODD, MISSING):
            changed = copy.deepcopy(value)
            inner: Any = changed
            for key in way:
                inner = inner[key]
            inner[last] = copy.deepcopy(odd)
            if odd is MISSING:
                del inner[last]
            yield changed


@pytest.mark.parametrize(("dialect", "request_"), [(OpenAIDialect(), OPENAI), (AnthropicDialect(), ANTHROPIC)])
def test_an_odd_request_is_refused_or_answered(dialect: Dialect, request_: Any) -> None:
    dialect.check(request_, VERSION)
    refused = 0
    for odd in variants(request_):
        try:
            dialect.check(odd, VERSION)
        except Refused:
            refused += 1
            continue
        assert isinstance(says(odd), str)
        assert list(dialect.events(TURN, odd, 1))
        assert dialect.whole(TURN, odd, 1)["model"] == "m" or odd["model"] != "m"

    assert refused > 100


def test_an_odd_answer_is_passed_over() -> None:
    for odd in variants(ANSWER):
        answering = Answering()
        chunks = [*answering.take(odd), *answering.take(ANSWER), *answering.finish()]

        assert chunks[-1]["type"] == "finish"
