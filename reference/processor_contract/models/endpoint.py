"""One HTTP endpoint: posts JSON, hands out what comes back, and says what went wrong.

Flows in: a base URL, the name of the variable that holds the key, JSON bodies. Flows out: answers whose bytes are read
as they come; `APICallError` for everything that goes wrong, without the key. The connection is closed when the answer
is, or as soon as the abort signal fires. Proxies are those of the usual environment variables; TLS certificates are
verified, against the authorities of the system or of `SSL_CERT_FILE`.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NoReturn
from urllib.parse import SplitResult, quote, urlsplit

from ..context import AbortSignal
from ..errors import APICallError, Cancelled, InvalidAgent, InvalidMessage
from .failures import message_in, retryable, said_of, seconds
from .proxies import PORTS, Route, route

LONGEST_ERROR = 64 * 1024  # of what a provider said instead of answering, that much is kept
LONGEST_MESSAGE = 2000  # characters; all of it is in the error's `response_body`
BREAKS_OFF = "broke off in mid-answer"
HIDDEN = "***"
SHORTEST_KEY = 4  # what is shorter is no secret, and stands in every other word


@dataclass(slots=True)
class Endpoint:
    """Where a provider is. `connect_timeout` bounds the connecting, `read_timeout` the silence before and between what
    it says, both in seconds.

    The key is read from the environment variable `key_variable` at each call and kept nowhere; without one no key is
    sent. Raises `InvalidAgent` for a base URL that is none.
    """

    base_url: str = field(repr=False)
    key_variable: str
    connect_timeout: float
    read_timeout: float

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
            sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            str(parts.hostname).encode("idna")
        except ValueError:
            sound = False
        if not sound or not self.base_url.isascii() or not self.base_url.isprintable() or " " in self.base_url:
            raise InvalidAgent("the base URL of a provider has to begin with http:// or https:// and name a host")
        if "@" in parts.netloc:
            raise InvalidAgent(f"the base URL of a provider holds a user; put the key into {self.key_variable} instead")

    def post(self, path: str, body: dict[str, Any], signal: AbortSignal | None = None) -> Answer:
        """The answer to a request, with its status below 300. Raises `APICallError` for any other, and Cancelled."""
        try:
            payload = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidMessage(f"the request holds what JSON cannot: {error}") from None
        exchange = Exchange(self, path, signal)
        try:
            return exchange.post(payload)
        except BaseException:
            exchange.close()
            raise

    def key(self) -> str:
        """The key in the environment; empty where there is none."""
        key = os.environ.get(self.key_variable, "").strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise InvalidAgent(f"the key in {self.key_variable} holds a character that no HTTP header can; set it anew")
        return key

    def without_key(self, text: str) -> str:
        """The text, with stars where it holds the key, also as URLs and JSON write it: a provider may quote it."""
        key = os.environ.get(self.key_variable, "").strip()
        if len(key) < SHORTEST_KEY:
            return text
        written = {key, quote(key, safe=""), json.dumps(key)[1:-1], key.replace("/", "\\/")}
        forms = sorted(written, key=len, reverse=True)  # none of them a part of one that comes after it
        return re.sub("|".join(map(re.escape, forms)), HIDDEN, text, flags=re.IGNORECASE)

    def url(self, path: str) -> str:
        """The address of a path, for people: without the query, which may hold a key."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}{target(parts, path)}"


def target(parts: SplitResult, path: str) -> str:
    """The path of a request below the base URL."""
    return f"{parts.path.rstrip('/')}/{path}"


