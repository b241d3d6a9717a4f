"""Scenarios and rules in words."""

from __future__ import annotations

import pytest

from processor_conformance import explain, prose
from processor_conformance.report import Mutants
from processor_conformance.words import Json
from runner_kit import hook, rule, scenario


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ({"a": [1, "x"]}, '{a: [1, "x"]}'),
        ({"$any": True}, "anything"),
        ({"$absent": True}, "absent"),
        ({"$exact": {}}, "exactly {}"),
        ({"$bind": "n"}, "the value <n>"),
        ({"$differs": "n"}, "a value other than <n>"),
        ({"$oneOf": [1, 2]}, "1 or 2"),
        ({"$unordered": [1, 2]}, "in any order [1, 2]"),
        ({"$contains": "x"}, 'containing "x"'),
        ({"$not": 1}, "not 1"),
        ({"role": "user", "content": {"parts": [{"type": "text", "text": "hi"}]}}, 'user: "hi"'),
        (
            {"id": "m1", "role": "assistant", "content": {"parts": {"$contains": [{"type": "text", "text": "hi"}]}}},
            'assistant: among others "hi" (id "m1")',
        ),
    ],
)
def test_a_pattern(pattern: Json, words: str) -> None:
    assert prose.pattern(pattern) == words


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (hook("a", state={"$exact": {}}), "processOutputStep of a with state exactly {}"),
        (hook("a", tokens={"state": {"$bind": "s"}}), "processOutputStep of a with state being the object <s>"),
        ({"tool": "look", "label": "l", "after": ["m", "n"]}, "tool look (l), after m and n"),
        ({"store": "write"}, "store write"),
        ({"warning": {"$contains": "twice"}}, 'a warning containing "twice"'),
        ({"type": "finish"}, "chunk finish"),
        ({"model": "mock/one", "tools": ["look"]}, 'model call with tools ["look"]'),
        ({"opened": True}, "the stream is handed over"),
        ({"$unordered": [hook("a"), hook("b")]}, "in any order: processOutputStep of a; processOutputStep of b"),
    ],
)
def test_an_event(event: Json, words: str) -> None:
    assert prose.event(event) == words


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ({}, "answers neutrally"),
        ({"times": 1, "return": {"$undefined": True}}, "returns nothing (1 time)"),
        ({"when": {"n": 0}, "return": {"$abort": {"reason": "no"}}}, 'when {n: 0}: aborts with reason: "no"'),
        ({"do": [{"op": "set", "at": "state/n", "value": 1}], "open": "g"}, "sets state/n to 1, opens the gate 'g'"),
        ({"do": [{"op": "call", "on": "writer", "method": "custom", "args": [{"type": "data-x"}]}]},
         'calls writer.custom({type: "data-x"})'),
        ({"return": {"$spread": {"$ref": "part"}, "with": {"n": 1}}}, "returns a copy of its own part with {n: 1}"),
        ({"return": {"$throw": {"message": "boom"}}}, 'raises {message: "boom"}'),
        ({"return": {"model": {"$model": "mock/two"}}}, "returns {model: the model mock/two itself}"),
        ({"return": {"tools": {"look": {"$tool": "look"}}}}, "returns {tools: {look: the tool look}}"),
    ],
)  # fmt: skip
def test_a_clause(clause: Json, words: str) -> None:
    assert prose.clause(clause) == words


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        ({"text": ["he", "llo"]}, 'says "he" + "llo"'),
        ({"toolCalls": [{"id": "c1", "name": "look", "args": {"at": 1}}]}, "calls look(at: 1) as c1"),
        ({"error": {"message": "no"}}, 'fails with {message: "no"}'),
        ({"text": ["hi"], "pull": True}, 'says "hi", its parts fetched one by one'),
    ],
)
def test_a_turn_of_the_model(turn: Json, words: str) -> None:
    assert prose.turn(turn) == words


def test_a_scenario_as_a_timeline() -> None:
    shown = scenario(
        [{"work": [hook("a"), hook("b")], "client": [], "outcome": {"text": "hi"}}],
        lens={"work": ["processOutputStep"], "when": {"stepNumber": 0}},
        given={
            "processors": {"a": {"processOutputStep": []}, "b": {"id": "x", "processOutputStep": [{"return": []}]}},
            "outputProcessors": ["a", "b"],
            "model": [{"text": ["hi"]}],
        },
        run=[{"input": "hello", "options": {"maxSteps": 2}}],
        stored=[{"thread": "t", "resource": "r", "messages": []}],
        twin={"of": "ORD-3-other", "edit": "the array is longer"},
    )
    assert explain.show(shown, {"ORD-3": rule()}) == [
        "ORD-3-in-order  (generate, stream)",
        "It holds",
        "",
        "Why it matters: It hurts.",
        "",
        "Given",
        "  output processors: a, b",
        "  processor a",
        "    processOutputStep: only listens",
        '  processor b (id "x")',
        "    processOutputStep: returns []",
        '  model call 1: the model says "hi"',
        "",
        "Done",
        '  run 0: the agent is asked "hello", with {maxSteps: 2}',
        "",
        "Looked at: processOutputStep; of these only where {stepNumber: 0}",
        "",
        "Expected: each list is complete and in order; <name> is one value throughout",
        "  run 0, what is called (hooks, tools, callbacks, the store)",
        "    1. processOutputStep of a",
        "    2. processOutputStep of b",
        "  run 0, what the client gets (in mode stream)",
        "    nothing",
        "  run 0, its outcome",
        '    {text: "hi"}',
        "  the store at the end, thread t of r",
        "    nothing",
        "",
        "Its control, ORD-3-other, shows the same present: the array is longer",
        "",
        "Rule ORD-3 · Title of ORD-3  (MUST; document S-001)",
        "  What ORD-3 says.",
        "  Intent: What for.",
    ]


def test_what_may_be_stored_in_several_ways() -> None:
    choice = {"$oneOf": [[{"role": "user", "content": {"parts": []}}], []]}
    shown = explain.show(
        scenario([{}], stored=[{"thread": "t", "resource": "r", "messages": choice}]), {"ORD-3": rule()}
    )
    start = shown.index("  the store at the end, thread t of r")
    assert shown[start + 1 : start + 4] == ["    user: no part", "  or", "    nothing"]


def test_a_rule_with_all_that_belongs_to_it() -> None:
    mutants = Mutants(
        {"reversed": "ORD-3", "other": "ORD-4"},
        {"reversed": frozenset(), "other": frozenset()},
        {"reversed": "Goes backwards."},
    )
    assert explain.explain(rule(), [scenario([{}]), scenario([{}], name="ORD-4-x")], mutants) == [
        "ORD-3 · Title of ORD-3",
        "MUST, a rule of order",
        "",
        "  What ORD-3 says.",
        "",
        "What for: What for.",
        "On whose word: the documents (S-001)",
        "Holds in: nine-hook and six-hook",
        "",
        "Shown by",
        "  ORD-3-in-order  (generate, stream)",
        "    It holds",
        "",
        "Mistakes that it catches, each made once in a broken reference",
        "  reversed",
        "    Goes backwards.",
        "",
        "Try it: processor-conformance run ORD-3 --impl 'your adapter'",
    ]


def test_a_decision_says_that_it_is_ours() -> None:
    lines = explain.explain(rule(sources=("decision 7, F-15",)), [], None)
    assert "On whose word: our decisions, where the documents leave it open (7, F-15)" in lines


def test_a_rule_without_a_scenario_says_so() -> None:
    assert "No scenario shows it." in explain.explain(rule(), [], None)
