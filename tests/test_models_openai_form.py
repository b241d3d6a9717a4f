"""The two ways between the contract's words and OpenAI's: a request as its body, what an endpoint says as chunks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from processor_contract import InvalidAgent, InvalidMessage, ModelRequest
from processor_contract.models.openai_answer import Answering
from processor_contract.models.openai_request import body_of
from reference_kit import kinds


def body(*prompt: dict[str, Any], **more: Any) -> dict[str, Any]:
    return body_of(ModelRequest(list(prompt), **more), "openai", "mock", streaming=False)


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def file(media: str, data: Any = "QUJD", **more: Any) -> dict[str, Any]:
    return {"type": "file", "mediaType": media, "data": data, **more}


# -- requests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "system", "content": "be kind"}, {"role": "system", "content": "be kind"}),
        ({"role": "user", "content": "hi"}, {"role": "user", "content": "hi"}),
        (user({"type": "text", "text": "hi"}), {"role": "user", "content": "hi"}),
        (
            user({"type": "text", "text": "a"}, {"type": "text", "text": "b"}),
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        ),
        (
            {"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "a"}]},
            {"role": "assistant", "content": "a"},
        ),
        (
            {
                "role": "assistant",
                "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "add", "input": {"a": "é"}}],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": "é"}'}}
                ],
            },
        ),
    ],
)
def test_a_message(message: Any, expected: Any) -> None:
    assert body(message)["messages"] == [expected]


@pytest.mark.parametrize(
    ("given", "sent"), [(None, "{}"), ({}, "{}"), ('{"a": ', '{"a": '), ([1], "[1]"), (0, "0")], ids=repr
)
def test_arguments_are_json_or_go_back_as_they_came(given: Any, sent: str) -> None:
    call = {"type": "tool-call", "toolCallId": "c", "toolName": "add", "input": given}
    (message,) = body({"role": "assistant", "content": [call]})["messages"]

    assert message["tool_calls"][0]["function"]["arguments"] == sent


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ({"type": "text", "value": "cold"}, "cold"),
        ({"type": "json", "value": {"celsius": -4}}, '{"celsius": -4}'),
        ({"type": "error-text", "value": "no such city"}, "no such city"),
        ({"type": "json", "value": None}, "null"),
    ],
)
def test_a_tool_s_answer(output: Any, content: str) -> None:
    result = {"type": "tool-result", "toolCallId": "c", "toolName": "add", "output": output}
    expected = {"role": "tool", "tool_call_id": "c", "content": content}

    assert body({"role": "tool", "content": [result, result]})["messages"] == [expected, expected]


def test_a_message_that_was_only_thought_is_not_sent() -> None:
    assert body({"role": "assistant", "content": [{"type": "reasoning", "text": "hm"}]})["messages"] == []


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (file("image/png"), {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}),
        (file("image/png", "https://x/y"), {"type": "image_url", "image_url": {"url": "https://x/y"}}),
        (file("image/*", "data:image/gif,Q"), {"type": "image_url", "image_url": {"url": "data:image/gif,Q"}}),
        (file("audio/mpeg"), {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}}),
        (
            file("application/pdf", filename="a.pdf"),
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QUJD"}},
        ),
    ],
)  # fmt: skip
def test_a_file(part: Any, expected: Any) -> None:
    assert body(user({"type": "text", "text": "look"}, part))["messages"][0]["content"][1] == expected


@pytest.mark.parametrize(
    "message",
    [
        user({"type": "text", "text": "x"}, file("text/plain")),
        user({"type": "text", "text": "x"}, file("image/png", b"bytes")),
        user({"type": "text", "text": "x"}, file("audio/wav", "https://x/y")),
        user({"type": "data-weather", "data": {}}),
        {"role": "assistant", "content": [file("image/png")]},
    ],
)
def test_what_cannot_be_said_is_refused(message: Any) -> None:
    with pytest.raises(InvalidMessage, match="which Chat Completions cannot take; take it out in process_llm_request"):
        body(message)


def test_a_role_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidMessage, match="has role 'robot'; use one of system, user, assistant, tool"):
        body({"role": "robot", "content": "x"})


def test_tools_and_the_choice_among_them() -> None:
    tool = {"name": "add", "description": "adds", "parameters": {"type": "object"}}

    sent = body(tools=[tool], tool_choice={"type": "tool", "toolName": "add"})

    assert sent["tools"] == [{"type": "function", "function": tool}]
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "add"}}


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_a_choice_in_a_word(choice: str) -> None:
    assert body(tools=[{"name": "add"}], tool_choice=choice)["tool_choice"] == choice


def test_without_tools_there_is_no_choice() -> None:
    assert "tool_choice" not in body(tool_choice="auto")


def test_settings_under_their_names_there() -> None:
    settings = {"temperature": 0, "maxOutputTokens": 5, "stopSequences": ["."], "topP": None, "maxRetries": 3}

    sent = body(settings=settings)

    assert sent == {"model": "mock", "messages": [], "temperature": 0, "max_tokens": 5, "stop": ["."]}


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(InvalidAgent, match="no model setting is named 'max_tokens'; known: maxOutputTokens, temp"):
        body(settings={"max_tokens": 5})


def test_provider_options_go_as_they_are() -> None:
    assert body(provider_options={"openai": {"user": "me"}, "other": {"x": 1}})["user"] == "me"


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        ({"schema": {"type": "object"}}, {"type": "object"}),
        ({"type": "object"}, {"type": "object"}),
        ({}, None),
        (True, None),
    ],
)
def test_structured_output(wanted: Any, sent: Any) -> None:
    expected = {"type": "json_object"}
    if sent is not None:
        expected = {"type": "json_schema", "json_schema": {"name": "response", "schema": sent}}  # type: ignore[dict-item]

    assert body(structured_output=wanted)["response_format"] == expected


# -- answers -----------------------------------------------------------------------------------------------------------


def heard(*said: dict[str, Any]) -> list[Any]:
    """The chunks of a stream of such objects."""
    answering = Answering()
    return [*(chunk for one in said for chunk in answering.take(one)), *answering.finish()]


def delta(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta, "finish_reason": reason}]}


def calls(*said: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls in a stream of such objects."""
    return [chunk["payload"] for chunk in heard(*said) if chunk["type"] == "tool-call"]


