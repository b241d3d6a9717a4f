"""The scripted model, the registry of models, and what providers of all sorts come to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from processor_contract import Agent, APICallError, HookFailed, InvalidAgent, ModelRequest, ScriptedModel
from processor_contract.errors import ProviderFailed
from processor_contract.models import ModelRegistry
from reference_kit import kinds, processor

REQUEST = ModelRequest(prompt=[])


def said(turn: Any) -> list[Any]:
    return list(ScriptedModel([turn]).stream(REQUEST))


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("hi", ["text-start", "text-delta", "text-end", "finish"]),
        (["a", "b"], ["text-start", "text-delta", "text-delta", "text-end", "finish"]),
        ({"reasoning": "hm"}, ["reasoning-start", "reasoning-delta", "reasoning-end", "finish"]),
        ({"tool_calls": [{"name": "add"}]}, ["tool-call", "finish"]),
        ({}, ["finish"]),
        ("", ["text-start", "text-delta", "text-end", "finish"]),
        ({"chunks": [{"type": "odd", "payload": {}}]}, ["odd"]),
    ],
)
def test_a_turn_is_written_out(turn: Any, expected: list[str]) -> None:
    assert expected == kinds(said(turn))


@pytest.mark.parametrize(
    ("turn", "expected"),
    [("hi", "stop"), ({"tool_calls": [{"name": "add"}]}, "tool-calls"), ({"finish_reason": "length"}, "length")],
)
def test_a_turn_has_a_finish_reason(turn: Any, expected: str) -> None:
    assert expected == said(turn)[-1]["payload"]["finishReason"]


def test_calls_without_an_id_are_numbered() -> None:
    chunks = said({"tool_calls": [{"name": "a"}, {"name": "b", "id": "mine"}]})

    assert [chunk["payload"]["toolCallId"] for chunk in chunks[:2]] == ["call-1", "mine"]


def test_the_script_hands_out_copies() -> None:
    turn = {"chunks": [{"type": "odd", "payload": {"deep": [1]}}]}
    model = ScriptedModel([turn], repeat=True)
    next(iter(model.stream(REQUEST)))["payload"]["deep"].clear()

    assert next(iter(model.stream(REQUEST)))["payload"]["deep"] == [1]


def test_the_requests_are_noted() -> None:
    model = ScriptedModel(["hi"])
    list(model.stream(REQUEST))

    assert model.requests == [REQUEST]


def test_one_call_too_many_is_refused() -> None:
    model = ScriptedModel(["hi"])
    list(model.stream(REQUEST))

    with pytest.raises(InvalidAgent, match="model 'mock/one' has 1 turns and was called once more"):
        list(model.stream(REQUEST))


def test_a_repeated_script_begins_again() -> None:
    model = ScriptedModel(["a", "b"], repeat=True)

    assert [list(model.stream(REQUEST))[1]["payload"]["text"] for _ in range(3)] == ["a", "b", "a"]


def test_a_script_may_be_a_function() -> None:
    model = ScriptedModel(lambda request, number: f"{number} of {len(request.prompt)}")

    assert [list(model.stream(REQUEST))[1]["payload"]["text"] for _ in range(2)] == ["0 of 0", "1 of 0"]


def test_an_exception_is_raised_as_it_is() -> None:
    error = APICallError("no")

    with pytest.raises(APICallError) as raised:
        list(ScriptedModel([error]).stream(REQUEST))
    assert error is raised.value


def test_an_exception_raised_often_does_not_grow() -> None:
    error = APICallError("no")
    agent = Agent(ScriptedModel([error], repeat=True))
    depths = []
    for _ in range(3):
        with pytest.raises(APICallError):
            agent.generate("hi")
        trace, depth = error.__traceback__, 0
        while trace is not None:
            trace, depth = trace.tb_next, depth + 1
        depths.append(depth)

    assert [depths[0]] * 3 == depths


def test_threads_get_a_turn_each() -> None:
    model = ScriptedModel([str(number) for number in range(40)])
    got: list[str] = []
    threads = [
        threading.Thread(target=lambda: got.append(list(model.stream(REQUEST))[1]["payload"]["text"]))
        for _ in range(40)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert sorted(map(str, range(40))) == sorted(got)


# -- the registry ------------------------------------------------------------------------------------------------------


def test_a_model_is_found_by_its_id() -> None:
    model = ScriptedModel([])

    assert model is ModelRegistry({"mock/one": model}).resolve("mock/one")


def test_a_model_is_itself() -> None:
    model = ScriptedModel([])

    assert model is ModelRegistry().resolve(model)


@pytest.mark.parametrize(
    ("models", "text"), [({}, r"known: none"), ({"b": ScriptedModel([]), "a": ScriptedModel([])}, r"known: a, b")]
)
def test_an_unknown_id_is_refused(models: Any, text: str) -> None:
    with pytest.raises(InvalidAgent, match=rf"model 'x' is not registered \({text}\).*\[CFG-7\]"):
        ModelRegistry(models).resolve("x")


@pytest.mark.parametrize("nothing", [None, 5, object()])
def test_what_is_no_model_is_refused(nothing: Any) -> None:
    with pytest.raises(InvalidAgent, match=r"is no model; use an object with a `stream` method \[CFG-7\]"):
        ModelRegistry().resolve(nothing)


# -- providers ---------------------------------------------------------------------------------------------------------


class Provider:
    """A model made of a function that gives its stream."""

    id = "mine/one"

    def __init__(self, stream: Callable[[], Any]) -> None:
        self._stream = stream

    def stream(self, request: ModelRequest) -> Any:
        return self._stream()


def test_a_stream_may_be_a_list() -> None:
    agent = Agent(Provider(lambda: [{"type": "text-delta", "payload": {"text": "hi"}}]))

    assert (agent.generate("x").text, agent.generate("x").finish_reason) == ("hi", "other")


def test_a_stream_without_finish_used_nothing() -> None:
    result = Agent(Provider(list)).generate("x")

    assert (result.usage, result.text) == ({"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}, "")


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("text", "has no type"),
        ({"type": "text-delta"}, "has no payload"),
        ({"type": "text-delta", "payload": {"text": None}}, "has no 'text'"),
        ({"type": "tool-call", "payload": {}}, "has no 'toolCallId'"),
        ({"type": "tool-result", "payload": {}}, "has no 'toolCallId'"),
    ],
)
def test_a_malformed_part_is_a_failure_of_the_provider(part: Any, fault: str) -> None:
    with pytest.raises(ProviderFailed, match=rf"the model gave a part that .*{fault}.*\[ERR-45\]"):
        Agent(Provider(lambda: [part])).generate("x")


@pytest.mark.parametrize("stream", [lambda: None, lambda: 1 / 0])
def test_a_stream_that_is_none_goes_to_the_error_processors(stream: Any) -> None:
    seen: list[BaseException] = []
    agent = Agent(
        Provider(stream), error_processors=[processor(process_api_error=lambda args: seen.append(args.error))]
    )
    with pytest.raises((TypeError, ZeroDivisionError)) as raised:
        agent.generate("x")

    assert [raised.value] == seen


@pytest.mark.parametrize("reason", [None, "", 5, ["stop"]])
def test_a_finish_reason_that_is_none_is_other(reason: Any) -> None:
    finish = {"type": "finish", "payload": {"finishReason": reason, "usage": ["odd"]}}

    assert Agent(Provider(lambda: [finish])).generate("x").finish_reason == "other"


def test_the_providers_stream_is_closed_at_the_end_of_an_attempt() -> None:
    closed: list[str] = []

    def stream() -> Iterator[Any]:
        try:
            yield {"type": "text-delta", "payload": {"text": "bad"}}
            yield {"type": "text-delta", "payload": {"text": "never"}}
        finally:
            closed.append("closed")

    def judge(args: Any) -> Any:
        if args.part["type"] == "text-delta":
            args.abort("bad")
        return args.part

    Agent(Provider(stream), output_processors=[processor(process_output_stream=judge)]).generate("x")

    assert closed == ["closed"]


def test_an_unknown_model_of_a_step_is_named_with_its_processor() -> None:
    agent = Agent(
        ScriptedModel([]), input_processors=[processor("router", process_input_step=lambda args: {"model": "x"})]
    )

    with pytest.raises(HookFailed, match=r"processor 'router' failed in processInputStep: model 'x' is not.*\[CFG-7\]"):
        agent.generate("hi")
