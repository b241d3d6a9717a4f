"""A session: an agent whose model, tools, processors, callbacks and store ask the runner what to do.

Flows in: the agent as `session/open` describes it. Flows out: calls to the runner, each naming its run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import itertools
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from ..agent import Agent
from ..checks import LOG
from ..context import AbortSignal, Clock
from ..data import Chunk, Json, Message
from ..hooks import HOOKS
from ..memory import Memory
from ..models import ModelRequest
from ..processor import Processor
from ..storage import InMemoryStorage
from ..tools import Tool, ToolContext
from ..tracing import JsonLines, Span, Tracer
from .built_ins import built_in
from .values import Objects, camel, snake
from .wire import Peer

CURRENT_RUN: ContextVar[str] = ContextVar("run", default="")
NOT_ARGUMENTS = ("processor_id", "_tripwire", "_tell", "_asked")
TOKENS = ("state", "message_list", "request_context", "abort_signal", "writer", "error")
NONE_IS_A_VALUE = ("result",)
ABOUT_CALL = ("warnings", "request", "rawResponse")
SETTINGS = ("toolChoice", "activeTools", "providerOptions", "modelSettings", "structuredOutput")
AGENT_OPTIONS = ("maxSteps", "maxRetries", *SETTINGS)
MEMORY_OPTIONS = ("lastMessages", "readOnly")
NAMES = {hook.wire: name for name, hook in HOOKS.items()}
ARRAYS = ("inputProcessors", "outputProcessors", "errorProcessors")


@contextlib.contextmanager
def named(run: str) -> Iterator[None]:
    """Everything called within belongs to this run; the threads of its tools inherit it."""
    token = CURRENT_RUN.set(run)
    try:
        yield
    finally:
        CURRENT_RUN.reset(token)


@contextlib.contextmanager
def warnings_told(tell: Callable[[str], None]) -> Iterator[None]:
    """What the reference warns of on this thread is told."""
    handler = Warnings(tell)
    LOG.addHandler(handler)
    try:
        yield
    finally:
        LOG.removeHandler(handler)


class Warnings(logging.Handler):
    """Tells what one thread warns of."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self._tell(record.getMessage())


