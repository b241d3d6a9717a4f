"""The play engine on the miniature implementation: what a scenario says is done, what is seen is in the trace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chaos.playing import play
from processor_conformance import answers, peer
from processor_conformance.connection import Adapter
from processor_conformance.faults import AdapterFault, SuiteError
from processor_conformance.trace import Trace
from processor_conformance.words import Json, Lane

MESSAGES = [{"role": "user", "content": "hello"}]


@pytest.fixture(scope="module")
def adapter() -> Iterator[Adapter]:
    made = Adapter("python:chaos.mini:connect", strict=True)
    yield made
    made.close()


def scenario(run: Json = None, **given: Json) -> dict[str, Json]:
    """A scenario with what is given; by default one call, one output processor and a model that says hello."""
    return {"given": {"model": [{"text": ["he", "llo"]}], **given}, "run": run or [{"input": "hello"}]}


def hooked(hook: str, *clauses: Json, run: Json = None, **given: Json) -> dict[str, Json]:
    """A scenario with one processor that has one hook, in both arrays."""
    arrays = {"inputProcessors": ["one"], "outputProcessors": ["one"]}
    return scenario(run, **{"processors": {"one": {hook: list(clauses)}}, **arrays, **given})


def data(trace: Trace, name: str, run: str = "0", lane: Lane = "work") -> list[Json]:
    return [event.data for event in trace.lane(run, lane) if event.name == name]


def test_a_hook_event_holds_arguments_and_tokens(adapter: Adapter) -> None:
    trace = play(adapter, "x", hooked("processInput"), "generate")
    (seen,) = data(trace, "processInput")
    tokens = seen.pop("tokens")
    assert seen == {"hook": "processInput", "processor": "one", "state": {}, "messages": MESSAGES}
    assert set(tokens) == {"state", "instance"}


def test_the_provider_lane_holds_the_call(adapter: Adapter) -> None:
    trace = play(adapter, "x", scenario(tools={"look": {}}), "stream")
    assert data(trace, "model", lane="provider") == [
        {"model": "mock/one", "mode": "stream", "prompt": MESSAGES, "tools": ["look"], "signal": False}
    ]


def test_the_client_lane_holds_the_chunks(adapter: Adapter) -> None:
    parts = [{"type": "text-delta", "payload": {"text": "a"}}]
    trace = play(adapter, "x", scenario(model=[{"parts": parts}]), "stream")
    assert [event.data for event in trace.lane("0", "client")] == [
        {"type": "start", "payload": {}},
        {"type": "text-delta", "payload": {"text": "a"}},
        {"type": "finish", "payload": {"finishReason": "stop"}},
    ]
    assert trace.outcomes["0"]["text"] == "a"


def test_events_are_numbered_in_order_of_arrival(adapter: Adapter) -> None:
    trace = play(adapter, "x", hooked("processOutputStream", run=[{"input": "a"}, {"input": "b"}]), "stream")
    assert [event.at for event in trace.events] == list(range(len(trace.events)))
    assert not any(event.late for event in trace.events)


def test_the_first_clause_that_fits_answers_as_often_as_it_may(adapter: Adapter) -> None:
    clauses = [
        {"when": {"messages": [{"content": "other"}]}, "return": {"$abort": {"reason": "never"}}},
        {"when": {"run": "1"}, "return": {"$abort": {"reason": "by name"}}},
        {"times": 1, "return": {"$abort": {"reason": "once"}}},
    ]
    trace = play(adapter, "x", hooked("processInput", *clauses, run=[{"input": "a"}] * 3), "generate")
    reasons = [trace.outcomes[run].get("tripwire", {}).get("reason") for run in "012"]
    assert reasons == ["once", "by name", None]


def test_answers_to_operations_are_observed(adapter: Adapter) -> None:
    operations = [
        {"op": "set", "at": "state/n", "value": {"words": ["a"]}},
        {"op": "append", "at": "state/n/words", "value": "b"},
        {"op": "read", "at": "state/n"},
        {"op": "read", "at": "state/missing"},
    ]
    trace = play(adapter, "x", hooked("processInput", {"do": operations}), "generate", seed=4)
    (seen,) = data(trace, "processInput")
    assert seen["did"][:3] == [{"value": {"$undefined": True}}, {"value": 2}, {"value": {"words": ["a", "b"]}}]
    assert seen["did"][3]["error"]["name"] == "KeyError"


def test_no_operations_no_did(adapter: Adapter) -> None:
    trace = play(adapter, "x", hooked("processInput", {"return": {"$undefined": True}}), "generate")
    assert "did" not in data(trace, "processInput")[0]


def test_a_reference_to_the_object_of_another_run(adapter: Adapter) -> None:
    foreign = {"$ref": "state", "of": {"run": "first", "hook": "processInput"}}
    clauses = [
        {"times": 1, "do": [{"op": "set", "at": "state/mine", "value": "first"}]},
        {"do": [{"op": "set", "at": "state/other", "value": foreign}, {"op": "read", "at": "state/other/mine"}]},
    ]
    run = [{"input": "a", "name": "first"}, {"input": "b", "name": "second"}]
    trace = play(adapter, "x", hooked("processInput", *clauses, run=run), "generate", seed=2)
    assert data(trace, "processInput", "second")[0]["did"][1] == {"value": "first"}


def test_a_reference_deeper_than_an_argument_asks_for_its_token(adapter: Adapter) -> None:
    foreign = {"$ref": "messages/0", "of": {"run": "0", "hook": "processInput"}}
    clauses = [
        {"times": 1},
        {"do": [{"op": "set", "at": "state/other", "value": foreign}, {"op": "read", "at": "state/other/content"}]},
    ]
    trace = play(adapter, "x", hooked("processInput", *clauses, run=[{"input": "a"}, {"input": "b"}]), "generate")
    assert data(trace, "processInput", "1")[0]["did"][1] == {"value": "a"}


def test_a_reference_to_a_call_that_never_came_is_nothing(adapter: Adapter) -> None:
    foreign = {"$ref": "state", "of": {"hook": "processOutputStep"}}
    clause = {"do": [{"op": "set", "at": "state/n", "value": foreign}, {"op": "read", "at": "state/n"}]}
    trace = play(adapter, "x", hooked("processInput", clause), "generate")
    assert data(trace, "processInput")[0]["did"][1] == {"value": {"$undefined": True}}


def test_operations_on_a_call_that_is_over(adapter: Adapter) -> None:
    late = {"op": "read", "at": "messages/0/content", "of": {"run": "0", "hook": "processInput"}}
    never = {"op": "read", "at": "state", "of": {"hook": "processOutputStep"}}
    clauses = [{"times": 1}, {"do": [late, {"op": "read", "at": "messages/0/content"}, never]}]
    trace = play(adapter, "x", hooked("processInput", *clauses, run=[{"input": "a"}, {"input": "b"}]), "generate")
    assert data(trace, "processInput", "1")[0]["did"] == [
        {"value": "a"}, {"value": "b"}, {"error": {"name": "NoSuchCall", "message": "that call never came"}},
    ]  # fmt: skip


def test_a_processor_has_its_id_and_its_key(adapter: Adapter) -> None:
    given = {"processors": {"one": {"id": "pii", "processInput": [{"return": {"$abort": {"reason": "no"}}}]}}}
    trace = play(adapter, "x", hooked("processInput", **given), "generate", seed=9)
    assert data(trace, "processInput")[0]["processor"] == "one"
    assert trace.outcomes["0"]["tripwire"] == {"reason": "no", "processorId": "pii"}


def test_an_error_that_is_thrown_comes_back_with_a_token(adapter: Adapter) -> None:
    throws = {"return": {"$throw": {"message": "broken", "name": "TypeError"}}}
    outcome = play(adapter, "x", hooked("processInput", throws), "generate", seed=6).outcomes["0"]
    (raised,) = outcome["raised"]
    assert (raised["name"], raised["message"], outcome["at"]) == ("TypeError", "broken", "start")
    assert raised["token"].startswith("error-")


def test_a_model_error_keeps_the_token_of_the_scenario(adapter: Adapter) -> None:
    failing = [{"error": {"message": "overloaded", "name": "APICallError", "statusCode": 529, "token": "e1"}}]
    outcome = play(adapter, "x", scenario(model=failing), "stream").outcomes["0"]
    assert outcome["raised"] == [{"name": "APICallError", "message": "overloaded", "token": "e1"}]


def test_every_run_begins_at_the_first_turn_and_the_last_one_stays(adapter: Adapter) -> None:
    call = {"id": "c1", "name": "look", "args": {"city": "Oslo"}}
    model = [{"toolCalls": [call], "text": ["a"]}, {"toolCalls": [call], "text": ["b"]}]
    run = [{"input": "x"}, {"input": "y"}, {"input": "z", "model": [{"text": ["own"]}]}]
    trace = play(adapter, "x", scenario(run, model=model, tools={"look": {}}, maxSteps=3), "generate", seed=3)
    assert [trace.outcomes[name]["text"] for name in "012"] == ["abb", "abb", "own"]


def test_a_tool_answers_by_its_clauses(adapter: Adapter) -> None:
    calls = [{"id": f"c{n}", "name": "look", "args": {"n": n}} for n in (1, 2)]
    clause = {"when": {"args": {"n": 2}}, "return": {"found": "two"}}
    given = {"model": [{"toolCalls": calls}, {"text": ["x"]}], "tools": {"look": {"execute": [clause]}}}
    trace = play(adapter, "x", hooked("processToolResult", **given), "generate", seed=8)
    assert sorted(event["toolCallId"] for event in data(trace, "tool")) == ["c1", "c2"]
    assert [event["result"] for event in data(trace, "processToolResult")] == [{"ok": True}, {"found": "two"}]


def test_an_array_that_is_a_function(adapter: Adapter) -> None:
    given = {"inputProcessors": {"$callback": [{"return": ["one"]}]}, "outputProcessors": []}
    trace = play(adapter, "x", hooked("processInput", **given), "generate", seed=5)
    assert data(trace, "inputProcessors")[0] == {"callback": "inputProcessors", "tokens": {}}
    assert data(trace, "processInput")[0]["processor"] == "one"


def test_the_store_is_scripted_and_read_at_the_end(adapter: Adapter) -> None:
    place = {"thread": "t", "resource": "r"}
    memory = {"stored": [{**place, "messages": [{"role": "user", "content": "old"}]}]}
    played = scenario([{"input": "hello", "options": {"memory": place}}], memory=memory)
    trace = play(adapter, "x", {**played, "stored": [{**place, "messages": []}]}, "generate", seed=3)
    assert [message["content"] for message in trace.stored["t", "r"]] == ["old", "hello", "hello"]
    assert data(trace, "store/read") == [{"store": "read", **place}]
    assert data(trace, "store/write")[0]["messages"][0] == MESSAGES[0]


def test_a_store_that_fails(adapter: Adapter) -> None:
    place = {"thread": "t", "resource": "r"}
    memory = {"write": [{"return": {"$throw": {"message": "disk full"}}}]}
    played = scenario([{"input": "a", "options": {"memory": place}}], memory=memory)
    outcome = play(adapter, "x", played, "generate", seed=7).outcomes["0"]
    assert [raised["message"] for raised in outcome["raised"]] == ["disk full"]


def test_a_stream_is_pulled_step_by_step(adapter: Adapter) -> None:
    reading = [{"read": 2}, {"open": "g"}, {"wait": "g"}, {"rest": True}, {"result": True}]
    trace = play(adapter, "x", scenario([{"input": "a", "reading": reading}]), "stream")
    assert [event.name for event in trace.lane("0", "client")] == ["opened", *["text-delta"] * 5]
    assert trace.outcomes["0"]["finishReason"] == "stop"


@pytest.mark.parametrize("how", [{"close": True}, {"cancel": "enough"}])
def test_a_stream_is_closed_or_cancelled(adapter: Adapter, how: Json) -> None:
    trace = play(adapter, "x", scenario([{"input": "a", "reading": [{"read": 1}, how]}]), "stream")
    assert [event.name for event in trace.lane("0", "client")] == ["opened", "text-delta"]
    assert trace.outcomes == {}


def test_a_model_that_is_pulled_with_a_cancellation_in_the_middle(adapter: Adapter) -> None:
    part = {"type": "text-delta", "payload": {"id": "t", "text": "a"}}
    turn = {"pull": True, "parts": [part, {"cancel": True}, part, part]}
    trace = play(adapter, "x", scenario(model=[turn]), "stream")
    assert trace.outcomes["0"]["text"] == "aa"
    assert data(trace, "model/aborted", lane="provider") == [{"aborted": True, "model": "mock/one"}]


def test_a_pulled_model_that_fails_after_its_parts(adapter: Adapter) -> None:
    turn = {"pull": True, "text": ["a"], "error": {"message": "cut off"}}
    outcome = play(adapter, "x", scenario(model=[turn]), "stream").outcomes["0"]
    assert outcome["raised"][0]["message"] == "cut off"


def test_a_hook_cancels_while_it_is_open(adapter: Adapter) -> None:
    call = {"id": "c", "name": "look", "args": {}}
    given = {"tools": {"look": {"execute": [{"cancel": True}]}}, "model": [{"toolCalls": [call]}]}
    trace = play(adapter, "x", scenario(**given), "stream")
    assert [event.name for event in trace.events if event.lane != "client"] == ["model", "tool", "model/aborted"]


def test_gates_hold_calls_of_concurrent_runs(adapter: Adapter) -> None:
    clauses = [
        {"when": {"run": "a"}, "open": "a-there", "wait": "b-there"},
        {"when": {"run": "b"}, "open": "b-there", "wait": "a-there"},
    ]
    run = [{"input": name, "name": name, "together": "both"} for name in "ab"]
    trace = play(adapter, "x", hooked("processInput", *clauses, run=run), "generate")
    assert trace.stuck_gates == []
    assert {event.name for event in trace.events[:2]} == {"processInput"}


def test_steps_stand_between_operations(adapter: Adapter) -> None:
    read = {"op": "read", "at": "messages/0/content"}
    clause = {"do": [read, {"open": "g"}, {"wait": "g"}, read]}
    trace = play(adapter, "x", hooked("processInput", clause), "generate")
    assert data(trace, "processInput")[0]["did"] == [{"value": "hello"}] * 2


def test_a_gate_that_nobody_opens_is_stuck_and_the_run_goes_on(adapter: Adapter) -> None:
    clause = {"wait": "never"}
    run = [{"input": name, "together": "both"} for name in "ab"]
    trace = play(adapter, "x", hooked("processInput", clause, run=run), "generate", timeout=0.4)
    assert trace.stuck_gates == ["never"]
    assert set(trace.outcomes) == {"0", "1"}


def test_while_we_hold_a_call_silence_is_no_hang(adapter: Adapter) -> None:
    clauses = [{"times": 1, "wait": "first"}, {"wait": "second"}]
    played = hooked("processInput", *clauses, run=[{"input": "a"}, {"input": "b"}])
    trace = play(adapter, "x", played, "generate", timeout=0.3)
    assert trace.stuck_gates == ["first", "second"]
    assert len(trace.outcomes) == 2


def test_names_on_the_wire_differ_from_the_scenario(adapter: Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Json] = []
    true_decode = peer.decode

    def decode(line: bytes) -> dict[str, Json]:
        lines.append(line.decode())
        return true_decode(line)

    monkeypatch.setattr(peer, "decode", decode)
    trace = play(adapter, "x", hooked("processInput", instructions="secret words"), "generate", seed=12)
    assert data(trace, "processInput")[0]["messages"] == MESSAGES
    assert not [line for line in lines if "hello" in line or "secret" in line]


@pytest.mark.parametrize("mode", ["generate", "stream"])
def test_a_seed_changes_nothing_in_the_trace(adapter: Adapter, mode: str) -> None:
    given = {
        "processors": {"one": {"id": "pii-1", "processOutputStream": [{"do": [{"op": "read", "at": "part"}]}]}},
        "tools": {"look": {"parameters": {"type": "object", "required": ["city"]}}},
        "model": [{"toolCalls": [{"id": "c1", "name": "look", "args": {"city": "Oslo"}}]}, {"text": ["Ol", "so"]}],
    }
    traces = [play(adapter, "x", hooked("processOutputStream", **given), mode, seed=seed) for seed in (0, 1, 2)]
    for trace in traces:
        for event in trace.events:
            event.data.pop("tokens", None)
    assert traces[1:] == traces[:1] * 2


def test_stuck_in_the_scenario_itself_is_the_suites_bug(adapter: Adapter) -> None:
    nowhere = {"$ref": "state", "of": {"run": "x", "hook": "processInput"}}
    scenarios: list[Json] = [
        hooked("processInput", {"return": nowhere}),
        hooked("processInput", {"do": [{"dance": True}]}),
        hooked("processInput", {"when": {"messages": {"$contains": 1}}}),
        hooked("processInput", {"return": {"$throw": {"name": "no message"}}}),
        hooked("processInput", {"return": float("nan")}),
        scenario(model=[{"parts": [{"open": "gate"}]}]),
        scenario(model=[]),
        {"run": []},
    ]
    for broken in scenarios:
        with pytest.raises(SuiteError):
            play(adapter, "x", broken, "stream")


def test_after_a_bug_of_the_suite_the_next_play_is_sound(adapter: Adapter) -> None:
    with pytest.raises(SuiteError):
        play(adapter, "x", scenario(model=[]), "stream")
    assert play(adapter, "x", scenario(), "stream").outcomes["0"]["text"] == "hello"


def test_a_play_that_brings_too_much_is_ended(adapter: Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_EVENTS", 5)
    with pytest.raises(AdapterFault, match="does not come to an end: 5 messages"):
        play(adapter, "x", scenario(), "stream")
