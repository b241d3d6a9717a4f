"""What is kept of a play, and how it is made the same each time."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any, cast

import pytest

from processor_conformance import recording
from processor_conformance.connection import Adapter
from processor_conformance.normal import Normaliser
from processor_conformance.packing import packed, unpacked
from processor_conformance.recording import Recording, alike, fingerprint, keep, line, replay, step_numbers
from processor_conformance.words import Json
from runner_kit import hook, item, scenario, trace


def normalised(value: Json, own: Json = None) -> Json:
    normal = Normaliser.of(own)
    normal.take(value)
    return normal.give(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"tokens": {"state": "o7", "error": "o9"}}, {"tokens": {"state": "<object 1>", "error": "<object 2>"}}),
        ([{"tokens": {"writer": "o7"}}, {"writer": {"$object": "o7"}}],
         [{"tokens": {"writer": "<object 1>"}}, {"writer": {"$object": "<object 1>"}}]),
        ({"abort": {"$object": "o7"}}, {"abort": {"$object": "<object>"}}),
        ({"id": "x81"}, {"id": "<id 1>"}),
        ([{"id": "x8"}, {"runId": "y"}, {"id": "x8"}], [{"id": "<id 1>"}, {"runId": "<id 2>"}, {"id": "<id 1>"}]),
        ({"text": "run 12345678-1234-1234-1234-123456789abc failed"}, {"text": "run <id 1> failed"}),
        ([{"id": "abcdefgh"}, {"text": "of abcdefgh"}], [{"id": "<id 1>"}, {"text": "of <id 1>"}]),
        ({"createdAt": "2026-01-02T03:04:05.678Z"}, {"createdAt": "<date>"}),
        ({"createdAt": {"$date": "2026-01-02T03:04:05.678Z"}}, {"createdAt": {"$date": "<date>"}}),
        ({"timestamp": 1767323045678}, {"timestamp": "<date>"}),
        ({"n": 1767323045678, "text": "hi"}, {"n": 1767323045678, "text": "hi"}),
    ],
)  # fmt: skip
def test_what_is_made_up_is_replaced(value: Json, expected: Json) -> None:
    assert normalised(value) == expected


@pytest.mark.parametrize("value", [{"id": "m1"}, {"createdAt": "2026-01-02T03:04:05.000Z"}, {"toolCallId": "c1"}])
def test_what_the_scenario_says_stays(value: Json) -> None:
    assert normalised(value, own=[value]) == value


EVENTS: list[Json] = [
    {"processor": "a", "messages": [1], "tokens": {"state": "1"}, "n": 0},
    {"processor": "b", "messages": [1], "tokens": {"state": "2"}, "n": 0},
    {"processor": "a", "messages": [1, 2], "tokens": {"state": "1"}, "n": 0},
    {"processor": "a", "n": 0},
    {"processor": "a", "messages": [], "tokens": {"state": "3"}, "n": 0},
]


def test_packing_says_once_what_stays() -> None:
    assert packed(EVENTS)[:3] == [
        EVENTS[0],
        {"processor": "b", "tokens": {"state": "2"}, "n": 0, "@same": ["messages"]},
        {"processor": "a", "messages": {"@plus": [2]}, "n": 0, "@own": ["tokens"]},
    ]


def test_unpacking_gives_back_the_events() -> None:
    assert list(unpacked(packed(EVENTS))) == EVENTS


STREAM = "processOutputStream"


def part(kind: str, **more: Json) -> Json:
    return hook("a", STREAM, part={"type": kind}, retryCount=0, **more)


def steps(*events: Json) -> list[int | None]:
    """The steps of work events and model calls that arrive in this order."""
    found = trace({})
    for at, data in enumerate(events):
        one = trace({"provider" if "model" in data else "work": [data]}).events[0]
        one.at = at
        found.events.append(one)
    numbers = step_numbers(found, "0")
    return [numbers.get(at) for at in range(len(events))]


def test_a_hook_that_says_its_step_is_believed() -> None:
    assert steps(hook("a", stepNumber=3)) == [3]


def test_chunks_and_tools_belong_to_the_last_model_call() -> None:
    tool = {"tool": "t"}
    assert steps({"model": "m"}, part("text-delta"), tool, {"model": "m"}, part("text-delta")) == [0, 0, 0, 1, 1]


def test_step_start_belongs_to_the_model_call_after_it() -> None:
    assert steps(part("step-start"), {"model": "m"}, part("step-start"), {"model": "m"}) == [0, 0, 1, 1]


def test_step_start_that_comes_after_its_model_call_belongs_to_that_call() -> None:
    other = {**part("step-start"), "processor": "b"}
    assert steps({"model": "m"}, part("step-start"), other, {"model": "m"}, part("step-start")) == [0, 0, 0, 1, 1]


def test_a_retried_attempt_is_no_step() -> None:
    again = {**part("text-delta"), "retryCount": 1}
    assert steps({"model": "m"}, part("text-delta"), {"model": "m"}, again, {"model": "m"}, part("text-delta")) == [
        0, 0, 0, 0, 1, 1,
    ]  # fmt: skip


def test_what_happens_once_a_request_has_no_step() -> None:
    assert steps(hook("a", "processInput"), {"model": "m"}, hook("a", "processOutputResult")) == [None, 0, None]


def test_chunks_of_the_client_count_finished_steps() -> None:
    kinds = ("start", "step-start", "step-finish", "step-start", "finish")
    found = trace({"client": [{"type": kind} for kind in kinds]})
    assert step_numbers(found, "0") == {1: 0, 2: 0, 3: 1}


PLAYED = trace(
    {
        "work": [hook("a", stepNumber=0, tokens={"state": "o1"})],
        "client": [{"type": "finish"}],
        "outcome": {"text": "hi"},
    },
    stored={("t", "r"): [{"id": "m-99"}]},
    stuck_gates=["g"],
)


def test_a_line_holds_every_lane() -> None:
    assert line(scenario([{}]), PLAYED) == {
        "item": "ORD-3-in-order[stream]",
        "runs": {
            "0": {
                "work": [{**hook("a", stepNumber=0), "tokens": {"state": "<object 1>"}, "@step": 0}],
                "client": [{"type": "finish"}],
                "provider": [],
                "outcome": {"text": "hi"},
            }
        },
        "stored": [{"thread": "t", "resource": "r", "messages": [{"id": "<id 1>"}]}],
        "stuck": ["g"],
    }


def test_a_line_replays_as_the_trace_it_was_made_of() -> None:
    kept = line(scenario([{}]), PLAYED)
    found, numbers = replay(kept)
    assert (line(scenario([{}]), found), numbers) == (kept, {0: 0})


def test_overlapping_tools_stand_in_the_order_of_their_ids() -> None:
    found = trace({"work": [{"tool": "t", "toolCallId": "c2"}, {"tool": "t", "toolCallId": "c1"}]})
    kept = line(scenario([{}], why="c1 and c2 overlap"), found)["runs"]["0"]["work"]
    assert [event["toolCallId"] for event in kept] == ["c1", "c2"]


def test_requests_at_the_same_time_may_be_stored_in_any_order() -> None:
    one = {"atOnce": True, "stored": [{"messages": [{"id": "1", "role": "user"}, {"id": "2"}]}]}
    other = {"atOnce": True, "stored": [{"messages": [{"id": "2"}, {"role": "user", "id": "1"}]}]}
    assert alike(one, other)


def test_other_requests_may_not() -> None:
    assert not alike({"stored": [{"messages": [1, 2]}]}, {"stored": [{"messages": [2, 1]}]})


@pytest.mark.parametrize("text", ["half a \ud83d", "one\u2028line", "\U0001f600"])
def test_a_recording_is_read_as_it_was_written(text: str, tmp_path: Path) -> None:
    Recording({"version": "1"}, {"a": {"item": "a", "text": text}}).write(tmp_path / "family.jsonl")
    assert Recording.read(tmp_path / "family.jsonl").lines["a"]["text"] == text


def test_a_fingerprint_follows_the_adapters_files(tmp_path: Path) -> None:
    program = tmp_path / "adapter.py"
    program.write_text("one")
    before = fingerprint(["python3", str(program)])
    program.write_text("two")
    assert fingerprint(["python3", str(program)]) != before


def test_a_fingerprint_follows_a_program_that_needs_no_interpreter_named(tmp_path: Path) -> None:
    program = tmp_path / "run"
    program.write_text("#!/bin/sh\n")
    before = fingerprint(str(program))
    program.write_text("#!/bin/bash\n")
    assert fingerprint(str(program)) != before


PLAIN = scenario(
    [{}], given={"processors": {"a": {STREAM: []}}, "outputProcessors": ["a"], "model": [{"text": ["hi"]}]}
)


def kept(folder: Path, *, check: bool = False) -> list[str]:
    """What changed when the plain scenario is recorded on a tiny implementation."""
    adapter = Adapter("python:runner_tiny:connect", timeout=5)
    try:
        return keep(adapter, [item(PLAIN)], folder, timeout=5, check=check, whole=True)[1]
    finally:
        adapter.close()


def test_a_first_recording_is_new(tmp_path: Path) -> None:
    assert kept(tmp_path) == ["ORD-3-in-order[stream]"]


def test_recording_again_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    kept(tmp_path)
    (path,) = tmp_path.glob("*/ordering.jsonl")
    before = path.read_bytes()
    kept(tmp_path)
    assert path.read_bytes() == before


def changed(folder: Path, **header: Json) -> Path:
    """A recording that holds something else, of this or another version."""
    kept(folder)
    (path,) = folder.glob("*/ordering.jsonl")
    found = Recording.read(path)
    found.header.update(header)
    found.lines["ORD-3-in-order[stream]"]["runs"]["0"]["work"] = []
    found.write(path)
    return path


def test_a_changed_recording_is_named(tmp_path: Path) -> None:
    changed(tmp_path)
    assert kept(tmp_path, check=True) == ["ORD-3-in-order[stream]"]


def test_checking_writes_nothing(tmp_path: Path) -> None:
    path = changed(tmp_path)
    before = path.read_bytes()
    kept(tmp_path, check=True)
    assert path.read_bytes() == before


def test_another_version_may_do_something_else(tmp_path: Path) -> None:
    changed(tmp_path, version="0.0.1")
    assert kept(tmp_path, check=True) == []


def test_a_recording_says_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "fingerprint", lambda command: "f00")
    kept(tmp_path)
    (path,) = tmp_path.glob("*/ordering.jsonl")
    header = json.loads(path.read_text().splitlines()[0])
    assert {**header, "date": ""} == {
        "implementation": path.parent.name,
        "version": header["version"],
        "adapter": "f00",
        "protocol": 1,
        "revision": "nine-hook",
        "date": "",
    }


@pytest.mark.parametrize(("plays", "kept"), [(["b", "a"], "a"), (["b"] * 20, "b")])
def test_what_was_recorded_may_come_in_a_later_play(
    monkeypatch: pytest.MonkeyPatch, plays: list[str], kept: str
) -> None:
    one: Any = types.SimpleNamespace(id="RES-1-x[stream]")
    coming = iter(plays)
    monkeypatch.setattr(recording, "_played", lambda adapter, items, timeout: [(one, {"trace": next(coming)})])
    old = Recording({}, {one.id: {"trace": "a"}})

    again = recording._again(cast(Any, None), one, old, {"trace": "b"}, 1.0)

    assert again == {"trace": kept}


def test_what_takes_long_is_not_played_many_times_more(monkeypatch: pytest.MonkeyPatch) -> None:
    one: Any = types.SimpleNamespace(id="RES-1-x[stream]")
    plays: list[float] = []

    def played(adapter: Any, items: Any, timeout: float) -> list[Any]:
        plays.append(timeout)
        return [(one, {"trace": "b"})]

    monkeypatch.setattr(recording, "time", types.SimpleNamespace(monotonic=lambda: sum(plays)))
    monkeypatch.setattr(recording, "_played", played)

    again = recording._again(cast(Any, None), one, Recording({}, {one.id: {"trace": "a"}}), {"trace": "b"}, 10.0)

    assert (again, plays) == ({"trace": "b"}, [10.0])


def test_a_later_play_that_does_not_end_leaves_what_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    one: Any = types.SimpleNamespace(id="RES-1-x[stream]")
    monkeypatch.setattr(recording, "_played", lambda adapter, items, timeout: [])

    again = recording._again(cast(Any, None), one, Recording({}, {one.id: {"trace": "a"}}), {"trace": "b"}, 1.0)

    assert again == {"trace": "b"}
