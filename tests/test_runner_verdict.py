"""Verdicts on plays, and on an implementation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from processor_conformance.deviations import Deviation
from processor_conformance.spec import Rule
from processor_conformance.verdict import Conclusion, Kind, Result, fails, judge
from processor_conformance.words import REVISIONS
from runner_kit import STEP, chunk, hook, item, rule, scenario, trace

EXPECTED = scenario([{"work": [hook("a"), hook("b")]}])
AS_EXPECTED = {"work": [hook("a"), hook("b")]}
REVERSED = {"work": [hook("b"), hook("a")]}
AFTER_FINISH = {"client": [*map(chunk, ("start", *STEP, "finish")), {"type": "data-x"}]}
BACKWARDS = Deviation(
    EXPECTED.id,
    "backwards",
    "It goes backwards.",
    instead=({"at": "/expect/0/work/0/processor", "to": "b"}, {"at": "/expect/0/work/1/processor", "to": "a"}),
)


def test_what_fits_passes() -> None:
    assert judge(item(EXPECTED), trace(AS_EXPECTED)).kind == "pass"


def test_what_does_not_fit_fails_for_the_scenarios_rule() -> None:
    found = judge(item(EXPECTED), trace(REVERSED))
    assert (found.kind, found.broken) == ("fail", ("ORD-3",))


def test_an_invariant_fails_for_its_own_rule() -> None:
    found = judge(item(EXPECTED), trace({**AS_EXPECTED, **AFTER_FINISH}))
    assert (found.kind, found.broken) == ("fail", ("STR-1",))


def test_the_scenarios_own_divergence_comes_before_invariants() -> None:
    assert judge(item(EXPECTED), trace({**REVERSED, **AFTER_FINISH})).broken == ("ORD-3", "STR-1")


def test_a_known_deviation_is_no_failure() -> None:
    assert judge(item(EXPECTED), trace(REVERSED), [BACKWARDS]).kind == "deviation"


def test_a_deviation_names_the_rule_it_breaks() -> None:
    assert judge(item(EXPECTED), trace(REVERSED), [BACKWARDS]).broken == ("ORD-3",)


def test_another_divergence_than_the_known_one_fails() -> None:
    found = judge(item(EXPECTED), trace({"work": [hook("b")]}), [BACKWARDS])
    assert (found.kind, found.divergence and found.divergence.index) == ("fail", 1)


def test_an_entry_that_does_not_happen_is_stale() -> None:
    assert judge(item(EXPECTED), trace(AS_EXPECTED), [BACKWARDS]).kind == "stale"


def test_a_race_may_as_well_not_happen() -> None:
    assert judge(item(EXPECTED), trace(AS_EXPECTED), [replace(BACKWARDS, sometimes=True)]).kind == "pass"


def test_a_race_that_happens_is_a_deviation() -> None:
    assert judge(item(EXPECTED), trace(REVERSED), [replace(BACKWARDS, sometimes=True)]).kind == "deviation"


def test_one_needless_entry_of_two_is_stale() -> None:
    needless = Deviation(EXPECTED.id, "other", "", invariants=("STR-1",))
    found = judge(item(EXPECTED), trace(REVERSED), [BACKWARDS, needless])
    assert (found.kind, found.entries) == ("stale", (needless,))


def test_an_invariant_can_be_known_to_break() -> None:
    known = Deviation(EXPECTED.id, "chatty", "", invariants=("STR-1",))
    assert judge(item(EXPECTED), trace({**AS_EXPECTED, **AFTER_FINISH}), [known]).kind == "deviation"


def test_a_gate_can_be_known_to_stay_shut() -> None:
    known = Deviation(EXPECTED.id, "alone", "", gates=("g",))
    assert judge(item(EXPECTED), trace(AS_EXPECTED, stuck_gates=["g"]), [known]).kind == "deviation"


def test_a_pattern_that_makes_no_sense_is_a_bug_of_the_suite() -> None:
    senseless = scenario([{"work": [hook("a", n={"$differs": "x"})]}])
    assert judge(item(senseless), trace({"work": [hook("a", n=1)]})).kind == "suite-error"


DOCUMENT, DECISION = rule("ORD-1"), rule("ORD-2", sources=("decision 2",))
ADVICE = rule("ORD-9", level="SHOULD")
SPEC = {one.id: one for one in (DOCUMENT, DECISION, ADVICE)}


def result(of: Rule, kind: Kind = "pass", broken: tuple[str, ...] = ()) -> Result:
    return Result(item(scenario([{}], name=f"{of.id}-x")), kind, broken or ((of.id,) if kind == "fail" else ()))


def conclusion(*results: Result) -> Conclusion:
    return Conclusion(list(results), SPEC)


@pytest.mark.parametrize(
    ("results", "documents", "full", "code"),
    [
        ([result(DOCUMENT), result(DECISION)], True, True, 0),
        ([result(DOCUMENT), result(DECISION, "fail")], True, False, 1),
        ([result(DOCUMENT, "fail"), result(DECISION)], False, False, 1),
        ([result(DOCUMENT), result(ADVICE, "fail")], True, True, 0),
        ([result(DOCUMENT, "deviation", ("ORD-1",))], False, False, 0),
        ([result(DOCUMENT), result(DECISION, "stale")], True, True, 1),
        ([result(DOCUMENT), result(DECISION, "unsupported")], True, True, 0),
        ([result(DOCUMENT, "adapter-fault")], False, False, 1),
        ([result(DOCUMENT), result(DECISION, "suite-error")], True, False, 4),
        ([result(DOCUMENT, "fail", ("ORD-2",))], True, False, 1),
    ],
)
def test_two_verdicts_and_an_exit_code(results: list[Result], documents: bool, full: bool, code: int) -> None:
    found = conclusion(*results)
    assert (found.documents_alone, found.in_full, found.exit_code) == (documents, full, code)


def test_a_document_speaks_for_its_own_revision() -> None:
    later = {"ORD-1": rule("ORD-1", sources=("document S-005",))}
    verdicts = [Conclusion([result(DOCUMENT, "fail")], later, revision=revision) for revision in REVISIONS]
    assert [found.documented("ORD-1") for found in verdicts] == [True, False]
    assert [(found.documents_alone, found.in_full) for found in verdicts] == [(False, False), (True, False)]


@pytest.mark.parametrize(
    ("results", "standing"),
    [
        ([result(DOCUMENT), result(DOCUMENT, "unsupported")], "kept"),
        ([result(DOCUMENT, "unsupported")], "not asked"),
        ([result(DOCUMENT), result(DOCUMENT, "fail")], "broken"),
        ([result(DOCUMENT, "deviation"), result(DOCUMENT, "fail")], "broken"),
        ([result(DOCUMENT), result(DOCUMENT, "adapter-fault")], "undecided"),
        ([result(DOCUMENT, "fail", ("ORD-2",))], "kept"),
    ],
)
def test_where_a_rule_stands(results: list[Result], standing: str) -> None:
    assert conclusion(*results).standings["ORD-1"] == standing


def test_a_failure_of_a_rule_that_only_should_hold_is_reported() -> None:
    weak = result(ADVICE, "fail")
    assert conclusion(weak).reported() == [weak]


def test_a_broken_must_beside_a_broken_should_fails() -> None:
    assert fails(result(ADVICE, "fail", ("ORD-9", "ORD-1")), SPEC)
