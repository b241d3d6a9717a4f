"""What a scenario names and is not there is refused, with the names that there are."""

from __future__ import annotations

import copy

import pytest

from processor_conformance import naming
from processor_conformance.scenario import Scenario
from processor_conformance.words import Json
from runner_kit import hook

RAW: Json = {
    "given": {
        "processors": {
            "a": {"processOutputStep": [{"do": [{"op": "call", "on": "messageList", "method": "add", "args": []}]}]},
            "cache": {"builtIn": "response-cache"},
        },
        "inputProcessors": ["cache"],
        "outputProcessors": {"$callback": [{"return": ["a"]}]},
        "tools": {"look": {"execute": [{"open": "seen"}], "parameters": {"$defs": {"$x": {"$ref": "#/$defs/y"}}}}},
        "otherTools": {"find": {"name": "search"}},
        "callbacks": {"stopWhen": [{"wait": "seen"}]},
        "memory": {},
        "tracing": True,
        "model": [{"toolCalls": [{"id": "c", "name": "look", "args": {"n": {"$number": "NaN"}}}]}],
    },
    "run": [{"input": "hi", "name": "first", "options": {"callbacks": ["stopWhen"], "tools": ["search"]}}],
    "lens": {"work": ["processOutputStep", "tool"], "chunks": ["text-delta", "data-x"], "spans": ["run"]},
    "expect": [
        {
            "work": [hook("a", text="hi", label="l", after="l"), {"tool": "look"}],
            "provider": [{"model": "mock/one", "prompt": []}],
            "client": [{"type": "data-x", "anything": 1}],
            "spans": [{"kind": "run", "runId": {"$any": True}}],
            "outcome": {"text": "hi", "steps": [{"text": {"$absent": True}}]},
        }
    ],
    "stored": [{"thread": "t", "resource": "r", "messages": []}],
}
STEP = "given/processors/a/processOutputStep"


def problems(at: str = "", value: Json = None) -> list[str]:
    raw = copy.deepcopy(RAW)
    if at:
        *path, last = (int(step) if step.isdigit() else step for step in at.split("/"))
        holder = raw
        for step in path:
            holder = holder[step]
        holder[last] = value
    return list(naming.unknown(Scenario("ORD-3-in-order", "ordering", raw)))


def test_a_scenario_that_names_what_is_there() -> None:
    assert problems() == []


@pytest.mark.parametrize(
    ("at", "value", "what"),
    [
        ("given/inputProcessors", ["cash"], "inputProcessors: there is no 'cash'; there is a, cache"),
        (
            "given/outputProcessors",
            {"$callback": [{"return": ["b"]}]},
            "outputProcessors: there is no 'b'; there is a, ",
        ),
        ("run/0/options/errorProcessors", ["b"], "errorProcessors: there is no 'b'; there is a, cache"),
        ("expect/0/work/0/processor", "b", "an event's 'processor': there is no 'b'; there is a, cache"),
        ("expect/0/work/1/tool", "lok", "an event's 'tool': there is no 'lok'; there is find, look, search"),
        ("run/0/options/tools", ["fnid"], "the option tools: there is no 'fnid'; there is find, look, search"),
        (STEP, [{"return": {"tools": [{"$tool": "x"}]}}], "$tool: there is no 'x'; there is find, look, search"),
        (STEP, [{"return": {"$ref": "s", "of": {"hook": "processWork"}}}], "of: there is no 'processWork'; there is "),
        (STEP, [{"return": {"$ref": "s", "of": {"callback": "c"}}}], "of: there is no 'c'; there is errorProcessors, "),
        (STEP, [{"return": {"$ref": "s", "of": {"tool": "x"}}}], "of: there is no 'x'; there is find, look, search"),
        (STEP, [{"return": {"$ref": "s", "of": {"processor": "cache"}}}], "of: there is no 'cache'; there is a"),
        (STEP, [{"return": {"$ref": "s", "of": {"run": "one"}}}], "of: there is no 'one'; there is first"),
        (f"{STEP}/0/do/0/method", "addd", "method of messageList: there is no 'addd'; there is add, addSystem, "),
        (f"{STEP}/0/do/0/on", "messages", "on: there is no 'messages'; there is abortSignal, messageList, "),
        ("run/0/options/callbacks", [], "no call names the callback 'stopWhen' in its options"),
        ("run/0/options/outputProcessors", {"$callback": "outputProcessors"}, "$callback: there is no 'outputProcesso"),
        ("run", [{"input": "a", "name": "x"}, {"input": "b", "name": "x"}], "two runs are called 'x'"),
        ("given/tools/look/execute", [], "wait: there is no 'seen'; there is none"),
        ("lens/chunks", ["text-dleta"], "the lens's chunks: there is no 'text-dleta'; there is abort, error, "),
        ("expect/0/work/0/fromCahce", {"$absent": True}, "a hook's event: there is no 'fromCahce'; there is abort, "),
        ("expect/0/provider/0/tool", [], "a model call: there is no 'tool'; there is aborted, call, mode, model, "),
        ("expect/0/spans/0/runid", "x", "a span: there is no 'runid'; there is chunks, description, hook, id, "),
        ("expect/0/outcome/objecError", {"$absent": True}, "the outcome: there is no 'objecError'; there is at, error"),
        ("expect/0/outcome/steps/0/txt", "x", "a step of the outcome: there is no 'txt'; there is files, finish"),
        (STEP, [{"return": {"$nmber": "NaN"}}], "a tag: there is no '$nmber'; there is $abort, $absent, "),
        (STEP, [{"return": {"$number": "nan"}}], "$number holds NaN, Infinity or -Infinity, not 'nan'"),
        (STEP, [{"return": {"$bigint": 5}}], "$bigint holds digits, as a text, not 5"),
        ("expect/0/outcome/text", {"$date": "today"}, "$date holds a date in ISO 8601, not 'today'"),
        (STEP, [{"return": {"$undefined": True, "x": 1}}], "$undefined stands beside other members: x"),
    ],
)
def test_refuses(at: str, value: Json, what: str) -> None:
    found = problems(at, value)
    assert [one for one in found if one.startswith(what)], found


@pytest.mark.parametrize(
    ("member", "what"),
    [
        ("memory", "it expects something 'stored' of an agent without 'memory'"),
        ("tracing", "it expects spans of an agent without 'tracing'"),
    ],
)
def test_what_is_expected_of_a_store_or_a_trace_needs_one(member: str, what: str) -> None:
    raw = {**RAW, "given": {key: value for key, value in RAW["given"].items() if key != member}}
    assert list(naming.unknown(Scenario("ORD-3-in-order", "ordering", raw))) == [what]


def test_what_is_literal_or_a_schema_is_in_other_words() -> None:
    assert problems(STEP, [{"return": {"$literal": {"$odd": {"$number": 5}}}}]) == []
    assert problems("run/0/options/structuredOutput", {"schema": {"$defs": {}, "$anchor": "x"}}) == []
