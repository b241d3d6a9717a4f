"""What is refused of a scenario before it is ever played."""

from __future__ import annotations

import pytest

from processor_conformance import lint
from processor_conformance.scenario import Scenario, load_all
from processor_conformance.spec import load
from processor_conformance.words import Json
from runner_kit import hook, rule, scenario

SPEC = {"ORD-3": rule("ORD-3")}
LENS = {"work": ["processOutputStep"]}
GIVEN: Json = {"processors": {"a": {}, "b": {}}, "outputProcessors": ["a", "b"], "model": [{"text": ["hi"]}]}


def problems(expect: list[Json], **members: Json) -> list[str]:
    return lint.lint([scenario(expect, **{"lens": LENS, **members})], SPEC)


def test_a_good_scenario_has_no_problem() -> None:
    assert problems([{"work": [hook("a")]}]) == []


@pytest.mark.parametrize(
    ("members", "what"),
    [
        ({"title": "It should hold"}, "its title says what holds"),
        ({"title": "It holds."}, "its title says what holds"),
        ({"why": ""}, "'why' is missing"),
        ({"name": "ORD-3-In-Order"}, "its name is not ORD-3-<words-with-hyphens>"),
        ({"rules": ["ORD-4"]}, "its name is not ORD-4-<words-with-hyphens>"),
        ({"rules": ["ORD-3", "ORD-99"]}, "SPEC.md has no rule ORD-99"),
        ({"lens": {"work": ["processOutputStep", "processWork"]}}, "there is no work event 'processWork'"),
        ({"lens": {"work": ["processInput"]}}, "'processOutputStep' is expected but not in its lens"),
        ({"lens": {"chunks": ["finish"]}}, "its lens has no 'work'"),
        ({"run": [{"input": "x", "reading": [{"rest": True}]}]}, "'reading' is for mode stream only"),
        ({"run": [{"input": "x"}, {"input": "y"}]}, "it has 2 runs and 1 expectations"),
        ({"model": 1}, "/model is no member there"),
    ],
)
def test_refuses(members: Json, what: str) -> None:
    assert any(what in problem for problem in problems([{"work": [hook("a")]}], **members))


@pytest.mark.parametrize(
    ("expect", "what"),
    [
        ({"work": []}, "a trace without any event fits it"),
        ({}, "a trace without any event fits it"),
        ({"work": [hook("a", state={})]}, "{} matches any object"),
        ({"work": [hook("a", n={"$contains": ""})]}, "says nothing"),
        ({"work": [hook("a", n={"$contain": "x"})]}, "$contain is no pattern"),
        ({"work": [hook("a", n={"$any": 1})]}, "$any is written"),
        ({"work": [hook("a", n={"$bind": "x"})]}, "'$bind': 'x' stands alone"),
        ({"work": [hook("a", n={"$differs": "x"})]}, "'$differs': 'x' is bound nowhere"),
        ({"work": [hook("a", after="y")]}, "after: there is no label 'y'"),
        ({"work": [hook("a", label="y")]}, "label 'y' is used by nothing"),
    ],
)
def test_refuses_an_expectation(expect: Json, what: str) -> None:
    assert any(what in problem for problem in problems([expect]))


def test_the_client_lane_alone_cannot_fail_in_generate() -> None:
    found = problems([{"client": [{"type": "finish"}]}], lens={"chunks": ["finish"]})
    assert found == [
        "ORD-3-in-order: in mode generate a trace without any event fits it; expect something that must come"
    ]


def test_a_scenario_of_one_revision_says_so() -> None:
    nine = {"ORD-3": rule("ORD-3")}
    object.__setattr__(nine["ORD-3"], "revisions", ("nine-hook",))
    found = lint.lint([scenario([{"work": [hook("a")]}], lens=LENS)], nine)
    assert found == ["ORD-3-in-order: ORD-3 holds in nine-hook only; say so in 'revision'"]


RETRY = {"$abort": {"reason": "no", "retry": True}}


