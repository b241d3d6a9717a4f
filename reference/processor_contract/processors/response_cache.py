"""ResponseCache: answers a request with what the provider said to the same request before.

Flows in: requests on their way to the provider, and its answers. Flows out: answers kept before; texts to the backend.
What is kept is what the provider said, before any output processor saw it (LLM-10): guard and empty it accordingly.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Callable
from typing import Any

from ..context import RequestContext
from ..data import Chunk, canonical, fault_from_outside
from ..errors import InvalidAgent
from ..processor import LLMRequestArgs, LLMResponseArgs, Processor
from ..settings import described
from .cache_backend import CacheBackend, InMemoryCache

WHOLE = ("stop", "tool-calls")  # how an answer ends that is worth keeping: neither cut off nor blocked
UNREADABLE = (TypeError, ValueError, RecursionError)


class ResponseCache(Processor):
    """Keeps whole answers and replays them (LLM-7, LLM-18), for any number of requests, agents and threads at once.

    **It holds unprocessed text**: answers as the provider gave them, with every word that output processors redact or
    that a guardrail stops. They are processed anew on each replay, so nobody sees more than of a live answer; whoever
    can read the backend does. Guard and empty it like the raw conversations that it holds.

    An answer is found again only by the same request: the prompt as it goes out, the model's id, tools, tool choice,
    settings, provider options and structured output. So it belongs into `input_processors` behind all others that have
    `process_llm_request`; a place before one of them is refused. Not kept are answers that were cut off, blocked or
    broken, and requests that are no JSON. Replays cost nothing (RES-3); processLLMResponse has `from_cache` true.

    `scope` is a function of the request context whose text keeps apart what must not be shared, for instance the
    tenant's name. What the backend raises makes the request go to the provider (LLM-28), and is given to `on_error`.
    """

    id = "response-cache"
    description = "Replays answers to requests that were asked before."
    last_with = "process_llm_request"  # LLM-24

    def __init__(
        self,
        backend: CacheBackend | None = None,
        *,
        scope: Callable[[RequestContext], str] | None = None,
        on_error: Callable[[Exception], None] | None = None,
        id: str = "response-cache",
    ) -> None:
        if not (backend is None or is_backend(backend)):
            raise InvalidAgent(f"the backend of {id!r} is {described(backend)}; use an object with `get` and `set`")
        for name, function in (("scope", scope), ("on_error", on_error)):
            if not (function is None or callable(function)):
                raise InvalidAgent(f"the {name} of {id!r} is {described(function)}; use a function, or None")
        self.id = id
        self._backend: CacheBackend = InMemoryCache() if backend is None else backend
        self._scope = scope
        self._on_error = on_error

    def process_llm_request(self, args: LLMRequestArgs) -> dict[str, Any] | None:
        """The answer kept for this very request, or nothing (LLM-21)."""
        key = args.state["key"] = self.key_of(args)  # for the answer to come: no other request's (LLM-27)
        text = None if key is None else self._asked(lambda: self._backend.get(key))
        chunks = chunks_of(text)
        return None if chunks is None else {"response": {"chunks": chunks}}

    def process_llm_response(self, args: LLMResponseArgs) -> None:
        """Keeps a live answer that is whole, as the provider gave it (LLM-20, LLM-26)."""
        key = args.state.pop("key", None)
        if key is None or args.from_cache or not is_whole(args.chunks):
            return
        text = kept_text(args.chunks)
        if text is not None:
            self._asked(lambda: self._backend.set(key, text))

    def key_of(self, args: LLMRequestArgs) -> str | None:
        """The key of the request that is about to go out (LLM-22, LLM-23); None for one that JSON cannot hold."""
        asked = {field.name: getattr(args._asked, field.name) for field in dataclasses.fields(args._asked)}
        asked.update(prompt=args.prompt, model=getattr(args.model, "id", args.model), abort_signal=None)
        if self._scope is not None:
            asked["scope"] = self._scope(args.request_context)
        try:
            return hashlib.sha256(canonical(asked).encode("utf-8", "surrogatepass")).hexdigest()
        except UNREADABLE:
            return None

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """What the backend answers; nothing where it fails: a cache that is down must stop no request."""
        try:
            return ask()
        except Exception as error:
            if self._on_error is not None:
                with contextlib.suppress(Exception):  # nor must whoever is told of it
                    self._on_error(error)
            return None


def is_backend(given: Any) -> bool:
    """Whether it can be asked: a class that was not called cannot."""
    return not isinstance(given, type) and all(callable(getattr(given, name, None)) for name in ("get", "set"))


def kept_text(chunks: list[Chunk]) -> str | None:
    """The text to keep an answer as; None where another answer would come out of it (LLM-21)."""
    try:
        text = json.dumps(chunks, ensure_ascii=False, allow_nan=False)
        return text if json.loads(text) == chunks else None  # names that are no texts, and tuples, change
    except UNREADABLE:
        return None


def chunks_of(text: Any) -> list[Chunk] | None:
    """The answer that a text holds; None where it holds none."""
    try:
        chunks = json.loads(text) if isinstance(text, str) else None
    except UNREADABLE:
        return None
    sound = isinstance(chunks, list) and not any(map(fault_from_outside, chunks)) and is_whole(chunks)
    return chunks if sound else None


def is_whole(chunks: list[Chunk]) -> bool:
    """Whether it is an answer without a failure, with a good end, and its last chunk that end (LLM-25)."""
    if not chunks or any(chunk["type"] == "error" for chunk in chunks):
        return False
    return chunks[-1]["type"] == "finish" and chunks[-1]["payload"].get("finishReason") in WHOLE
