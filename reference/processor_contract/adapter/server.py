"""The adapter's methods: sessions, runs, and operations on live objects. It knows no scenario and decides nothing.

Flows in: the runner's requests. Flows out: agents of this reference, driven; their outcomes as JSON.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from .. import __version__
from ..context import UNSET, AbortSignal, RequestContext
from ..data import Json
from ..errors import NotSaved
from ..hooks import HOOKS
from ..stream import RunResult, Stream
from ..tracing import TracingContext
from .built_ins import BUILT_INS, hooks_of
from .session import ARRAYS, SETTINGS, Session, named, warnings_told
from .values import Objects, follow, read, snake
from .wire import Peer, Unserved

CAPABILITIES = [
    "generate",
    "stream",
    "pull",
    "close",
    "cancel",
    "pulled-model",
    "concurrent-runs",
    "memory",
    "scripted-store",
    "call-overrides",
    "prepare-step",
    "stop-when",
    "on-violation",
    "function-arrays",
    "parallel-tools",
    "data-chunks",
    "error-processors",
    "context-messages",
    "model-retries",
    "tracing",
    "settings",
    "call-model",
    "call-tools",
    "tool-lists",
    "odd-values",
    "warnings",
    "objects",
    "gathered",
    *BUILT_INS,
]
GATHERED = ("reasoning", "sources", "files", "toolResults")
REVISIONS = ["nine-hook", "six-hook"]
PLAIN_OPTIONS = ("maxProcessorRetries", "maxSteps", "system", "context", "model", *SETTINGS)


class OpenRun:
    """A run the runner has started: its stream, its signal, its session."""

    def __init__(self, session: Session, signal: AbortSignal) -> None:
        self.session = session
        self.signal = signal
        self.stream: Stream | None = None


class Server:
    """Answers every method of the protocol that goes from the runner to the adapter."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._objects = Objects()
        self._sessions: dict[str, Session] = {}
        self._runs: dict[str, OpenRun] = {}
        self._revision = REVISIONS[0]
        self._methods: dict[str, Callable[[Json], Json]] = {
            "initialize": self.initialize,
            "session/open": self.open_session,
            "session/close": self.close_session,
            "run/start": self.start,
            "run/read": self.read,
            "run/result": self.result,
            "run/close": self.close,
            "run/cancel": self.cancel,
            "run/spans": self.spans,
            "object/do": self.do,
            "storage/read": self.stored,
            "tick": self.tick,
            "shutdown": self.shutdown,
        }

    def serve(self, method: str, params: dict[str, Json]) -> Json:
        """Answers one request."""
        if method not in self._methods:
            raise Unserved(f"method {method!r} is unknown; known are {', '.join(self._methods)}")
        return self._methods[method](params)

    # -- sessions --------------------------------------------------------------------------------------------------

    def initialize(self, params: Json) -> Json:
        if 1 not in params["protocols"]:
            raise Unserved(
                f"none of the protocols {params['protocols']} is spoken here; this adapter speaks protocol 1"
            )
        self._revision = params["revision"]
        return {
            "protocol": 1,
            "implementation": {"name": "reference", "version": __version__},
            "revisions": REVISIONS,
            "capabilities": CAPABILITIES,
        }

    def open_session(self, params: Json) -> Json:
        """An agent of the revision asked for: what keeps the nine-hook one keeps the other, but for three hooks."""
        wanted = {hook for each in params["agent"].get("processors", ()) for hook in hooks_of(each)}
        later = wanted - {hook.wire for hook in HOOKS.values() if hook.in_six or self._revision == REVISIONS[0]}
        if later:
            raise Unserved(f"the revision {self._revision} has no {', '.join(sorted(later))}; ask for {REVISIONS[0]}")
        self._sessions[params["session"]] = Session(self._peer, self._objects, params["agent"])
        return {}

    def close_session(self, params: Json) -> Json:
        session = self._session(params)
        del self._sessions[params["session"]]
        self._runs = {name: run for name, run in self._runs.items() if run.session is not session}
        if not self._sessions:
            self._objects = Objects()
        return {}

    def stored(self, params: Json) -> Json:
        session = self._session(params)
        return {"messages": self._objects.encode(session.store.inner.read(params["thread"], params["resource"]))}

    def tick(self, params: Json) -> Json:
        time.sleep(0)  # every other thread that is ready gets its turn
        return {}

    def shutdown(self, params: Json) -> Json:
        return {}

    # -- runs ------------------------------------------------------------------------------------------------------

    def start(self, params: Json) -> Json:
        session = self._session(params)
        run = OpenRun(session, AbortSignal())
        self._runs[params["run"]] = run
        with named(params["run"]), warnings_told(lambda text: self._warn(params["run"], text)):
            try:
                options = self._options(session, run, params.get("options", {}))
                messages = self._objects.decode(params["input"], {})
                if params["mode"] == "generate":
                    return {"outcome": self._outcome(session.agent().generate(messages, **options))}
                run.stream = session.agent().stream(messages, **options)
            except Exception as error:
                return self._raised(error, "start")
        if params.get("reading") == "pull":
            return {"opened": True}
        return self.result(params, tell=True)

    def _warn(self, run: str, text: str) -> None:
        self._peer.notify("warning", {"run": run, "message": text})

    def _options(self, session: Session, run: OpenRun, options: Json) -> dict[str, Any]:
        plain = {snake(name): options[name] for name in PLAIN_OPTIONS if name in options}
        given: dict[str, Any] = self._objects.decode(plain, {})
        given.update({snake(name): session.array(options[name]) for name in ARRAYS if name in options})
        if "tools" in options:
            given["tools"] = [session.tool(name) for name in options["tools"]]
        others = self._objects.decode(options.get("others", {}), {})
        given.update({snake(name): value for name, value in others.items()})
        if "memory" in options:
            given.update(thread=options["memory"].get("thread"), resource=options["memory"].get("resource"))
        if "requestContext" in options:
            given["request_context"] = RequestContext(options["requestContext"])
        if options.get("signal"):
            given["abort_signal"] = run.signal
        if options.get("signal") == "fired":
            run.signal.abort()
        if "prepareStep" in options.get("callbacks", ()):
            given["prepare_step"] = session.prepare_step
        if "stopWhen" in options.get("callbacks", ()):
            given["stop_when"] = session.stop_when
        return given

    def read(self, params: Json) -> Json:
        chunks: list[Json] = []
        with named(params["run"]):
            stream = self._stream(params)
            for _ in range(params["count"]):
                chunk = next(stream, None)
                if chunk is None:
                    return {"chunks": chunks, "done": True}
                chunks.append(self._objects.encode(chunk))
        return {"chunks": chunks, "done": False}

    def result(self, params: Json, *, tell: bool = False) -> Json:
        """The outcome of a stream; with `tell` every chunk is sent on its way there."""
        with named(params["run"]):
            stream = self._stream(params)
            try:
                for chunk in stream if tell else ():
                    self._peer.notify("stream/chunk", {"run": params["run"], "chunk": self._objects.encode(chunk)})
                return {"outcome": self._outcome(stream.result())}
            except Exception as error:
                return self._raised(error, "result")

    def close(self, params: Json) -> Json:
        with named(params["run"]):
            self._stream(params).close()
        return {}

    def cancel(self, params: Json) -> Json:
        self._started(params).signal.abort(params.get("reason"))
        return {}

    def spans(self, params: Json) -> Json:
        run = self._started(params)
        tracer = run.session.tracer
        return {"spans": [] if tracer is None else self._objects.encode(tracer.spans_of(params["run"]))}

    def _started(self, params: Json) -> OpenRun:
        run = self._runs.get(params["run"])
        if run is None:
            raise Unserved(f"run {params['run']!r} was not started; start it with run/start")
        return run

    def _session(self, params: Json) -> Session:
        if params.get("session") not in self._sessions:
            raise Unserved(f"session {params.get('session')!r} is not open; open it with session/open")
        return self._sessions[params["session"]]

    def _stream(self, params: Json) -> Stream:
        run = self._runs.get(params["run"])
        if run is None or run.stream is None:
            raise Unserved(f"run {params['run']!r} has no stream; start it in mode stream")
        return run.stream

    def _raised(self, error: Exception, at: str) -> Json:
        answer = self._outcome(error.result) if isinstance(error, NotSaved) else {}  # PER-40: it brings the answer
        return {"outcome": {**answer, "raised": self._objects.chain(error), "at": at}}

    def _outcome(self, result: RunResult) -> Json:
        encode = self._objects.encode
        outcome = {
            "text": result.text,
            "finishReason": result.finish_reason,
            "usage": encode(result.usage),
            "steps": encode(result.steps),
            "messages": encode(result.messages),
        }
        if result.tripwire is not None:
            outcome["tripwire"] = encode(result.tripwire)
        if result.error is not None:
            outcome["error"] = self._objects.error(result.error)
        gathered = {name: getattr(result, snake(name)) for name in GATHERED}
        return {**outcome, **self._object(result), **{name: encode(each) for name, each in gathered.items() if each}}

    def _object(self, result: RunResult) -> Json:
        """The object that was asked for, and what is wrong with the answer."""
        told: dict[str, Json] = {}
        if result.object_error is not None:
            told["objectError"] = self._objects.error(result.object_error)
        if result.used_fallback:
            told["usedFallback"] = True
        if result.answer.value is not UNSET:  # RES-29: null is a value too
            told["object"] = self._objects.encode(result.answer.value)
        return told

    # -- operations ------------------------------------------------------------------------------------------------

    def do(self, params: Json) -> Json:
        run, scope = self._find(params["handle"])
        results = []
        with named(run):
            for operation in params["operations"]:
                try:
                    value = OPERATIONS[operation["op"]](self._objects, operation, scope)
                    results.append({"value": self._objects.encode(value)})
                except Exception as error:
                    results.append({"error": self._objects.error(error)})
        return {"results": results}

    def _find(self, handle: str) -> tuple[str, Mapping[str, Any]]:
        for session in list(self._sessions.values()):
            if handle in session.scopes:
                return session.scopes[handle]
        raise Unserved(f"no call has the handle {handle!r}")


