"""Checks messages and scenarios against the JSON Schemas in `schemas/`.

Flows in: the name of a definition and a value. Flows out: None, or one line that says where the value is wrong and
how. Always on is a small structural check (members that must be there, types and enumerations of members), driven by
the same document and without a third-party package; the full check needs `jsonschema` and costs more than a round
trip, so it is asked for.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .faults import SuiteError

Json = Any
HERE = Path(__file__).resolve().parent / "schemas"
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "object": (dict,),
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def problem(definition: str, value: Json, *, strict: bool = False) -> str | None:
    """What is wrong with a message's `<method>.params` or `<method>.result`, or None."""
    return _structural(definition, value) or (_full("protocol", definition)(value) if strict else None)


def scenario_problem(scenario: Json) -> str | None:
    """What is wrong with the form of a scenario, or None (the full check)."""
    return _full("scenario", None)(scenario)


@functools.cache
def document(name: str) -> Json:
    """A schema document, as JSON."""
    return json.loads((HERE / f"{name}.json").read_text("utf-8"))


@functools.cache
def capabilities() -> frozenset[str]:
    """The closed list of capabilities."""
    return frozenset(document("protocol")["$defs"]["capability"]["enum"])


def _structural(definition: str, value: Json) -> str | None:
    required, members, either = _outline(definition)
    if not isinstance(value, dict):
        return f"/ is {_kind(value)}, not an object"
    for key in required:
        if key not in value:
            return f"{key!r} is missing"
    if either and not any(key in value for key in either):
        return f"{' or '.join(map(repr, either))} is missing"
    for key, (types, names, allowed) in members.items():
        if key not in value:
            continue
        if types and not _is(value[key], types):
            return f"/{key} is {_kind(value[key])}, not {' or '.join(names)}"
        if allowed and value[key] not in allowed:
            return f"/{key} is {value[key]!r}, not one of {', '.join(map(repr, allowed))}"
    return None


Member = tuple[tuple[type, ...], list[str], list[Json]]


@functools.cache
def _outline(definition: str) -> tuple[list[str], dict[str, Member], list[str]]:
    """Of a definition: what must be there; each member's Python types, their names, its values; which alternatives."""
    schema = document("protocol")["$defs"][definition]
    members = {}
    for key, member in schema.get("properties", {}).items():
        plain = _resolved(member)
        names = [plain["type"]] if isinstance(plain.get("type"), str) else plain.get("type", [])
        members[key] = (tuple(kind for name in names for kind in TYPES[name]), names, plain.get("enum", []))
    either = [choice["required"][0] for choice in schema.get("anyOf", [])]
    return schema.get("required", []), members, either


def _resolved(schema: Json) -> Json:
    target = schema.get("$ref")
    if target is None:
        return schema
    return _resolved(document("protocol")["$defs"][target.removeprefix("#/$defs/").replace("~1", "/")])


def _is(value: Json, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and (not isinstance(value, bool) or bool in types)


def _kind(value: Json) -> str:
    return next(name for name in TYPES if _is(value, TYPES[name]))


@functools.cache
def _full(name: str, definition: str | None) -> Callable[[Json], str | None]:
    """The full check of a whole document, or of one definition in it."""
    try:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match
    except ImportError as error:
        message = "the full check needs the package jsonschema: pip install jsonschema, or leave --strict out"
        raise SuiteError(message) from error
    schema = document(name)
    if definition is not None:
        pointer = definition.replace("/", "~1")
        schema = {"$schema": schema["$schema"], "$defs": schema["$defs"], "$ref": f"#/$defs/{pointer}"}
    validator = Draft202012Validator(schema)

    def check(value: Json) -> str | None:
        if validator.is_valid(value):
            return None
        error = best_match(validator.iter_errors(value))
        return f"/{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"

    return check
