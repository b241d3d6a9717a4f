"""The mock provider: an HTTP server that says what a script has it say, to any client in any language.

    python -m processor_contract.models.server --script FILE

Flows in: a script (its form is in script.py) and requests: `POST /v1/chat/completions` as OpenAI takes them, `POST
/v1/messages` as Anthropic does. Flows out: the script's turns in that form, streamed where that is asked for, faults
included. `GET /v1/models` names the models, `GET /log` what was asked so far, `POST /reset` forgets that and begins the
script again. It listens on loopback unless told otherwise, on a free port that it prints; each connection has a thread,
and none is left when it has stopped. Keys are neither asked for nor logged.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..data import Json, json_or_text
from .anthropic_dialect import AnthropicDialect
from .dialect import Dialect, Refused, says
from .openai_dialect import OpenAIDialect
from .reply import Gone, Reply
from .script import Script, ScriptError, Turn
from .script import __doc__ as SCRIPT_FORM

OPENAI = OpenAIDialect()
DIALECTS: dict[str, Dialect] = {"/v1/chat/completions": OPENAI, "/v1/messages": AnthropicDialect()}
SECRET = ("authorization", "x-api-key", "api-key", "cookie", "proxy-authorization")
LONGEST_QUOTE = 200  # of a request that is none, so much is said again
LARGEST_REQUEST = 64 * 1024 * 1024  # bytes
LINGER = 5.0  # seconds
LOG_LENGTH = 1000


class MockServer:
    """The server in a process of your own: a context manager that serves on threads while it is open.

    `url` is its address, without a path; `log()` what it was asked. `log_length` bounds how much of that is kept.
    Raises OSError where it cannot listen.
    """

    def __init__(
        self, script: Script, *, host: str = "127.0.0.1", port: int = 0, log_length: int = LOG_LENGTH
    ) -> None:
        self.script = script
        self.stopping = threading.Event()
        self._log: deque[dict[str, Json]] = deque(maxlen=log_length)
        self._asked = 0
        self._lock = threading.Lock()
        self._listening = listening(host, port, self)
        self._thread = threading.Thread(target=self._listening.serve_forever, args=(0.02,), daemon=True)
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self._listening.server_address[1]}"

    def start(self) -> MockServer:
        """Serves from now on."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Ends what is going on, closes every connection, and returns when no thread is left."""
        self.stopping.set()
        if self._thread.ident is not None:
            self._listening.shutdown()
            self._thread.join()
        self._listening.hang_up()
        self._listening.server_close()  # waits for the threads of the connections

    def __enter__(self) -> MockServer:
        return self.start()

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def log(self) -> list[dict[str, Json]]:
        """The requests so far, oldest first, as `GET /log` gives them: `number`, `api`, `path`, `headers` (keys are
        hidden), `body`, `turn` (the line in the script, null for none), `status`, `events` (how many were sent) and
        `outcome`: `open`, `complete`, `refused`, `cut`, `gone` where the client left before the end, `unspoilt` where
        the answer was complete before its fault was due.
        """
        with self._lock:
            return [dict(entry) for entry in self._log]

    def reset(self) -> None:
        """Forgets what was asked and begins the script again."""
        with self._lock:
            self._log.clear()
            self._asked = 0
        self.script.rewind()

    def note(self, path: str, headers: dict[str, str], body: Json) -> dict[str, Json]:
        """Puts a request into the log."""
        with self._lock:
            self._asked += 1
            entry: dict[str, Json] = {
                "number": self._asked,
                "api": DIALECTS[path].name,
                "path": path,
                "headers": {name: "***" if name in SECRET else value for name, value in headers.items()},
                "body": body,
                "turn": None,
                "status": None,
                "events": 0,
                "outcome": "open",
            }
            self._log.append(entry)
            return entry


