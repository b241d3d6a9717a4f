"""The mock provider's server: its log, what it refuses as the real ones do, and how it speaks HTTP."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from mock_kit import CHAT, VERSION, asked, ended, exchanged, last, question, serving, talking

pytestmark = pytest.mark.usefixtures("direct")
MESSAGES = "/v1/messages"
USER = {"role": "user", "content": "x"}
TOOL = {"type": "function", "function": {"name": "add"}}
CALL = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "add", "arguments": "{}"}}]}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "u1", "name": "add", "input": {}}]}


# -- the log -----------------------------------------------------------------------------------------------------------


def test_the_log_says_what_was_asked_and_how_it_went() -> None:
    with serving({"text": "a"}, {"text": ["a", "b"], "fault": {"cutAfter": 1}}) as server:
        asked(server.url + CHAT, question("one"), Authorization="Bearer secret")
        with pytest.raises(http.client.IncompleteRead):
            asked(server.url + CHAT, question("two", stream=True))
        asked(server.url + CHAT, question("three"))
        status, log = asked(server.url + "/log")

    assert [
        (entry["number"], entry["turn"], entry["status"], entry["outcome"], entry["events"])
        for entry in log["requests"]
    ] == [(1, 1, 200, "complete", 0), (2, 2, 200, "cut", 1), (3, None, 400, "refused", 0)]
    assert log["requests"][0]["body"] == question("one")
    assert log["requests"][0]["headers"]["authorization"] == "***"
    assert status == 200
    assert "secret" not in json.dumps(log)


@pytest.mark.parametrize("fault", ["cutAfter", "malformedAfter", "errorAfter"])
def test_the_log_says_where_a_fault_came_too_late(fault: str) -> None:
    with serving({"text": "a", "fault": {fault: 99}}) as server:
        body = json.dumps(question("x", stream=True)).encode()
        exchanged(server, b"POST %b HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)) + body)

        assert ended(server) == "unspoilt"


def test_the_log_is_the_same_in_the_process() -> None:
    with serving({"text": "a"}) as server:
        asked(server.url + CHAT, question("x"))

        assert asked(server.url + "/log")[1]["requests"] == server.log()


def test_the_log_is_bounded() -> None:
    with serving({"text": "a", "times": 0}, log_length=3) as server:
        for number in range(5):
            asked(server.url + CHAT, question(str(number)))

        assert [entry["number"] for entry in server.log()] == [3, 4, 5]


def test_a_new_beginning() -> None:
    with serving({"text": "a"}) as server:
        first = asked(server.url + CHAT, question("x"))
        reset = asked(server.url + "/reset", method="POST")
        log = server.log()

        assert (reset, log) == ((200, {}), [])
        assert asked(server.url + CHAT, question("x")) == first


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "the body has to be a JSON object"),
        (b"[]", "the body has to be a JSON object"),
        (b"[" * 100_000, "the body has to be a JSON object"),
        (b"\xff", "the body has to be a JSON object"),
        ({}, "model has to be a text that is not empty"),
        ({"model": "\ud83d"}, "model holds half of a surrogate pair"),
        ({"model": "m"}, "messages has to be a list of at least one object"),
        ({"model": "m", "messages": []}, "messages has to be a list of at least one object"),
        ({"model": "m", "messages": [5]}, "messages has to be a list of at least one object"),
        ({"model": "m", "messages": [{"role": "x"}]}, "messages[0].role has to be one of system, developer"),
        ({"model": "m", "messages": [{"role": "user"}]}, "messages[0].content has to be text or parts"),
        ({"model": "m", "messages": [{"role": "assistant"}]}, "messages[0].content has to be text or parts"),
        ({"model": "m", "messages": [{"role": "user", "content": [{}]}]}, "messages[0].content[].type has to be"),
        (question("x", n=2), "n: this mock gives one choice"),
        (question("x", stream="yes"), "stream has to be true or false"),
        (question("x", stream_options={"include_usage": True}), "stream_options is for streams only"),
        (question("x", tools=5), "tools has to be a list of objects"),
        (question("x", tools=[{}]), "tools[].function has to be an object"),
        (question("x", tool_choice="auto"), "tool_choice is for requests with tools"),
        (question("x", tools=[TOOL], tool_choice="any"), "tool_choice has to be auto, none, required or one tool"),
        (
            question("x", tools=[TOOL], tool_choice={"function": {"name": "sub"}}),
            "tool_choice names 'sub', which is none of the tools",
        ),
        (question("x", response_format="json"), "response_format.type has to be text or a kind of JSON"),
        (question("x", response_format={"type": "json_object"}), "a message has to contain the word 'json'"),
        (question("x", response_format={"type": "json_schema"}), "response_format.json_schema has to be an object"),
        (
            question("x", response_format={"type": "json_schema", "json_schema": {}}),
            "response_format.json_schema.name has to be a text",
        ),
        ({"model": "m", "messages": [USER, CALL]}, "messages: the tool calls c1 have to be answered"),
        ({"model": "m", "messages": [CALL, USER]}, "messages[1]: the tool calls c1 have to be answered before it"),
        (
            {"model": "m", "messages": [{"role": "tool", "tool_call_id": "c1", "content": "x"}]},
            "messages[0]: no call 'c1' before it waits for an answer",
        ),
        (
            {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"id": "c1"}]}]},
            "messages[0].tool_calls[].function has to be an object",
        ),
    ],
)
def test_openai_refuses(body: Any, reason: str) -> None:
    with serving({"text": "a"}) as server:
        status, said = asked(server.url + CHAT, body)

        assert (status, said["error"]["type"]) == (400, "invalid_request_error")
        assert reason in said["error"]["message"]
        assert (last(server)["turn"], last(server)["outcome"]) == (None, "refused")


def messages(*given: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 2000, "messages": list(given), **more}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "model has to be a text that is not empty"),
        (messages(USER, max_tokens=0), "max_tokens has to be a whole number above 0"),
        (messages(USER, stream=1), "stream has to be true or false"),
        (messages(), "messages has to be a list of at least one object"),
        (messages({"role": "system", "content": "x"}), "messages[0].role has to be user or assistant"),
        (messages({"role": "user", "content": ""}), "messages[0].content has to hold something"),
        (messages({"role": "user", "content": []}), "messages[0].content has to be a list of at least one object"),
        (messages({"role": "user", "content": [{"type": "text", "text": ""}]}), "content[].text has to be a text"),
        (messages(USER, tools=[{"name": "a"}]), "tools[].input_schema is missing"),
        (messages(USER, USE), "messages: the tool uses u1 have to be answered"),
        (messages(USER, USE, USER), "messages[2]: the tool uses u1 have to be answered in it"),
        (
            messages({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u2"}]}),
            "messages[0]: no tool use 'u2' in the message before it",
        ),
        (messages({**USE, "role": "user"}), "messages[0]: only the assistant uses tools"),
        (
            messages(USER, thinking={"type": "enabled", "budget_tokens": 2000}),
            "thinking.budget_tokens has to be at least 1024 and below max_tokens",
        ),
    ],
)
def test_anthropic_refuses(body: Any, reason: str) -> None:
    with serving({"text": "a"}) as server:
        status, said = asked(server.url + MESSAGES, body, **VERSION)

        assert (status, said["type"], said["error"]["type"]) == (400, "error", "invalid_request_error")
        assert reason in said["error"]["message"]


def test_anthropic_wants_its_version() -> None:
    with serving({"text": "a"}) as server:
        assert asked(server.url + MESSAGES, messages(USER))[0] == 400


def test_arguments_that_are_no_object_are_for_streams() -> None:
    with serving({"toolCalls": [{"name": "add", "args": "{"}], "times": 2}) as server:
        status, said = asked(server.url + MESSAGES, messages(USER), **VERSION)

        assert (status, "of line 1 has arguments that are no object" in said["error"]["message"]) == (400, True)


def test_a_request_refused_uses_no_turn_up() -> None:
    with serving({"text": "a"}) as server:
        asked(server.url + CHAT, {})

        assert asked(server.url + CHAT, question("x"))[0] == 200


@pytest.mark.parametrize(("method", "path"), [("GET", CHAT), ("POST", "/v2"), ("GET", "/"), ("POST", "/log")])
def test_other_addresses(method: str, path: str) -> None:
    with serving({"text": "a"}) as server:
        status, said = asked(server.url + path, b"x" if method == "POST" else None, method)

    assert status == 404
    assert "there are GET /log, GET /v1/models, POST /reset, POST /v1/chat/completions" in said["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 411),
        ({"Content-Length": "-1"}, 411),
        ({"Content-Length": "9" * 12}, 413),
        ({"Content-Length": "9" * 5000}, 413),
        ({"Transfer-Encoding": "chunked"}, 400),
    ],
)
def test_a_body_that_is_not_read(headers: dict[str, str], status: int) -> None:
    with serving({"text": "a"}) as server:
        connection = talking(server)
        connection.putrequest("POST", CHAT)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(b"\r\n" if "Transfer-Encoding" in headers else None)

        assert connection.getresponse().status == status
        connection.close()


def test_a_body_in_chunks() -> None:
    with serving({"text": "a"}) as server:
        connection = talking(server)
        content = json.dumps(question("é" * 100)).encode()
        pieces = iter([content[:7], content[7:30], content[30:]])
        connection.request("POST", CHAT, pieces, {"Transfer-Encoding": "chunked"}, encode_chunked=True)
        with connection.getresponse() as response:
            response.read()
        connection.close()

        assert (response.status, last(server)["body"]) == (200, question("é" * 100))


def test_a_connection_that_hangs_up_has_no_status() -> None:
    with serving({"fault": {"hangUp": True}}) as server:
        with pytest.raises(http.client.RemoteDisconnected):
            asked(server.url + CHAT, question("x"))

        assert (last(server)["status"], last(server)["outcome"]) == (None, "cut")


def test_a_connection_serves_several_requests() -> None:
    with serving({"text": "a", "times": 0}) as server:
        connection = talking(server)
        statuses = []
        for body in (question("x"), {}, question("x", stream=True)):
            connection.request("POST", CHAT, json.dumps(body))
            with connection.getresponse() as response:
                response.read()
                statuses.append(response.status)
        connection.close()

    assert statuses == [200, 400, 200]


def test_a_client_of_old_gets_no_chunks() -> None:
    body = json.dumps(question("x", stream=True)).encode()
    with serving({"text": "hello"}) as server:
        head = b"POST %b HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body))
        answer = exchanged(server, head + body)

    assert b"Transfer-Encoding" not in answer
    assert answer.endswith(b"data: [DONE]\n\n")


def test_the_models_that_a_script_knows() -> None:
    with serving({"when": {"model": "b"}}, {"when": {"model": "a"}}, {"when": {"model": "b"}}) as server:
        assert [one["id"] for one in asked(server.url + "/v1/models")[1]["data"]] == ["b", "a"]
