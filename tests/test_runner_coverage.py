"""The matrix of rules, scenarios and mutants, and the holes in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from processor_conformance.coverage import Coverage, holes, matrix, wanted, written
from processor_conformance.recording import line
from processor_conformance.report import Mutants
from processor_conformance.scenario import Scenario
from processor_conformance.spec import Rule, parse
from processor_conformance.words import Json
from runner_kit import hook, rule, scenario, trace

SEEN = ("generate, stream", "step first, later", "place first, later")
RULE = replace(rule(), seen_at=SEEN)
STEPS = [hook(key, stepNumber=step) for step in (0, 1) for key in ("a", "b")]
OF = scenario([{"work": STEPS}])
OTHER = {"mutants": {"other": {"rule": "ORD-4", "killed_by": ["ORD-3-in-order[stream]"]}}}
KILLED = {"mutants": {"reversed": {"rule": "ORD-3", "killed_by": ["ORD-3-in-order[stream]"]}}}


def covered(
    of: Scenario = OF, *, rules: tuple[Rule, ...] = (RULE,), work: Json = STEPS, mutants: Json = KILLED
) -> Coverage:
    lines = {item.id: line(of, trace({"work": [dict(event) for event in work]}, mode=item.mode)) for item in of.items}
    return Coverage({one.id: one for one in rules}, [of], lines, Mutants.parse(mutants))


def test_what_is_wanted_is_every_mode_step_and_place() -> None:
    assert len(wanted(RULE)) == 8


def test_a_rule_without_steps_and_places_is_wanted_in_both_modes() -> None:
    assert wanted(replace(RULE, seen_at=("generate, stream",))) == [("generate",), ("stream",)]


def test_nothing_is_missing_where_all_is_shown() -> None:
    assert holes(covered()) == []


def test_every_cell_that_no_expected_event_fills_is_a_hole() -> None:
    only = scenario([{"work": STEPS[:1]}], modes=["stream"])
    assert [hole for hole in holes(covered(only, work=STEPS[:1])) if "stream" in hole] == [
        "ORD-3: not seen at stream / first / later",
        "ORD-3: not seen at stream / later / first",
        "ORD-3: not seen at stream / later / later",
    ]


def test_an_event_outside_the_lens_shows_nothing() -> None:
    only = scenario(
        [{"work": STEPS[:1]}], lens={"work": ["processOutputStep"], "when": {"stepNumber": 0, "processor": "a"}}
    )
    assert "ORD-3: not seen at stream / later / first" in holes(covered(only))


def test_a_place_is_that_in_the_array_of_the_call() -> None:
    call = [{"input": "x", "options": {"outputProcessors": ["b", "a"]}}]
    filled = covered(scenario([{"work": STEPS[:1]}], run=call), work=STEPS[:1]).filled()
    assert set(filled["ORD-3"]) == {("generate", "first", "later"), ("stream", "first", "later")}


def test_a_scenario_that_does_not_pass_shows_nothing() -> None:
    assert "ORD-3-in-order[stream]: by its recording it does not pass" in holes(covered(work=STEPS[:1]))


@pytest.mark.parametrize(
    ("coverage", "hole"),
    [
        (covered(mutants={}), "ORD-3: no mutant breaks it"),
        (covered(mutants={}), "ORD-3-in-order: no mutant of its rule fails it"),
        (covered(mutants=OTHER), "ORD-3-in-order: no mutant of its rule fails it"),
        (covered(rules=(RULE, rule("ORD-4"))), "ORD-4: no scenario shows it"),
        (covered(rules=()), "ORD-3-in-order: there is no rule ORD-3"),
        (covered(rules=()), "mutant reversed: there is no rule ORD-3"),
        (covered(mutants=OTHER), "mutant other: no scenario of ORD-4 fails it"),
        (
            covered(mutants={"mutants": {"m": {"rule": "ORD-3", "killed_by": ["ORD-3-gone[stream]"]}}}),
            "mutant m: there is no ORD-3-gone[stream]",
        ),
        (Coverage({"ORD-3": RULE}, [OF], {}, Mutants.parse(KILLED)), "ORD-3-in-order[generate]: it is not recorded"),
    ],
)
def test_names_a_hole(coverage: Coverage, hole: str) -> None:
    assert any(found.startswith(hole) for found in holes(coverage))


def test_a_rule_of_both_revisions_is_shown_in_both() -> None:
    found = covered(scenario([{"work": STEPS}], revision=["nine-hook"]))
    assert holes(found) == ["ORD-3: it holds in six-hook too, and no scenario of that revision shows it"]


def test_a_control_may_fail_for_any_mutant() -> None:
    negative = scenario([{"work": STEPS}], name="ORD-4-nothing", twin={"of": OF.id, "edit": "less"})
    found = covered(rules=(RULE, rule("ORD-4")), mutants=OTHER)
    found.scenarios = [OF, negative]
    assert not any(hole.startswith("ORD-3-in-order: no mutant") for hole in holes(found))


def test_a_rule_of_any_family_has_to_be_shown_and_broken() -> None:
    assert holes(covered(rules=(RULE, rule("NEW-4")))) == ["NEW-4: no scenario shows it", "NEW-4: no mutant breaks it"]


def test_the_matrix_has_a_row_for_each_rule() -> None:
    assert matrix(covered())[-1].split() == ["ORD-3", *["1"] * 8, "1", "1"]


def test_the_matrix_marks_what_is_missing() -> None:
    only = scenario([{"work": STEPS[:2]}])
    assert matrix(covered(only, work=STEPS[:2]))[-1].split() == [
        "ORD-3", "1", "1", "HOLE", "HOLE", "1", "1", "HOLE", "HOLE", "1", "1",
    ]  # fmt: skip


SPEC = """# The contract

### ORD-3 · In order
MUST · document S-1 · both revisions

It holds.

*Seen at* generate, stream.
*Shown by* ORD-3-old-one,
ORD-3-another-old-one.

### ORD-4 · Next
MUST · document S-1 · both revisions

It holds too.

*Broken by* nothing-any-more.

## Another family

Text.
"""


def test_writing_brings_the_generated_lines_up_to_date() -> None:
    expected = SPEC.replace("ORD-3-old-one,\nORD-3-another-old-one.", "ORD-3-in-order.\n*Broken by* reversed.")
    assert written(SPEC, covered()) == expected.replace("*Broken by* nothing-any-more.\n\n", "")


def test_writing_again_changes_nothing() -> None:
    once = written(SPEC, covered())
    assert written(once, covered()) == once


def test_what_is_written_is_read_back() -> None:
    found = parse(written(SPEC, covered()))["ORD-3"]
    assert (found.shown_by, found.broken_by) == (("ORD-3-in-order",), ("reversed",))