class Listening(ThreadingHTTPServer):
    """The listening socket, and the connections it has open."""

    daemon_threads = False  # so that closing waits for them
    request_queue_size = 512

    def __init__(self, address: tuple[str, int], mock: MockServer) -> None:
        self.mock = mock
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Handler)

    def server_bind(self) -> None:
        """Binds without asking a name server what this machine is called."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Ends all connections: whoever reads or writes on one finds it closed."""
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is no news; anything else is a mistake of ours."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def listening(host: str, port: int, mock: MockServer) -> Listening:
    """The socket at an address. Raises OSError, which says which one, where there can be none."""
    try:
        if not host:  # to the system that is every address there is
            raise OSError("no host is named")
        return Listening((host, port), mock)
    except (OSError, OverflowError, TypeError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise OSError(f"the mock cannot listen on host {host!r}, port {port}: {reason}; choose others") from error


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # each write is a packet
    unread = False  # whether something of a body may still come
    server: Listening

    def do_GET(self) -> None:
        """The log, and the models."""
        path = self.path.partition("?")[0]
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.leave_unread()
        if path == "/log":
            self.answer(200, {"requests": self.server.mock.log()})
        elif path == "/v1/models":
            models = [{"id": name, "object": "model", "owned_by": "mock"} for name in self.server.mock.script.models()]
            self.answer(200, {"object": "list", "data": models})
        else:
            self.unknown()

    def do_POST(self) -> None:
        """A question for the model, or a new beginning."""
        path = self.path.partition("?")[0]
        if path in DIALECTS:
            self.converse(path, DIALECTS[path])
            return
        self.skip()
        if path == "/reset":
            self.server.mock.reset()
            self.answer(200, {})
        else:
            self.unknown()

    def skip(self) -> None:
        """Reads the body for nobody: who is still sending it could not read the answer."""
        try:
            for _ in self.pieces(0.0):
                pass
        except Refused:
            self.leave_unread()

    def converse(self, path: str, dialect: Dialect) -> None:
        """Answers a request by the script, with the faults that it names."""
        mock = self.server.mock
        try:
            body = self.body()
        except Refused as refused:
            self.leave_unread()
            self.answer(refused.status, dialect.error(refused.status, str(refused)))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        entry = mock.note(path, headers, body)
        try:
            turn = self.choose(dialect, body, headers)
            entry["turn"] = turn.line
            Reply(self, dialect, entry, mock.stopping).give(turn, body)
        except Refused as refused:
            entry.update(status=refused.status, outcome="refused")
            self.answer(refused.status, dialect.error(refused.status, str(refused)))
        except Gone:
            self.close_connection = True

    def leave_unread(self) -> None:
        """Has this request be the connection's last: its body is not to be taken for the next one."""
        self.close_connection = self.unread = True

    def finish(self) -> None:
        """Ends the connection. Who is still sending would lose the answer: so some seconds are read on first."""
        super().finish()
        if not self.unread:
            return
        ends = time.monotonic() + LINGER
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(LINGER)
            while time.monotonic() < ends and self.connection.recv(65536):
                pass

    def choose(self, dialect: Dialect, body: Json, headers: dict[str, str]) -> Turn:
        """The turn for a request. Raises `Refused` where the request is none, or none is left."""
        if not isinstance(body, dict):
            raise Refused("the body has to be a JSON object")
        dialect.check(body, headers)
        known = {"model": body["model"], "says": says(body), "stream": bool(body.get("stream"))}
        turn = self.server.mock.script.take({"api": dialect.name, **known})
        if turn is None:
            raise Refused("the script has no turn left for this request; add one, or let one answer more often")
        return turn

    def body(self) -> Json:
        """The request's body; what is no JSON stays the text it is. Raises `Refused` for one that cannot be read."""
        turn = self.server.mock.script.next()
        pause = turn.fault.slow_read if turn is not None else 0.0
        return json_or_text(b"".join(self.pieces(pause)).decode("utf-8", "replace"))

    def pieces(self, pause: float) -> Iterator[bytes]:
        """The body, of the length that the request tells, or in the chunks that it comes in."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            yield from self.exactly(self.headers.get("Content-Length", ""), 10, pause)
            return
        total = 0
        while size := self.rfile.readline(100).partition(b";")[0].strip().decode("latin-1"):
            for piece in self.exactly(size, 16, pause):
                total += len(piece)
                if total > LARGEST_REQUEST:
                    raise too_large()
                yield piece
            if not int(size, 16):
                while self.rfile.readline(1000).strip():
                    pass  # trailers
                return
            self.rfile.readline(3)
        raise Refused("the request has chunks that are none")

    def exactly(self, size: str, base: int, pause: float) -> Iterator[bytes]:
        """So many bytes, told as a number of that base; slowly where the script says so."""
        try:
            left = int(size, base) if len(size) < 16 else LARGEST_REQUEST + 1
        except ValueError:
            left = -1
        if left < 0:
            raise Refused("the request does not tell its length; send Content-Length, or chunks", 411)
        if left > LARGEST_REQUEST:
            raise too_large()
        while left:
            if pause:
                self.server.mock.stopping.wait(pause)
            piece = self.rfile.read(min(left, 64) if pause else left)
            if not piece:
                raise ConnectionError("the client left in the middle of its request")
            yield piece
            left -= len(piece)

    def answer(self, status: int, value: Json) -> None:
        """A JSON answer in one piece."""
        content = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no request, or has a method that nothing here has, is refused in the form of all refusals."""
        self.close_connection = True
        self.answer(code, OPENAI.error(code, (message or self.responses[code][0])[:LONGEST_QUOTE]))

    def unknown(self) -> None:
        """There is nothing at this address."""
        places = ", ".join(["GET /log", "GET /v1/models", "POST /reset", *(f"POST {path}" for path in DIALECTS)])
        message = f"nothing answers {self.command} {self.path} here; there are {places}"
        self.answer(404, OPENAI.error(404, message))

    def version_string(self) -> str:
        """What the server is called in its answers; of what it is made is nobody's business."""
        return "mock-provider"

    def log_message(self, format: str, *args: Any) -> None:
        """The log is read over HTTP; the console stays quiet."""


def too_large() -> Refused:
    """The refusal of a request without end."""
    return Refused(f"the request has more than {LARGEST_REQUEST} bytes", 413)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command: serves until it is told to stop, by Ctrl-C or a signal. Returns 2 for a script that is none."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.server", description=__doc__, epilog=SCRIPT_FORM)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--script", required=True, help="the file with the turns, a line of JSON each")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: loopback only)")
    parser.add_argument("--port", type=int, default=0, help="the port (default: a free one, which is printed)")
    given = parser.parse_args(arguments)
    stopped = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda number, frame: stopped.set())
    try:
        server = MockServer(Script.read(given.script), host=given.host, port=given.port)
    except (ScriptError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    with server:
        print(server.url, flush=True)
        stopped.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
