"""Checks messages and scenarios against the JSON Schemas in `schemas/`.

Flows in: the name of a definition and a value. Flows out: None, or one line that says where the value is wrong and
how. Always on is a small structural check (types, enumerations, members that must be there; in scenarios also members
that must not), driven by the same document and without a third-party package; the full check needs `jsonschema` and
costs more than a round trip, so it is asked for.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

from .faults import SuiteError
from .words import Json

HERE = Path(__file__).resolve().parent / "schemas"
Check = Callable[[Json, str], str | None]  # a value and its place; what is wrong there
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
    return _structural("protocol", definition)(value, "") or (_full("protocol", definition)(value) if strict else None)


def scenario_problem(scenario: Json, *, strict: bool = False) -> str | None:
    """What is wrong with the form of a scenario, or None."""
    return _structural("scenario", None)(scenario, "") or (_full("scenario", None)(scenario) if strict else None)


@functools.cache
def document(name: str) -> Json:
    """A schema document, as JSON."""
    return json.loads((HERE / f"{name}.json").read_text("utf-8"))


@functools.cache
def capabilities() -> frozenset[str]:
    """The closed list of capabilities."""
    return frozenset(document("protocol")["$defs"]["capability"]["enum"])


@functools.cache
def _structural(name: str, definition: str | None) -> Check:
    """The small check of a document, or of one definition in it, at any depth."""
    whole = document(name)
    return _compiled(whole["$defs"][definition] if definition else whole, name) or (lambda value, at: None)


def _compiled(schema: Json, name: str) -> Check | None:
    """A check of a value at a place, or None where any value will do."""
    schema = _resolved(schema, name)
    parts = (_typed(schema), _required(schema), _members(schema, name), _items(schema, name), _either(schema, name))
    checks = [part for part in parts if part]
    if not checks:
        return None
    return lambda value, at: next((found for found in (check(value, at) for check in checks) if found), None)


def _typed(schema: Json) -> Check | None:
    names = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    types = tuple(kind for name in names for kind in TYPES[name])
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")

    def check(value: Json, at: str) -> str | None:
        if types and not _is(value, types):
            return f"{at or '/'} is {_kind(value)}, not {' or '.join(names)}"
        if allowed and value not in allowed:
            return f"{at} is {value!r}, not {'one of ' if len(allowed) > 1 else ''}{', '.join(map(repr, allowed))}"
        return None

    return check if types or allowed else None


def _required(schema: Json) -> Check | None:
    required = schema.get("required", [])
    choices = schema.get("anyOf", [])
    either = [choice["required"][0] for choice in choices if all(one.keys() == {"required"} for one in choices)]

    def check(value: Json, at: str) -> str | None:
        for key in required:
            if key not in value:
                return f"{at}{': ' if at else ''}{key!r} is missing"
        if either and not any(key in value for key in either):
            return f"{at}{': ' if at else ''}{' or '.join(map(repr, either))} is missing"
        return None

    return check if required or either else None


def _members(schema: Json, name: str) -> Check | None:
    members = {key: _compiled(member, name) for key, member in schema.get("properties", {}).items()}
    others = schema.get("additionalProperties", True)
    other = _compiled(others, name) if isinstance(others, dict) else None
    if other is None and others is not False and not any(members.values()):
        return None

    def check(value: Json, at: str) -> str | None:
        for key in value if isinstance(value, dict) else ():
            if key not in members and others is False:
                return f"{at}/{key} is no member there; there may be {', '.join(members)}"
            member = members.get(key, other)
            found = member(value[key], f"{at}/{key}") if member else None
            if found:
                return found
        return None

    return check


def _either(schema: Json, name: str) -> Check | None:
    """One of several forms: where none fits, what is wrong is said of the one that fits farthest."""
    forms = [_resolved(form, name) for key in ("anyOf", "oneOf") for form in schema.get(key, ())]
    checks = [(form, one) for form in forms if (one := _compiled(form, name))]
    if len(checks) < len(forms) or any(form.keys() == {"required"} for form in forms):
        return None

    def check(value: Json, at: str) -> str | None:
        meant = [one for form, one in checks if _means(form, value)] or [one for _, one in checks]
        found = [one(value, at) for one in meant]
        return None if None in found else max((one for one in found if one), key=_depth)

    return check if checks else None


def _means(form: Json, value: Json) -> bool:
    """Whether the value says that it is of this form: it has the constant, or the member, that tells it apart."""
    constants = [(key, member["const"]) for key, member in form.get("properties", {}).items() if "const" in member]
    needed = [key for key in form.get("required", ()) if key not in dict(constants)]
    has = isinstance(value, dict) and all(value.get(key) == constant for key, constant in constants)
    return bool(has and (constants or any(key in value for key in needed)))


def _depth(problem: str) -> int:
    return problem.partition(" ")[0].count("/")


def _items(schema: Json, name: str) -> Check | None:
    item = _compiled(schema["items"], name) if "items" in schema else None

    def check(value: Json, at: str) -> str | None:
        each = enumerate(value) if isinstance(value, list) and item else ()
        return next((found for found in (item(one, f"{at}/{index}") for index, one in each if item) if found), None)

    return check if item else None


def _resolved(schema: Json, name: str) -> Json:
    target = schema.get("$ref")
    if target is None:
        return schema
    return _resolved(document(name)["$defs"][target.removeprefix("#/$defs/").replace("~1", "/")], name)


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
