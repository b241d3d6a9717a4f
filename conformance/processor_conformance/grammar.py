"""The grammar of the chunks that a client gets, as SPEC.md has it at the head of STR.

Flows in: a scenario and the chunks of one of its runs, in order. Flows out: what breaks the grammar, under the rule it
belongs to. Nothing is judged that the scenario's own processors or its model could have caused: a type that a processor
may drop, change or make takes every sentence with it that speaks of this type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from .pattern import NOTHING
from .scenario import Scenario, objects
from .trace import Event
from .words import TERMINAL, Json

Fault = tuple[str, Json, Json, str]  # the rule, the chunk before, the chunk, what is wrong with it
Wrong = tuple[str, str]  # the rule, what is wrong
Types = frozenset[str]
AFTER_ERROR = ("step-finish", "error", *TERMINAL)  # a hook may fail on a failure
FRAME = ("step-start", "step-finish")
OUTSIDE = ("opened", "start", *TERMINAL, "error")  # what stands outside of every step
BLOCKS = {  # what comes in pieces: its first, its next and its last piece, and what tells one from another
    "text": ("text-start", "text-delta", "text-end", "id"),
    "reasoning": ("reasoning-start", "reasoning-delta", "reasoning-end", "id"),
    "input": ("tool-call-input-streaming-start", "tool-call-delta", "tool-call-input-streaming-end", "toolCallId"),
}
ANSWERS = ("tool-result", "tool-error")
CUT_OFF = ("retry", "error")  # the finish reasons of a step that may leave something open
ENDING = ("finishReason", "usage")
CALL = ("toolCallId", "toolName")
PAYLOADS = {
    "text-delta": ("text",),
    "reasoning-delta": ("text",),
    "tool-call": (*CALL, "args"),
    "tool-result": (*CALL, "result"),
    "tool-error": (*CALL, "error"),
    "error": ("error",),
    "step-finish": ENDING,
    "finish": ENDING,
    "tripwire": ("reason", "processorId"),
}
PIECES = (piece for block in BLOCKS.values() for piece in block[:3])
KINDS: Types = frozenset({*OUTSIDE, *FRAME, *PAYLOADS, *PIECES, "source", "file"})  # of chunks, but for those of data


def faults(scenario: Scenario, chunks: list[Event], *, whole: bool) -> Iterator[Fault]:
    """What breaks the grammar, the first fault of each kind; `whole`: nothing of the stream is missing."""
    made = touched(scenario)
    sound = sound_script(scenario)
    yield from _first(End().take, lambda name: True, chunks)
    ends = next((place for place, chunk in enumerate(chunks, 1) if chunk.name in TERMINAL), len(chunks))
    checks: list[tuple[Callable[[str, Json], Wrong | None], Callable[[str], bool]]] = [
        (Frame().take, lambda name: not made & {*FRAME, name}),
        (Blocks().take, lambda name: sound and not made & {piece for block in BLOCKS.values() for piece in block}),
        (Answers().take, lambda name: sound and not made & {"tool-call", *ANSWERS}),
        (Envelope().take, lambda name: name not in made),
    ]
    for take, judged in checks:
        yield from _first(take, judged, chunks[:ends])
    if whole and chunks and chunks[-1].name not in (*TERMINAL, "error"):
        yield "STR-1", chunks[-1].data, NOTHING, "nothing follows it, and it is no chunk that ends a stream"


def _first(
    take: Callable[[str, Json], Wrong | None], judged: Callable[[str], bool], chunks: Iterable[Event]
) -> Iterator[Fault]:
    last: Json = NOTHING
    for chunk in chunks:
        wrong = take(chunk.name, chunk.data)
        if wrong and judged(chunk.name):
            yield wrong[0], last, chunk.data, wrong[1]
            return
        last = chunk.data


class End:
    """Nothing follows a terminal chunk, and only the end of the run follows an error."""

    def __init__(self) -> None:
        self._last = ""

    def take(self, name: str, chunk: Json) -> Wrong | None:
        earlier, self._last = self._last, name
        if earlier in TERMINAL or (earlier == "error" and not _closes(name)):
            rule = "TRI-14" if earlier == "tripwire" else "STR-1"
            return rule, f"the chunk {name!r} follows {earlier!r}, which ends the stream"
        return None


def _closes(name: str) -> bool:
    return name in AFTER_ERROR or name.startswith("data-")


class Frame:
    """`start` comes first, content stands between a `step-start` and its `step-finish`."""

    def __init__(self) -> None:
        self._inside = False
        self._first = True
        self._steps = 0

    def take(self, name: str, chunk: Json) -> Wrong | None:
        inside, first = self._inside, self._first
        self._inside = {"step-start": True, "step-finish": False}.get(name, inside)
        self._first = first and name == "opened"
        self._steps += name == "step-finish"
        if name == "finish" and not (self._steps or inside):
            return "STR-7", "the stream finishes without a step"
        if first and name not in ("opened", "start", "tripwire", "abort"):
            return "STR-7", f"the stream begins with {name!r}, not with 'start'"
        if name == "start" and not first:
            return "STR-7", "'start' comes a second time"
        return _misplaced(name, inside)


def _misplaced(name: str, inside: bool) -> Wrong | None:
    if name == "step-start" and inside:
        return "ORD-18", "a step starts before the one before it has finished"
    if name == "step-finish" and not inside:
        return "ORD-17", "a step finishes that has not started"
    if name == "finish" and inside:
        return "ORD-18", "the stream finishes before its step has"
    if name not in (*OUTSIDE, *FRAME) and not name.startswith("data-") and not inside:
        return "ORD-17", f"the chunk {name!r} stands outside a step"
    return None


class Blocks:
    """What comes in pieces has a beginning, and an end unless its step is cut off."""

    def __init__(self) -> None:
        self._open: set[tuple[str, Json]] = set()

    def take(self, name: str, chunk: Json) -> Wrong | None:
        payload = payload_of(chunk)
        if name == "step-finish":
            left, self._open = self._open, set()
            if left and payload.get("finishReason") not in CUT_OFF:
                return "STR-7", f"the step finishes before its {min(kind for kind, _ in left)} has ended"
        for kind, (begins, goes_on, ends, key) in BLOCKS.items():
            block = (kind, payload.get(key))
            if name == begins:
                if block in self._open:
                    return "STR-7", f"the {kind} {block[1]!r} begins twice"
                self._open.add(block)
            elif name in (goes_on, ends) and block not in self._open:
                return "STR-7", f"the chunk {name!r} belongs to no {kind} that has begun"
            elif name == ends:
                self._open.discard(block)
        return None


class Answers:
    """A `tool-result` or `tool-error` answers a call that came before it, and no call is answered twice."""

    def __init__(self) -> None:
        self._calls: Counter[Json] = Counter()

    def take(self, name: str, chunk: Json) -> Wrong | None:
        call = payload_of(chunk).get("toolCallId")
        if name == "tool-call":
            self._calls[call] += 1
        elif name in ANSWERS:
            self._calls[call] -= 1
            if self._calls[call] < 0:
                return "STR-7", f"the chunk {name!r} answers no call that waits for an answer"
        return None


class Envelope:
    """Every chunk but data says whose it is, and has what its type needs."""

    def __init__(self) -> None:
        self._run: Json = None

    def take(self, name: str, chunk: Json) -> Wrong | None:
        if name == "opened" or name.startswith("data-"):
            return None
        self._run = self._run or chunk.get("runId")
        if not isinstance(chunk.get("payload"), dict):
            return "STR-8", f"the chunk {name!r} has no payload"
        if name != "tripwire" and (not self._run or chunk.get("runId") != self._run or chunk.get("from") != "AGENT"):
            return "STR-8", f"the chunk {name!r} does not say that it is of this run and from its agent"
        missing = [member for member in PAYLOADS.get(name, ()) if member not in chunk["payload"]]
        return ("STR-8", f"the payload of {name!r} lacks {missing[0]!r}") if missing else None


# -- what the scenario itself can have caused -------------------------------------------------------------------------


class Everything(frozenset[str]):
    """The set that has every type in it."""

    def __and__(self, other: Iterable[object]) -> frozenset[str]:
        return frozenset(str(one) for one in other)

    def __contains__(self, name: object) -> bool:
        return True


def touched(scenario: Scenario) -> Types:
    """The types of the chunks that a processor of the scenario may drop, change or make."""
    found: set[str] = set()
    for processor in scenario.raw["given"].get("processors", {}).values():
        for clause in processor.get("processOutputStream", []):
            types = _touched_by(clause)
            if types is None:
                return Everything()
            found |= types
    return frozenset(found)


def _touched_by(clause: Json) -> set[str] | None:
    """The types that one clause touches; None where they cannot be told."""
    returned = clause.get("return", {"$ref": "part"})
    places = [step["at"] for step in clause.get("do", []) if str(step.get("at", "")).split("/")[0] == "part"]
    edited = [step for step in clause.get("do", []) if step.get("op") in ("set", "append", "remove") and places]
    ends = isinstance(returned, dict) and {"$abort", "$throw"} & returned.keys()
    if not edited and (ends or returned == {"$ref": "part"}):
        return set()
    part = clause.get("when", {}).get("part", {})
    kind = part.get("type") if isinstance(part, dict) else None
    types = kind.get("$oneOf", [None]) if isinstance(kind, dict) else [kind]
    if not all(isinstance(one, str) for one in types) or "part/type" in places or "part" in places:
        return None
    made = [inner["type"] for inner in objects(returned) if isinstance(inner.get("type"), str)]
    return {*types, *made}


def sound_script(scenario: Scenario) -> bool:
    """Whether what the scenario's model says, and what is replayed for it, keeps the grammar itself."""
    given = scenario.raw["given"]
    turns = [turn for place in (given, *scenario.calls) for turn in place.get("model", [])]
    scripts = [turn["parts"] for turn in turns if "parts" in turn]
    replays = (inner.get("chunks") for inner in objects(given.get("processors", {})))
    scripts += [chunks for chunks in replays if isinstance(chunks, list)]
    called = {call.get("id") for turn in turns for call in turn.get("toolCalls", [])}
    parts = [part for script in scripts for part in script if isinstance(part, dict)]
    called |= {payload_of(part).get("toolCallId") for part in parts if part.get("type") == "tool-call"}
    answered = {payload_of(part).get("toolCallId") for part in parts if part.get("type") in ANSWERS}
    return answered <= called and all(map(_sound, scripts))


def _sound(script: list[Json]) -> bool:
    """Whether one answer's pieces follow each other as they have to, up to its finish."""
    blocks = Blocks()
    return not any(
        blocks.take("step-finish" if part.get("type") == "finish" else str(part.get("type")), part)
        for part in script
        if isinstance(part, dict)
    )


def payload_of(chunk: Json) -> dict[str, Json]:
    """The payload of a chunk; empty where it has none."""
    payload = chunk.get("payload")
    return payload if isinstance(payload, dict) else {}