class Session:
    """One agent and everything the runner plays for it."""

    def __init__(self, peer: Peer, objects: Objects, spec: Json) -> None:
        self._peer = peer
        self.objects = objects
        self._handles = itertools.count(1)
        self.scopes: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.store = WatchedStorage(self, spec.get("memory", {}).get("stored", ()))
        self._processors = {each["key"]: self._processor(each) for each in spec.get("processors", ())}
        self._spec = spec
        self.tracer = WatchedTracer() if spec.get("tracing") else None
        self._agent: Agent | None = None

    @functools.cached_property
    def _agents_tools(self) -> list[Tool]:
        return [each["$value"] if "$value" in each else self._tool(each) for each in self._spec.get("tools", ())]

    @functools.cached_property
    def _tools_by_name(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self._agents_tools}

    def tool(self, name: str) -> Tool:
        """A tool of the session; one that is not the agent's is made when it is first named."""
        if name not in self._tools_by_name:
            spec = next(each for each in self._spec.get("otherTools", ()) if each["name"] == name)
            self._tools_by_name[name] = self._tool(spec)
        return self._tools_by_name[name]

    def agent(self) -> Agent:
        """The agent, made when the first run needs it, so that a refusal is that run's outcome."""
        if self._agent is None:
            spec = self._spec
            models = {each: WireModel(self, each) for each in spec["models"]}
            memory = spec.get("memory")
            kept = {snake(name): memory[name] for name in MEMORY_OPTIONS if name in (memory or {})}
            self._agent = Agent(
                spec["models"][0],
                models=models,
                instructions=in_place_of(spec.get("instructions", ())),
                tools=self._agents_tools,
                **{snake(name): self.array(spec[name]) for name in ARRAYS if name in spec},
                max_processor_retries=spec.get("maxProcessorRetries"),
                memory=Memory(self.store, **kept) if memory is not None else None,
                clock=NoPauses(),
                tracer=self.tracer,
                **{snake(name): spec[name] for name in AGENT_OPTIONS if name in spec},
            )
        return self._agent

    def array(self, keys: Json) -> Any:
        """The processors of an array, the function that makes it, or what stands in its place."""
        if isinstance(keys, list):
            return [in_place_of(key) if isinstance(key, dict) else self._processors[key] for key in keys]
        if isinstance(keys, dict) and "$callback" in keys:
            return lambda context: self.array(self.callback(keys["$callback"], {"requestContext": context}))
        return in_place_of(keys)

    # -- calls -----------------------------------------------------------------------------------------------------

    def ask(self, method: str, **params: Json) -> dict[str, Json]:
        """Asks the runner, in the name of the present run."""
        return self._peer.request(method, {"run": CURRENT_RUN.get(), **params})

    def tell(self, method: str, **params: Json) -> None:
        """Tells the runner."""
        self._peer.notify(method, params)

    def next_name(self) -> str:
        """A name for a call, never used before."""
        return f"c{next(self._handles)}"

    def open_scope(self, scope: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
        """Makes a call's live arguments reachable, and what else a template may name: the session's tools, and models
        by their ids; returns the call's handle and the tokens of its objects.
        """
        handle = self.next_name()
        models = functools.partial(WireModel, self)
        self.scopes[handle] = (CURRENT_RUN.get(), {**scope, "$tool": self.tool, "$models": models})
        tokens = {
            camel(name): self.objects.token(scope[camel(name)]) for name in TOKENS if scope.get(camel(name)) is not None
        }
        return handle, tokens

    def hook(self, key: str, processor: Processor, wire: str, args: Any) -> Any:
        """One hook call: what the runner returns is what the hook returns."""
        scope = scope_of(args)
        handle, tokens = self.open_scope(scope)
        tokens["instance"] = self.objects.token(processor)
        arguments = {name: self.objects.encode(value) for name, value in scope.items() if name != "abort"}
        arguments["abort"] = {"$object": self.objects.token(args)}
        answer = self.ask("hook/call", handle=handle, processor=key, hook=wire, arguments=arguments, tokens=tokens)
        returned = self._returned(answer["return"], handle, args)
        if isinstance(returned, dict) and wire != "processOutputStream":
            return {snake(key): value for key, value in returned.items()}
        return returned

    def callback(self, name: str, scope: Mapping[str, Any], **more: Json) -> Any:
        """One call of a callback."""
        handle, tokens = self.open_scope(scope)
        arguments = {key: self.objects.encode(value) for key, value in scope.items() if key != "abort"}
        answer = self.ask("callback/call", handle=handle, callback=name, arguments=arguments, tokens=tokens, **more)
        return self._returned(answer["return"], handle)

    def _returned(self, template: Json, handle: str, args: Any = None) -> Any:
        if isinstance(template, dict) and "$abort" in template:
            given = dict(template["$abort"])
            args.abort(given.pop("reason", None), **given)
        if isinstance(template, dict) and "$throw" in template:
            raise self.objects.make_error(template["$throw"])
        _, live = self.scopes[handle]
        return self.objects.decode(template, live)

    # -- callbacks of a call ---------------------------------------------------------------------------------------

    def prepare_step(self, args: Any) -> Any:
        returned = self.callback("prepareStep", scope_of(args))
        return {snake(key): value for key, value in returned.items()} if isinstance(returned, dict) else returned

    def stop_when(self, steps: Json) -> Any:
        return self.callback("stopWhen", {"steps": steps})

    # -- makers ----------------------------------------------------------------------------------------------------

    def _processor(self, spec: Json) -> Processor:
        """One object with exactly the hooks and other methods listed, or the built-in that is named."""
        if "builtIn" in spec:
            return built_in(spec)
        processor = Processor()
        if spec["id"] is not None:
            processor.id = spec["id"]
        for name in spec.get("methods", ()):
            setattr(processor, snake(name), lambda args: None)
        processor.name = spec.get("name")
        processor.description = spec.get("description")
        processor.process_data_parts = spec.get("processDataParts", False)
        for wire in spec["hooks"]:
            method = self._method(spec["key"], processor, wire)
            setattr(processor, NAMES[wire], later(method) if wire in spec.get("asynchronous", ()) else method)
        for wire, value in spec.get("values", {}).items():
            setattr(processor, NAMES[wire], value)
        if spec.get("onViolation"):
            processor.on_violation = lambda violation: self.callback(
                "onViolation", {"violation": violation}, processor=spec["key"]
            )
        return processor

    def _method(self, key: str, processor: Processor, wire: str) -> Any:
        return lambda args: self.hook(key, processor, wire, args)

    def _tool(self, spec: Json) -> Tool:
        def execute(args: Json, context: ToolContext) -> Any:
            scope = {
                "args": args,
                "writer": context.writer,
                "abortSignal": context.abort_signal,
                "requestContext": context.request_context,
                "tracingContext": context.tracing_context,
            }
            handle, tokens = self.open_scope(scope)
            call = {"tool": spec["name"], "toolCallId": context.tool_call_id, "args": self.objects.encode(args)}
            answer = self.ask("tool/call", handle=handle, tokens=tokens, **call)
            return self._returned(answer["return"], handle)

        parameters = spec.get("parameters", {"type": "object"})
        own = in_place_of(spec.get("execute", True))
        if isinstance(own, bool):
            own = (later(execute) if spec.get("asynchronous") else execute) if own else None
        return Tool(spec["name"], own, spec.get("description", ""), parameters)


def later(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, written asynchronously."""

    async def called(*args: Any) -> Any:
        return function(*args)

    return called


def in_place_of(given: Json) -> Any:
    """What was given, or the value that stands in its place."""
    return given["$value"] if isinstance(given, dict) and "$value" in given else given


class NoPauses(Clock):
    """A clock on which no time passes between the retries of a model call."""

    def sleep(self, seconds: float, signal: AbortSignal | None = None) -> None:
        super().sleep(0.0, signal)


class WatchedTracer(Tracer):
    """Keeps the spans of each run, in the order in which they began: their ids are numbers."""

    def __init__(self) -> None:
        numbers = itertools.count(1)
        self._lines = io.StringIO()
        self._traces: dict[str, str] = {}
        super().__init__(JsonLines(self._lines), ids=lambda: f"s{next(numbers)}")

    def begin(self, kind: str, name: str, **attributes: Any) -> Span:
        root = super().begin(kind, name, **attributes)
        self._traces[CURRENT_RUN.get()] = root.trace
        return root

    def spans_of(self, run: str) -> list[Json]:
        """What was told of the run, as the wire has it."""
        spans = map(json.loads, self._lines.getvalue().splitlines())
        found = [span for span in spans if span["trace"] == self._traces.get(run)]
        return [_flat(**span) for span in sorted(found, key=lambda span: int(span["id"][1:]))]


def _flat(trace: str, begun: float, ended: float, attributes: dict[str, Json], **span: Json) -> Json:
    return {**attributes, **span, "traceId": trace}


class WireModel:
    """A model whose answers the runner gives."""

    def __init__(self, session: Session, model_id: str) -> None:
        self.id = model_id
        self._session = session

    def stream(self, request: ModelRequest) -> Iterator[Chunk]:
        """The runner's parts, all at once or pulled one by one."""
        session, call, run = self._session, self._session.next_name(), CURRENT_RUN.get()
        signal = request.abort_signal

        def stop(reason: Any = None) -> None:
            session.tell("model/aborted", run=run, call=call)

        take_off = signal.on_abort(stop) if signal is not None else lambda: None
        pulled = False
        try:
            answer = session.ask("model/call", call=call, **self._described(request))
            if "error" in answer:
                raise session.objects.make_error(answer["error"])
            pulled = answer.get("pull", False)
            about = {name: session.objects.decode(answer[name], {}) for name in ABOUT_CALL if name in answer}
            if about:
                yield {"type": "stream-start", "payload": about}
            if pulled:
                yield from self._pulled(call)
            else:
                yield from map(self._part, answer["parts"])
        except GeneratorExit:  # RTY-28: what is left of the answer is not wanted any more
            if pulled and not (signal is not None and signal.aborted):
                stop()
            raise
        finally:
            take_off()

    def _described(self, request: ModelRequest) -> dict[str, Json]:
        described = {
            "model": self.id,
            "mode": "stream",
            "prompt": self._session.objects.encode(request.prompt),
            "tools": [tool["name"] for tool in request.tools],
            "signal": request.abort_signal is not None,
        }
        for name in ("tool_choice", "settings", "provider_options", "structured_output"):
            value = getattr(request, name)
            if value is not None:
                described[camel(name)] = self._session.objects.encode(value)
        return described

    def _pulled(self, call: str) -> Iterator[Chunk]:
        while True:
            answer = self._session.ask("model/next", call=call)
            if answer.get("done"):
                return
            if "error" in answer:
                raise self._session.objects.make_error(answer["error"])
            yield self._part(answer["part"])

    def _part(self, part: Json) -> Chunk:
        """A part as a provider gives it: an error in it is an exception."""
        made: Chunk = self._session.objects.decode(part, {})
        if made["type"] == "error" and isinstance(made["payload"].get("error"), dict):
            made["payload"]["error"] = self._session.objects.make_error(made["payload"]["error"])
        return made


class WatchedStorage:
    """The in-memory store, behind the runner's eyes: it is asked before every read and write."""

    def __init__(self, session: Session, stored: Json) -> None:
        self.inner = InMemoryStorage()
        self._session = session
        for each in stored:
            self.inner.append(each["thread"], each["resource"], session.objects.decode(each["messages"], {}))

    def read(self, thread: str, resource: str, limit: int | None = None) -> list[Message]:
        self._ask("store/read", thread=thread, resource=resource)
        return self.inner.read(thread, resource, limit)

    def append(self, thread: str, resource: str, messages: Sequence[Message]) -> None:
        self._ask(
            "store/write", thread=thread, resource=resource, messages=self._session.objects.encode(list(messages))
        )
        self.inner.append(thread, resource, messages)

    def _ask(self, method: str, **params: Json) -> None:
        answer = self._session.ask(method, **params)
        if "error" in answer:
            raise self._session.objects.make_error(answer["error"])


def scope_of(args: Any) -> dict[str, Any]:
    """A hook's live arguments by their wire names; what the contract leaves absent is not there."""
    scope = {}
    for field in dataclasses.fields(args):
        value = getattr(args, field.name)
        if field.name not in NOT_ARGUMENTS and (value is not None or field.name in NONE_IS_A_VALUE):
            scope[camel(field.name)] = value
    scope["abort"] = args.abort
    return scope
