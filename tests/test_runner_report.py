"""The text of failures and summaries."""

from __future__ import annotations

from typing import Any

from processor_conformance import report
from processor_conformance.deviations import Cause, Deviation, Deviations
from processor_conformance.report import Mutants
from processor_conformance.scenario import Scenario
from processor_conformance.verdict import Conclusion, Result, judge
from processor_conformance.words import Json
from runner_kit import hook, item, rule, scenario, trace

SPEC = {"ORD-3": rule("ORD-3", sources=("document S-1", "decision 1")), "ORD-4": rule("ORD-4", sources=("decision 4",))}
OF = scenario([{"work": [hook("a"), hook("b")]}])
OTHER = scenario([{"work": [hook("a")]}], name="ORD-4-other")
USES_BOTH: Json = {"processors": {"a": {"processAPIError": [], "processInput": []}}}
FAILED = judge(item(OF), trace({"work": [hook("a", big="x" * 500), hook("c", big="x" * 500)]}))
PASSED = Result(item(OTHER), "pass")
PLAYED = {"ORD-3-in-order[stream]", "ORD-4-other[stream]", "STA-1-x[stream]"}
MUTANTS = Mutants.parse(
    {
        "mutants": {
            "close": {"rule": "ORD-3", "killed_by": ["ORD-3-in-order[stream]"]},
            "far": {"rule": "ORD-4", "killed_by": ["ORD-3-in-order[stream]", "ORD-4-other[stream]", "STA-1-x[stream]"]},
            "other": {"rule": "ORD-4", "killed_by": ["ORD-4-other[stream]"]},
        }
    }
)


def test_a_failure_in_full() -> None:
    assert report.failure(FAILED, SPEC, ["close"]) == [
        "FAIL ORD-3 · Title of ORD-3 · ORD-3-in-order[stream]",
        "  where            run 0, work lane, event 2 of what the lens shows",
        '  last in common   {"hook": "processOutputStep", "processor": "a"}',
        '  expected next    {"hook": "processOutputStep", "processor": "b"}',
        '  came             {"hook": "processOutputStep", "processor": "c"}',
        '  differs at       /processor: expected "b", came "c"',
        "  rule             What ORD-3 says.",
        "  intent           What for.",
        "  source           MUST · document S-1 · decision 1",
        "  looks like       close",
    ]


def test_the_first_line_names_the_rule() -> None:
    assert report.failures(Conclusion([PASSED, FAILED], SPEC))[0].startswith("FAIL ORD-3 · ")


def test_an_invariant_says_that_the_scenario_itself_passes() -> None:
    found = judge(item(OTHER), trace({"work": [hook("a")], "client": [{"type": "finish"}, {"type": "data-x"}]}))
    assert report.failure(found, SPEC)[-1] == "  besides          the scenario itself, which is about ORD-4, passes"


def test_a_stuck_gate_says_what_did_not_overlap() -> None:
    found = judge(item(OTHER), trace({"work": [hook("a")]}, stuck_gates=["g"]))
    assert "  where            the whole play" in report.failure(found, SPEC)


def test_a_second_failure_of_a_rule_takes_one_line() -> None:
    again = Result(item(OF, "generate"), "fail", FAILED.broken, FAILED.divergence)
    assert report.failures(Conclusion([FAILED, again], SPEC))[-1] == (
        "FAIL ORD-3 · Title of ORD-3 · ORD-3-in-order[generate]"
    )


def heads(*results: Result) -> list[str]:
    """The lines of a report that begin something."""
    return [line for line in report.failures(Conclusion(list(results), SPEC)) if line and not line.startswith(" ")]


def fault(message: str, of: Scenario = OTHER) -> Result:
    return Result(item(of), "adapter-fault", message=message)


def test_faults_come_before_failures_and_equal_ones_once() -> None:
    faults = [fault("died: it died in run-1"), fault("died: it died in run-2", OF), fault("hung: it hung")]
    assert heads(FAILED, *faults) == [
        "ADAPTER FAULT · 2 plays · first in ORD-4-other[stream]",
        "ADAPTER FAULT · 1 play · ORD-4-other[stream]",
        "FAIL ORD-3 · Title of ORD-3 · ORD-3-in-order[stream]",
    ]


def test_many_faults_take_no_room_from_failures() -> None:
    faults = [fault(f"breach: {letter}") for letter in "abcdefgh"]
    lines = report.failures(Conclusion([*faults, FAILED], SPEC))
    assert len([line for line in lines if line.startswith("  what")]) == 8
    assert "  intent           What for." in lines


def test_a_bug_of_the_suite_comes_before_faults() -> None:
    assert heads(fault("died: it died"), Result(item(OF), "suite-error", message="KeyError: 'a'"))[0] == (
        "SUITE ERROR · 1 play · ORD-3-in-order[stream]"
    )


