"""The keywords of the subset of JSON Schema that is checked here: how each is written, and what it finds wrong.

Flows in: one argument of a keyword and a place in a value. Flows out: `KEYWORDS`, the table that schema.py reads, and
the fault that a row finds, in words that never quote the value.
"""

from __future__ import annotations

import ipaddress
import json
import math
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

from .data import Json, canonical

Named = Iterator[tuple[str, Json]]
LONGEST = 1000  # characters that are said of the alternatives that a value does not fit


@dataclass(slots=True)
class Place:
    """Where a keyword is looked at: the schema it stands in, the value, and how that is called.

    `ask(schema, value, at)` says what another schema finds wrong there, `target(reference)` what a `$ref` points at.
    """

    node: dict[str, Json]
    value: Any
    at: str
    ask: Callable[[Json, Json, str], str | None]
    target: Callable[[str], Json]

    def inner(self, node: Json, value: Json, name: str = "") -> str | None:
        """What another schema says about this value, or about a member of it."""
        return self.ask(node, value, self.at + name)

    def fitting(self, nodes: list[Json]) -> int:
        """How many of the schemas the value fits."""
        return sum(self.inner(node, self.value) is None for node in nodes)


# -- values ------------------------------------------------------------------------------------------------------------


def kinds_of(value: Any) -> tuple[str, ...]:
    """The types of JSON that a value has; none where JSON cannot hold it."""
    if value is None or isinstance(value, bool):
        return ("null",) if value is None else ("boolean",)
    if isinstance(value, (int, float)):
        if isinstance(value, float) and not math.isfinite(value):
            return ()
        return ("integer", "number") if value == int(value) else ("number",)
    for kind, of in (("string", str), ("array", list), ("object", dict)):
        if isinstance(value, of):
            return (kind,)
    return ()


def plain(value: Json) -> Json:
    """A value whose canonical text is the same for all that JSON Schema takes for equal: 1.0 is 1, true is not."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def same(one: Json, other: Json) -> bool:
    """Whether JSON Schema takes the two for equal."""
    return canonical(plain(one)) == canonical(plain(other))


def pattern(text: str) -> re.Pattern[str]:
    """A regular expression as JavaScript reads it, where Python reads it otherwise: ASCII classes, and `$` is the end.

    Raises `re.error`.
    """
    ends = re.sub(r"\\.|\[(?:\\.|[^\]])*\]|\$", lambda found: r"\Z" if found[0] == "$" else found[0], text)
    return re.compile(ends, re.ASCII)


def written(value: Json) -> bool:
    """Whether JSON can hold the value, and Python write it."""
    try:
        return bool(json.dumps(plain(value), allow_nan=False, sort_keys=True))
    except (TypeError, ValueError, RecursionError):
        return False


def listed(names: list[str]) -> str:
    """Names in a row, as a sentence has them."""
    return ", ".join(map(repr, names)) or "none"


# -- formats -----------------------------------------------------------------------------------------------------------


def moment(text: str) -> object:
    """A date with its time and offset. Raises ValueError."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", text, re.ASCII | re.I):
        raise ValueError(text)
    return datetime.fromisoformat(text[:19].upper())