@pytest.mark.parametrize(
    ("processor", "event", "what"),
    [
        ({"processLLMRequest": []}, hook("a"), "processLLMRequest is not in the six-hook revision"),
        ({}, hook("a", usage={"inputTokens": 1}), "processOutputStep has no usage in the six-hook revision"),
        ({"processOutputStep": [{"when": {"steps": [1]}}]}, hook("a"), "processOutputStep has no steps in the six"),
        ({"processOutputStream": [{"return": RETRY}]}, hook("a"), "takes a reason only, in processOutputStream"),
        ({"processInputStep": [{"do": [{"op": "abort", "metadata": 1}]}]}, hook("a"), "only, in processInputStep"),
    ],
)
def test_what_the_earlier_revision_lacks_is_for_the_later_one(processor: Json, event: Json, what: str) -> None:
    given = {**GIVEN, "processors": {"a": processor, "b": {}}}
    assert any(what in problem for problem in problems([{"work": [event]}], given=given))
    assert problems([{"work": [event]}], given=given, revision=["nine-hook"]) == []


def test_a_built_in_with_hooks_of_the_later_revision_is_for_that_one() -> None:
    given = {**GIVEN, "processors": {"a": {"processOutputStep": []}, "b": {"builtIn": "response-cache"}}}
    found = problems([{"work": [hook("a")]}], given=given)
    assert found[0] == "ORD-3-in-order: processLLMRequest is not in the six-hook revision; say so in 'revision'"
    assert problems([{"work": [hook("a")]}], given=given, revision=["nine-hook"]) == []


@pytest.mark.parametrize(
    ("processor", "what"),
    [
        ({"builtIn": "oracle"}, "/given/processors/b/builtIn is 'oracle', not one of 'prefill-error-handler', 'resp"),
        ({"builtIn": "response-cache", "id": "x"}, "/given/processors/b/id is no member there; there may be builtIn"),
        ({"builtIn": "prefill-error-handler", "backend": "failing"}, "/given/processors/b/builtIn: 'response-cache'"),
        ({"builtIn": "response-cache", "backend": "slow"}, "/given/processors/b/backend is 'slow', not one of 'fai"),
        ({"processWork": []}, "/given/processors/b/processWork is no member there; there may be id, "),
    ],
)
def test_a_processor_is_scripted_or_one_of_the_built_ins(processor: Json, what: str) -> None:
    given = {**GIVEN, "processors": {"a": {"processOutputStep": []}, "b": processor}}
    assert any(what in problem for problem in problems([{"work": [hook("a")]}], given=given))


def test_no_hook_of_a_built_in_is_expected() -> None:
    given = {**GIVEN, "processors": {"a": {}, "b": {"builtIn": "prefill-error-handler"}}}
    found = problems([{"work": [hook("b")]}], given=given)
    assert found == ["ORD-3-in-order: no hook of 'b' is ever seen: it is a built-in, whose hooks call nobody"]


def test_what_the_earlier_revision_has_is_for_both() -> None:
    processor = {"processOutputStep": [{"return": RETRY}], "processOutputStream": [{"return": {"$abort": {}}}]}
    given = {**GIVEN, "processors": {"a": processor, "b": {}}}
    assert problems([{"work": [hook("a", retryCount=1)]}], given=given) == []


@pytest.mark.parametrize(
    ("expect", "what"),
    [
        ([{"work": [1]}], "/expect/0/work/0 is integer, not object"),
        ([{"outcome": {"text": {"$bind": []}}}], "$bind takes a name, not []"),
        ([{"outcome": {"text": {"$oneOf": "x"}}}], '$oneOf takes a list of patterns, not "x"'),
    ],
)
def test_an_expectation_that_makes_no_sense_is_a_problem_and_no_crash(expect: list[Json], what: str) -> None:
    assert problems(expect)[0] == f"ORD-3-in-order: {what}"


@pytest.mark.parametrize("member", ["rules", "given", "run", "expect", "lens", "modes", "revision", "twin", "stored"])
@pytest.mark.parametrize("odd", [None, 5, "x", [5], {"a": 5}, [None]], ids=repr)
def test_whatever_stands_in_a_scenario_is_a_problem_and_no_crash(member: str, odd: Json) -> None:
    raw = scenario([{"work": [hook("a")]}], lens=LENS).raw
    assert lint.lint([Scenario("ORD-3-in-order", "ordering", {**raw, member: odd})], SPEC) != []


