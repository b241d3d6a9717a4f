"""What no trace may show, and under which rule it is reported."""

from __future__ import annotations

import pytest

from processor_conformance.invariants import violations
from processor_conformance.scenario import Scenario
from processor_conformance.words import Json
from runner_kit import STEP, chunk, hook, scenario, trace

RESULT = "processOutputResult"
PLAIN = scenario([{}])
TWICE = scenario([{}, {}])
ONE_ID = scenario([{}], given={"processors": {"a": {"id": "x"}, "b": {"id": "x"}}, "outputProcessors": ["a", "b"]})
AT_ONCE = scenario([{}, {}], run=[{"input": "1", "together": "t"}, {"input": "2", "together": "t"}])


def chunks(*types: str) -> Json:
    return {"client": list(map(chunk, types))}


def states(*calls: tuple[str, str, str]) -> Json:
    return {"work": [hook(key, name, tokens={"state": token}) for key, name, token in calls]}


def broken(of: Scenario, *runs: Json, **more: Json) -> list[str]:
    return [found.rule for found in violations(of, trace(*runs, **more))]


ABORT = {"return": {"$abort": {"reason": "bad word"}}}
TOLD: Json = {
    "given": {
        "processors": {"a": {"name": "Word filter", "processOutputStep": [ABORT]}},
        "tools": {"look": {"execute": [{"return": {"found": "an address"}}]}},
        "model": [{"text": ["hello there"]}],
    }
}


@pytest.mark.parametrize(
    ("span", "rules"),
    [
        ({"kind": "processor", "name": "Word filter"}, []),
        ({"kind": "custom", "name": "x", "reason": "bad word"}, []),
        ({"kind": "run", "name": "x", "text": ["and hello there"]}, ["CTX-14"]),
        ({"kind": "tool", "name": "x", "result": {"found": "an address"}}, ["CTX-14"]),
        ({"kind": "processor", "name": "x", "reason": "bad word"}, ["CTX-14"]),
        ({"kind": "step", "name": "hello"}, []),
    ],
)
def test_a_span_holds_nothing_of_the_conversation(span: Json, rules: list[str]) -> None:
    assert broken(scenario([{}], **TOLD), {"spans": [span]}) == rules


STREAM = "processOutputStream"


@pytest.mark.parametrize(
    ("of", "runs"),
    [
        (PLAIN, [states(("a", STREAM, "1"), ("b", STREAM, "2"), ("a", RESULT, "1"), ("b", RESULT, "2"))]),
        (ONE_ID, [states(("a", STREAM, "1"), ("b", STREAM, "1"))]),
        (TWICE, [states(("a", STREAM, "1")), states(("a", STREAM, "2"))]),
        (PLAIN, [{"work": [hook("a", RESULT), hook("b", RESULT)]}]),
        (PLAIN, [{"outcome": {"messages": [{"id": "1"}, {"id": "2"}]}}]),
    ],
)
def test_a_sound_trace_breaks_nothing(of: Scenario, runs: list[Json]) -> None:
    assert broken(of, *runs) == []


@pytest.mark.parametrize(
    ("of", "runs", "rule"),
    [
        (PLAIN, [states(("a", STREAM, "1"), ("b", STREAM, "1"))], "STA-1"),
        (ONE_ID, [states(("a", STREAM, "1"), ("b", STREAM, "2"))], "STA-2"),
        (TWICE, [states(("a", STREAM, "1")), states(("a", STREAM, "1"))], "STA-3"),
        (PLAIN, [states(("a", STREAM, "1"), ("a", RESULT, "2"))], "STA-4"),
        (PLAIN, [states(("a", "processInput", "1"), ("a", STREAM, "2"))], "STA-5"),
        (AT_ONCE, [states(("a", STREAM, "1")), states(("a", STREAM, "1"))], "STA-7"),
        (PLAIN, [states(("a", STREAM, "1"), ("a", "processToolResult", "2"))], "STA-15"),
    ],
)
def test_whose_state_it_is(of: Scenario, runs: list[Json], rule: str) -> None:
    assert broken(of, *runs) == [rule]


def test_one_result_for_each_place_in_the_array() -> None:
    assert broken(PLAIN, {"work": [hook("a", RESULT), hook("a", RESULT)]}) == ["ORD-15"]


def test_an_object_that_is_listed_twice_may_be_called_twice() -> None:
    listed = scenario([{}], given={"processors": {"a": {}}, "outputProcessors": ["a", "a"]})
    assert broken(listed, {"work": [hook("a", RESULT), hook("a", RESULT)]}) == []


@pytest.mark.parametrize(
    ("event", "outcome", "rule"),
    [
        ({"store": "write", "late": True}, {"text": "hi"}, "PER-2"),
        ({"model": "m", "late": True}, {"tripwire": {"reason": "no"}}, "ORD-25"),
        ({**hook("a"), "late": True}, {"finishReason": "aborted"}, "RES-4"),
        ({**hook("a"), "late": True}, {"raised": [{"name": "Error"}]}, "ERR-9"),
        ({**hook("a"), "late": True}, {"text": "hi"}, "ORD-30"),
    ],
)
def test_nothing_comes_late(event: Json, outcome: Json, rule: str) -> None:
    lane = "provider" if "model" in event else "work"
    assert broken(PLAIN, {lane: [dict(event)], "outcome": outcome}) == [rule]


def test_nothing_of_a_closed_stream_comes_late() -> None:
    closed = scenario([{}], run=[{"input": "x", "reading": [{"close": True}]}], modes=["stream"])
    assert broken(closed, {"work": [{"store": "write", "late": True}]}) == ["RES-4"]


def test_a_late_chunk() -> None:
    late = {**chunks("start", *STEP, "finish")}
    late["client"][-1]["late"] = True
    assert broken(PLAIN, {**late, "outcome": {}}) == ["STR-1"]


def test_a_provider_may_hear_late_that_it_can_stop() -> None:
    found = trace({"provider": [{"model": "m", "late": True}]})
    found.events[0].name = "model/aborted"
    assert list(violations(PLAIN, found)) == []


def test_messages_of_one_list_have_ids_of_their_own() -> None:
    assert broken(PLAIN, {"outcome": {"messages": [{"id": "1"}, {"id": "1"}]}}) == ["MSG-5"]


def test_stored_messages_have_ids_of_their_own() -> None:
    assert broken(PLAIN, {}, stored={("t", "r"): [{"id": "1"}, {"id": "1"}]}) == ["MSG-5"]


def test_says_what_is_wrong() -> None:
    (found,) = violations(PLAIN, trace(chunks("start", *STEP, "finish", "data-x")))
    assert found.note == "the chunk 'data-x' follows 'finish', which ends the stream"
