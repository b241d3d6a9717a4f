"""Traces against expectations: lanes, lenses, what stands across lanes, and where the first divergence is."""

from __future__ import annotations

import pytest

from processor_conformance.match import Divergence, compare
from processor_conformance.pattern import NOTHING
from processor_conformance.words import Json
from runner_kit import hook, scenario, trace

WORK = {"work": ["processOutputStep"]}


def divergence(expect: list[Json], *runs: Json, mode: str = "stream", lens: Json = None, **more: Json) -> Divergence:
    members = {"lens": lens} if lens else {}
    found = compare(scenario(expect, **members), trace(*runs, mode=mode, **more)).divergence
    assert found is not None
    return found


def same(expect: list[Json], *runs: Json, mode: str = "stream", lens: Json = None, **members: Json) -> bool:
    members = {**members, "lens": lens} if lens else members
    return compare(scenario(expect, **members), trace(*runs, mode=mode)).divergence is None


def test_the_expected_events_in_order() -> None:
    assert same([{"work": [hook("a"), hook("b")]}], {"work": [hook("a", text="x"), hook("b")]})


def test_names_the_last_common_event_and_the_next_two() -> None:
    found = divergence([{"work": [hook("a"), hook("b")]}], {"work": [hook("a"), hook("c")]})
    assert (hook("a"), hook("b"), hook("c"), "/processor") == (found.last, found.expected, found.came, found.path)


def test_an_event_too_few() -> None:
    found = divergence([{"work": [hook("a"), hook("b")]}], {"work": [hook("a")]})
    assert (1, hook("b"), NOTHING) == (found.index, found.expected, found.came)


def test_an_event_too_many() -> None:
    found = divergence([{"work": [hook("a")]}], {"work": [hook("a"), hook("b")]})
    assert (1, NOTHING, hook("b")) == (found.index, found.expected, found.came)


def test_silence_is_expected_of_an_empty_lane() -> None:
    assert hook("a") == divergence([{"work": []}], {"work": [hook("a")]}).came


def test_an_event_after_the_outcome_is_late() -> None:
    assert divergence([{"work": []}], {"work": [hook("a", late=True)]}).kind == "late"


def test_the_rule_is_the_scenarios_first() -> None:
    assert divergence([{"work": [hook("a")]}], {}).rule == "ORD-3"


def test_a_lens_selects_by_name() -> None:
    assert same([{"work": [hook("a")]}], {"work": [hook("b", "processInput"), hook("a")]}, lens=WORK)


def test_a_lens_selects_chunks_by_type() -> None:
    chunks = [{"type": "start"}, {"type": "finish"}]
    assert same([{"client": [{"type": "finish"}]}], {"client": chunks}, lens={"chunks": ["finish"]})


def test_a_provider_that_is_told_to_stop_is_seen_only_on_request() -> None:
    found = trace({"provider": [{"model": "m"}, {"model": "m", "aborted": True}]})
    found.events[1].name = "model/aborted"
    assert compare(scenario([{"provider": [{"model": "m"}]}]), found).divergence is None
    wider = scenario([{"provider": [{"model": "m"}]}], lens={"provider": ["model", "model/aborted"]})
    assert compare(wider, found).divergence is not None


@pytest.mark.parametrize(
    ("event", "seen"),
    [(hook("a", n=1), True), (hook("a", n=2), False), (hook("a"), True)],
    ids=["fits", "does not fit", "lacks the argument"],
)
def test_when_selects_by_pattern(event: Json, seen: bool) -> None:
    assert seen is not same([{"work": []}], {"work": [event]}, lens={**WORK, "when": {"n": 1}})


def test_a_lane_that_is_not_named_is_not_compared() -> None:
    assert same([{"work": [hook("a")]}], {"work": [hook("a")], "client": [{"type": "error"}]})


def test_the_client_lane_counts_in_stream() -> None:
    assert not same([{"client": [{"type": "finish"}]}], {}, mode="stream")


def test_the_client_lane_does_not_count_in_generate() -> None:
    assert same([{"client": [{"type": "finish"}]}], {}, mode="generate")


def test_each_run_has_its_expectation() -> None:
    found = divergence([{"work": [hook("a")]}, {"work": [hook("b")]}], {"work": [hook("a")]}, {"work": [hook("a")]})
    assert found.run == "1"


def test_a_name_is_bound_across_runs() -> None:
    expect = [{"work": [hook("a", n={"$bind": "x"})]}, {"work": [hook("a", n={"$differs": "x"})]}]
    assert not same(expect, {"work": [hook("a", n=1)]}, {"work": [hook("a", n=1)]})


def test_unordered_takes_as_many_events_as_it_lists() -> None:
    expect = [{"work": [hook("a"), {"$unordered": [hook("b"), hook("c")]}, hook("d")]}]
    assert same(expect, {"work": [hook("a"), hook("c"), hook("b"), hook("d")]})


def test_unordered_names_the_event_that_fits_none() -> None:
    found = divergence([{"work": [{"$unordered": [hook("a"), hook("b")]}]}], {"work": [hook("b"), hook("x")]})
    assert (1, hook("x")) == (found.index, found.came)


def test_unordered_misses_an_event() -> None:
    found = divergence([{"work": [{"$unordered": [hook("a"), hook("b")]}]}], {"work": [hook("b")]})
    assert (found.index, found.came) == (1, NOTHING)


def test_an_outcome_is_a_pattern() -> None:
    found = divergence([{"outcome": {"text": "hi"}}], {"outcome": {"text": "ho", "steps": []}})
    assert (found.lane, found.path, found.wanted, found.got) == ("outcome", "/text", "hi", "ho")


def test_an_outcome_that_never_came() -> None:
    assert divergence([{"outcome": {"$any": True}}], {}).lane == "outcome"


def test_what_is_stored_is_compared() -> None:
    expected = scenario([{}], stored=[{"thread": "t", "resource": "r", "messages": [{"id": "1"}]}])
    found = compare(expected, trace({}, stored={("t", "r"): [{"id": "2"}]})).divergence
    assert found is not None
    assert (found.lane, found.stored, found.place, found.path) == ("stored", ("t", "r"), 0, "/0/id")


def test_a_gate_that_never_opened_comes_first() -> None:
    assert divergence([{"work": [hook("a")]}], {}, stuck_gates=["g"]).kind == "stuck-gate"


def test_after_holds_across_lanes() -> None:
    expect = [{"work": [hook("a", label="hook")], "client": [{"type": "finish", "after": "hook"}]}]
    assert same(expect, {"work": [hook("a")], "client": [{"type": "finish"}]})


def test_after_is_broken_by_an_earlier_arrival() -> None:
    expect = [{"work": [hook("a", after=["chunk"])], "client": [{"type": "finish", "label": "chunk"}]}]
    found = divergence(expect, {"work": [hook("a")], "client": [{"type": "finish"}]})
    assert found.note == "it came before 'chunk' (in run '0'), after which it was expected"


def test_after_is_left_out_on_request() -> None:
    expect = [{"work": [hook("a", after=["chunk"])], "client": [{"type": "finish", "label": "chunk"}]}]
    found = trace({"work": [hook("a")], "client": [{"type": "finish"}]})
    assert compare(scenario(expect), found, across=False).divergence is None


def test_gives_the_events_that_were_expected_and_came() -> None:
    found = compare(scenario([{"work": [hook("a")]}], lens=WORK), trace({"work": [hook("a"), hook("x", "other")]}))
    assert [hook("a")] == [match.event.data for match in found.matches]
