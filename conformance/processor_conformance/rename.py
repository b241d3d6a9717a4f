"""Rewrites texts by a permutation of the letters, so that no implementation can be tuned to the scenarios.

Flows in: JSON in the scenario's words. Flows out: the same in the wire's words, and back. Every letter is replaced by
another of its case, everything else stays; so the rewriting goes through joins, splits, upper and lower case, and
back again exactly. Only values are rewritten, never what the protocol or the contract names: the tables below are the
whole list. The keys of objects stay too, but for the record `tools`, whose keys are tool names, and for keys that an
implementation made out of one of our ids (`ticks_<id>`), which come back with the id in the scenario's words.

A text that the implementation itself makes comes back as if it had been ours: "Tripwire triggered by <id>" has its id
right and its own words garbled. Scenarios therefore never expect an implementation's own wording.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterable

from .words import ARRAYS, Json

# Members whose text, or list of texts, is a name of the protocol or the contract.
NAMED = {
    "type", "role", "hook", "hooks", "op", "at", "on", "method", "mode", "modelId", "models", "finishReason", "from",
    "source", "sourceType", "format", "$ref", "toolChoice", "callback", "callbacks", "state", "rule", "createdAt",
    "updatedAt", "mediaType", "mimeType", "url", "required", "pattern", "inputProcessors", "outputProcessors",
    "errorProcessors", "signal", "kind", "outcome", "methods", "asynchronous", "$model", "$callback", "$function",
    "$date", "$bigint", "$number", "$object", "$token", "builtIn", "backend",
}  # fmt: skip
# Members that are left alone with everything in them.
WHOLE = {"model", "tokens", "token", "key", "processor", "run", "session", "handle", "call"}
# Methods whose arguments at these places are names.
NAMED_ARGUMENTS = {"add": (1,), "get": (0,), "set": (0,), "has": (0,), "delete": (0,)}
# Texts that the contract itself gives: an id, and the words of providers by which a refused prefill is known (ERR-41).
CONTRACTS = {
    "prepare-step",
    "does not support assistant message prefill",
    "assistant response prefill is incompatible with enable_thinking",
    "requests ending with a model turn are not supported",
}
FINISHES = {"step-finish", "finish"}
HEAD = re.compile(r"data:[^,]*,")  # of an address that holds the file itself
DATE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)?\Z")


class Renaming:
    """The permutation of one seed; seed 0 leaves everything as it is."""

    def __init__(self, seed: int, names: Iterable[str] = ()) -> None:
        """`names` are the ids and tool names of the scenario, wanted for keys made out of them."""
        self._there: dict[int, int] = {}
        self._back: dict[int, int] = {}
        self._made: re.Pattern[str] | None = None
        if seed:
            order = _cycle(random.Random(seed))
            other = "".join(order)
            self._there = str.maketrans(_both(string.ascii_lowercase), _both(other))
            self._back = str.maketrans(_both(other), _both(string.ascii_lowercase))
            ours = "|".join(re.escape(name.translate(self._there)) for name in names if name)
            self._made = re.compile(f"(?<=[^A-Za-z0-9])({ours})$|^({ours})(?=[^A-Za-z0-9])") if ours else None

    def to_wire(self, value: Json) -> Json:
        """A value of the scenario as the implementation gets to see it."""
        return _walk(value, self._there, None) if self._there else value

    def from_wire(self, value: Json) -> Json:
        """A value of the implementation in the scenario's words."""
        return _walk(value, self._back, self._made) if self._back else value


def _cycle(source: random.Random) -> list[str]:
    """The alphabet shuffled into one cycle (Sattolo), so that no letter stays where it was."""
    letters = list(string.ascii_lowercase)
    for index in range(len(letters) - 1, 0, -1):
        other = source.randrange(index)
        letters[index], letters[other] = letters[other], letters[index]
    return letters


def _both(letters: str) -> str:
    return letters + letters.upper()


def _walk(value: Json, table: dict[int, int], made: re.Pattern[str] | None) -> Json:
    if isinstance(value, str):
        return value if DATE.match(value) else _text(value, table)
    if isinstance(value, list):
        return [_walk(inner, table, made) for inner in value]
    if isinstance(value, dict):
        return _object(value, table, made)
    return value


def _text(value: str, table: dict[int, int]) -> str:
    """A text in other letters; what the contract itself calls so keeps its name, also inside an error's text."""
    head = HEAD.match(value)
    kept = head[0] if head else ""
    moved = kept + value[len(kept) :].translate(table)
    for word in CONTRACTS:
        moved = moved.replace(word.translate(table), word)
    return moved


def _object(value: dict[str, Json], table: dict[int, int], made: re.Pattern[str] | None) -> dict[str, Json]:
    kept = _kept(value)
    walked = {}
    for key, inner in value.items():
        if key in WHOLE or key in kept or (key in NAMED and _is_name(inner)):
            walked[key] = _path(inner, table) if key in ("at", "$ref") else inner
        elif key in ARRAYS and isinstance(inner, list):  # keys of processors, and what stands in the place of one
            walked[key] = [one if isinstance(one, str) else _walk(one, table, made) for one in inner]
        elif key == "tools" and isinstance(inner, dict):
            walked[key] = _tools(inner, table, made)
        elif key == "args" and isinstance(inner, list) and (names := NAMED_ARGUMENTS.get(str(value.get("method")))):
            walked[key] = [one if index in names else _walk(one, table, made) for index, one in enumerate(inner)]
        elif isinstance(inner, dict) and (key == "stepResult" or (key == "payload" and _finishes(value))):
            walked[key] = {**_walk(inner, table, made), **_finish(inner)}
        else:
            name = key if made is None else made.sub(lambda found: found.group().translate(table), key)
            walked[name] = _walk(inner, table, made)
    return walked


def _tools(record: dict[str, Json], table: dict[int, int], made: re.Pattern[str] | None) -> Json:
    """A record of tools by name, or a template of one."""
    if any(name.startswith("$") for name in record):
        return {
            key: _tools(inner, table, made) if key == "with" else _walk(inner, table, made)
            for key, inner in record.items()
        }
    return {name.translate(table): _walk(tool, table, made) for name, tool in record.items()}


def _kept(value: dict[str, Json]) -> tuple[str, ...]:
    """An error's name is the implementation's (a tool's or a processor's is ours); so is what an operation makes of a
    member that holds a name.
    """
    if "message" in value:
        return ("name",)
    named = isinstance(value.get("value"), str) and str(value.get("at")).rpartition("/")[2] in NAMED
    return ("value",) if named else ()


def _is_name(value: Json) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _finishes(chunk: dict[str, Json]) -> bool:
    return str(chunk.get("type")) in FINISHES


def _finish(payload: dict[str, Json]) -> dict[str, Json]:
    """Here `reason` is why the step finished, not a text."""
    return {"reason": payload["reason"]} if isinstance(payload.get("reason"), str) else {}


def _path(path: Json, table: dict[int, int]) -> Json:
    """A path's segments are names of the contract, but for a tool in the record of tools."""
    first, *rest = path.split("/") if isinstance(path, str) else [""]
    if first != "tools" or not rest:
        return path
    return "/".join([first, rest[0].translate(table), *rest[1:]])
