"""Patterns: what a scenario says about a value.

Flows in: a pattern (JSON, as in the scenarios' README) and a value. Flows out: None when it fits, else a `Mismatch`
that names the place inside the value. `bindings` holds what `$bind` has seen, for a whole scenario.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .words import UNDEFINED, Json

Bindings = dict[str, Json]


class _Nothing:
    """Stands where there is no value; falsy, unlike the JSON values it could be taken for."""

    def __repr__(self) -> str:
        return "nothing"

    def __bool__(self) -> bool:
        return False


NOTHING = _Nothing()


class PatternError(ValueError):
    """The scenario's own pattern makes no sense: a bug of the suite, never of an implementation."""


@dataclass(slots=True)
class Mismatch:
    """The first place where a value does not fit: `path` from the value's root, what was expected there, what came."""

    path: str
    expected: Json
    came: Json


def fit(pattern: Json, value: Json, bindings: Bindings | None = None) -> Mismatch | None:
    """None when `value` fits `pattern`: lists exactly, objects as subsets, else as the `$` pattern says."""
    return _fit(pattern, value, {} if bindings is None else bindings, "", False)


def fits(pattern: Json, value: Json, bindings: Bindings | None = None) -> bool:
    """Whether `value` fits `pattern`."""
    return fit(pattern, value, bindings) is None


def operator(pattern: Json) -> str | None:
    """The `$` word that makes this object a pattern; None for a plain value (tags such as `$date` are plain)."""
    if not isinstance(pattern, dict):
        return None
    found: list[str] = [key for key in pattern if key in OPERATORS]
    if not found:
        return None
    if len(pattern) > 1:
        raise PatternError(f"{found[0]} stands beside other members: {sorted(pattern)}")
    return found[0]


def is_absent(value: Json) -> bool:
    """Whether nothing is there: no member, or one that holds no value."""
    return value is NOTHING or value == UNDEFINED


