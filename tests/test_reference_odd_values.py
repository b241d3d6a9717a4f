"""Odd values wherever somebody can put one: a clear error with its rule, and nothing hangs or is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from processor_contract import (
    Agent,
    ContractError,
    HookFailed,
    InMemoryStorage,
    InvalidAgent,
    InvalidMessage,
    InvalidObject,
    Memory,
    NotSaved,
    ProviderFailed,
    ScriptedModel,
    Tool,
)
from processor_contract.errors import InvalidSchema
from processor_contract.processors import ResponseCache
from processor_contract.schema import Schema
from reference_kit import inputs, outputs, processor, remembering

THREAD = {"thread": "t", "resource": "r"}
FINISH = {"type": "finish", "payload": {"finishReason": "stop"}}


def holding_itself() -> dict[str, Any]:
    made: dict[str, Any] = {}
    made["self"] = made
    return made


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


# -- a conversation can be recalled whatever a hook did to its messages ------------------------------------------------


class NoTruth:
    """A value like a table of numbers: two of them are equal here and there."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of many is not clear")

    __hash__ = None  # type: ignore[assignment]


def with_part(part: Any) -> Callable[[Any], None]:
    return lambda message: message["content"]["parts"].append(part)


def with_member(name: str, value: Any) -> Callable[[Any], None]:
    return lambda message: message.__setitem__(name, value)


def spoilt(edit: Callable[[Any], None]) -> tuple[Agent, Any]:
    """An agent with memory, one of whose hooks spoils the question."""
    hook = processor(process_output_result=lambda args: edit(args.message_list.get.input.db()[0]))
    return remembering("hi", output_processors=[hook])


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(with_member("createdAt", 5), id="a date that is none"),
        pytest.param(with_member("mine", nested(250)), id="nested too deep"),
        pytest.param(with_member("mine", 10**5000), id="a number too long to write"),
    ],
)
def test_what_could_not_be_recalled_is_not_stored(edit: Callable[[Any], None]) -> None:
    agent, store = spoilt(edit)
    with pytest.raises(NotSaved) as caught:
        agent.generate("x", **THREAD)

    assert (caught.value.rule, caught.value.result.text, store.read("t", "r")) == ("MSG-30", "hi", [])
    assert Agent(ScriptedModel(["well"]), memory=Memory(store)).generate("y", **THREAD).text == "well"


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(with_member("threadId", 5), id="a thread that is no text"),
        pytest.param(with_part({}), id="a part without a type"),
        pytest.param(with_part({"type": "tool-invocation"}), id="an invocation of nothing"),
        pytest.param(with_part({"type": "reasoning", "reasoning": 5}), id="a text that is none"),
        pytest.param(lambda message: message["content"].update(content=5), id="a flattened text that is none"),
        pytest.param(with_member("role", NoTruth()), id="a role that cannot be compared"),
    ],
)
def test_what_is_no_message_any_more_ends_the_run(edit: Callable[[Any], None]) -> None:
    agent, store = spoilt(edit)
    with pytest.raises(HookFailed, match=r"failed in processOutputResult: .* was edited into something") as caught:
        agent.generate("x", **THREAD)

    assert (caught.value.rule, store.read("t", "r")) == ("MSG-53", [])


def test_a_result_too_deep_for_a_message_does_not_spoil_the_thread() -> None:
    calls = {"tool_calls": [{"name": "deep", "id": "c"}]}
    agent, store = remembering(calls, "done", tools=[Tool("deep", lambda args: nested(250))])
    with pytest.raises(NotSaved, match="nested deeper"):
        agent.generate("x", **THREAD)

    assert store.read("t", "r") == []


def test_an_approval_that_is_none_is_no_reason() -> None:
    invocation = {"toolCallId": "c", "toolName": "t", "args": {}, "state": "output-denied", "approval": 5}
    parts = [{"type": "tool-invocation", "toolInvocation": invocation}]
    model = ScriptedModel(["hi"])
    Agent(model).generate([{"role": "assistant", "content": {"format": 2, "parts": parts}}])

    assert model.requests[0].prompt[-1]["content"][0]["output"]["value"] == "The call was not approved."


@pytest.mark.parametrize("mode", ["generate", "stream"])
@pytest.mark.parametrize("memory", [None, Memory(InMemoryStorage())])
def test_a_message_that_holds_itself_is_the_hooks_error(mode: str, memory: Memory | None) -> None:
    def spoil(args: Any) -> None:
        message = args.message_list.get.response.db()[0]
        message["mine"] = message

    agent = Agent(ScriptedModel(["hi"]), memory=memory, output_processors=[processor(process_output_step=spoil)])
    with pytest.raises(HookFailed) as caught:
        agent.generate("x", **THREAD) if mode == "generate" else agent.stream("x", **THREAD).result()

    assert (caught.value.processor, caught.value.rule) == ("p", "MSG-30")


