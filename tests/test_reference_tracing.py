"""Traces: the tree of spans, what ends them, where they go, and what nobody pays where nobody traces."""

from __future__ import annotations

import gc
import io
import json
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from processor_contract import (
    Agent,
    APICallError,
    HookFailed,
    JsonLines,
    ModelRequest,
    Processor,
    RequestContext,
    ScriptedModel,
    Tool,
    ToolContext,
    Tracer,
    TracingContext,
)
from processor_contract.context import Clock
from reference_kit import at_once

CALLS = {"tool_calls": [{"name": "look", "args": {"n": number}} for number in (1, 2)]}


class Everything(Processor):
    """Passes everything in five hooks."""

    id = "all"

    def process_input(self, args: Any) -> None: ...
    def process_input_step(self, args: Any) -> None: ...
    def process_output_step(self, args: Any) -> None: ...
    def process_output_result(self, args: Any) -> None: ...
    def process_output_stream(self, args: Any) -> Any:
        return args.part


def traced(*turns: Any, **settings: Any) -> tuple[Agent, list[dict[str, Any]]]:
    """An agent with one processor in both arrays, and the list its spans go to."""
    spans: list[dict[str, Any]] = []
    both = settings.pop("both", [Everything()])
    given = {"input_processors": both, "output_processors": both, "tracer": Tracer(spans.append), **settings}
    return Agent(ScriptedModel(list(turns)), **given), spans


def tree(spans: list[dict[str, Any]], above: str | None = None) -> Any:
    """The spans as nested pairs of a word and what is below, in the order in which they began."""
    below = sorted((one for one in spans if one.get("parent") == above), key=lambda one: one["begun"])
    return [(one["attributes"].get("hook", one["kind"]), tree(spans, one["id"])) for one in below]


