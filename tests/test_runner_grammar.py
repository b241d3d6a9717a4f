"""The grammar of the chunks that a client gets, and whom a breach of it is laid to."""

from __future__ import annotations

import pytest

from processor_conformance.grammar import touched
from processor_conformance.invariants import violations
from processor_conformance.words import Json
from runner_kit import STEP, chunk, scenario, trace

PLAIN = scenario([{}])
STREAM = "processOutputStream"
TEXT = ("text-start", "text-delta", "text-end")


def chunks(*types: str | Json) -> Json:
    return {"client": [chunk(one) if isinstance(one, str) else one for one in types]}


def broken(*types: str | Json, of: Json = PLAIN, **more: Json) -> list[str]:
    return [found.rule for found in violations(of, trace({**chunks(*types), **more}))]


def processing(*clauses: Json, **members: Json) -> Json:
    return scenario([{}], given={"processors": {"a": {STREAM: list(clauses)}}, **members})


@pytest.mark.parametrize(
    "types",
    [
        ("start", *STEP, *STEP, "finish"),
        ("start", "data-x", *STEP, "data-x", *STEP, "data-x", "finish"),
        ("start", "step-start", "tool-call", "tool-result", "step-finish", *STEP, "finish"),
        ("start", "step-start", "text-start", "tripwire"),
        ("start", "step-start", "text-start", "error", "data-x", chunk("step-finish", finishReason="error"), "finish"),
        ("start", "step-start", "text-start", chunk("step-finish", finishReason="retry"), *STEP, "finish"),
        ("tripwire",),
        ("abort",),
        ("start", "error"),
        ("start", "step-start", "error", "error"),
    ],
)
def test_what_keeps_the_grammar(types: tuple[str, ...]) -> None:
    assert broken(*types, outcome={}) == []


@pytest.mark.parametrize(
    ("types", "rule"),
    [
        (("start", *STEP, "finish", "data-x"), "STR-1"),
        (("start", "tripwire", "finish"), "TRI-14"),
        (("start", "step-start", "abort", "step-finish"), "STR-1"),
        (("start", "step-start", "error", "text-start"), "STR-1"),
        (("start", "text-start"), "ORD-17"),
        (("start", "step-finish"), "ORD-17"),
        (("start", "step-start", "step-start"), "ORD-18"),
        (("start", "step-start", "finish"), "ORD-18"),
        (("step-start",), "STR-7"),
        (("start", *STEP, "start"), "STR-7"),
        (("start", "finish"), "STR-7"),
        (("start", "step-start", "text-delta"), "STR-7"),
        (("start", "step-start", "text-start", "text-start"), "STR-7"),
        (("start", "step-start", "text-start", "step-finish"), "STR-7"),
        (("start", "step-start", "text-start", chunk("text-end", id="other")), "STR-7"),
        (("start", "step-start", chunk("reasoning-delta", id="r", text="x")), "STR-7"),
        (("start", "step-start", chunk("tool-call-delta", toolCallId="c", argsTextDelta="x")), "STR-7"),
        (("start", "step-start", "tool-result"), "STR-7"),
        (("start", "step-start", "tool-call", "tool-result", "tool-result"), "STR-7"),
        (("start", {**chunk("step-start"), "runId": "other"}), "STR-8"),
        (("start", {**chunk("step-start"), "from": "USER"}), "STR-8"),
        (("start", {"type": "step-start", "runId": "r", "from": "AGENT"}), "STR-8"),
        (("start", "step-start", {**chunk("tool-call"), "payload": {"toolCallId": "c1"}}), "STR-8"),
    ],
)
def test_what_breaks_it(types: tuple[str | Json, ...], rule: str) -> None:
    assert broken(*types) == [rule]


@pytest.mark.parametrize("types", [("start", *STEP), ("start", "step-start"), ("start",)])
def test_a_stream_that_just_stops(types: tuple[str, ...]) -> None:
    assert broken(*types, outcome={}) == ["STR-1"]


def test_a_stream_that_is_read_in_part_may_stop_anywhere() -> None:
    pulled = scenario([{}], run=[{"input": "x", "reading": [{"read": 1}]}], modes=["stream"])
    assert broken("start", of=pulled, outcome={}) == []


DROPS = {"return": {"$undefined": True}}
DELTAS = {"part": {"type": "text-delta"}}
WRITES = {"do": [{"op": "call", "on": "writer", "method": "custom", "args": [{"type": "data-x"}]}]}
EDITS = {"do": [{"op": "set", "at": "part/payload/text", "value": "x"}]}


@pytest.mark.parametrize(
    ("clause", "types"),
    [
        ({}, []),
        (WRITES, []),
        ({"return": {"$ref": "part"}}, []),
        ({"return": {"$abort": {}}}, []),
        ({"when": DELTAS, **DROPS}, ["text-delta"]),
        ({"when": DELTAS, **EDITS}, ["text-delta"]),
        ({"when": {"part": {"type": {"$oneOf": ["source", "file"]}}}, **DROPS}, ["file", "source"]),
        ({"when": DELTAS, "return": {"type": "data-x"}}, ["data-x", "text-delta"]),
    ],
)
def test_what_a_processor_touches(clause: Json, types: list[str]) -> None:
    assert sorted(touched(processing(clause))) == types


@pytest.mark.parametrize("clause", [DROPS, EDITS, {"when": {"part": {"type": {"$not": "x"}}}, **DROPS}])
def test_a_processor_that_may_touch_everything(clause: Json) -> None:
    assert "whatever" in touched(processing(clause))
    assert touched(processing(clause)) & {"step-start"}


def test_what_a_processor_may_have_done_is_not_judged() -> None:
    drops = processing({"when": {"part": {"type": "step-start"}}, **DROPS})
    assert broken("start", *STEP[1:], "finish", of=drops) == []


def test_the_rest_is_judged_all_the_same() -> None:
    drops = processing({"when": DELTAS, **DROPS})
    assert broken("start", "step-start", "text-start", "text-end", "step-start", of=drops) == ["ORD-18"]


def test_after_the_end_nothing_may_come_whatever_the_processors_do() -> None:
    assert broken("start", "step-start", "tripwire", "text-delta", of=processing(DROPS)) == ["TRI-14"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text-delta", "payload": {"id": "t", "text": "x"}},
        {"type": "tool-result", "payload": {"toolCallId": "c9", "toolName": "look", "result": 1}},
    ],
)
def test_a_model_that_breaks_the_grammar_itself_is_not_laid_to_the_runtime(part: Json) -> None:
    odd = scenario([{}], given={"model": [{"parts": [part]}]})
    assert broken("start", "step-start", chunk(part["type"], **part["payload"]), of=odd) == []


def test_a_model_whose_pieces_fit_is() -> None:
    parts = [{"type": name, "payload": chunk(name)["payload"]} for name in TEXT]
    sound = scenario([{}], given={"model": [{"parts": parts}]})
    assert broken("start", "step-start", "text-delta", of=sound) == ["STR-7"]