def _set(objects: Objects, operation: Json, scope: Mapping[str, Any]) -> None:
    holder, key = follow(operation["at"], scope)
    holder[key] = objects.decode(operation["value"], scope)


def _append(objects: Objects, operation: Json, scope: Mapping[str, Any]) -> None:
    read(operation["at"], scope).append(objects.decode(operation["value"], scope))


def _remove(objects: Objects, operation: Json, scope: Mapping[str, Any]) -> None:
    holder, key = follow(operation["at"], scope)
    del holder[key]


def _abort(objects: Objects, operation: Json, scope: Mapping[str, Any]) -> None:
    given = {key: operation[key] for key in ("retry", "metadata") if key in operation}
    scope["abort"](operation.get("reason"), **given)


def _call(objects: Objects, operation: Json, scope: Mapping[str, Any]) -> Any:
    target = read(operation["on"], scope)
    method = METHODS.get(operation["on"], {}).get(operation["method"])
    if method is None:
        raise NoSuchMethod(f"{operation['on']} has no method {operation['method']!r} here")
    return method(target, *objects.decode(operation.get("args", []), scope))


def _span(target: TracingContext, name: str, error: BaseException | None = None) -> None:
    with target.span(name):
        if error is not None:
            raise error


class NoSuchMethod(Exception):
    """A method that this implementation lacks."""