def test_what_fails_at_a_broken_message_is_told_as_the_message_that_is_broken() -> None:
    def spoil(args: Any) -> None:
        args.message_list.get.response.db()[0]["content"]["parts"].append({"type": "tool-invocation"})

    with pytest.raises(HookFailed) as caught:
        outputs("hi", process_output_step=spoil).generate("x")

    assert (caught.value.rule, type(caught.value.__cause__)) == ("MSG-29", InvalidMessage)


# -- schemas -----------------------------------------------------------------------------------------------------------

ONE = {"oneOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/t"}}]}
ANY = {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/t"}}, {"items": {"$ref": "#/$defs/t"}, "minItems": 1,
                                                                    "type": "array"}]}  # fmt: skip
CHAIN = {"n0": True, **{f"n{n}": {"allOf": [{"$ref": f"#/$defs/n{n - 1}"}] * 2} for n in range(1, 60)}}


@pytest.mark.parametrize("schema", [ONE, ANY])
def test_alternatives_within_alternatives_are_looked_at_once(schema: Any) -> None:
    fault = Schema({"$defs": {"t": schema}, "$ref": "#/$defs/t"}).fault(nested(30))  # two to the 30th otherwise

    assert fault is not None
    assert len(fault) < 5000


def test_what_is_referred_to_often_is_looked_at_once() -> None:
    assert Schema({"$defs": CHAIN, "$ref": "#/$defs/n59"}).fault(1) is None


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"pattern": "a{99999999999999999999}"}, id="a repetition that nobody counts"),
        pytest.param({"enum": [object()]}, id="no JSON"),
        pytest.param({"const": {1: 2, "a": 3}}, id="names of two kinds"),
        pytest.param({"enum": [float("nan")]}, id="no number"),
        pytest.param({"minimum": 10**5000}, id="a number too long to write"),
        pytest.param({"properties": {"a": {"$ref": "#item"}}}, id="the name of an anchor"),
        pytest.param({"properties": {"a": {"$ref": "#/anyOf/-1"}}, "anyOf": [True]}, id="a place before the first"),
    ],
)
def test_a_schema_that_could_not_be_checked_is_refused(schema: Any) -> None:
    with pytest.raises(InvalidSchema):
        Schema(schema)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"enum": [1]}, 10**5000, id="compared"),
        pytest.param({"multipleOf": 2}, 10**5000, id="divided"),
        pytest.param({"patternProperties": {"a": True}}, {5: 1}, id="a name that is no text"),
    ],
)
def test_a_value_that_no_json_holds_does_not_fit(schema: Any, value: Any) -> None:
    expected = "args holds what JSON cannot hold, or a number too long to be written"

    assert expected == Schema(schema).fault(value, "args")


def test_a_number_too_large_is_no_object() -> None:
    result = Agent(ScriptedModel(["1e999"]), structured_output={"schema": True}).generate("x")

    assert isinstance(result.object_error, InvalidObject)
    assert "no JSON" in str(result.object_error)


# -- verdicts ----------------------------------------------------------------------------------------------------------


class Unspeakable(dict[str, Any]):
    """Something that breaks whoever looks at it."""

    def items(self) -> Any:
        raise ValueError("no")


@pytest.mark.parametrize(
    ("metadata", "carried"),
    [
        (holding_itself(), {"self": "[Circular]"}),
        (nested(3000), "[no JSON]"),
        (Unspeakable(), "[no JSON]"),
        ({"a": object()}, {}),
    ],
)
@pytest.mark.parametrize("hook", ["process_input", "process_llm_response"])
def test_a_verdict_stands_whatever_it_carries(hook: str, metadata: Any, carried: Any) -> None:
    hooks: Any = {hook: lambda args: args.abort("no", metadata=metadata)}
    chunks = list(inputs("hi", **hooks).stream("x"))

    assert ("tripwire", {"reason": "no", "processorId": "p", "metadata": carried}) == (
        chunks[-1]["type"],
        chunks[-1]["payload"],
    )


def test_a_reason_that_is_no_text_becomes_one() -> None:
    result = inputs("hi", process_input=lambda args: args.abort(5)).generate("x")

    expected = {"reason": "5", "processorId": "p"}
    assert expected == result.tripwire


class Odd(Exception):
    """An exception whose author made mistakes."""

    @property
    def rule(self) -> str:
        raise ZeroDivisionError

    def __str__(self) -> str:
        raise ZeroDivisionError


def fail(*anything: Any) -> None:
    raise Odd