def finish(*said: dict[str, Any]) -> dict[str, Any]:
    return heard(*said)[-1]["payload"]  # type: ignore[no-any-return]


def test_thoughts_and_texts_are_blocks_of_their_own() -> None:
    chunks = heard(delta(content=""), delta(reasoning_content="a"), delta(content="b"), delta(reasoning="c"))

    assert [(chunk["type"], chunk["payload"].get("id")) for chunk in chunks[:-1]] == [
        ("reasoning-start", "reasoning-1"), ("reasoning-delta", "reasoning-1"), ("reasoning-end", "reasoning-1"),
        ("text-start", "text-2"), ("text-delta", "text-2"), ("text-end", "text-2"),
        ("reasoning-start", "reasoning-3"), ("reasoning-delta", "reasoning-3"), ("reasoning-end", "reasoning-3"),
    ]  # fmt: skip


def test_a_refusal_is_said_in_its_words() -> None:
    assert "".join(chunk["payload"].get("text", "") for chunk in heard(delta(refusal="I can't."))) == "I can't."


def test_content_may_be_a_list_of_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, "odd", {"text": "b"}]

    assert [chunk["payload"]["text"] for chunk in heard(delta(content=parts)) if "delta" in chunk["type"]] == ["ab"]


def test_who_answers_is_told_once() -> None:
    named = {"id": "1", "model": "m", "created": 0}
    chunks = heard({**named, **delta(content="a")}, {**named, **delta(content="b")})

    assert chunks[0]["payload"] == {"id": "1", "modelId": "m", "timestamp": "1970-01-01T00:00:00Z"}
    assert kinds(chunks).count("response-metadata") == 1


def call(index: Any = None, id: str | None = None, name: str | None = None, arguments: Any = None) -> dict[str, Any]:
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "pieces",
    [
        [[call(0, "c", "add", "")], [call(0, None, None, '{"a":')], [call(0, None, None, "1}")]],
        [[call(0, "c", "add", '{"a":')], [call(0, "c", "add", "1}")]],  # some repeat id and name
        [[call(None, "c", "add", '{"a":1}')]],  # some have no index
        [[call(0, "c", "add", {"a": 1})]],  # some give an object
    ],
)
def test_a_call_in_pieces(pieces: list[Any]) -> None:
    assert calls(*(delta(tool_calls=piece) for piece in pieces)) == [
        {"toolCallId": "c", "toolName": "add", "args": {"a": 1}}
    ]


def test_the_input_of_a_call_is_shown_as_it_comes() -> None:
    pieces = [call(0, "c"), call(0, None, None, "{"), call(0, None, "add", '"a":'), call(0), call(0, None, None, "1}")]
    chunks = heard(*(delta(tool_calls=[piece]) for piece in pieces))

    assert [(chunk["type"], chunk["payload"].get("argsTextDelta")) for chunk in chunks[:-1]] == [
        ("tool-call-input-streaming-start", None),
        ("tool-call-delta", '{"a":'),
        ("tool-call-delta", "1}"),
        ("tool-call-input-streaming-end", None),
        ("tool-call", None),
    ]


def test_calls_are_told_apart() -> None:
    made = calls(
        delta(tool_calls=[call(0, "c0", "a", "")]),
        delta(tool_calls=[call(1, "c1", "b", "{")]),
        delta(tool_calls=[call(0, None, None, "[0]"), call(1, None, None, "}")]),
    )

    assert [(one["toolName"], one["args"]) for one in made] == [("a", [0]), ("b", {})]


