"""Adapters that misbehave: each gets the fault it is promised, in time, and the next play can go on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chaos.playing import play
from processor_conformance import player, wire
from processor_conformance.connection import Adapter
from processor_conformance.faults import AdapterDidNotStart, AdapterFault
from processor_conformance.words import Json

HERE = {"PYTHONPATH": str(Path(__file__).parent)}
TIMEOUT = 1.0  # of what must time out; everything else has PATIENCE, because a busy machine starts processes slowly
PATIENCE = 20.0
SCENARIO: dict[str, Json] = {
    "given": {
        "processors": {"counter": {"processOutputStream": [{"times": 1, "do": [{"op": "read", "at": "part"}]}]}},
        "outputProcessors": ["counter"],
        "tools": {"look": {}},
        "model": [{"toolCalls": [{"id": "c1", "name": "look", "args": {}}]}, {"text": ["he", "llo"]}],
    },
    "run": [{"input": "first"}],
}
AT_START = {
    "hangs-at-start": ("hung", "no answer to initialize within 3 s; it wrote nothing at all"),
    "dies-at-start": ("died", "ended with exit code 3 without having written anything"),
    "stops-in-hello": ("hung", """its last words were half a line: '{"jsonrpc": "2.0", "id": "r1", "res'"""),
    "greets": ("garbage", "no JSON (Expecting value: line 1 column 1 (char 0)): 'Welcome to the adapter!'"),
    "speaks-protocol-two": ("breach", "it speaks protocol 2, this runner speaks 1"),
    "refuses-protocol-one": ("breach", "answered initialize with an error: ValueError: I speak protocols 2 and 3"),
    "invents-a-capability": ("breach", "it declares what is no capability of the protocol: telepathy"),
    "is-an-echo": ("breach", "the adapter sent our own request 'initialize' back"),
    "forgets-its-name": ("breach", "the answer to initialize: 'implementation' is missing"),
}
IN_RUN = {
    "hangs-in-run": ("hung", "no answer to run/start within 1 s; nothing came since it was sent our run/start (r3) ("),
    "dies-in-run": ("died", "ended with exit code 1 while run/start was unanswered"),
    "is-killed-in-run": ("died", "was ended by SIGKILL while run/start was unanswered"),
    "dies-in-a-line": ("died", """in the middle of a line: '{"jsonrpc": "2.0", "method": "stream/ch'"""),
    "dies-before-its-child": ("died", "ended with exit code 1 and left run/start unanswered"),
    "closes-its-output": ("died", "closed its stdout but still runs while run/start was unanswered"),
    "prints-in-run": ("garbage", "'calling the model now'"),
    "writes-an-empty-line": ("garbage", "an empty line"),
    "writes-a-list": ("garbage", "a line that is no JSON object: '[1, 2]'"),
    "writes-na-n": ("garbage", "NaN is not JSON"),
    "writes-half-a-character": ("garbage", "a line that is not UTF-8 (byte 68)"),
    "writes-a-byte-order-mark": ("garbage", "byte order mark"),
    "forgets-the-version": ("breach", 'a message without "jsonrpc": "2.0"'),
    "answers-twice": ("breach", "which was answered before"),
    "answers-nobody": ("breach", "an answer to 'r999', which nobody asked"),
    "answers-with-an-error": ("breach", "answered run/start with an error: KeyError: 'what is a run?'"),
    "answers-with-nothing": ("breach", "the answer to run/start: 'outcome' or 'opened' is missing"),
    "uses-a-handle-twice": ("breach", "the handle 'same' is used twice"),
    "invents-a-method": ("breach", "the adapter sent the request 'hook/skip', which is none that it may send"),
    "invents-a-run": ("breach", "model/next names the run 'another', which was never started"),
    "invents-a-hook": ("breach", "calls processAPIError of processor 'counter', which has no such hook"),
    "invents-a-tool": ("breach", "calls the tool 'hammer', which the agent does not have"),
    "invents-a-model-call": ("breach", "names the model call 'c0', which was never made"),
    "calls-the-model-twice": ("breach", "the model call 'late' is made twice"),
    "loses-a-result": ("breach", "answered 1 operations with 0 results"),
    "answers-neither": ("breach", "answered run/start with neither result nor error"),
    "counts-its-requests": ("breach", "the id 7 is not a text"),
    "leaves-out-tokens": ("breach", "tool/call params: 'tokens' is missing"),
    "holds-an-answer": ("hung", "; nothing came since it was sent the answer to model/call (a1) ("),
    "says-a-last-word": ("hung", """; the last line it wrote: '{"jsonrpc": "2.0", "method": "stream/chunk"""),
    "stops-reading": ("hung", "no answer to run/start within 1 s"),
    "never-ends": ("hung", "does not come to an end: 200 model calls"),
}
# Found out by their silence.
SILENT = {"hangs-in-run", "holds-an-answer", "says-a-last-word", "stops-reading", "dies-before-its-child"}


