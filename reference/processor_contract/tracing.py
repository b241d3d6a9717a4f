"""Traces: for each request a tree of spans, told to whoever exports them; and what hooks and tools add to it.

Flows in: what began and ended. Flows out: one JSON object for each span, when it has ended. A span holds names, ids,
numbers and how it ended, and nothing of the conversation, so that nothing a processor removed is in a trace (CTX-14);
what the author of a processor or tool adds is the author's own affair.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from .context import Clock
from .data import Json, jsonable, new_id
from .errors import TripWire

Export = Callable[[dict[str, Any]], None]


class Tracer:
    """Makes the traces of an agent's requests: where their spans go, by which clock, under which ids.

    `export` gets `{trace, id, parent, kind, name, begun, ended, outcome, attributes}`, once for each span, from the
    thread that ended it; `parent` is absent at the root, `begun` and `ended` are seconds since 1970, `outcome` is
    `ok`, `retry`, `aborted`, `error` or `cancelled`. What it raises is swallowed: a broken exporter breaks no run
    (CTX-9). `JsonLines` is one.
    """

    def __init__(self, export: Export, *, clock: Clock | None = None, ids: Callable[[], str] = new_id) -> None:
        self.export = export
        self.clock = clock or Clock()
        self.new_id = ids

    def begin(self, kind: str, name: str, **attributes: Any) -> Span:
        """The root of a new trace."""
        return Span(_Tree(self), None, kind, name, attributes)


class _Tree:
    """What the spans of one trace share."""

    __slots__ = ("id", "lock", "tracer")

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.id = tracer.new_id()
        self.lock = threading.RLock()


class Span:
    """One piece of a run: it begins when it is made, and ends once, at the latest with what it stands in (CTX-9).

    `kind` is `run`, `step`, `model`, `tool`, `processor`, or `custom` for what somebody else began. `set` and `child`
    do nothing that is seen once it has ended. Safe from any thread.
    """

    __slots__ = ("_begun", "_open", "_parent", "_tree", "attributes", "ended", "id", "kind", "name")

    def __init__(self, tree: _Tree | None, parent: Span | None, kind: str, name: str, attributes: Json) -> None:
        self.kind = kind
        self.name = name
        self.attributes: dict[str, Any] = attributes
        self.ended: bool = tree is None or (parent is not None and parent.ended)
        self._tree = tree
        self._parent = parent
        self._open: dict[int, Span] = {}  # those that began in it and have not ended, by identity
        if tree is not None:
            self.id = tree.tracer.new_id()
            self._begun = tree.tracer.clock.now()

    @property
    def trace(self) -> str:
        """The id of the trace that it is in; empty where nobody traces."""
        return "" if self._tree is None else self._tree.id

    def child(self, name: str, *, kind: str = "custom", **attributes: Any) -> Span:
        """A span within this one."""
        if self._tree is None:
            return self
        with self._tree.lock:
            made = Span(self._tree, self, kind, name, attributes)
            if not made.ended:
                self._open[id(made)] = made
        return made

    def set(self, **attributes: Any) -> None:
        """Adds to what the span says of itself; what JSON cannot hold is left out of the trace."""
        if not self.ended:
            self.attributes.update(attributes)

    def end(self, outcome: str = "ok", **attributes: Any) -> None:
        """Ends it, the first time only. What is still open within was left behind, and ends before it as cancelled."""
        if self._tree is None:
            return
        with self._tree.lock:
            if self.ended:
                return
            self.attributes.update(attributes)
            self.ended = True
            left = list(self._open.values())
            if self._parent is not None:
                self._parent._open.pop(id(self), None)
            ended = self._tree.tracer.clock.now()
        for span in left:
            span.end("cancelled")
        with contextlib.suppress(Exception):
            self._tree.tracer.export(self._described(outcome, ended))

    def _described(self, outcome: str, ended: float) -> dict[str, Any]:
        assert self._tree is not None  # only such a span ends
        parent = {} if self._parent is None else {"parent": self._parent.id}
        return {
            "trace": self.trace,
            "id": self.id,
            **parent,
            "kind": self.kind,
            "name": self.name,
            "begun": self._begun,
            "ended": ended,
            "outcome": outcome,
            "attributes": jsonable(self.attributes),
        }


NO_SPAN = Span(None, None, "custom", "", {})  # where nobody traces: it has ended, and so has all that begins in it


class TracingContext:
    """What a hook or tool is given to trace with: the span it runs in, None where nobody traces (CTX-6)."""

    __slots__ = ("current_span",)

    def __init__(self, current_span: Span | None = None) -> None:
        self.current_span = current_span

    @contextlib.contextmanager
    def span(self, name: str, **attributes: Any) -> Iterator[Span]:
        """A span of one's own around a block of code, below the current one (CTX-16); where nobody traces, around the
        block and nowhere else (CTX-7).
        """
        span = (self.current_span or NO_SPAN).child(name, **attributes)
        try:
            yield span
        except BaseException as error:
            span.end("aborted" if isinstance(error, TripWire) else "error", error=type(error).__name__)
            raise
        span.end()


class JsonLines:
    """An exporter: one line of JSON for each span, at once, whole lines from any number of threads.

    Takes a path, to which it appends, or anything with `write` and `flush`. Also a context manager that closes what it
    opened.
    """

    def __init__(self, to: str | Path | IO[str]) -> None:
        self._own = isinstance(to, (str, Path))
        self._file: IO[str] = open(to, "a", encoding="utf-8") if isinstance(to, (str, Path)) else to  # noqa: SIM115
        self._lock = threading.Lock()

    def __call__(self, span: dict[str, Any]) -> None:
        line = json.dumps(span) + "\n"
        with self._lock:
            self._file.write(line)
            self._file.flush()

    def close(self) -> None:
        """Closes the file that a path named."""
        if self._own:
            self._file.close()

    def __enter__(self) -> JsonLines:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
