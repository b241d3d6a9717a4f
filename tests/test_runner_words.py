"""The contract's words are the same in the runner, in its schemas and in the reference."""

from __future__ import annotations

import pytest

from processor_conformance import schema, words
from processor_conformance.words import Json
from processor_contract.hooks import HOOKS

SCENARIO = schema.document("scenario")
PROTOCOL = schema.document("protocol")


@pytest.mark.parametrize("document", [SCENARIO, PROTOCOL], ids=["scenario", "protocol"])
def test_the_schemas_have_the_hooks_of_the_table(document: Json) -> None:
    assert set(document["$defs"]["hook"]["enum"]) == set(words.HOOKS)


def test_a_processor_of_a_scenario_may_have_every_hook_of_the_table() -> None:
    own = {"id", "name", "description", "processDataParts", "onViolation"}
    assert set(SCENARIO["$defs"]["processor"]["properties"]) - own == set(words.HOOKS)


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