@pytest.mark.parametrize(
    ("expect", "negative"),
    [
        ([{"work": [hook("a")]}], False),
        ([{"work": []}], True),
        ([{"work": [hook("a", n={"$absent": True})]}], True),
        ([{"work": [hook("a", n={"$not": 1})]}], True),
        ([{"work": [hook("a", n=[])]}], True),
        ([{"work": [hook("a", n={"$exact": {}})]}], False),
    ],
)
def test_knows_what_expects_an_absence(expect: list[Json], negative: bool) -> None:
    assert lint.negative(scenario(expect)) is negative


def twins(twin: Json, control: Scenario) -> list[str]:
    members = {"twin": twin} if twin else {}
    own = scenario([{"work": [hook("a", text={"$absent": True})]}], lens=LENS, given=GIVEN, **members)
    return lint.lint([own, control], SPEC)


def control(given: Json, expect: Json = None, **members: Json) -> Scenario:
    expect = expect or {"work": [hook("a", text=1)]}
    return scenario([expect], name="ORD-3-control", lens=LENS, given=given, **members)


ONE_EDIT = {**GIVEN, "model": [{"text": ["ho"]}]}
TWIN = {"of": "ORD-3-control", "edit": "the model says something else"}


def test_a_negative_scenario_with_its_control() -> None:
    assert twins(TWIN, control(ONE_EDIT)) == []


def test_a_scenario_can_be_its_own_control() -> None:
    assert twins({"self": "the first step has it"}, control(ONE_EDIT)) == []


@pytest.mark.parametrize(
    ("twin", "of", "what"),
    [
        (None, control(ONE_EDIT), "names no 'twin' that shows it present"),
        ({"of": "ORD-3-none", "edit": "x"}, control(ONE_EDIT), "its twin 'ORD-3-none' is not there"),
        ({"of": "ORD-3-control", "edit": ""}, control(ONE_EDIT), "its twin's 'edit' is missing"),
        (TWIN, control({**ONE_EDIT, "maxSteps": 3}), "differs by 2 edits"),
        (TWIN, control(GIVEN), "differs by 0 edits"),
        (TWIN, control(ONE_EDIT, {"work": [hook("a", text={"$not": 1})]}), "expects an absence itself"),
    ],
)
def test_refuses_a_twin(twin: Json, of: Scenario, what: str) -> None:
    assert any(what in problem for problem in twins(twin, of))


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ({"a": 1}, {"a": 1}, 0),
        ({"a": 1, "b": 1}, {"a": 1, "b": 2}, 1),
        ({"a": 1, "b": 1}, {"a": 1}, 1),
        ({"a": 1, "b": 1}, {"a": 1, "c": 1}, 2),
        ([1, 2, 3], [1, 3], 1),
        ([1, 2], [1, 5, 2], 1),
        ([1, 2], [2, 1], 2),
        ({"a": [{"b": 1, "c": 1}]}, {"a": [{"b": 1, "c": 2}]}, 1),
        ({"a": {"b": 1}, "z": 0}, {"a": {"c": 2}, "z": 0}, 1),
    ],
)
def test_counts_edits(one: Json, other: Json, count: int) -> None:
    assert lint.edits(one, other) == count


def test_two_scenarios_do_not_say_the_same() -> None:
    one = scenario([{"work": [hook("a")]}], lens=LENS)
    other = scenario([{"work": [hook("a")]}], lens=LENS, name="ORD-3-again")
    assert lint.lint([one, other], SPEC) == ["ORD-3-again: it says the same as ORD-3-in-order"]


def test_a_folder_is_for_one_family() -> None:
    one = scenario([{"work": [hook("a")]}], lens=LENS)
    other = scenario([{"work": [hook("b")]}], lens=LENS, name="STA-1-x", rules=["STA-1"])
    found = lint.lint([one, other], {**SPEC, "STA-1": rule("STA-1")})
    assert found == ["STA-1-x: the folder ordering is for ORD, not STA"]


def test_the_suites_own_scenarios_are_sound() -> None:
    assert lint.lint(load_all(), load()) == []