class Exchange:
    """One request and its answer, over one connection."""

    def __init__(self, endpoint: Endpoint, path: str, signal: AbortSignal | None) -> None:
        self.endpoint = endpoint
        self.url = endpoint.url(path)
        self._path = path
        self._signal = signal
        self._release: Any = lambda: None
        self._handle: socket.socket | None = None  # of the connection, to hang up by
        self._connection: http.client.HTTPConnection | None = None
        self._response: http.client.HTTPResponse | None = None

    def post(self, payload: bytes) -> Answer:
        """Sends the request and waits for the head of its answer."""
        if self._signal is not None and self._signal.aborted:
            raise Cancelled(self._signal.reason)
        parts = urlsplit(self.endpoint.base_url)
        way = route(parts)
        where = target(parts, self._path) + (f"?{parts.query}" if parts.query else "")
        if way.proxied and parts.scheme == "http":
            where = f"http://{parts.netloc}{where}"
        with self.reporting():
            self._connection = self._connect(parts, way)
            self._connection.request("POST", where, payload, self._headers(parts, way))
            self._connection.sock.settimeout(self.endpoint.read_timeout)
            self._response = response = self._connection.getresponse()
        answer = Answer(self, response)
        encoding = response.headers.get("Content-Encoding", "").strip().lower() or "identity"
        if response.status >= 300:
            body = answer.beginning() if encoding == "identity" else ""
            self.refuse(response.status, response.reason, body, response.headers.get("Retry-After"))
        if encoding != "identity":
            what = f"the provider's answer is encoded as {encoding!r}, which was not asked for"
            raise self.failure(what, status=response.status)
        return answer

    def _headers(self, parts: SplitResult, way: Route) -> dict[str, str]:
        """The request's headers. Nobody holds them in a variable: a trace may show those."""
        key = self.endpoint.key()
        return {
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            "User-Agent": "processor-contract",
            "Connection": "close",
            **({"Authorization": f"Bearer {key}"} if key else {}),
            **(way.headers if parts.scheme == "http" else {}),  # a tunnel is told them by `_connect`
        }

    def _connect(self, parts: SplitResult, way: Route) -> http.client.HTTPConnection:
        """A connection that is not made yet. The classes are named in full: a recorder puts its own in their place."""
        timeout = self.endpoint.connect_timeout
        if parts.scheme == "http":
            connection = http.client.HTTPConnection(way.host, way.port, timeout=timeout)
        else:
            secure = ssl.create_default_context()
            connection = http.client.HTTPSConnection(way.host, way.port, timeout=timeout, context=secure)
            if way.proxied:
                connection.set_tunnel(str(parts.hostname), parts.port or PORTS["https"], way.headers)
        connection._create_connection = self._dialled  # type: ignore[attr-defined]
        return connection

    def _dialled(self, address: tuple[str, int], timeout: float, *rest: Any) -> socket.socket:
        """As `socket.create_connection`, but the abort signal ends the connecting, too."""
        problem = OSError(f"{address[0]} has no address")
        for family, kind, protocol, _, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            line = socket.socket(family, kind, protocol)
            try:
                line.settimeout(timeout)
                self._hold(line)
                line.connect(place)
                return line
            except OSError as error:
                line.close()
                problem = error
        raise problem

    def _hold(self, line: socket.socket) -> None:
        """From now on the signal ends what this socket does. Raises Cancelled if it has fired."""
        self._let_go()
        if self._signal is None:
            return
        handle = self._handle = line.dup()  # TLS takes the socket itself away
        self._release = self._signal.on_abort(lambda reason: hang_up(handle))
        if self._signal.aborted:
            line.close()
            raise Cancelled(self._signal.reason)

    def _let_go(self) -> None:
        self._release()
        if self._handle is not None:
            self._handle.close()

    def close(self) -> None:
        """Closes the connection, also in the middle of an answer."""
        self._let_go()
        for one in (self._response, self._connection):
            if one is not None:
                one.close()

    @contextlib.contextmanager
    def reporting(self, verb: str = "cannot be reached") -> Iterator[None]:
        """What the network raises becomes `APICallError`; `verb` is what the provider does or suffers meanwhile."""
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            what, may_succeed = said_of(error, verb)
            self._clean(error)
            # Without its own trace, which has the headers, and the key, in the variables of its frames.
            raise self.failure(what, may_succeed=may_succeed) from error.with_traceback(None)

    def _clean(self, error: Exception) -> None:
        """Takes the key out of what a network error holds: a line that was no HTTP, say."""
        error.__cause__ = error.__context__ = None
        hidden = self.endpoint.without_key
        error.args = tuple(hidden(one) if isinstance(one, str) else one for one in error.args)
        vars(error).update({name: hidden(one) for name, one in vars(error).items() if isinstance(one, str)})

    def failure(
        self,
        what: str,
        *,
        may_succeed: bool = False,
        status: int | None = None,
        body: str | None = None,
        retry_after: float | None = None,
    ) -> APICallError | Cancelled:
        """An error of this call: what happened, where, and what the provider said; all without the key.

        Once the abort signal has fired it is Cancelled, whatever happened: the connection was closed for its sake.
        """
        if self._signal is not None and self._signal.aborted:
            return Cancelled(self._signal.reason)
        return APICallError(
            self.endpoint.without_key(f"{what} (POST {self.url})"),
            status_code=status,
            is_retryable=may_succeed,
            url=self.url,
            response_body=None if body is None else self.endpoint.without_key(body)[:LONGEST_ERROR],
            retry_after=retry_after,
        )

    def refuse(self, status: int, reason: str, body: str, retry_after: str | None = None) -> NoReturn:
        """Raises what a status means."""
        body = self.endpoint.without_key(body)  # before anything is cut off: half a key is found no more
        said = message_in(body)[:LONGEST_MESSAGE] or reason
        if status < 400:
            said = "it redirects, which is not followed"
        raise self.failure(
            f"the provider answered {status}: {said}",
            may_succeed=retryable(status),
            status=status,
            body=body,
            retry_after=seconds(retry_after),
        )


class Answer:
    """What came back: `status`, `headers`, `content_type` (in lower case, without parameters), and the body, read as it
    comes.

    A context manager that closes the connection.
    """

    def __init__(self, exchange: Exchange, response: http.client.HTTPResponse) -> None:
        self.exchange = exchange
        self.status = response.status
        told = [(name.lower(), value) for name, value in response.headers.items()]
        self.headers = {name: exchange.endpoint.without_key(value) for name, value in told if name != "set-cookie"}
        self.content_type = (response.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
        self._response = response

    def __enter__(self) -> Answer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.exchange.close()

    def pieces(self) -> Iterator[bytes]:
        """The body in the pieces that the network brings. Raises `APICallError` where it breaks off."""
        while True:
            with self.exchange.reporting(BREAKS_OFF):
                piece = self._response.read1(64 * 1024)
            if not piece:
                return
            yield piece

    def text(self) -> str:
        """The whole body. Raises `APICallError` where it breaks off."""
        with self.exchange.reporting(BREAKS_OFF):
            return self._response.read().decode("utf-8-sig", "replace")

    def beginning(self) -> str:
        """What of the body there is, up to a limit; for errors, which it must not hide."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            # More than is kept, so that a key in it is whole, and found, wherever the rest is cut off.
            return self._response.read(2 * LONGEST_ERROR).decode("utf-8", "replace")
        return ""


def hang_up(line: socket.socket) -> None:
    """Wakes whoever connects, reads or writes there: it has ended."""
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
