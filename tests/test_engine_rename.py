"""The renaming: there and back, through joins and splits, and what it leaves alone."""

from __future__ import annotations

import string

import pytest

from processor_conformance.rename import Renaming
from processor_conformance.words import Json

SEEDS = range(1, 40)
VALUES: list[Json] = [
    {"role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "Hello, Wörld 42!"}]}, "id": "m-1"},
    {"tools": {"lookup": {"description": "looks up", "parameters": {"type": "object", "required": ["city"]}}}},
    {"toolChoice": {"type": "tool", "toolName": "lookup"}, "activeTools": ["lookup"]},
    {"type": "step-finish", "payload": {"stepResult": {"reason": "stop"}, "reason": "retry", "usage": None}},
    {"type": "finish", "payload": "odd"},
    {"method": ["odd"], "args": {"odd": True}, "type": {"odd": 1}},
    {"op": "call", "on": "messageList", "method": "add", "args": [[{"role": "user", "content": "x"}], "response"]},
    [None, True, 1.5, "", "A", {"$date": "2026-01-02T03:04:05.000Z"}],
]


@pytest.mark.parametrize("value", VALUES)
def test_there_and_back_gives_the_same(value: Json) -> None:
    assert [Renaming(seed).from_wire(Renaming(seed).to_wire(value)) for seed in SEEDS] == [value] * len(SEEDS)


def test_no_letter_stays_and_case_does() -> None:
    for seed in SEEDS:
        for letters in (string.ascii_lowercase, string.ascii_uppercase):
            renamed = Renaming(seed).to_wire(letters)
            assert sorted(renamed) == list(letters)
            assert not [letter for letter, other in zip(letters, renamed, strict=True) if letter == other]


def test_a_template_of_tools_names_tools() -> None:
    there = Renaming(7).to_wire
    template = {"tools": {"$spread": {"$ref": "tools"}, "with": {"look": {"$tool": "look"}}}}
    assert there(template) == {
        "tools": {"$spread": {"$ref": "tools"}, "with": {there("look"): {"$tool": there("look")}}}
    }


def test_of_an_address_that_holds_a_file_the_head_stays() -> None:
    there = Renaming(7).to_wire
    assert there("data:text/plain;base64,aGk=") == "data:text/plain;base64," + there("aGk=")


def test_what_the_contract_calls_so_is_called_so_in_an_error_too() -> None:
    text = Renaming(7).from_wire("processor 'prepare-step' failed")
    assert "'prepare-step'" in text
    assert "failed" not in text


def test_a_provider_refuses_a_prefill_in_its_own_words() -> None:
    said = "Sorry: it does not support assistant message prefill."
    there = Renaming(7).to_wire(said)
    assert "does not support assistant message prefill" in there
    assert "Sorry" not in there
    assert Renaming(7).from_wire(there) == said


def test_joins_and_case_commute_with_it() -> None:
    there = Renaming(7).to_wire
    assert there("Hel") + there("lo 1") == there("Hello 1")
    assert there("Hello").lower() == there("hello")


def test_seed_0_leaves_everything() -> None:
    assert Renaming(0).to_wire(VALUES) is VALUES
    assert Renaming(0).from_wire(VALUES) is VALUES


@pytest.mark.parametrize(
    "value",
    [
        {"type": "text-delta", "role": "user", "finishReason": "tool-calls", "from": "AGENT"},
        {"op": "read", "at": "messages/0/content", "handle": "h1"},
        {"tokens": {"state": "abc"}, "token": "abc", "model": {"id": "mock/one"}},
        {"method": "get", "on": "requestContext", "args": ["user"]},
        {"toolInvocation": {"state": "result"}},
        {"inputProcessors": ["one", {"$value": 5}]},
        {"methods": ["processInputs"], "asynchronous": ["processInput"], "id": "prepare-step"},
        {"$model": "mock/one"},
        {"createdAt": "today", "url": "https://example.org/a"},
        {"payload": {"stepResult": {"reason": "stop"}}},
        {"op": "set", "at": "part/type", "value": "finish"},
        {"error": {"name": "TypeError", "message": ""}},
        "2026-01-02T03:04:05.000Z",
    ],
)
def test_names_of_the_contract_stay(value: Json) -> None:
    assert Renaming(3).to_wire(value) == value


def test_texts_ids_and_tool_names_change() -> None:
    there = Renaming(3).to_wire
    assert there({"at": "part/payload/text", "value": "finish"})["value"] != "finish"
    for value in ("hello", {"id": "pii"}, {"name": "lookup", "description": "d"}, {"reason": "too long"}):
        assert there(value) != value
    assert list(there({"tools": {"lookup": {}}})["tools"]) == [there("lookup")]
    assert there({"at": "tools/lookup/description"})["at"] == f"tools/{there('lookup')}/description"


def test_state_is_renamed_inside() -> None:
    renamed = Renaming(3).to_wire({"state": {"word": "secret"}})
    assert renamed == {"state": {"word": Renaming(3).to_wire("secret")}}


def test_a_key_made_of_an_id_comes_back_with_the_id() -> None:
    renaming = Renaming(3, ["counter"])
    wire = renaming.to_wire("counter")
    assert renaming.from_wire({f"__ticks_{wire}": 1, f"{wire}:n": 2, wire: 3, f"x{wire}": 4}) == {
        "__ticks_counter": 1, "counter:n": 2, wire: 3, f"x{wire}": 4,
    }  # fmt: skip