def _fit(pattern: Json, value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    word = operator(pattern)
    if word is not None:
        return OPERATORS[word](pattern[word], value, bindings, path, exact)
    if isinstance(pattern, dict) and isinstance(value, dict):
        return _fit_object(pattern, value, bindings, path, exact)
    if isinstance(pattern, list) and isinstance(value, list):
        return _fit_list(pattern, value, bindings, path, exact)
    return None if same(pattern, value) else Mismatch(path, pattern, value)


def _fit_object(pattern: Json, value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    for key, part in pattern.items():
        found = _fit(part, value.get(key, NOTHING), bindings, f"{path}/{_escape(key)}", exact)
        if found:
            return found
    for key in value if exact else ():
        if key not in pattern and not is_absent(value[key]):
            return Mismatch(f"{path}/{_escape(key)}", NOTHING, value[key])
    return None


def _fit_list(pattern: list[Json], value: list[Json], bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    for index in range(max(len(pattern), len(value))):
        if index >= len(pattern):
            return Mismatch(f"{path}/{index}", NOTHING, value[index])
        came = value[index] if index < len(value) else NOTHING
        found = _fit(pattern[index], came, bindings, f"{path}/{index}", exact)
        if found:
            return found
    return None


def same(one: Json, other: Json) -> bool:
    """Equality of JSON values: true is not 1, 1 is 1.0, the order of members does not count."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _any(wanted: Json, value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    return Mismatch(path, {"$any": True}, value) if is_absent(value) else None


def _absent(wanted: Json, value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    return None if is_absent(value) else Mismatch(path, {"$absent": True}, value)


def _bind(name: str, value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    if is_absent(value):
        return Mismatch(path, {"$bind": name}, value)
    if same(bindings.setdefault(name, value), value):
        return None
    return Mismatch(path, bindings[name], value)


def _differs(name: str, value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    if name not in bindings:
        raise PatternError(f'{{"$differs": "{name}"}} at {path or "/"}: nothing was bound to that name before')
    if is_absent(value) or same(bindings[name], value):
        return Mismatch(path, {"$not": {"$exact": bindings[name]}}, value)
    return None


def _exact(wanted: Json, value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    return _fit(wanted, value, bindings, path, True)


def _one_of(patterns: list[Json], value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    for pattern in patterns:
        tried = dict(bindings)
        if _fit(pattern, value, tried, path, exact) is None:
            bindings.update(tried)
            return None
    return Mismatch(path, {"$oneOf": patterns}, value)


def _unordered(patterns: list[Json], value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    if not isinstance(value, list) or len(value) != len(patterns):
        return Mismatch(path, {"$unordered": patterns}, value)
    order = assign(patterns, value, bindings, lambda one, two, bound: _fit(one, two, bound, path, exact) is None)
    return None if order is not None else Mismatch(path, {"$unordered": patterns}, value)


def assign(
    patterns: list[Json], values: list[Json], bindings: Bindings, fitting: Callable[[Json, Json, Bindings], bool]
) -> list[int] | None:
    """For each pattern the index of a value of its own that fits it, whatever the order.

    None where there is no such way.
    """
    if not patterns:
        return []
    for index, value in enumerate(values):
        tried = dict(bindings)
        if value is NOTHING or not fitting(patterns[0], value, tried):
            continue
        rest = assign(patterns[1:], [*values[:index], NOTHING, *values[index + 1 :]], tried, fitting)
        if rest is not None:
            bindings.update(tried)
            return [index, *rest]
    return None


def _contains(wanted: Json, value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    if isinstance(wanted, str):
        inside = isinstance(value, str) and wanted in value
    elif isinstance(wanted, list):
        inside = isinstance(value, list) and all(_somewhere(one, value, bindings, path, exact) for one in wanted)
    else:
        raise PatternError(f"$contains at {path or '/'} wants a text or a list of patterns, not {wanted!r}")
    return None if inside else Mismatch(path, {"$contains": wanted}, value)


def _somewhere(pattern: Json, values: list[Json], bindings: Bindings, path: str, exact: bool) -> bool:
    return any(_one_of([pattern], value, bindings, path, exact) is None for value in values)


def _not(pattern: Json, value: Json, bindings: Bindings, path: str, exact: bool) -> Mismatch | None:
    if is_absent(value) or _fit(pattern, value, dict(bindings), path, exact) is None:
        return Mismatch(path, {"$not": pattern}, value)
    return None


def closest(found: Mismatch) -> Mismatch:
    """Where what came gets furthest in a choice, or in a list that has to hold something; else the place itself.

    What is bound elsewhere does not count here.
    """
    word = operator(found.expected)
    tried: list[tuple[str, Json, Json]] = []
    if word == "$oneOf":
        tried = [(found.path, pattern, found.came) for pattern in found.expected[word]]
    elif word == "$contains" and isinstance(found.expected[word], list) and isinstance(found.came, list):
        lacking = [one for one in found.expected[word] if not any(fits(one, value) for value in found.came)]
        tried = [(f"{found.path}/{at}", one, value) for one in lacking[:1] for at, value in enumerate(found.came)]
    missed = [(path, pattern, fit(pattern, value)) for path, pattern, value in tried]
    misses = [(path, pattern, miss) for path, pattern, miss in missed if miss and miss.path]
    if not misses:
        return found
    path, _, best = max(misses, key=lambda one: _reached(one[1], one[2].path))
    return closest(Mismatch(path + best.path, best.expected, best.came))


def _reached(pattern: Json, path: str) -> list[int]:
    """How much of a pattern comes before a place in it, level by level."""
    reached: list[int] = []
    for piece in path.split("/")[1:]:
        pattern = pattern["$exact"] if operator(pattern) == "$exact" else pattern
        keys = list(pattern) if isinstance(pattern, dict) else [str(index) for index in range(len(pattern))]
        if piece not in keys:
            break
        reached.append(keys.index(piece))
        pattern = pattern[piece] if isinstance(pattern, dict) else pattern[int(piece)]
    return reached


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


OPERATORS: dict[str, Callable[[Any, Json, Bindings, str, bool], Mismatch | None]] = {
    "$any": _any,
    "$absent": _absent,
    "$bind": _bind,
    "$differs": _differs,
    "$exact": _exact,
    "$oneOf": _one_of,
    "$unordered": _unordered,
    "$contains": _contains,
    "$not": _not,
}