def test_an_exception_that_cannot_be_asked_is_told_all_the_same() -> None:
    with pytest.raises(HookFailed, match=r"p.*Odd.*ERR-9"):
        inputs("hi", process_input=fail).generate("x")
    with pytest.raises(InvalidAgent, match="ERR-27"):
        Agent(ScriptedModel(["hi"]), input_processors=fail).generate("x")  # type: ignore[arg-type]


# -- chunks ------------------------------------------------------------------------------------------------------------


class Provider:
    """A model that gives these parts, whatever they are."""

    id = "odd/one"

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def stream(self, request: Any) -> Any:
        yield from self.parts


def payload_of(kind: str) -> dict[str, Any]:
    return {"toolCallId": "c", "toolName": "t", "args": holding_itself(), "request": holding_itself(), "kind": kind}


@pytest.mark.parametrize("kind", ["source", "tool-call", "stream-start"])
def test_a_part_that_holds_itself_is_a_failure_of_the_provider(kind: str) -> None:
    watcher = processor(process_llm_response=lambda args: None)
    part = {"type": kind, "payload": payload_of(kind)}
    with pytest.raises(ProviderFailed, match=r"holds itself.*ERR-45"):
        Agent(Provider(part, FINISH), input_processors=[watcher]).generate("x")


def test_nothing_as_the_first_part_is_no_empty_answer() -> None:
    with pytest.raises(ProviderFailed, match=r"has no type.*ERR-45"):
        Agent(Provider(None, {"type": "text-delta", "payload": {"text": "hi"}}, FINISH)).generate("x")


@pytest.mark.parametrize("place", ["start", "delta", "end"])
def test_an_id_that_is_none_names_no_text(place: str) -> None:
    part = {"type": f"text-{place}", "payload": {"id": [], "text": "hi"}}
    said = {"type": "text-delta", "payload": {"text": " you"}}

    assert Agent(Provider(part, said, FINISH)).generate("x").text.endswith(" you")


def test_a_chunk_that_was_made_to_hold_itself_is_the_processors_error() -> None:
    def spoil(args: Any) -> Any:
        if args.part["type"] == "text-delta":
            args.part["payload"]["providerMetadata"] = holding_itself()
        return args.part

    with pytest.raises(HookFailed, match=r"p.*processOutputStream.*STR-20"):
        outputs("hi", process_output_stream=spoil).generate("x")


# -- what is sent, and what is given -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hook", "spoil", "rule"),
    [
        ("process_input_step", lambda args: args.tools.__setitem__("x", 5), "CFG-16"),
        ("process_input_step", lambda args: setattr(args.tools["t"], "parameters", holding_itself()), "CFG-16"),
        ("process_input_step", lambda args: args.model_settings.update(holding_itself()), "CFG-16"),
        ("process_llm_request", lambda args: args.prompt.append(5), "LLM-19"),
        ("process_llm_request", lambda args: args.prompt[0].update(holding_itself()), "LLM-19"),
        ("process_llm_request", lambda args: {"prompt": [holding_itself()]}, "LLM-19"),
        ("process_llm_request", lambda args: {"response": {"chunks": [{"type": "x", "payload": holding_itself()}]}},
         "LLM-19"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_the_hooks_error(hook: str, spoil: Any, rule: str) -> None:
    hooks: Any = {hook: spoil}
    agent = Agent(
        ScriptedModel(["hi"]),
        tools=[Tool("t", lambda args: 1)],
        model_settings={"temperature": 0},
        input_processors=[processor(**hooks)],
    )
    with pytest.raises(HookFailed) as caught:
        agent.generate("x")

    assert ("p", rule) == (caught.value.processor, caught.value.rule)


@pytest.mark.parametrize("name", ["instructions", "memory", "clock", "ids", "tracer"])
def test_what_an_agent_cannot_use_is_refused(name: str) -> None:
    given: Any = {name: 5}
    with pytest.raises(InvalidAgent, match=rf"{name} is .*CFG-37"):
        Agent(ScriptedModel(["hi"]), **given)


@pytest.mark.parametrize("name", ["request_context", "abort_signal", "tracing_context"])
def test_what_a_call_cannot_use_is_refused(name: str) -> None:
    with pytest.raises(ContractError, match=rf"{name} is .*CFG-37"):
        Agent(ScriptedModel(["hi"])).generate("x", **{name: 5})


class Down:
    """A cache that is down."""

    def get(self, key: str) -> str | None:
        raise OSError("down")

    def set(self, key: str, text: str) -> None:
        raise OSError("down")


def test_who_is_told_of_a_cache_that_is_down_may_be_down_too() -> None:
    cache = ResponseCache(Down(), on_error=fail)

    assert Agent(ScriptedModel(["hi"]), input_processors=[cache]).generate("x").text == "hi"
