"""Rewrites texts by a permutation of the letters, so that no implementation can be tuned to the scenarios.

Flows in: JSON in the scenario's words. Flows out: the same in the wire's words, and back. Every letter is replaced by
another of its case, everything else stays; so the rewriting goes through joins, splits, upper and lower case, and
back again exactly. Only values are rewritten, never the keys of objects (but for the record `tools`, whose keys are
tool names), and never what the protocol or the contract names: the tables below are the whole list.

A text that the implementation itself makes comes back as if it had been ours: "Tripwire triggered by <id>" has its id
right and its own words garbled. Scenarios therefore never expect an implementation's own wording.
"""

from __future__ import annotations

import random
import re
import string
from typing import Any

Json = Any

# Members whose text, or list of texts, is a name of the protocol or the contract.
NAMED = {
    "type", "role", "hook", "hooks", "op", "at", "on", "method", "mode", "modelId", "models", "finishReason", "from",
    "source", "sourceType", "format", "$ref", "toolChoice", "callback", "callbacks", "state", "rule", "createdAt",
    "updatedAt", "mediaType", "mimeType", "url", "required", "pattern", "inputProcessors", "outputProcessors",
    "errorProcessors", "$callback", "$function", "$date", "$bigint", "$object", "$token",
}  # fmt: skip
# Members that are left alone with everything in them.
WHOLE = {"model", "tokens", "token", "key", "processor", "run", "session", "handle", "call"}
# Methods whose arguments at these places are names.
NAMED_ARGUMENTS = {"add": (1,), "get": (0,), "set": (0,)}
FINISHES = {"step-finish", "finish"}
DATE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)?\Z")


class Renaming:
    """The permutation of one seed; seed 0 leaves everything as it is."""

    def __init__(self, seed: int) -> None:
        self._there: dict[int, int] = {}
        self._back: dict[int, int] = {}
        if seed:
            order = _cycle(random.Random(seed))
            other = "".join(order)
            self._there = str.maketrans(_both(string.ascii_lowercase), _both(other))
            self._back = str.maketrans(_both(other), _both(string.ascii_lowercase))

    def to_wire(self, value: Json) -> Json:
        """A value of the scenario as the implementation gets to see it."""
        return _walk(value, self._there) if self._there else value

    def from_wire(self, value: Json) -> Json:
        """A value of the implementation in the scenario's words."""
        return _walk(value, self._back) if self._back else value


def _cycle(source: random.Random) -> list[str]:
    """The alphabet shuffled into one cycle (Sattolo), so that no letter stays where it was."""
    letters = list(string.ascii_lowercase)
    for index in range(len(letters) - 1, 0, -1):
        other = source.randrange(index)
        letters[index], letters[other] = letters[other], letters[index]
    return letters


def _both(letters: str) -> str:
    return letters + letters.upper()


def _walk(value: Json, table: dict[int, int]) -> Json:
    if isinstance(value, str):
        return value if DATE.match(value) else value.translate(table)
    if isinstance(value, list):
        return [_walk(inner, table) for inner in value]
    if isinstance(value, dict):
        return _object(value, table)
    return value


def _object(value: dict[str, Json], table: dict[int, int]) -> dict[str, Json]:
    kept = _kept(value)
    walked = {}
    for key, inner in value.items():
        if key in WHOLE or key in kept or (key in NAMED and _is_name(inner)):
            walked[key] = _path(inner, table) if key in ("at", "$ref") else inner
        elif key == "tools" and isinstance(inner, dict):
            walked[key] = {name.translate(table): _walk(tool, table) for name, tool in inner.items()}
        elif key == "args" and value.get("method") in NAMED_ARGUMENTS:
            names = NAMED_ARGUMENTS[value["method"]]
            walked[key] = [one if index in names else _walk(one, table) for index, one in enumerate(inner)]
        elif key == "stepResult" or (key == "payload" and value.get("type") in FINISHES):
            walked[key] = {**_walk(inner, table), **_finish(inner)}
        else:
            walked[key] = _walk(inner, table)
    return walked


def _kept(value: dict[str, Json]) -> tuple[str, ...]:
    """An error's name is the implementation's; a tool's or a processor's is ours."""
    return ("name",) if "message" in value else ()


def _is_name(value: Json) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _finish(value: Json) -> dict[str, Json]:
    """Here `reason` is why the step finished, not a text."""
    return {"reason": value["reason"]} if isinstance(value, dict) and isinstance(value.get("reason"), str) else {}


def _path(path: Json, table: dict[int, int]) -> Json:
    """A path's segments are names of the contract, but for a tool in the record of tools."""
    first, *rest = path.split("/") if isinstance(path, str) else [""]
    if first != "tools" or not rest:
        return path
    return "/".join([first, rest[0].translate(table), *rest[1:]])
