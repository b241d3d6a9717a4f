"""The schemas, and the two ways of checking with them."""

from __future__ import annotations

import builtins
import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from processor_conformance import schema
from processor_conformance.faults import SuiteError
from processor_conformance.words import Json

PROTOCOL = (Path(__file__).parents[1] / "conformance" / "PROTOCOL.md").read_text("utf-8")
HOOK: dict[str, Json] = {
    "run": "r", "handle": "h", "processor": "p", "hook": "processInput", "arguments": {}, "tokens": {},
}  # fmt: skip
SCENARIO: dict[str, Json] = {
    "title": "The second request starts with empty state",
    "rules": ["STA-3"],
    "why": "because",
    "given": {"processors": {"counter": {"processInput": [{"times": 1}]}}, "model": [{"text": ["x"]}]},
    "run": [{"input": "hello"}],
    "expect": [{"work": [{"hook": "processInput"}]}],
}


@pytest.mark.parametrize("name", ["protocol", "scenario"])
def test_the_documents_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(schema.document(name))


def test_every_method_has_params_and_requests_have_results() -> None:
    table = PROTOCOL[: PROTOCOL.index("Request ids are strings")]
    methods = {name for name in re.findall(r"`([a-z]+(?:/[a-z]+)?)`", table) if name != "processor_conformance"}
    defined = schema.document("protocol")["$defs"]
    assert {name for name in methods if f"{name}.params" not in defined} == set()
    without_result = {name for name in methods if f"{name}.result" not in defined}
    assert without_result == {"stream/chunk", "model/aborted", "warning"}


def test_capabilities_are_those_of_the_document() -> None:
    table = PROTOCOL[PROTOCOL.index("| capability |") : PROTOCOL.index("### `session/open`")]
    rows = [line.split("|")[1] for line in table.splitlines()[2:] if line.startswith("|")]
    assert {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)} == schema.capabilities()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"extra": 1}, None),
        ({"hook": "processEverything"}, "/hook is 'processEverything', not one of 'processInput'"),
        ({"arguments": []}, "/arguments is array, not object"),
        ({"run": None}, "/run is null, not string"),
        ({"run": True}, "/run is boolean, not string"),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_the_structural_check(change: Json, problem: str | None, strict: bool) -> None:
    found = schema.problem("hook/call.params", {**HOOK, **change}, strict=strict)
    assert (found is None) == (problem is None)
    assert problem is None or (found or "").startswith(problem)


def test_a_missing_member_is_named() -> None:
    assert schema.problem("hook/call.params", {}) == "'run' is missing"
    assert schema.problem("run/start.result", {}) == "'outcome' or 'opened' is missing"
    assert schema.problem("tick.result", None) == "/ is null, not object"


def test_only_the_full_check_sees_everything() -> None:
    outcome = {"outcome": {"raised": [], "at": "start"}}
    assert schema.problem("run/start.result", outcome) is None
    assert schema.problem("run/start.result", outcome, strict=True) == "/outcome/raised: [] should be non-empty"


def test_the_structural_check_goes_inside() -> None:
    outcome: Json = {"raised": [{"name": "Error"}], "at": "start"}
    assert schema.problem("run/start.result", {"outcome": outcome}) == "/outcome/raised/0: 'message' is missing"
    read = [schema.problem("run/read.result", {"chunks": [chunk], "done": True}) for chunk in (1, {"type": 1})]
    assert read == ["/chunks/0 is integer, not object", "/chunks/0/type is integer, not string"]


def test_the_full_check_without_jsonschema_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    true_import = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "jsonschema":
            raise ImportError(name)
        return true_import(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    schema._full.cache_clear()
    with pytest.raises(SuiteError, match="pip install jsonschema"):
        schema.problem("tick.params", {}, strict=True)


def changed(path: str, value: Json) -> Json:
    scenario = json.loads(json.dumps(SCENARIO))
    *way, last = path.split("/")
    holder = scenario
    for name in way:
        holder = holder[int(name) if isinstance(holder, list) else name]
    holder[last] = value
    return scenario


@pytest.mark.parametrize("strict", [False, True])
def test_a_scenario_fits_its_form(strict: bool) -> None:
    assert schema.scenario_problem(SCENARIO, strict=strict) is None


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("given/processors/counter/processOutputResults", [], "/given/processors/counter/processOutputResults is no"),
        ("given/processors/counter/processInput", [{"retrun": 1}], "/given/processors/counter/processInput/0/retrun"),
        (
            "given/processors/counter/processInput",
            [{"do": [{"op": "set", "att": "x", "value": 1}]}],
            "/given/processors/counter/processInput/0/do/0: 'at' is missing",
        ),
        ("given/tools", {"look": {"execute": True}}, "/given/tools/look/execute is boolean, not array"),
        ("given/inputProcessors", [1], "/given/inputProcessors/0 is integer, not string"),
        ("run", [{"input": "x", "reading": [{"reed": 1}]}], "/run/0/reading/0: 'read' is missing"),
        ("lens", {"work": ["processOutputResults"]}, "/lens/work/0 is 'processOutputResults', not one of"),
        ("expect", [{"wrok": []}], "/expect/0/wrok is no member there; there may be work, client"),
    ],
)
def test_the_structural_check_of_a_scenario_names_the_place(path: str, value: Json, problem: str) -> None:
    assert (schema.scenario_problem(changed(path, value)) or "").startswith(problem)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("titel", "x"),
        ("title", "It should hold"),
        ("rules", ["STA3"]),
        ("given/processors/counter/processEverything", []),
        ("given/processors/counter/processInput", [{"retrun": 1}]),
        ("given/processors/counter/processInput", [{"do": [{"op": "rename", "at": "x"}]}]),
        ("given/processors/counter/processInput", [{"do": [{"op": "set", "at": "x"}]}]),
        ("given/model", []),
        ("given/model", [{"usage": {}}]),
        ("given/model", [{"parts": [], "text": ["x"]}]),
        ("given/tools", {"look": {"execute": True}}),
        ("run", [{"input": "x", "reading": [{"read": 0}]}]),
        ("run", [{"input": "x", "options": {"memory": {}}}]),
        ("expect", [{"wrok": []}]),
        ("expect", []),
        ("twin", {"of": "x"}),
        ("requires", ["telepathy"]),
    ],
)
def test_a_scenario_out_of_form_is_refused(path: str, value: Json) -> None:
    assert schema.scenario_problem(changed(path, value), strict=True) is not None
