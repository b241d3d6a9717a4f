"""Writes down what arrives: events in the trace, in the scenario's own words.

Flows in: the adapter's messages, in order of arrival, in the wire's words. Flows out: events, each in its lane and with
what it shows (`SEEN`, the table at the end). Only ever called on the reading thread, so that the order of events is the
order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable

from .faults import AdapterFault
from .rename import Renaming
from .trace import Event, Trace
from .words import Json, Lane

MOST_EVENTS = 50_000
Words = Callable[[Json], Json]  # from the wire's to the scenario's
Seen = tuple[Lane, str, dict[str, Json]]  # where it belongs, what a lens selects it by, what it shows


class Notes:
    """Keeps the trace of one play."""

    def __init__(self, trace: Trace, renaming: Renaming) -> None:
        self.trace = trace
        self._renaming = renaming

    def message(self, run: str, method: str, params: dict[str, Json], *, late: bool) -> Event:
        """Notes a message of the adapter's; `late` says that its run has ended."""
        return self._note(run, *SEEN[method](params, self._renaming.from_wire), late)

    def opened(self, run: str) -> None:
        """Notes that the client was handed its stream."""
        self._note(run, "client", "opened", {"opened": True}, False)

    def span(self, run: str, span: dict[str, Json]) -> None:
        """Notes a span of the run's trace."""
        self._note(run, "spans", span["kind"], self._renaming.from_wire(span), False)

    def outcome(self, run: str, outcome: dict[str, Json]) -> None:
        self.trace.outcomes[run] = self._renaming.from_wire(outcome)

    def _note(self, run: str, lane: Lane, name: str, data: dict[str, Json], late: bool) -> Event:
        event = Event(len(self.trace.events), run, lane, name, data, late)
        self.trace.events.append(event)
        if len(self.trace.events) > MOST_EVENTS:
            raise AdapterFault("hung", f"the run {run!r} does not come to an end: {MOST_EVENTS} events so far")
        return event


def _hook(params: dict[str, Json], words: Words) -> Seen:
    named = {"hook": params["hook"], "processor": params["processor"]}
    return "work", params["hook"], {**named, **words(params["arguments"]), "tokens": params["tokens"]}


def _tool(params: dict[str, Json], words: Words) -> Seen:
    named = {key: words(params[key]) for key in ("tool", "toolCallId", "args")}
    return "work", "tool", {**named, "tokens": params["tokens"]}


def _callback(params: dict[str, Json], words: Words) -> Seen:
    owner = {"processor": params["processor"]} if "processor" in params else {}
    named = {"callback": params["callback"], **owner}
    return "work", params["callback"], {**named, **words(params["arguments"]), "tokens": params["tokens"]}


def _store(action: str) -> Callable[[dict[str, Json], Words], Seen]:
    return lambda params, words: ("work", f"store/{action}", {"store": action, **words(_rest(params, "run"))})


def _model(params: dict[str, Json], words: Words) -> Seen:
    return "provider", "model", words(_rest(params, "run", "call"))


def _next(params: dict[str, Json], words: Words) -> Seen:
    return "provider", "model/next", {"next": True}


def _aborted(params: dict[str, Json], words: Words) -> Seen:
    return "provider", "model/aborted", {"aborted": True, **_rest(params, "run", "call")}


def _warning(params: dict[str, Json], words: Words) -> Seen:
    return "work", "warning", {"warning": words(params["message"])}


def _chunk(params: dict[str, Json], words: Words) -> Seen:
    chunk = words(params["chunk"])
    return "client", str(chunk["type"]), chunk


def _rest(params: dict[str, Json], *without: str) -> dict[str, Json]:
    return {key: value for key, value in params.items() if key not in without}


# What each message shows. `model/next` is noted only where it comes too late: a pulled part is no event.
SEEN: dict[str, Callable[[dict[str, Json], Words], Seen]] = {
    "hook/call": _hook,
    "tool/call": _tool,
    "callback/call": _callback,
    "store/read": _store("read"),
    "store/write": _store("write"),
    "model/call": _model,
    "model/next": _next,
    "model/aborted": _aborted,
    "stream/chunk": _chunk,
    "warning": _warning,
}
