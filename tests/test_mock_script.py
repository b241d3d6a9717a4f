"""Scripts of the mock provider: what a line may say, and what is refused, with file, line and reason."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from processor_contract.models import script
from processor_contract.models.script import FAULT, TURN, USAGE, Script, ScriptError, Turn
from reference_kit import at_once

ANYONE = {"model": "mock", "api": "openai", "says": "hello", "stream": False}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "script.jsonl"


def read(line: str) -> Turn:
    return script.read_turns([line.encode()], "script")[0]


def test_a_file_with_remarks(file: Path) -> None:
    file.write_bytes(b'\xef\xbb\xbf# a script\r\n\n{"text": "one"}\r\n  \n{"text": ["tw", "o"]}')

    assert [(turn.line, turn.text) for turn in Script.read(file).turns] == [(3, ["one"]), (5, ["tw", "o"])]


def test_an_empty_turn_says_nothing_and_stops() -> None:
    turn = read("{}")

    assert (turn.text, turn.calls, turn.finish_reason, turn.times, turn.usage) == ([], [], "stop", 1, USAGE)


def test_json_is_said_as_text() -> None:
    assert read('{"json": {"city": "Tromsø"}}').text == ['{"city": "Tromsø"}']


@pytest.mark.parametrize("value", ["null", "0", "[]", '""'])
def test_json_may_be_anything(value: str) -> None:
    assert read(f'{{"json": {value}}}').text == [value]


def test_calls_have_arguments_or_the_text_in_their_place() -> None:
    given = [{"name": "a"}, {"name": "b", "args": {"x": 1}, "id": "c"}, {"name": "d", "args": "{"}]
    turn = read(json.dumps({"toolCalls": given}))

    assert [(call.arguments, call.id) for call in turn.calls] == [("{}", None), ('{"x": 1}', "c"), ("{", None)]
    assert turn.finish_reason == "tool-calls"


def test_usage_may_be_given_in_part() -> None:
    assert read('{"usage": {"outputTokens": 7}}').usage == {**USAGE, "outputTokens": 7}


@pytest.mark.parametrize(("given", "header"), [("7", "7"), ("0.5", "0.5"), ('"Wed, 21 Oct 2015 07:28:00 GMT"', None)])
def test_retry_after_is_seconds_or_a_date(given: str, header: str | None) -> None:
    assert read(f'{{"fault": {{"retryAfter": {given}}}}}').fault.retry_after == (header or json.loads(given))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "no JSON: Expecting property name enclosed in double quotes (column 2)"),
        ("[]", "a turn is no object"),
        ('"text"', "a turn is no object"),
        ('{"txt": "a"}', f"a turn has no member 'txt'; known: {', '.join(TURN)}"),
        ('{"text": "a", "text": "b"}', "'text' stands there twice"),
        ('{"text": 5}', "'text' is neither a text nor a list of texts"),
        ('{"text": ["a", 5]}', "'text' is neither a text nor a list of texts"),
        ('{"text": "\\ud800"}', "a text holds half of a surrogate pair"),
        ('{"text": "a", "json": 1}', "a turn has 'text' or 'json', not both"),
        ('{"json": NaN}', "NaN is no JSON number"),
        ('{"json": 1e999}', "Out of range float values are not JSON compliant"),
        ('{"reasoning": {}}', "'reasoning' is neither a text nor a list of texts"),
        ('{"toolCalls": {}}', "'toolCalls' is no list"),
        ('{"toolCalls": [5]}', "a tool call is no object"),
        ('{"toolCalls": [{}]}', "a tool call has no name"),
        ('{"toolCalls": [{"name": 5}]}', "'name' is no text"),
        ('{"toolCalls": [{"name": "a", "arguments": {}}]}', "a tool call has no member 'arguments'; known: name, args"),
        ('{"finishReason": 5}', "'finishReason' is no text"),
        ('{"usage": {"tokens": 5}}', "usage has no member 'tokens'; known: inputTokens"),
        ('{"usage": {"inputTokens": -1}}', "'inputTokens' is no whole number from 0 on"),
        ('{"when": {"model": 5}}', "'model' is no text"),
        ('{"when": {"api": "other"}}', "'api' of when is 'other'; use one of openai, anthropic"),
        ('{"when": {"stream": 1}}', "'stream' is neither true nor false"),
        ('{"times": true}', "'times' is no whole number from 0 on"),
        ('{"times": -1}', "'times' is no whole number from 0 on"),
        ('{"fault": 5}', "a fault is no object"),
        ('{"fault": {"stauts": 5}}', f"a fault has no member 'stauts'; known: {', '.join(FAULT)}"),
        ('{"fault": {"status": 100}}', "'status' is 100; use 200 to 599"),
        ('{"fault": {"status": "500"}}', "'status' is no whole number from 0 on"),
        ('{"fault": {"delay": -1}}', "'delay' is no number of seconds from 0 to 3600"),
        ('{"fault": {"chunkDelay": 3601}}', "'chunkDelay' is no number of seconds from 0 to 3600"),
        ('{"fault": {"slowRead": "1"}}', "'slowRead' is no number of seconds from 0 to 3600"),
        ('{"fault": {"retryAfter": "a\\nb"}}', "'retryAfter' is no text that a header can hold"),
        ('{"fault": {"contentType": "ü"}}', "'contentType' is no text that a header can hold"),
        ('{"fault": {"hangUp": 1}}', "'hangUp' is neither true nor false"),
        ('{"fault": {"reset": true}}', "'reset' says how a connection ends; add 'cutAfter' or 'hangUp'"),
        ('{"fault": {"cutAfter": 1, "errorAfter": 2}}', "a fault has one of cutAfter, malformedAfter, errorAfter"),
        ('{"fault": {"hangUp": true, "status": 500}}', "a connection that hangs up has no answer, and so no 'status'"),
        ('{"fault": {"malformedAfter": 1, "status": 500}}', "'malformedAfter' stands without 'status' and 'body'"),
        ('{"fault": {"malformedAfter": 1, "body": ""}}', "'malformedAfter' stands without 'status' and 'body'"),
        ('{"fault": {"cutAfter": 1.5}}', "'cutAfter' is no whole number from 0 on"),
    ],
)
def test_a_bad_line_is_refused_with_file_line_and_reason(line: str, reason: str, file: Path) -> None:
    file.write_text(f'# first\n{{"text": "fine"}}\n{line}\n', "utf-8")

    with pytest.raises(ScriptError, match=re.escape(f"{file}:3: {reason}")):
        Script.read(file)


def test_a_line_that_is_no_text(file: Path) -> None:
    file.write_bytes(b'{"text": "a"}\n{"text": "\xff"}\n')

    with pytest.raises(ScriptError, match=r"script\.jsonl:2: the line is not UTF-8"):
        Script.read(file)


def test_an_object_may_have_very_many_members(file: Path) -> None:
    value = {f"m{number}": number for number in range(50_000)}  # each compared with each would take minutes
    file.write_text(json.dumps({"json": value}))

    started = time.monotonic()
    assert Script.read(file).turns[0].text == [json.dumps(value)]
    assert time.monotonic() - started < 10


def test_a_line_that_is_too_deep(file: Path) -> None:
    file.write_text('{"json": ' + "[" * 100_000)

    with pytest.raises(ScriptError, match=r"script\.jsonl:1: "):
        Script.read(file)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_a_script_without_a_turn(text: str, file: Path) -> None:
    file.write_text(text)

    with pytest.raises(ScriptError, match="the script has no turn; write at least one"):
        Script.read(file)


def test_a_file_that_is_not_there(file: Path) -> None:
    with pytest.raises(ScriptError, match=r"script\.jsonl: No such file or directory"):
        Script.read(file)


def test_every_member_is_explained() -> None:
    explained = set(re.findall(r"`\"?(\w+)\"?(?:`|\":)", str(script.__doc__)))

    assert {*TURN, *FAULT, *USAGE} - explained == set()


# -- choosing ----------------------------------------------------------------------------------------------------------


def said(played: Script, **request: Any) -> str | None:
    turn = played.take({**ANYONE, **request})
    return None if turn is None else "".join(turn.text)


def test_turns_come_in_order_each_once() -> None:
    played = Script.of([{"text": "a"}, {"text": "b", "times": 2}])

    assert [said(played) for _ in range(4)] == ["a", "b", "b", None]


def test_a_turn_without_end() -> None:
    played = Script.of([{"text": "a", "times": 0}])

    assert {said(played) for _ in range(100)} == {"a"}


@pytest.mark.parametrize(
    ("when", "request_"),
    [
        ({"model": "large"}, {"model": "large"}),
        ({"api": "anthropic"}, {"api": "anthropic"}),
        ({"says": "ell"}, {"says": "well"}),
        ({"stream": True}, {"stream": True}),
        ({"stream": True, "says": "x"}, {"stream": True, "says": "xyz"}),
    ],
)
def test_the_first_turn_that_fits(when: Any, request_: Any) -> None:
    played = Script.of([{"text": "special", "when": when}, {"text": "others", "times": 0}])

    assert [said(played, says="no"), said(played, **request_)] == ["others", "special"]


def test_a_script_begins_again() -> None:
    played = Script.of([{"text": "a"}])
    first, none = said(played), said(played)
    played.rewind()

    assert [first, none, said(played)] == ["a", None, "a"]


def test_threads_get_each_turn_once() -> None:
    played = Script.of([{"text": str(number)} for number in range(200)])
    got: list[str | None] = []

    def take() -> None:
        got.extend(said(played) for _ in range(20))

    at_once(*[take] * 10)

    assert sorted(map(str, got)) == sorted(map(str, range(200)))
