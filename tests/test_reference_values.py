"""Plain values: copies, results made fit for JSON, texts of messages, chunks that are none, usage."""

from __future__ import annotations

import datetime
import enum
import json
import types
from typing import Any
from unittest import mock

import pytest

from processor_contract import text_of
from processor_contract.data import add_usage, canonical, clone, fault_of, jsonable, no_usage
from reference_kit import message, parts


def circular() -> dict[str, Any]:
    made: dict[str, Any] = {"n": 1}
    made["self"] = [made]
    return made


def twice() -> list[Any]:
    shared = {"n": 1}
    return [shared, shared]


class Colour(enum.IntEnum):
    RED = 1


class Grade(str, enum.Enum):
    A = "a"


class Odd:
    """Something JSON cannot hold."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param("text", "text", id="text"),
        pytest.param("\ud800", "\ud800", id="lone surrogate"),
        pytest.param(2**80, 2**80, id="big number"),
        pytest.param(True, True, id="truth"),
        pytest.param(float("nan"), None, id="not a number"),
        pytest.param([float("inf"), -float("inf")], [None, None], id="infinite"),
        pytest.param({1: "a", None: "b"}, {"1": "a", "null": "b"}, id="keys become texts"),
        pytest.param({True: "a"}, {"true": "a"}, id="keys are spelled as in JSON"),
        pytest.param(types.MappingProxyType({"a": 1}), {"a": 1}, id="any mapping"),
        pytest.param([Colour.RED, Grade.A], [1, "a"], id="enumerations"),
        pytest.param({"a": mock.Mock()}, {}, id="what pretends to be anything"),
        pytest.param([10**5000, 10**400], [None, 10**400], id="a number too long to write"),
        pytest.param((1, 2), [1, 2], id="tuple"),
        pytest.param({3}, [3], id="set"),
        pytest.param(circular(), {"n": 1, "self": ["[Circular]"]}, id="cycle"),
        pytest.param(twice(), [{"n": 1}, {"n": 1}], id="the same twice is no cycle"),
        pytest.param(datetime.date(2026, 1, 2), "2026-01-02", id="date"),
        pytest.param({"at": datetime.datetime(2026, 1, 2, 3)}, {"at": "2026-01-02T03:00:00"}, id="moment"),
        pytest.param({"a": Odd(), "b": 1}, {"b": 1}, id="dropped from a dict"),
        pytest.param([Odd(), 1], [None, 1], id="empty place in a list"),
        pytest.param(Odd(), None, id="nothing left"),
        pytest.param({"f": len}, {}, id="function"),
        pytest.param(b"bytes", None, id="bytes"),
    ],
)
def test_a_result_is_made_fit_for_json(value: Any, expected: Any) -> None:
    assert expected == jsonable(value)


def test_what_is_fit_for_json_is_copied() -> None:
    value = {"a": [1]}
    jsonable(value)["a"].append(2)

    assert value == {"a": [1]}


def test_what_was_made_fit_for_json_is() -> None:
    made = jsonable({"nan": float("nan"), "odd": Odd(), "at": datetime.date(2026, 1, 2)})

    assert json.loads(json.dumps(made, allow_nan=False)) == {"nan": None, "at": "2026-01-02"}


def test_a_deep_value_is_copied_deeply() -> None:
    value = {"a": [{"b": [1]}]}
    clone(value)["a"][0]["b"].append(2)

    assert value == {"a": [{"b": [1]}]}


def test_what_is_no_json_is_shared_by_a_copy() -> None:
    odd = Odd()

    assert odd is clone({"a": [odd]})["a"][0]


def test_canonical_texts_of_equal_values_are_equal() -> None:
    assert canonical({"b": 1, "a": "é"}) == canonical({"a": "é", "b": 1}) == '{"a":"é","b":1}'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param({"parts": parts("a", "b")}, "ab", id="joined without a separator"),
        pytest.param({"parts": [*parts("a"), {"type": "file"}, *parts("b")]}, "ab", id="other parts are passed over"),
        pytest.param({"parts": parts("a"), "content": "old"}, "a", id="parts come first"),
        pytest.param({"parts": [], "content": "old"}, "old", id="no parts"),
        pytest.param({"content": "old"}, "old", id="parts missing"),
        pytest.param({"parts": [{"type": "file"}], "content": "old"}, "", id="no text among the parts"),
        pytest.param({"content": None}, "", id="null"),
        pytest.param({}, "", id="nothing"),
    ],
)
def test_the_text_of_a_message(content: Any, expected: str) -> None:
    assert expected == text_of({"role": "user", "content": content})


def test_text_of_leaves_the_message_alone() -> None:
    one: Any = message("a", "x")
    text_of(one)

    assert message("a", "x") == one


@pytest.mark.parametrize("odd", [None, [1], "5", {}, {"inputTokens": None}, {"inputTokens": "5"}, {"inputTokens": [1]}])
def test_what_is_no_number_of_tokens_counts_as_zero(odd: Any) -> None:
    total = no_usage()
    add_usage(total, {"inputTokens": 2, "outputTokens": 1, "totalTokens": 3})
    add_usage(total, odd)

    assert total == {"inputTokens": 2, "outputTokens": 1, "totalTokens": 3}


@pytest.mark.parametrize(
    ("chunk", "fault"),
    [
        ({"type": "text-delta", "payload": {"text": ""}}, None),
        ({"type": "data-x", "data": 1}, None),
        ({"type": "of-another-kind", "payload": {}}, None),
        ("text", "has no type"),
        ({"payload": {}}, "has no type"),
        ({"type": 5, "payload": {}}, "has no type"),
        ({"type": "text-delta"}, "has no payload"),
        ({"type": "text-delta", "payload": {"text": None}}, "has no 'text'"),
        ({"type": "reasoning-delta", "payload": {}}, "has no 'text'"),
        ({"type": "tool-call", "payload": {"toolCallId": "c"}}, "has no 'toolName'"),
        ({"type": "tool-result", "payload": {"toolName": "t"}}, "has no 'toolCallId'"),
    ],
)
def test_the_fault_of_a_chunk(chunk: Any, fault: str | None) -> None:
    found = fault_of(chunk)

    assert found is None if fault is None else found is not None and fault in found
