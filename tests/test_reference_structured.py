"""Structured output: an object in, an object out, in both modes; and every way in which there is none."""

from __future__ import annotations

from typing import Any

import pytest

from processor_contract import Agent, InvalidObject, RunResult, ScriptedModel, Tool
from processor_contract.structured import Answer
from reference_kit import processor

SCHEMA: Any = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
WANTED: Any = {"schema": SCHEMA}
CALL: Any = {"text": "let me see", "tool_calls": [{"name": "look"}]}
modes = pytest.mark.parametrize("mode", ["generate", "stream"])


def asked(mode: str, *turns: Any, wanted: Any = WANTED, call: Any = None, **options: Any) -> RunResult:
    agent = Agent(ScriptedModel(turns), tools=[Tool("look", lambda args: 1)], structured_output=wanted, **options)
    if mode == "generate":
        return agent.generate("x", **(call or {}))
    return agent.stream("x", **(call or {})).result()


@modes
def test_the_answer_is_an_object(mode: str) -> None:
    result = asked(mode, ' {"n": 1}\n')

    assert (result.object, result.object_error, result.used_fallback) == ({"n": 1}, None, False)


@modes
def test_the_last_step_s_text_is_the_object(mode: str) -> None:
    assert asked(mode, CALL, '{"n": 2}').object == {"n": 2}


@modes
def test_a_schema_itself_will_do(mode: str) -> None:
    assert asked(mode, '{"n": 1}', wanted=SCHEMA).object == {"n": 1}


@modes
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no JSON"),
        ('{"n": 1', "no JSON"),
        ("no object", "no JSON"),
        ('{"n": NaN}', "no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "n"),
        ('{"n": "1"}', "n"),
        ("[1]", "the object"),
        ("null", "the object"),
    ],
)
def test_an_answer_that_is_no_such_object_is_an_error_when_it_is_used(mode: str, text: str, says: str) -> None:
    result = asked(mode, [text] if text else {"text": ""})

    with pytest.raises(InvalidObject, match=says):
        assert result.object
    assert (result.text, isinstance(result.object_error, InvalidObject)) == (text, True)


def test_the_error_does_not_quote_the_answer() -> None:
    assert "secret" not in str(asked("generate", "secret").object_error)
    assert "secret" not in str(asked("generate", '{"n": "secret"}').object_error)


@modes
def test_null_is_an_object_too(mode: str) -> None:
    result = asked(mode, "null", wanted={"schema": {"type": ["integer", "null"]}})

    assert (result.object, result.answer, result.object_error) == (None, Answer(None), None)


@modes
@pytest.mark.parametrize("text", ["nothing", "{}"])
def test_a_fallback_is_taken_and_said_to_be_one(mode: str, text: str) -> None:
    fallback: Any = {"n": [0]}
    result = asked(mode, text, wanted={**WANTED, "fallbackValue": fallback})
    result.object["n"].append(1)

    assert (result.used_fallback, fallback, result.object_error is None) == (True, {"n": [0]}, False)


@modes
def test_a_good_answer_needs_no_fallback(mode: str) -> None:
    result = asked(mode, '{"n": 1}', wanted={**WANTED, "fallbackValue": {"n": 0}})

    assert (result.object, result.used_fallback) == ({"n": 1}, False)


@modes
def test_nothing_asked_is_no_object(mode: str) -> None:
    result = asked(mode, '{"n": 1}', wanted=None)

    assert (result.object, result.object_error) == (None, None)


@modes
def test_the_object_follows_what_processors_made_of_the_text(mode: str) -> None:
    def unwraps(args: Any) -> None:
        part = args.messages[-1]["content"]["parts"][-1]
        part["text"] = part["text"].strip("`")

    guard = processor("unwraps", process_output_result=unwraps)

    assert asked(mode, '```{"n": 1}```', output_processors=[guard]).object == {"n": 1}


@modes
def test_the_schema_is_that_of_the_last_step(mode: str) -> None:
    def changes(args: Any) -> Any:
        return {"structured_output": {"schema": {"type": "array"}}} if args.step_number == 1 else None

    assert asked(mode, CALL, "[1]", input_processors=[processor(process_input_step=changes)]).object == [1]


@modes
def test_a_call_s_wish_stands_in_the_place_of_the_agent_s(mode: str) -> None:
    assert asked(mode, "[1]", call={"structured_output": {"schema": {"type": "array"}}}).object == [1]


@modes
def test_an_aborted_run_has_no_object_and_says_why(mode: str) -> None:
    guard = processor("guard", process_output_step=lambda args: args.abort("not that"))
    result = asked(mode, '{"n": 1}', wanted={**WANTED, "fallbackValue": {}}, output_processors=[guard])

    with pytest.raises(InvalidObject, match="aborted: not that"):
        assert result.object


def test_a_failed_run_has_no_object_and_names_the_cause() -> None:
    error = RuntimeError("overloaded")
    result = asked("stream", error)

    assert ("overloaded" in str(result.object_error), result.object_error and result.object_error.__cause__) == (
        True,
        error,
    )


@modes
def test_a_schema_that_cannot_be_checked_is_an_error_of_the_object(mode: str) -> None:
    with pytest.raises(InvalidObject, match="cannot be checked"):
        assert asked(mode, '{"n": 1}', wanted={"schema": {"type": "thing"}}).object