def test_a_rule_that_only_should_hold_is_told_but_no_failure() -> None:
    weak = {**SPEC, "ORD-3": rule("ORD-3", "SHOULD")}
    assert report.failures(Conclusion([FAILED], weak))[0] == (
        "NOT AS IT SHOULD BE ORD-3 · Title of ORD-3 · ORD-3-in-order[stream]"
    )


def test_the_nearest_mutant_comes_first() -> None:
    failing = {"ORD-3-in-order[stream]", "ORD-4-other[stream]"}
    assert MUTANTS.nearest("ORD-3-in-order[stream]", "ORD-3", failing, PLAYED) == [
        "far (ORD-4; fails 2 of these 2)",
        "close (ORD-3; fails 1 of these 2)",
    ]


def test_a_mutant_that_is_less_than_half_alike_is_not_named() -> None:
    assert MUTANTS.nearest("ORD-3-in-order[stream]", "ORD-3", {"ORD-3-in-order[stream]"}, PLAYED) == [
        "close (ORD-3; fails 1 of these 1)"
    ]


def test_what_a_mutant_fails_elsewhere_does_not_count() -> None:
    alone = {"ORD-3-in-order[stream]"}
    assert MUTANTS.nearest("ORD-3-in-order[stream]", "ORD-3", alone, alone) == [
        "close (ORD-3; fails 1 of these 1)",
        "far (ORD-4; fails 1 of these 1)",
    ]


def test_among_equals_the_mutant_of_the_same_rule_comes_first() -> None:
    alone = {"ORD-3-in-order[stream]"}
    assert MUTANTS.nearest("ORD-3-in-order[stream]", "ORD-4", alone, alone, 1) == ["far (ORD-4; fails 1 of these 1)"]


def test_an_empty_lane_looks_like_no_mutant() -> None:
    nothing = judge(item(OF), trace({"work": []}))
    told = [report.failures(Conclusion([found], SPEC), MUTANTS) for found in (nothing, FAILED)]
    assert ["looks like" in "\n".join(lines) for lines in told] == [False, True]


def test_a_fault_looks_like_no_mutant() -> None:
    lines = report.failures(Conclusion([fault("died: it died", OF)], SPEC), MUTANTS)
    assert not any("looks like" in line for line in lines)


def test_of_what_is_cut_the_member_that_differs_comes_first() -> None:
    long = "x" * 200
    found = judge(
        item(scenario([{"work": [hook("a", state={"n": long}, last=1)]}])),
        trace({"work": [hook("a", state={"n": long}, last=2)]}),
    )
    assert [line[19:29] for line in report.failure(found, SPEC)[3:5]] == ['{"last": 1', '{"last": 2']


def test_of_a_list_that_is_cut_the_entry_that_differs_is_shown() -> None:
    place, long = {"thread": "t", "resource": "r"}, "x" * 200
    expected = scenario([{}], stored=[{**place, "messages": [long, "y"]}])
    found = judge(item(expected), trace(stored={("t", "r"): [long, "z"]}))
    assert [line[19:] for line in report.failure(found, SPEC)[2:4]] == ['/1: "y"', '/1: "z"']


def test_of_a_choice_the_nearest_is_told() -> None:
    expected = scenario([{"work": [hook("a", n={"$oneOf": [[1, 2], [3, 4]]})]}])
    lines = report.failure(judge(item(expected), trace({"work": [hook("a", n=[3, 5])]})), SPEC)
    assert lines[6] == "  nearest          /n/1: expected 4, came 5"


def test_of_an_event_of_another_kind_no_member_differs() -> None:
    found = judge(item(OTHER), trace({"work": [{"tool": "look", "toolCallId": "c1"}]}))
    assert not any(line.startswith("  differs at") for line in report.failure(found, SPEC))


def test_of_a_rule_that_fails_everywhere_some_are_told() -> None:
    lines = report.failures(Conclusion([FAILED] * (report.LISTED + 5), SPEC))
    assert [line for line in lines if line.startswith("FAIL")] == [report.headline(FAILED, SPEC)] * report.LISTED
    assert lines[-3:] == [
        "... and 5 plays more of ORD-3",
        "",
        "more of a rule: processor-conformance run RULE; everything: --json FILE",
    ]


def test_what_nobody_asked_about_is_left_out() -> None:
    expected = scenario([{"work": [hook("a", part={"type": "x"})]}])
    found = judge(item(expected), trace({"work": [hook("a", part={"type": "y", "id": "1"}, more=1)]}))
    assert report.failure(found, SPEC)[4] == (
        '  came             {"hook": "processOutputStep", "processor": "a", "part": {"type": "y"}}'
    )


def test_a_verdict_about_nothing_says_so() -> None:
    lines = report.summary(Conclusion([Result(item(OTHER), "pass")], SPEC), "it 1.0")
    assert "  documents alone  no such rule was played" in lines