class Ticking(Clock):
    """Each look at it is a second later."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        self.seconds += 1
        return self.seconds


def numbered() -> Iterator[str]:
    return (f"id-{number}" for number in range(1, 1000))


def test_a_trace_is_the_order_of_the_loop() -> None:
    spans: list[dict[str, Any]] = []
    both = [Everything()]
    agent = Agent(
        ScriptedModel(["done"]),
        input_processors=both,
        output_processors=both,
        tracer=Tracer(spans.append, clock=Ticking()),
    )
    agent.generate("hi")
    step: Any = [("processInputStep", []), ("processOutputStream", []), ("model", []), ("processOutputStep", [])]
    assert tree(spans) == [("run", [("processInput", []), ("step", step), ("processOutputResult", [])])]


def test_ids_and_moments_can_be_given() -> None:
    def lines() -> str:
        to, ids = io.StringIO(), numbered()
        agent = Agent(
            ScriptedModel(["done"]),
            ids=lambda: next(ids),
            clock=Ticking(),
            tracer=Tracer(JsonLines(to), clock=Ticking(), ids=lambda: next(ids)),
        )
        result = agent.stream([{"role": "user", "content": {"format": 2, "parts": [{"type": "text", "text": "hi"}]}}])
        chunks = list(result)
        return json.dumps([chunks, result.result().messages]) + to.getvalue()

    first = lines()
    assert first == lines()
    assert '"runId": "id-' in first
    assert '"createdAt": "1970-01-01T00:00:0' in first


def test_parallel_tools_have_spans_of_their_own_and_what_they_add_stands_below() -> None:
    together = threading.Barrier(2)

    def look(args: dict[str, Any], context: ToolContext) -> int:
        with context.tracing_context.span("asking", n=args["n"]):
            together.wait(5)
            with context.tracing_context.span("again", n=args["n"]):
                pass
        return int(args["n"])

    agent, spans = traced(CALLS, "done", tools=[Tool("look", look)])
    agent.generate("hi")
    tools = {one["id"]: one["attributes"]["toolCallId"] for one in spans if one["kind"] == "tool"}
    added = [(tools[one["parent"]], one["attributes"]["n"]) for one in spans if one["kind"] == "custom"]
    assert len(tools) == 2
    assert (len(added), len(set(added))) == (4, 2)


def test_an_agent_called_in_a_tool_stands_below_it() -> None:
    inner = Agent(ScriptedModel(["inside"]), name="inner")

    def ask(args: Any, context: ToolContext) -> str:
        return inner.generate("hi", tracing_context=context.tracing_context).text

    agent, spans = traced({"tool_calls": [{"name": "ask", "args": {}}]}, "done", tools=[Tool("ask", ask)], both=[])
    agent.generate("hi")
    assert tree(spans) == [
        (
            "run",
            [("step", [("model", []), ("tool", [("run", [("step", [("model", [])])])])]), ("step", [("model", [])])],
        )
    ]
    assert len({one["trace"] for one in spans}) == 1


def test_nobody_traces() -> None:
    found: list[TracingContext] = []

    class Adds(Processor):
        id = "adds"

        def process_input(self, args: Any) -> None:
            with args.tracing_context.span("mine", n=1) as span:
                span.set(rows=3)
                span.child("deeper").end()
            found.append(args.tracing_context)

    result = Agent(ScriptedModel(["done"]), input_processors=[Adds()]).generate("hi")
    assert (result.text, found[0].current_span) == ("done", None)


def test_what_raises_within_a_span_leaves_it() -> None:
    class Adds(Processor):
        id = "adds"

        def process_input(self, args: Any) -> None:
            with args.tracing_context.span("mine"):
                args.abort("no")

    agent, spans = traced("done", both=[Adds()], output_processors=[])
    assert agent.generate("hi").tripwire is not None
    assert [(one["kind"], one["outcome"]) for one in spans] == [
        ("custom", "aborted"), ("processor", "aborted"), ("run", "aborted"),
    ]  # fmt: skip


def test_a_hook_that_fails_says_what_it_was_and_not_what_it_said() -> None:
    class Breaks(Processor):
        id = "breaks"

        def process_output_stream(self, args: Any) -> Any:
            raise LookupError("secret")

    agent, spans = traced("done", both=[Breaks()], input_processors=[])
    with pytest.raises(HookFailed):
        agent.generate("hi")
    failed = [one for one in spans if one["kind"] == "processor"]
    assert [(one["outcome"], one["attributes"]["error"]) for one in failed] == [("error", "LookupError")]
    assert {one["kind"]: one["outcome"] for one in spans if one["kind"] != "processor"} == {
        "step": "error", "run": "error",
    }  # fmt: skip
    assert "secret" not in json.dumps(spans)


def test_a_wrong_return_is_the_processors_error() -> None:
    class Wrong(Processor):
        id = "wrong"

        def process_input_step(self, args: Any) -> Any:
            return 7

    agent, spans = traced("done", both=[Wrong()], output_processors=())
    with pytest.raises(HookFailed):
        agent.generate("hi")
    assert [one["outcome"] for one in spans if one["kind"] == "processor"] == ["error"]


def test_a_failed_save_is_the_memorys_error() -> None:
    from processor_contract import InMemoryStorage, Memory

    class Full(InMemoryStorage):
        def append(self, *given: Any) -> None:
            raise OSError("full")

    agent, spans = traced("done", both=[], memory=Memory(Full()))
    with pytest.raises(HookFailed):
        agent.generate("hi", thread="t", resource="r")
    saves = [one for one in spans if one["attributes"].get("hook") == "processOutputResult"]
    assert [one["outcome"] for one in saves] == ["error"]


def test_every_call_of_a_model_is_a_span() -> None:
    busy = APICallError("busy", status_code=503, is_retryable=True)

    class Waitless(Clock):
        def sleep(self, seconds: float, signal: Any = None) -> None: ...

    agent, spans = traced(busy, "done", both=[], max_retries=1, clock=Waitless())
    agent.generate("hi")
    calls = [(one["outcome"], one["attributes"].get("error")) for one in spans if one["kind"] == "model"]
    assert calls == [("error", "APICallError"), ("ok", None)]


def test_a_model_that_fails_in_mid_stream_closes_what_it_read() -> None:
    closed: list[bool] = []

    class Breaking:
        id = "mock/breaking"

        def stream(self, request: ModelRequest) -> Iterator[Any]:
            try:
                yield {"type": "text-delta", "payload": {"id": "t", "text": "he"}}
                yield {"type": "error", "payload": {"error": "broken"}}
            finally:
                closed.append(True)

    spans: list[dict[str, Any]] = []
    stream = Agent(Breaking(), tracer=Tracer(spans.append)).stream("hi")
    list(stream)
    outcomes = [(one["kind"], one["outcome"]) for one in spans]
    assert outcomes == [("model", "error"), ("step", "error"), ("run", "error")]
    assert closed == [True]


def test_a_stream_that_nobody_reads_ends_its_trace_when_it_is_forgotten() -> None:
    agent, spans = traced("done")
    agent.stream("hi")
    gc.collect()
    assert [(one["kind"], one["outcome"]) for one in spans] == [("processor", "ok"), ("run", "cancelled")]


def test_a_span_ends_once_and_what_comes_later_is_not_seen() -> None:
    spans: list[dict[str, Any]] = []
    root = Tracer(spans.append).begin("run", "x")
    left = root.child("left")
    at_once(*[root.end] * 8)
    left.end()
    left.set(late=True)
    root.child("too late").child("and below").end()
    assert [(one["name"], one["outcome"]) for one in spans] == [("left", "cancelled"), ("x", "ok")]


def test_an_exporter_that_raises_breaks_nothing() -> None:
    def broken(span: Any) -> None:
        raise OSError("disk full")

    agent = Agent(ScriptedModel(["done"]), output_processors=[Everything()], tracer=Tracer(broken))
    assert agent.generate("hi").text == "done"


def test_what_json_cannot_hold_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with JsonLines(path) as lines:
        span = Tracer(lines).begin("run", "odd \udc00")
        circular: list[Any] = []
        circular.append(circular)
        span.end(circular=circular, function=print, number=float("nan"))
    line = json.loads(path.read_text("utf-8"))
    assert line["attributes"] == {"circular": ["[Circular]"], "number": None}


def test_lines_from_many_threads_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with JsonLines(str(path)) as lines:
        agent, _ = traced(*["done"] * 8, tracer=Tracer(lines))
        at_once(*[partial(agent.generate, "hi")] * 8)
    spans = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    traces = {one["trace"] for one in spans}
    assert len(traces) == 8
    assert {len({one["id"] for one in spans if one["trace"] == trace}) for trace in traces} == {8}


def test_an_index_is_set_where_the_object_takes_one() -> None:
    class Slotted:
        __slots__ = ("id",)
        id: str

        def process_output_stream(self, args: Any) -> Any:
            return args.part

    slotted, plain = Slotted(), Everything()
    slotted.id = "slotted"
    agent, spans = traced("done", both=[], output_processors=[slotted, plain])
    assert agent.generate("hi").text == "done"
    about = [one["attributes"] for one in spans if one["kind"] == "processor"]
    found = {one["processorId"]: one["processorIndex"] for one in about}
    assert (found, plain.processor_index) == ({"slotted": 0, "all": 1}, 1)


def test_a_given_context_is_used_even_when_it_is_empty() -> None:
    seen: list[RequestContext] = []

    class Looks(Processor):
        id = "looks"

        def process_input(self, args: Any) -> None:
            seen.append(args.request_context)

    own = RequestContext()
    Agent(ScriptedModel(["done"]), input_processors=[Looks()]).generate("hi", request_context=own)
    assert seen[0] is own