def day(text: str) -> object:
    """A date alone. Raises ValueError."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        raise ValueError(text)
    return date.fromisoformat(text)


def address(text: str) -> object:
    """A mail address, as far as a look can tell. Raises ValueError."""
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+", text):
        raise ValueError(text)
    return text


def absolute(text: str) -> object:
    """An address of something, with its scheme. Raises ValueError."""
    if re.search(r"\s", text) or not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:.", text):
        raise ValueError(text)
    return urlsplit(text)


def hyphened(text: str) -> object:
    """A UUID in its written form. Raises ValueError."""
    if len(text) != 36:
        raise ValueError(text)
    return uuid.UUID(text)


FORMATS: dict[str, Callable[[str], object]] = {
    "date-time": moment,
    "date": day,
    "email": address,
    "uri": absolute,
    "uuid": hyphened,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
}


def has_format(name: str, text: str) -> bool:
    """Whether a text is written in a format."""
    try:
        FORMATS[name](text)
    except ValueError:
        return False
    return True


# -- forms: how a keyword is written -----------------------------------------------------------------------------------


def _nothing(argument: Json) -> Named:
    return iter(())


@dataclass(frozen=True, slots=True)
class Form:
    """What may stand behind a keyword, in words, and the schemas inside it."""

    words: str
    fits: Callable[[Any], bool]
    inside: Callable[[Any], Named] = _nothing


def _readable(text: Any) -> bool:
    try:
        return isinstance(text, str) and bool(pattern(text))
    except (re.error, OverflowError, RecursionError):
        return False


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _by_name(argument: dict[str, Json]) -> Named:
    return ((f"/{name}", inner) for name, inner in argument.items())


TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
TYPE = Form(
    f"one of {', '.join(TYPES)}, or a list of them",
    lambda it: it in TYPES if isinstance(it, str) else _names(it) and bool(it) and set(it) <= set(TYPES),
)
ANYTHING = Form("a value", written)
VALUES = Form("a list of values, not empty", lambda it: isinstance(it, list) and bool(it) and written(it))
NUMBER = Form("a number", lambda it: "number" in kinds_of(it) and written(it))
STEP = Form("a number above 0", lambda it: "number" in kinds_of(it) and it > 0 and written(it))
COUNT = Form("a whole number from 0", lambda it: "integer" in kinds_of(it) and it >= 0 and written(it))
FLAG = Form("true or false", lambda it: isinstance(it, bool))
NAMES = Form("a list of names", _names)
REFERENCE = Form("a text like '#/$defs/name'", lambda it: isinstance(it, str))
PATTERN = Form("a regular expression", _readable)
FORMAT = Form(f"one of {', '.join(FORMATS)}", lambda it: isinstance(it, str) and it in FORMATS)
SCHEMA = Form("a schema", lambda it: isinstance(it, (dict, bool)), lambda it: iter([("", it)]))
SCHEMAS = Form(
    "a list of schemas, not empty",
    lambda it: isinstance(it, list) and bool(it),
    lambda it: ((f"/{number}", inner) for number, inner in enumerate(it)),
)
BY_NAME = Form("an object of schemas", lambda it: isinstance(it, dict), _by_name)
BY_PATTERN = Form(
    "an object of schemas by regular expression", lambda it: isinstance(it, dict) and all(map(_readable, it)), _by_name
)


# -- keywords: what a value has to be ----------------------------------------------------------------------------------


def _type(place: Place, wanted: Json) -> str | None:
    types = [wanted] if isinstance(wanted, str) else wanted
    kinds = kinds_of(place.value)
    if not set(types).isdisjoint(kinds):
        return None
    return f"{place.at} is of type {kinds[0] if kinds else 'none'}; it has to be of type {' or '.join(types)}"


def _properties(place: Place, known: dict[str, Json]) -> str | None:
    faults = (place.inner(known[name], item, f"/{name}") for name, item in place.value.items() if name in known)
    return next(filter(None, faults), None)


def _additional(place: Place, node: Json) -> str | None:
    known, patterns = place.node.get("properties", {}), list(map(pattern, place.node.get("patternProperties", ())))
    for name, item in place.value.items():
        if name not in known and not any(one.search(name) for one in patterns):
            if node is False:
                return f"{place.at} has a member that is not known; known are {listed(list(known))}"
            fault = place.inner(node, item, "/*")
            if fault is not None:
                return fault
    return None


def _by_patterns(place: Place, nodes: dict[str, Json]) -> str | None:
    faults = (
        place.inner(node, item, "/*")
        for text, node in nodes.items()
        for name, item in place.value.items()
        if pattern(text).search(name)
    )
    return next(filter(None, faults), None)


def _property_names(place: Place, node: Json) -> str | None:
    faults = (place.ask(node, name, f"the name of a member of {place.at}") for name in place.value)
    return next(filter(None, faults), None)


def _required(place: Place, names: list[str]) -> str | None:
    missing = [name for name in names if name not in place.value]
    return f"{place.at} lacks {listed(missing)}" if missing else None


def _items(place: Place, node: Json) -> str | None:
    begin = len(place.node.get("prefixItems", ()))
    faults = (place.inner(node, item, f"/{number}") for number, item in enumerate(place.value) if number >= begin)
    return next(filter(None, faults), None)


def _prefix_items(place: Place, nodes: list[Json]) -> str | None:
    pairs = zip(nodes, place.value, strict=False)
    return next(filter(None, (place.inner(node, item, f"/{at}") for at, (node, item) in enumerate(pairs))), None)


def _unique(place: Place, wanted: bool) -> str | None:
    texts = {canonical(plain(item)) for item in place.value} if wanted else ()
    return f"{place.at} has an item twice" if wanted and len(texts) < len(place.value) else None


def _all_of(place: Place, nodes: list[Json]) -> str | None:
    return next(filter(None, (place.inner(node, place.value) for node in nodes)), None)


def _any_of(place: Place, nodes: list[Json]) -> str | None:
    faults = [place.inner(node, place.value) for node in nodes]
    if None in faults:
        return None
    told = "; or ".join(map(str, faults))  # each of them may hold several again
    shown = told if len(told) <= LONGEST else f"{told[:LONGEST]} ..."
    return f"{place.at} is none of what is allowed there: {shown}"


def _not(place: Place, node: Json) -> str | None:
    return None if place.inner(node, place.value) is not None else f"{place.at} is not allowed"


def _one_of(place: Place, nodes: list[Json]) -> str | None:
    count = place.fitting(nodes)
    return _any_of(place, nodes) if not count else None if count == 1 else f"{place.at} fits more than one alternative"


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword: its form, the type of the values it speaks of (all, where it is empty), and what it finds wrong."""

    form: Form
    of: str
    fault: Callable[[Place, Any], str | None]


