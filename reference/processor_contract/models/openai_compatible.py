"""OpenAICompatible: a model behind an endpoint that speaks OpenAI's Chat Completions, local or far away.

Flows in: requests. Flows out: chunks as they come over the network; `APICallError`, also in mid-stream, for whatever
the endpoint or the network does instead of answering.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from ..data import Chunk, Json
from ..errors import InvalidAgent
from . import ModelRequest
from .endpoint import Answer, Endpoint
from .events import EventTooLong, decoded
from .failures import retryable
from .openai_answer import Answering
from .openai_request import body_of, warnings_of

OPENAI = "https://api.openai.com/v1"
PATH = "chat/completions"
DONE = "[DONE]"
MAY_PASS = ("server_error", "internal", "overloaded", "rate_limit", "timeout", "unavailable")


class OpenAICompatible:
    """A model of an endpoint.

    `id` is `provider/name`: the endpoint gets the name, and the request's provider options of that provider as they
    are. `base_url` is what `/chat/completions` follows; without one it is that of the environment variable
    `OPENAI_BASE_URL`, else OpenAI's own. The key is read from the environment variable `key_variable` at each call and
    kept nowhere; an endpoint of your own may need none. `connect_timeout` and `read_timeout` are seconds: to connect,
    and between one sign of life and the next. With `streaming` off the answer is asked for in one piece.
    """

    def __init__(
        self,
        id: str,
        *,
        base_url: str | None = None,
        key_variable: str = "OPENAI_API_KEY",
        connect_timeout: float = 10.0,
        read_timeout: float = 120.0,
        streaming: bool = True,
    ) -> None:
        provider, _, name = id.partition("/")
        if not (provider and name):
            raise InvalidAgent(f"model id {id!r} names no model of a provider; write it as 'provider/name'", "CFG-7")
        self.id = id
        self._provider = provider
        self._name = name
        self._streaming = streaming
        url = base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI
        self._endpoint = Endpoint(url, key_variable, connect_timeout, read_timeout)

    @classmethod
    def provider(cls, name: str = "openai", **options: Any) -> Callable[[str], OpenAICompatible]:
        """What makes the models `name/...`, each with these options, for a registry:
        `ModelRegistry(providers={"openai": OpenAICompatible.provider()})`.
        """
        return lambda model: cls(f"{name}/{model}", **options)

    def __repr__(self) -> str:
        return f"OpenAICompatible({self.id!r}, base_url={self._endpoint.url('').rstrip('/')!r})"

    def stream(self, request: ModelRequest) -> Iterator[Chunk]:
        """The chunks of one call. Raises `APICallError`; closing the iterator closes the connection, and so does the
        request's abort signal, which raises Cancelled here.
        """
        endpoint = self._endpoint
        if endpoint.base_url == OPENAI and not endpoint.key():
            raise InvalidAgent(f"{self.id} needs a key; set the environment variable {endpoint.key_variable}")
        body = body_of(request, self._provider, self._name, self._streaming)
        with endpoint.post(PATH, body, request.abort_signal) as answer:
            chunks = self._chunks(answer)
            first = next(chunks)  # before anything is said: a call that failed until here may be repeated (ERR-33)
            raw = {"status": answer.status, "headers": answer.headers}
            yield {"type": "stream-start", "payload": {"request": body, "rawResponse": raw, **warnings_of(request)}}
            yield first
            yield from chunks

    def _chunks(self, answer: Answer) -> Iterator[Chunk]:
        if answer.content_type == "application/json":  # some endpoints do not stream, whatever they are asked
            return whole(answer)
        if answer.content_type == "text/event-stream" and self._streaming:
            return streamed(answer)
        what = f"the provider answered with content type {answer.content_type or 'none'!r}"
        raise answer.exchange.failure(what, status=answer.status, body=answer.beginning())


def streamed(answer: Answer) -> Iterator[Chunk]:
    """The chunks of a stream of events. One that ends before its finish reason, or in mid-event, has broken off."""
    answering = Answering()
    try:
        for event in decoded(answer.pieces()):
            data = event.data.strip()
            if data == DONE:
                break
            if event.name == "error":
                raise reported(answer, error_in(data), data)
            if data:  # without any it only says that the endpoint is alive
                yield from answering.take(understood(answer, data))
    except EventTooLong as error:
        raise answer.exchange.failure(f"the provider's stream cannot be read: {error}") from None
    if answering.reason is None:
        raise answer.exchange.failure("the provider broke off in mid-answer: no finish reason came", may_succeed=True)
    yield from answering.finish()


def whole(answer: Answer) -> Iterator[Chunk]:
    """The chunks of an answer in one piece."""
    answering = Answering()
    said = understood(answer, answer.text())
    if not isinstance(said.get("choices"), list) or not said["choices"]:
        what = "the provider's answer has no choices"
        raise answer.exchange.failure(what, status=answer.status, body=json.dumps(said))
    yield from answering.take(said)
    yield from answering.finish()


def understood(answer: Answer, text: str) -> dict[str, Any]:
    """An object of the answer. Raises `APICallError` for what is none, and for one that reports an error."""
    said = object_in(text)
    if said is None:
        what = "the provider said something that is no JSON object"
        raise answer.exchange.failure(what, status=answer.status, body=text)
    if said.get("error"):
        raise reported(answer, said["error"], text)
    return said


def error_in(text: str) -> Json:
    """The error that an event of that name tells: under `error`, as all of its data, or as a text."""
    said = object_in(text)
    return text if said is None else said.get("error") or said


def object_in(text: str) -> dict[str, Any] | None:
    """The object that a JSON text is; None where it is none. Endpoints write NaN, too."""
    try:
        said: Json = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def reported(answer: Answer, error: Json, text: str) -> Exception:
    """What an error object in an answer that began well comes to."""
    told = error if isinstance(error, dict) else {"message": str(error)}
    code = told.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    kind = f"{told.get('type')} {code}".lower()
    return answer.exchange.failure(
        f"the provider reported an error: {told.get('message') or text}",
        may_succeed=retryable(status) if status is not None else any(word in kind for word in MAY_PASS),
        status=status or answer.status,
        body=text,
    )