def _view(view: str, form: str) -> Callable[[Any], Any]:
    return lambda target: getattr(getattr(target.get, view), form)()


OPERATIONS: dict[str, Callable[[Objects, Json, Mapping[str, Any]], Any]] = {
    "read": lambda objects, operation, scope: read(operation["at"], scope),
    "token": lambda objects, operation, scope: objects.token(read(operation["at"], scope)),
    "set": _set,
    "append": _append,
    "remove": _remove,
    "call": _call,
    "abort": _abort,
}
METHODS: dict[str, dict[str, Callable[..., Any]]] = {
    "messageList": {
        "add": lambda target, messages, source: target.add(messages, source),
        "removeByIds": lambda target, ids: target.remove_by_ids(ids),
        "updateToolInvocation": lambda target, part: target.update_tool_invocation(part),
        "addSystem": lambda target, message, tag=None: target.add_system(message, tag),
        "getSystemMessages": lambda target, tag=None: target.get_system_messages(tag),
        "getAllSystemMessages": lambda target: target.get_all_system_messages(),
        "replaceAllSystemMessages": lambda target, messages: target.replace_all_system_messages(messages),
        **{
            f"get.{view}.{form}": _view(view, form)
            for view in ("all", "input", "response", "remembered")
            for form in ("db", "ui", "core")
        },
        "clear.all.db": lambda target: target.clear(),
        "clear.input.db": lambda target: target.clear("input"),
        "clear.response.db": lambda target: target.clear("response"),
    },
    "writer": {
        "custom": lambda target, chunk, options=None: target.custom(
            chunk, **{snake(name): value for name, value in (options or {}).items()}
        )
    },
    "requestContext": {
        "get": lambda target, key: target.get(key, UNSET),
        "set": lambda target, key, value: target.set(key, value),
        "has": lambda target, key: target.has(key),
        "delete": lambda target, key: target.delete(key),
    },
    "abortSignal": {"aborted": lambda target: target.aborted},
    "tracingContext": {"span": _span},
}
