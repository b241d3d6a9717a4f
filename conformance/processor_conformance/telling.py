"""How a divergence reads: labelled lines that say where it is, what was expected and what came.

Flows in: a divergence. Flows out: lines of text, of which each value is one, cut where it is long: what differs, and
what tells one event from another, stands before the cut.
"""

from __future__ import annotations

import json
import textwrap

from .match import Divergence
from .pattern import NOTHING, Mismatch, PatternError, closest
from .words import LANES, Json

WIDTH = 120
LABEL = 17
IDENTITY = ("hook", "processor", "tool", "toolCallId", "callback", "store", "type", "payload", "model", "opened")
KINDS = ("/hook", "/tool", "/callback", "/store")  # an event that lacks what is expected here is of another kind


def compact(value: Json, width: int = WIDTH - LABEL - 4) -> str:
    """A value on one line, cut where it is long."""
    text = "nothing" if value is NOTHING else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= width else f"{text[: width - 4]} ..."


def labelled(label: str, text: str) -> list[str]:
    """A text behind its label, on as many lines as it takes."""
    width = WIDTH - LABEL - 2
    pieces = [
        piece
        for line in text.splitlines()
        for piece in (textwrap.wrap(line, width, break_on_hyphens=False) if len(line) > width else [line])
    ]
    return [f"  {label if not number else '':<{LABEL}}{piece}" for number, piece in enumerate(pieces)]


def divergence(found: Divergence) -> list[str]:
    """All that is to be said of it, below its headline."""
    lines = labelled("where", _where(found))
    if found.lane in LANES:
        lines += labelled("last in common", _gist(found, found.last))
    if found.kind != "invariant" and found.kind != "stuck-gate":
        lines += labelled("expected next", _differing_first(found.expected, found.path))
    if found.kind != "stuck-gate":
        lines += labelled("came", _gist(found, found.came))
    if found.path and not (found.path in KINDS and found.got is NOTHING):
        lines += _differs("differs at", Mismatch(found.path, found.wanted, found.got))
    if found.path or found.lane not in LANES:
        lines += _nearest(found)
    return lines + (labelled("that is", found.note) if found.note else [])


def _differs(label: str, missed: Mismatch) -> list[str]:
    place = missed.path or "/"
    return labelled(label, f"{place}: expected {compact(missed.expected, 60)}, came {compact(missed.came, 60)}")


def _nearest(found: Divergence) -> list[str]:
    """Within a choice, or a list that has to hold something: where what came is nearest to it."""
    here = Mismatch(found.path, found.wanted, found.got)
    try:
        near = closest(here)
    except PatternError:  # it speaks of what was bound elsewhere
        return []
    return [] if near == here else _differs("nearest", near)


def _gist(found: Divergence, value: Json) -> str:
    """An event, without the members that nobody asked about."""
    if not isinstance(value, dict) or found.lane not in LANES:
        return _differing_first(value, found.path)
    place = found.path.split("/")[1:2]
    asked = {**dict.fromkeys([*IDENTITY, *place]), **(found.expected if isinstance(found.expected, dict) else {})}
    return _differing_first(_only(value, asked) or value, found.path)


def _differing_first(value: Json, path: str) -> str:
    """A value on one line; where that has to be cut, what it is at the beginning of `path` comes first."""
    text, place = compact(value), path.split("/")[1:2]
    if not place or not text.endswith(" ..."):
        return text
    if isinstance(value, dict) and place[0] in value:
        return compact({place[0]: value[place[0]], **value})
    if isinstance(value, list) and place[0].isdigit() and int(place[0]) < len(value):
        return f"/{place[0]}: {compact(value[int(place[0])], WIDTH - LABEL - 8)}"
    return text


def _only(value: Json, asked: Json) -> Json:
    """A value with no more members than were asked about."""
    if isinstance(value, dict) and isinstance(asked, dict) and not any(name.startswith("$") for name in asked):
        return {name: _only(part, asked[name]) for name, part in value.items() if name in asked}
    return value


def _where(found: Divergence) -> str:
    place = {
        "outcome": f"the outcome of run {found.run}",
        "stored": "the store, thread {!r} of resource {!r}".format(*found.stored or ("", "")),
        "trace": "the whole play",
    }
    where = place.get(found.lane, f"run {found.run}, {found.lane} lane")
    if found.kind in ("expectation", "late") and found.lane not in place:
        where += f", event {found.index + 1} of what the lens shows"
    return where + {"late": "; it came after the run's outcome", "invariant": "; this holds in every trace"}.get(
        found.kind, ""
    )