def program(name: str, *arguments: str, **options: Any) -> Adapter:
    return Adapter([sys.executable, "-m", f"chaos.{name}", *arguments], env=HERE, **options)


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Makes an adapter that goes wrong in one way."""
    made: list[Adapter] = []

    def starting(way: str, **options: Any) -> Adapter:
        made.append(program("misbehaving", way, **{"timeout": PATIENCE, **options}))
        return made[-1]

    yield starting
    for adapter in made:
        adapter.close()


@pytest.mark.parametrize("way", AT_START)
def test_fault_at_start(start: Any, way: str) -> None:
    kind, message = AT_START[way]
    with pytest.raises(AdapterDidNotStart) as caught:
        start(way, timeout=TIMEOUT if kind == "hung" else PATIENCE).start()
    assert (kind, True) == (caught.value.kind, message in caught.value.message), caught.value.message


@pytest.mark.parametrize("way", IN_RUN)
def test_fault_in_run(start: Any, way: str) -> None:
    kind, message = IN_RUN[way]
    with pytest.raises(AdapterFault) as caught:
        play(start(way), way, SCENARIO, "stream", timeout=TIMEOUT if way in SILENT else PATIENCE)
    assert (kind, True) == (caught.value.kind, message in caught.value.message), caught.value.message


def test_a_fault_carries_the_trace_so_far(start: Any) -> None:
    with pytest.raises(AdapterFault) as caught:
        play(start("dies-in-run"), "x", SCENARIO, "stream", timeout=PATIENCE)
    assert caught.value.trace is not None
    assert [event.name for event in caught.value.trace.events] == ["start"]


def test_a_fault_ends_all_runs_at_once(start: Any) -> None:
    scenario = {**SCENARIO, "run": [{"input": name, "together": "all"} for name in "abc"]}
    with pytest.raises(AdapterFault) as caught:
        play(start("dies-in-a-line"), "x", scenario, "stream", timeout=PATIENCE)
    assert caught.value.kind in ("died", "garbage")  # another run's line may have come behind the half one


def test_after_a_fault_the_next_play_gets_a_new_process(start: Any) -> None:
    adapter = start("uses-a-handle-twice")
    for _ in range(2):
        with pytest.raises(AdapterFault, match="is used twice"):
            play(adapter, "x", SCENARIO, "stream", timeout=PATIENCE)


def test_last_words_on_stderr_are_kept(start: Any) -> None:
    adapter = start("dies-at-start")
    with pytest.raises(AdapterDidNotStart):
        adapter.start()
    assert adapter.stderr_tail == "cannot find my framework"


def test_a_flood_on_stderr_blocks_nothing(start: Any) -> None:
    adapter = start("floods-stderr", timeout=20.0)
    trace = play(adapter, "x", SCENARIO, "stream", timeout=20.0)
    adapter.close()
    assert (trace.outcomes["0"]["text"], len(adapter.stderr_tail.splitlines())) == ("hello", 40)


def test_an_adapter_that_ignores_shutdown_is_ended(start: Any) -> None:
    adapter = start("ignores-shutdown")
    adapter.start()
    adapter.timeout = TIMEOUT
    adapter.close()
    assert not adapter.ended_by_itself


def test_a_talkative_adapter_is_ended_too(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "LONGEST", 2)
    with pytest.raises(AdapterFault, match="no answer to run/start although messages kept coming") as caught:
        play(start("drips"), "x", SCENARIO, "stream", timeout=TIMEOUT)
    assert caught.value.kind == "hung"


def test_a_full_check_only_where_it_is_asked_for(start: Any) -> None:
    assert play(start("leaves-a-handle-empty"), "x", SCENARIO, "stream", timeout=PATIENCE).outcomes
    with pytest.raises(AdapterFault, match="tool/call params: /handle: '' should be non-empty"):
        play(start("leaves-a-handle-empty", strict=True), "x", SCENARIO, "stream", timeout=PATIENCE)


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("sends-a-chunk-without-type", "the answer to run/read: /chunks/0: 'type' is missing"),
        ("reads-too-little", "run/read of 3 chunks brought 1, not the end of the stream"),
    ],
)
def test_fault_of_a_pulled_stream(start: Any, way: str, message: str) -> None:
    scenario = {**SCENARIO, "run": [{"input": "first", "reading": [{"read": 3}]}]}
    with pytest.raises(AdapterFault, match=message):
        play(start(way), "x", scenario, "stream", timeout=PATIENCE)


def test_what_comes_after_the_end_is_refused_and_noted_as_late(start: Any) -> None:
    adapter = start("calls-after-the-end")
    trace = play(adapter, "x", SCENARIO, "stream", timeout=PATIENCE)
    adapter.close()
    assert [event.late for event in trace.lane("0", "provider")] == [False, False, True]
    assert adapter.stragglers == [trace]
    assert adapter.stderr_tail.startswith("refused: the run run-2 is over")


def test_what_comes_after_the_outcome_belongs_to_the_run_and_is_marked(start: Any) -> None:
    trace = play(start("calls-after-the-outcome"), "x", SCENARIO, "stream", timeout=PATIENCE)
    assert [event.late for event in trace.lane("0", "provider")] == [False, False, True]


def test_the_id_of_a_refused_request_may_be_used_again(start: Any) -> None:
    adapter = start("calls-twice-after-the-end")
    trace = play(adapter, "x", SCENARIO, "stream", timeout=PATIENCE)
    adapter.request("tick", {})
    adapter.close()
    assert adapter.stragglers == [trace, trace]


def test_two_open_requests_with_one_id(start: Any) -> None:
    held = {"look": {"execute": [{"wait": "never"}]}}
    scenario = {**SCENARIO, "given": {**SCENARIO["given"], "tools": held}}
    with pytest.raises(AdapterFault, match="two open requests with the id 'same'"):
        play(start("asks-twice-at-once"), "x", scenario, "stream", timeout=PATIENCE)


def test_a_line_without_end_is_cut(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LONGEST_LINE", 3 << 20)
    with pytest.raises(AdapterFault, match="wrote 3 MB and was still in the middle of a line: 'babble") as caught:
        play(start("never-ends-a-line"), "x", SCENARIO, "stream", timeout=PATIENCE)
    assert caught.value.kind == "garbage"


def test_an_adapter_that_does_not_read_blocks_nobody(start: Any) -> None:
    scenario = {**SCENARIO, "run": [{"input": "x" * 10_000_000}]}
    with pytest.raises(AdapterFault, match="no answer to run/start within 1 s"):
        play(start("stops-reading"), "x", scenario, "stream", timeout=TIMEOUT)


def test_line_ends_of_windows_are_no_fault(start: Any) -> None:
    trace = play(start("ends-lines-like-windows"), "x", SCENARIO, "stream", timeout=PATIENCE)
    assert trace.outcomes["0"]["text"] == "hello"


@pytest.mark.parametrize("command", ["/no/such/program", "", ["/no/such/program"], "python:no.such.module:connect"])
def test_what_cannot_be_started(command: Any) -> None:
    with pytest.raises(AdapterDidNotStart, match="cannot be"):
        Adapter(command).start()


@pytest.mark.parametrize("name", ["mini", "alone"])
def test_huge_messages_in_both_directions_never_block(name: str) -> None:
    huge = "x" * 300_000
    copies = [{"op": "set", "at": "state/huge", "value": huge}, {"op": "read", "at": "state/huge"}]
    scenario = {
        "given": {
            "processors": {"echo": {"processInput": [{"do": copies}], "processOutputStream": []}},
            "inputProcessors": ["echo"],
            "outputProcessors": ["echo"],
            "model": [{"text": [huge, huge]}],
        },
        "run": [{"input": huge, **({"together": "all"} if name == "mini" else {})} for _ in range(4)],
    }
    adapter = program(name, timeout=20.0)
    try:
        trace = play(adapter, "x", scenario, "stream", timeout=20.0)
    finally:
        adapter.close()
    assert [2 * len(huge)] * 4 == [len(trace.outcomes[str(run)]["text"]) for run in range(4)]
    assert [huge] * 4 == [event.data["did"][1]["value"] for event in trace.events if event.name == "processInput"]


def test_an_adapter_without_threads_serves_while_it_waits() -> None:
    read = {"do": [{"op": "read", "at": "part/type"}]}
    processors = {"counter": {"processOutputStream": [read]}}
    scenario = {"given": {**SCENARIO["given"], "processors": processors}, "run": SCENARIO["run"]}
    adapter = program("alone", timeout=PATIENCE)
    trace = play(adapter, "x", scenario, "stream", timeout=PATIENCE)
    adapter.close()
    hooks = [event.data for event in trace.events if event.name == "processOutputStream"]
    assert hooks
    assert [[{"value": hook["part"]["type"]}] for hook in hooks] == [hook["did"] for hook in hooks]
    assert adapter.ended_by_itself