def limit(form: Form, of: str, keeps: Callable[[Any, Any], bool], words: str) -> Keyword:
    """A keyword that compares: `words` say what a value beyond the limit is, with the limit in the place of `{}`."""
    return Keyword(
        form, of, lambda place, limit: None if keeps(place.value, limit) else f"{place.at} {words.format(limit)}"
    )


KEYWORDS: dict[str, Keyword] = {
    "type": Keyword(TYPE, "", _type),
    "enum": limit(VALUES, "", lambda it, values: any(same(it, one) for one in values), "is none of {}"),
    "const": limit(ANYTHING, "", same, "is not {!r}"),
    "properties": Keyword(BY_NAME, "object", _properties),
    "required": Keyword(NAMES, "object", _required),
    "additionalProperties": Keyword(SCHEMA, "object", _additional),
    "patternProperties": Keyword(BY_PATTERN, "object", _by_patterns),
    "propertyNames": Keyword(SCHEMA, "object", _property_names),
    "minProperties": limit(COUNT, "object", lambda it, least: len(it) >= least, "has fewer than {} members"),
    "maxProperties": limit(COUNT, "object", lambda it, most: len(it) <= most, "has more than {} members"),
    "items": Keyword(SCHEMA, "array", _items),
    "prefixItems": Keyword(SCHEMAS, "array", _prefix_items),
    "minItems": limit(COUNT, "array", lambda it, least: len(it) >= least, "has fewer than {} items"),
    "maxItems": limit(COUNT, "array", lambda it, most: len(it) <= most, "has more than {} items"),
    "uniqueItems": Keyword(FLAG, "array", _unique),
    "minLength": limit(COUNT, "string", lambda it, least: len(it) >= least, "is shorter than {} characters"),
    "maxLength": limit(COUNT, "string", lambda it, most: len(it) <= most, "is longer than {} characters"),
    "pattern": limit(PATTERN, "string", lambda it, text: bool(pattern(text).search(it)), "does not match {!r}"),
    "format": limit(FORMAT, "string", lambda it, name: has_format(name, it), "is not written as a {}"),
    "minimum": limit(NUMBER, "number", lambda it, least: it >= least, "is less than {}"),
    "maximum": limit(NUMBER, "number", lambda it, most: it <= most, "is more than {}"),
    "exclusiveMinimum": limit(NUMBER, "number", lambda it, below: it > below, "is not more than {}"),
    "exclusiveMaximum": limit(NUMBER, "number", lambda it, above: it < above, "is not less than {}"),
    "multipleOf": limit(
        STEP, "number", lambda it, step: Fraction(repr(it)) % Fraction(repr(step)) == 0, "is no multiple of {}"
    ),
    "allOf": Keyword(SCHEMAS, "", _all_of),
    "anyOf": Keyword(SCHEMAS, "", _any_of),
    "oneOf": Keyword(SCHEMAS, "", _one_of),
    "not": Keyword(SCHEMA, "", _not),
    "$ref": Keyword(REFERENCE, "", lambda place, reference: place.inner(place.target(reference), place.value)),
    "$defs": Keyword(BY_NAME, "", lambda place, schemas: None),
    "definitions": Keyword(BY_NAME, "", lambda place, schemas: None),
}