@pytest.mark.parametrize(
    "pieces",
    [
        [call(0, "c0", "a", "[0]"), call(0, "c1", "b", "{"), call(0, None, None, "}")],  # some count each as 0
        [call(None, "c0", "a", "[0"), call(None, None, None, "]"), call(None, "c1", "b", "{}")],
        [call(None, "c0", "a", "["), call(None, "c1", "b", "{}"), call(None, "c0", None, "0]")],
        [call(None, None, "a", "["), call(None, None, None, "0]"), call(None, None, "b", "{}")],
        [call(0, None, "a", "[0]"), call(1, None, "b", "{}")],
        [call(0, "x1", "a", "["), call(0, "x2", None, "0]"), call(1, "x3", "b", "{}")],  # some give an id to each piece
    ],
)
def test_calls_of_endpoints_that_number_them_oddly(pieces: list[Any]) -> None:
    made = calls(*(delta(tool_calls=[piece]) for piece in pieces))

    assert [(one["toolName"], one["args"]) for one in made] == [("a", [0]), ("b", {})]
    assert len({one["toolCallId"] for one in made}) == 2


def test_the_first_choice_is_the_answer() -> None:
    def choice(index: int, text: str) -> dict[str, Any]:
        return {"index": index, "delta": {"content": text}, "finish_reason": "stop" if index == 0 else "length"}

    chunks = heard({"choices": [choice(1, "b")]}, {"choices": [choice(0, "a"), choice(2, "c")]})

    assert [chunk["payload"]["text"] for chunk in chunks if chunk["type"] == "text-delta"] == ["a"]
    assert chunks[-1]["payload"]["finishReason"] == "stop"


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["a\ud83e", "\udd76b"], ["a", "🥶b"]),
        (["\ud83e\udd76"], ["🥶"]),
        (["\ud83e", "a"], ["\ufffda"]),
        (["a\ud83e"], ["a", "\ufffd"]),
        (["\udd76"], ["\ufffd"]),
    ],
    ids=ascii,
)
def test_halves_of_a_character_are_put_together(pieces: list[str], said: list[str]) -> None:
    chunks = heard(*(delta(content=piece) for piece in pieces))

    assert [chunk["payload"]["text"] for chunk in chunks if chunk["type"] == "text-delta"] == said
    assert calls(*(delta(tool_calls=[call(0, "c", "a", piece)]) for piece in ('"\ud83e', '\udd76"')))[0]["args"] == "🥶"


def test_calls_without_ids_are_numbered() -> None:
    made = calls(delta(tool_calls=[call(None, None, "a"), call(None, None, "b")]))

    assert [one["toolCallId"] for one in made] == ["call-0", "call-1"]


@pytest.mark.parametrize(
    ("text", "args"),
    [("", {}), ("null", {}), ("{", "{"), ("nonsense", "nonsense"), ("0", 0), ("[NaN]", "[NaN]"), ("1e999", "1e999")],
)
def test_arguments_that_are_none_stay_the_text_they_are(text: str, args: Any) -> None:
    assert calls(delta(tool_calls=[call(0, "c", "a", text)]))[0]["args"] == args


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool-calls"),
        ("function_call", "tool-calls"),
        ("content_filter", "content-filter"),
        ("odd", "other"),
    ],
)
def test_a_finish_reason(given: str, reason: str) -> None:
    assert finish(delta(given))["finishReason"] == reason


def test_usage() -> None:
    counted = {
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    expected = {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7, "reasoningTokens": 2, "cachedInputTokens": 1}

    assert finish(delta("stop"), {"choices": [], "usage": counted})["usage"] == expected


ODD: list[Any] = [
    {},
    {"choices": None},
    {"choices": [None]},
    {"choices": [{"delta": 5}]},
    {"choices": [{"delta": {"content": 5, "tool_calls": 5}}]},
    {"choices": [{"delta": {"tool_calls": [None]}, "finish_reason": 5}]},
    {"choices": {"delta": {}}},
    {"usage": 5},
    {"usage": {"prompt_tokens": "many", "prompt_tokens_details": 5}},
    {"usage": {"prompt_tokens": True, "completion_tokens": -1, "total_tokens": 1.5}},
    {"choices": [{"delta": {}}], "created": -1},
]


@pytest.mark.parametrize("odd", ODD, ids=json.dumps)
def test_what_is_not_understood_is_passed_over(odd: dict[str, Any]) -> None:
    chunks = heard(odd, delta("stop", content="a"))

    assert kinds(chunks) == ["text-start", "text-delta", "text-end", "finish"]
    assert chunks[-1]["payload"] == {"finishReason": "stop", "usage": {}}
