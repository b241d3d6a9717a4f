"""Scenario files as values: order, items, and the capabilities that their content implies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from processor_conformance.scenario import Scenario, ScenarioError, load, load_all
from processor_conformance.words import Json
from runner_kit import scenario


def given(**members: Json) -> Scenario:
    return scenario([{}], given={"model": [{"text": ["hi"]}], **members})


def called(**members: Json) -> Scenario:
    return scenario([{}], run=[{"input": "hello", **members}])


@pytest.mark.parametrize(
    ("of", "capability"),
    [
        (given(memory={"lastMessages": 5}), "memory"),
        (called(options={"memory": {"thread": "t", "resource": "r"}}), "memory"),
        (given(errorProcessors=["a"]), "error-processors"),
        (called(options={"errorProcessors": ["a"]}), "error-processors"),
        (called(options={"maxSteps": 2}), "call-overrides"),
        (called(reading=[{"rest": True}]), "pull"),
        (given(modelSettings={}), "settings"),
        (called(options={"toolChoice": "none"}), "settings"),
        (called(options={"model": "mock/two"}), "call-model"),
        (called(options={"tools": ["look"]}), "call-tools"),
        (called(options={"inputProcessors": {"$callback": "inputProcessors"}}), "function-arrays"),
        (given(tools={"a": {"name": "look"}}), "tool-lists"),
        (given(processors={"a": {"id": None}}), "odd-values"),
        (given(processors={"a": {"methods": ["count"]}}), "odd-values"),
        (given(processors={"a": {"asynchronous": ["processInput"]}}), "odd-values"),
        (given(processors={"a": {"builtIn": "response-cache"}}), "response-cache"),
        (given(processors={"a": {"builtIn": "prefill-error-handler"}}), "prefill-error-handler"),
        (given(inputProcessors=[{"$value": 5}]), "odd-values"),
        (given(tools={"look": {"asynchronous": True}}), "odd-values"),
        (given(processors={"a": {"values": {"processInput": 5}}}), "odd-values"),
        (given(tools={"look": {"execute": {"$value": 5}}}), "odd-values"),
        (given(instructions={"$value": 5}), "odd-values"),
        (called(options={"inputProcessors": {"$value": 5}}), "odd-values"),
        (called(options={"others": {"odd": 1}}), "odd-values"),
        (scenario([{}], lens={"work": ["warning"]}), "warnings"),
        (scenario([{"outcome": {"objectError": {"$absent": True}}}]), "objects"),
        (scenario([{"outcome": {"sources": [{}]}}]), "gathered"),
        (called(reading=[{"close": True}]), "close"),
        (given(processors={"a": {"processInput": [{"close": True}]}}), "close"),
        (given(processors={"a": {"processInput": [{"do": [{"cancel": True}]}]}}), "cancel"),
        (called(options={"signal": True}), "cancel"),
        (given(model=[{"text": ["hi"], "pull": True}]), "pulled-model"),
        (called(model=[{"text": ["hi"], "pull": True}]), "pulled-model"),
        (scenario([{}, {}], run=[{"input": "1", "together": "x"}, {"input": "2", "together": "x"}]), "concurrent-runs"),
        (given(callbacks={"prepareStep": []}), "prepare-step"),
        (called(options={"callbacks": ["stopWhen"]}), "stop-when"),
        (given(processors={"a": {"onViolation": True}}), "on-violation"),
        (given(outputProcessors={"$callback": [{"return": ["a"]}]}), "function-arrays"),
        (given(tools={"t": {"execute": [{"wait": "g"}]}}), "parallel-tools"),
        (given(processors={"a": {"processInput": [{"do": [{"op": "call", "on": "writer"}]}]}}), "data-chunks"),
        (called(options={"context": []}), "context-messages"),
        (scenario([{}], lens={"work": ["store/write"]}), "scripted-store"),
        (given(memory={"write": [{"wait": "g"}]}), "scripted-store"),
        (scenario([{}], requires=["pull"]), "pull"),
    ],
)
def test_implies_a_capability(of: Scenario, capability: str) -> None:
    assert capability in of.capabilities("stream")


def test_a_plain_scenario_needs_its_mode_and_nothing_else() -> None:
    assert scenario([{}]).capabilities("generate") == {"generate"}


def test_an_argument_that_is_called_like_a_word_implies_nothing() -> None:
    assert "close" not in given(model=[{"toolCalls": [{"id": "1", "name": "t", "args": {"close": 1}}]}]).capabilities(
        "stream"
    )


def test_it_needs_the_hooks_that_its_processors_have() -> None:
    of = given(processors={"a": {"id": "x", "processInput": [], "onViolation": True}, "b": {"processAPIError": []}})
    assert of.hooks == {"processInput", "processAPIError"}
    assert given(processors={"a": {"builtIn": "response-cache"}}).hooks == {"processLLMRequest", "processLLMResponse"}


def test_there_is_an_item_for_each_mode() -> None:
    assert [item.id for item in scenario([{}]).items] == ["ORD-3-in-order[generate]", "ORD-3-in-order[stream]"]


def test_a_run_has_its_name_or_its_number() -> None:
    assert scenario([{}, {}], run=[{"input": "1"}, {"input": "2", "name": "late"}]).run_names == ["0", "late"]


def test_scenarios_come_in_the_order_of_families_and_numbers(tmp_path: Path) -> None:
    for name in ("PER-1-x", "ORD-10-x", "ORD-2-x", "STA-1-x"):
        (tmp_path / "any").mkdir(exist_ok=True)
        (tmp_path / "any" / f"{name}.json").write_text("{}")
    assert [one.id for one in load_all(tmp_path, check=False)] == ["ORD-2-x", "ORD-10-x", "STA-1-x", "PER-1-x"]


def test_a_file_knows_its_id_and_family(tmp_path: Path) -> None:
    path = tmp_path / "state" / "STA-1-x.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"title": "It holds"}))
    assert load(path) == Scenario("STA-1-x", "state", {"title": "It holds"})


@pytest.mark.parametrize(("text", "what"), [("{", "is no JSON"), ("[]", "holds list, not an object")])
def test_a_file_that_is_no_scenario(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "ORD-1-x.json"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=f"ORD-1-x {what}"):
        load(path)


def test_scenarios_out_of_form_are_refused_all_at_once(tmp_path: Path) -> None:
    (tmp_path / "order").mkdir()
    for name in ("ORD-1-x", "ORD-2-x"):
        (tmp_path / "order" / f"{name}.json").write_text('{"rules": ["ORD-1"]}')
    with pytest.raises(ScenarioError, match=r"ORD-1-x: 'title' is missing(.|\n)*ORD-2-x: 'title' is missing"):
        load_all(tmp_path)
