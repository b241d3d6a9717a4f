"""The mock provider's server and HTTP itself: bodies in every form, what is no request, what nobody reads."""

from __future__ import annotations

import json
import socket
import threading

import pytest

from mock_kit import CHAT, asked, exchanged, port_of, question, serving, talking
from processor_contract.data import read_json
from processor_contract.models import server as module

pytestmark = pytest.mark.usefixtures("direct")


def test_chunks_may_have_trailers() -> None:
    content = json.dumps(question("x")).encode()
    chunked = b"POST %b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" % CHAT.encode()
    body = b"%x\r\n%b\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n" % (len(content), content)
    with serving({"text": "a"}) as server:
        answers = exchanged(server, chunked + body + b"GET /v1/models HTTP/1.1\r\n\r\n")

    assert answers.count(b"HTTP/1.1 200 OK") == 2
    assert answers.count(b"HTTP/1.1") == 2


def test_chunks_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_REQUEST", 1000)
    begun = b"POST %b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" % CHAT.encode()
    with serving({"text": "a"}) as server:
        answer = exchanged(server, begun + b"12c\r\n%b\r\n" % (b" " * 300) * 4)

    assert b"the request has more than 1000 bytes" in answer


def test_the_body_of_a_question_for_the_log_is_no_request() -> None:
    with serving({"text": "a"}) as server:
        again = b"GET /v1/models HTTP/1.1\r\n\r\n"
        answers = exchanged(server, b"GET /log?all HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(again), again))

    assert answers.count(b"HTTP/1.1 200 OK") == answers.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("path", [CHAT, "/reset"])
def test_who_sends_too_much_learns_it(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_REQUEST", 1000)
    status = 413 if path == CHAT else 200
    with serving({"text": "a"}) as server:
        assert asked(server.url + path, b"x" * 8_000_000)[0] == status


def send_for_ever(line: socket.socket) -> None:
    while True:
        line.sendall(b"x" * 100)
        threading.Event().wait(0.01)


def test_who_never_stops_sending_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_REQUEST", 1000)
    monkeypatch.setattr(module, "LINGER", 0.2)
    begun = b"POST %b HTTP/1.1\r\nContent-Length: 2000\r\n\r\n" % CHAT.encode()
    with serving({"text": "a"}) as server, socket.create_connection(("127.0.0.1", port_of(server)), 10) as line:
        line.sendall(begun)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_for_ever(line)


@pytest.mark.parametrize(("path", "status"), [("/chat/completions", 404), ("/reset", 200)])
def test_who_sends_much_to_another_address_gets_its_answer(path: str, status: int) -> None:
    with serving({"text": "a"}) as server:
        connection = talking(server)
        statuses = []
        for _ in range(2):  # and the connection goes on
            connection.request("POST", path, b"x" * 8_000_000)
            with connection.getresponse() as response:
                response.read()
                statuses.append(response.status)
        connection.close()

    assert statuses == [status] * 2


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"OPTIONS /log HTTP/1.1\r\n\r\n", 501),
        (b"PUT /log HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", 501),
        (b"\x16\x03\x01 is TLS\r\n\r\n", 400),
        (b"GET /%b HTTP/1.1\r\n\r\n" % (b"a" * 70_000), 414),
        (b"GET /log HTTP/1.1\r\nX: %b\r\n\r\n" % (b"a" * 70_000), 431),
    ],
)
def test_what_is_no_request_is_refused_in_the_form_of_all(sent: bytes, status: int) -> None:
    with serving({"text": "a"}) as server:
        head, _, body = exchanged(server, sent).rpartition(b"\r\n\r\n")

    assert not head or (head.startswith(b"HTTP/1.1 %d" % status) and b"Connection: close" in head)
    assert 0 < len(json.loads(body)["error"]["message"]) < 300


def test_an_answer_to_head_has_no_body() -> None:
    with serving({"text": "a"}) as server:
        assert exchanged(server, b"HEAD /log HTTP/1.1\r\n\r\n").endswith(b"\r\n\r\n")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_no_json_and_leave_the_log_readable(number: str) -> None:
    body = json.dumps(question("x", seed="?")).replace('"?"', number).encode()
    with serving({"text": "a"}) as server:
        status, said = asked(server.url + CHAT, body)
        log = read_json(exchanged(server, b"GET /log HTTP/1.0\r\n\r\n").partition(b"\r\n\r\n")[2].decode())

    assert (status, said["error"]["message"]) == (400, "the body has to be a JSON object")
    assert log["requests"][0]["body"] == body.decode()
