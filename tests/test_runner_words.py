"""The contract's words are the same in the runner, in its schemas and in the reference."""

from __future__ import annotations

import dataclasses

import pytest

from layout import RUNNER
from processor_conformance import schema, words
from processor_conformance.answers import ARRIVALS
from processor_conformance.exits import Exit
from processor_conformance.notes import SEEN
from processor_conformance.peer import NOTIFICATIONS, REQUESTS
from processor_conformance.scripts import READING, STEPS
from processor_conformance.words import Json
from processor_contract.adapter.built_ins import BUILT_INS, hooks_of
from processor_contract.adapter.server import METHODS
from processor_contract.adapter.session import NOT_ARGUMENTS
from processor_contract.adapter.values import camel
from processor_contract.hooks import HOOKS

SCENARIO = schema.document("scenario")
PROTOCOL = schema.document("protocol")


@pytest.mark.parametrize("document", [SCENARIO, PROTOCOL], ids=["scenario", "protocol"])
def test_the_schemas_have_the_hooks_of_the_table(document: Json) -> None:
    assert set(document["$defs"]["hook"]["enum"]) == set(words.HOOKS)


def test_a_processor_of_a_scenario_may_have_every_hook_of_the_table() -> None:
    own = {"id", "name", "description", "processDataParts", "onViolation", "methods", "asynchronous", "values"}
    assert set(SCENARIO["$defs"]["processor"]["properties"]) - own == set(words.HOOKS)


def test_the_schemas_have_the_built_ins_of_the_table_and_a_capability_for_each() -> None:
    forms = [document["$defs"]["builtIn"]["properties"]["builtIn"]["enum"] for document in (SCENARIO, PROTOCOL)]
    assert forms == [list(words.BUILT_INS)] * 2
    assert schema.capabilities() >= words.BUILT_INS.keys()
    assert {hook for hooks in words.BUILT_INS.values() for hook in hooks} <= words.HOOKS.keys()


def test_the_reference_has_the_built_ins_of_the_table_with_the_same_hooks() -> None:
    assert {name: tuple(hooks_of({"key": "a", "builtIn": name})) for name in BUILT_INS} == words.BUILT_INS


def test_the_reference_hands_its_hooks_the_arguments_of_the_table() -> None:
    fields = {field.name for hook in HOOKS.values() for field in dataclasses.fields(hook.args)}
    assert {"abort", *map(camel, fields - set(NOT_ARGUMENTS))} == set(words.ARGUMENTS)


def test_the_reference_has_the_methods_of_the_table() -> None:
    assert {on: sorted(methods) for on, methods in METHODS.items()} == {
        on: sorted(methods) for on, methods in words.METHODS.items()
    }


def test_a_scenario_can_require_every_capability() -> None:
    assert set(SCENARIO["properties"]["requires"]["items"]["enum"]) == schema.capabilities()


def test_the_reference_has_the_hooks_of_the_table_in_the_same_arrays() -> None:
    assert {hook.wire: f"{hook.array}Processors" for hook in HOOKS.values()} == {
        name: hook.array for name, hook in words.HOOKS.items()
    }


def test_a_lens_shows_every_event_of_the_table() -> None:
    hooks, others = SCENARIO["$defs"]["lens"]["properties"]["work"]["items"]["anyOf"]
    assert hooks == {"$ref": "#/$defs/hook"}
    assert {*words.HOOKS, *others["enum"]} == set(words.WORK)
    assert SCENARIO["$defs"]["lens"]["properties"]["provider"]["items"]["enum"] == list(words.PROVIDER)


def test_a_scenario_is_for_the_revisions_and_modes_there_are() -> None:
    members = SCENARIO["properties"]
    assert members["revision"]["items"]["enum"] == list(words.REVISIONS)
    assert members["modes"]["items"]["enum"] == list(words.MODES)


def test_the_protocol_speaks_of_the_revisions_there_are() -> None:
    members = PROTOCOL["$defs"]["initialize.params"]["properties"]
    assert set(members["revision"]["enum"]) == set(words.REVISIONS)


def test_the_protocol_has_the_callbacks_there_are() -> None:
    assert set(PROTOCOL["$defs"]["callback"]["enum"]) == set(words.CALLBACKS)


def test_every_message_that_may_arrive_is_taken_and_can_be_noted() -> None:
    assert set(ARRIVALS) == set(SEEN) == REQUESTS | NOTIFICATIONS


def test_every_step_of_a_clause_and_of_a_reader_is_one_of_the_form() -> None:
    forms = {name: SCENARIO["$defs"][name]["oneOf"] for name in ("step", "reading")}
    found = {name: {key for form in forms[name] for key in form["properties"]} for name in forms}
    assert found == {"step": set(STEPS), "reading": set(READING)}


def test_the_readme_has_every_exit_code() -> None:
    text = (RUNNER.parent / "README.md").read_text("utf-8")
    assert [code for code in Exit if f"\n| {int(code)} | " not in text] == []
