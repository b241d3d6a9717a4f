"""The table of endings: which scenarios show an ending, and what it comes to."""

from __future__ import annotations

import pytest

from layout import ROOT
from processor_conformance import endings
from processor_conformance.coverage import load_lines
from processor_conformance.recording import line
from processor_conformance.scenario import Scenario, load_all
from processor_conformance.words import Json
from runner_kit import scenario, trace

ABORT = {"$abort": {"reason": "no"}}
RETRY = {"$abort": {"reason": "no", "retry": True}}
THROW = {"$throw": {"message": "broken"}}
STOPPED = {"outcome": {"tripwire": {"reason": "no"}}, "client": [{"type": "tripwire"}]}
REPEATED = {"outcome": {"finishReason": "stop"}, "client": [{"type": "finish"}]}
FAILED = {"outcome": {"raised": [{"name": "HookFailed"}], "at": "result"}, "client": [{"type": "error"}]}


def row(*several: tuple[Scenario, Json], hook: str = "processOutputStep") -> str:
    """The row of a hook in the table made of these scenarios, each with what came of it."""
    lines = {item.id: line(of, trace(came, mode=item.mode)) for of, came in several for item in of.items}
    found = endings.table([of for of, _ in several], lines).splitlines()
    return next(one for one in found if one.startswith(f"| {hook} "))


def ending(name: str, returned: Json, **members: Json) -> Scenario:
    given = {"processors": {"a": {"processOutputStep": [{"return": returned}]}}, "outputProcessors": ["a"], "model": []}
    return scenario([{}], name=name, **{"given": given, **members})


@pytest.mark.parametrize(
    ("name", "returned", "came", "cells"),
    [
        ("TRI-1-x", ABORT, STOPPED, "| returns `tripwire`; ends in `tripwire` |  |  |"),
        ("RTY-1-x", RETRY, REPEATED, "|  | the step is repeated |  |"),
        ("ERR-9-x", THROW, FAILED, "|  |  | raises; ends in `error` |"),
        ("TRI-1-x", RETRY, STOPPED, "|  |  |  |"),
        ("ORD-25-x", ABORT, STOPPED, "|  |  |  |"),
    ],
)
def test_a_scenario_shows_the_ending_that_its_rule_is_about(name: str, returned: Json, came: Json, cells: str) -> None:
    assert row((ending(name, returned), came)) == f"| processOutputStep {cells}"


def test_a_retry_that_is_reported_is_said() -> None:
    came = {"outcome": {"tripwire": {"retry": True}}, "client": [{"type": "tripwire"}]}
    assert "returns `tripwire` with `retry`; ends in `tripwire` with `retry`" in row((ending("RTY-2-x", RETRY), came))


def test_a_call_that_raises_is_no_stream() -> None:
    came = {"outcome": {"raised": [{"name": "HookFailed"}], "at": "start"}}
    assert row((ending("ERR-9-x", THROW), came)).endswith("| raises |")


def test_scenarios_that_disagree_are_both_there() -> None:
    other = ending("TRI-3-y", ABORT, modes=["generate"])
    assert "raises or returns `tripwire`" in row((ending("TRI-3-x", ABORT), STOPPED), (other, FAILED))


def test_two_endings_in_one_scenario_show_neither() -> None:
    clauses = {"processOutputStep": [{"return": ABORT}, {"return": THROW}]}
    given = {"processors": {"a": clauses}, "outputProcessors": ["a"], "model": []}
    assert row((scenario([{}], name="TRI-1-x", given=given), STOPPED)).endswith("|  |  |  |")


def test_the_table_in_the_specification_is_that_of_the_scenarios() -> None:
    text = (ROOT / "SPEC.md").read_text("utf-8")
    lines = load_lines(ROOT / "fixtures" / "recordings" / "reference")

    assert endings.TABLE.findall(text) == [endings.table(load_all(), lines)]