def test_a_summary() -> None:
    assert report.summary(Conclusion([PASSED, FAILED], SPEC), "it 1.0") == [
        "                                 passed     failed",
        "  ORD order                           1          1",
        "",
        "  broken           ORD-3 Title of ORD-3 [document S-1 · decision 1]",
        "  documents alone  no: 0 of 1 MUST rule kept that a document states; not ORD-3",
        "  in full          no: 1 of 2 MUST rules kept, our decisions included",
        "",
        "not conformant: it 1.0 breaks 1 of 2 rules: ORD-3 (2 scenarios, 2 plays; documents alone: no, in full: no)",
    ]


def test_a_summary_lists_deviations_by_cause() -> None:
    entry = Deviation(OF.id, "odd", "It is odd.")
    known = Deviations(None, {"odd": Cause("odd", "It answers oddly", ("ORD-3",))}, (entry,))
    found = Conclusion([Result(item(OF), "deviation", ("ORD-3",), FAILED.divergence, (entry,))], SPEC)
    assert "  deviates         It answers oddly [ORD-3; 1 play; odd]" in report.summary(found, "it 1.0", known)


def test_a_summary_says_what_was_not_asked() -> None:
    found = Conclusion([PASSED, Result(item(OF), "unsupported")], SPEC)
    lines = report.summary(found, "it 1.0", None, {"memory", "close"})
    assert "  not asked        needs what is not declared: close, memory" in lines


def test_who_was_asked_nothing_is_not_called_conformant() -> None:
    lines = report.summary(Conclusion([Result(item(OF), "unsupported")], SPEC), "it 1.0", None, {"memory"})
    assert lines[-1] == (
        "nothing asked: it 1.0 declares nothing that these scenarios need "
        "(0 scenarios, 0 plays; documents alone: not asked, in full: not asked)"
    )


def test_an_implementation_in_part_is_never_called_conformant() -> None:
    results = [Result(item(OTHER), "pass"), Result(item(scenario([{}], given=USES_BOTH)), "unsupported")]
    lines = report.summary(Conclusion(results, SPEC, frozenset({"processAPIError"})), "it 1.0")
    assert lines[3:] == [
        "  partial          it has no processAPIError; 1 scenario not asked for that",
        "  documents alone  no such rule was played",
        "  in full          in part: 1 of 1 MUST rule kept, our decisions included",
        "",
        "partial: it 1.0 keeps its 1 rule (1 scenario, 1 play; documents alone: not asked, in full: in part; "
        "it has no processAPIError; 1 scenario not asked for that)",
    ]


def test_what_is_broken_in_part_is_broken() -> None:
    line = report.last_line(Conclusion([FAILED], SPEC, frozenset({"processAPIError"})), "it 1.0")
    assert line.startswith("not conformant: it 1.0 breaks 1 of 1 rule: ORD-3 (1 scenario, 1 play; documents alone: no,")


def test_a_last_word_about_nothing_says_so() -> None:
    assert report.last_line(Conclusion([PASSED], SPEC), "it 1.0") == (
        "conformant: it 1.0 keeps its 1 rule (1 scenario, 1 play; documents alone: not asked, in full: yes)"
    )


def test_the_last_line_names_a_few_rules() -> None:
    broken = tuple(f"ORD-{number}" for number in range(40, 47))
    assert last(Result(item(OF), "fail", broken)) == (
        "not conformant: it 1.0 breaks 7 of 8 rules: ORD-40, ORD-41, ORD-42, ORD-43, ORD-44 and 2 more"
    )


def last(*results: Result, **spec: Any) -> str:
    return report.last_line(Conclusion(list(results), {**SPEC, **spec}), "it 1.0").split(" (")[0]


def test_conformant() -> None:
    assert last(PASSED) == "conformant: it 1.0 keeps its 1 rule"


def test_deviating_as_known() -> None:
    assert last(PASSED, Result(item(OF), "deviation", ("ORD-3",))) == (
        "accounted for: it 1.0 keeps 1 of 2 rules and breaks the others as its deviations file says"
    )


def test_stale() -> None:
    assert last(Result(item(OF), "stale")) == "not up to date: 1 known deviation of it 1.0 no longer happens"


def test_an_adapter_that_failed() -> None:
    assert last(Result(item(OF), "adapter-fault")) == "not conformant: the adapter of it 1.0 failed in 1 play"


def test_a_bug_of_the_suite() -> None:
    assert last(FAILED, Result(item(OF), "suite-error")) == (
        "suite error: 1 play could not be judged, by no fault of it 1.0"
    )


def test_a_rule_that_only_should_hold_is_no_obstacle() -> None:
    weak = Result(item(OF), "fail", ("ORD-3",), FAILED.divergence)
    line = report.last_line(Conclusion([PASSED, weak], {**SPEC, "ORD-3": rule("ORD-3", "SHOULD")}), "it 1.0")
    assert line.startswith("conformant: it 1.0 keeps its 1 MUST rule; 1 that it SHOULD keep is broken (")
