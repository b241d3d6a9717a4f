"""`--update-deviations`: rewrites a deviations file.

Flows in: the file's text, its entries, and what a run found out about them. Flows out: the new text, without what is
stale and with what is new. All that is not concerned keeps its place, and every comment with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from .deviations import Deviation, Deviations, load
from .proposals import UNEXPLAINED
from .scenario import Scenario
from .words import Json

HEADER = re.compile(r"^\[\[\s*deviation\s*\]\]", re.M)
TABLE = re.compile(r"^\[\[?[\w .\-]+\]\]?\s*(#.*)?$", re.M)
NO_TOML = re.compile(r"null|\\ud[89a-f]")
MODE_LINE = re.compile(r"^modes\s*=.*\n", re.M)


@dataclass(slots=True)
class Updates:
    """What a run found out: entries that are stale, each with the mode it is stale in, and new ones."""

    stale: list[tuple[Deviation, str]] = field(default_factory=list)
    new: list[Deviation] = field(default_factory=list)

    def add(self, proposed: Deviation, entries: Sequence[Deviation]) -> None:
        """Takes a new entry for one mode; with what the entry of its cause says of that mode, if it has one already."""
        known = next((entry for entry in entries if entry.cause == proposed.cause), None)
        self.new.append(_both(known, proposed) if known else proposed)
        self.stale += [(known, mode) for mode in proposed.modes] if known else []


def _both(known: Deviation, more: Deviation) -> Deviation:
    """An entry that accounts for what two of one cause do, in the modes of the second."""
    return replace(
        known,
        modes=more.modes,
        instead=(*known.instead, *more.instead),
        invariants=tuple(dict.fromkeys((*known.invariants, *more.invariants))),
        gates=tuple(dict.fromkeys((*known.gates, *more.gates))),
    )


def update(known: Deviations, scenarios: Iterable[Scenario], updates: Updates) -> list[str]:
    """Rewrites the file of these deviations; says what was done."""
    if known.path is None or not (updates.stale or updates.new):
        return ["the deviations file stays as it is"]
    text = known.path.read_text("utf-8") if known.path.exists() else ""
    known.path.write_text(rewrite(text, load(known.path).entries if text else (), scenarios, updates), "utf-8")
    gone = len({as_toml(entry) for entry, _ in updates.stale})
    said = f"{known.path}: {len(updates.new)} plays have new entries, {gone} entries were taken out or narrowed"
    return (
        [said, f"explain each new one: a [[cause]] for it in place of {UNEXPLAINED!r}, and a reason"]
        if updates.new
        else [said]
    )


def rewrite(text: str, entries: Sequence[Deviation], scenarios: Iterable[Scenario], updates: Updates) -> str:
    """The new text of the file whose entries these are."""
    modes = {scenario.id: tuple(scenario.modes) for scenario in scenarios}
    pieces, end = [], 0
    for entry, (start, stop) in zip(entries, _blocks(text), strict=True):
        concerned = entry.modes or modes.get(entry.scenario, ())
        pieces += [
            text[end:start],
            _left(text[start:stop], entry, concerned if entry.scenario in modes else (), updates),
        ]
        end = stop
    kept = re.sub(r"\n{3,}", "\n\n", "".join([*pieces, text[end:]]))
    parts = [kept, *map(as_toml, merged(updates.new, modes))]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _blocks(text: str) -> list[tuple[int, int]]:
    """Where each `[[deviation]]` table lies, with the comment right above it."""
    tables = [found.start() for found in TABLE.finditer(text)]
    ends = {start: _above(text, following) for start, following in pairwise([*tables, len(text)])}
    return [(_above(text, found.start()), ends[found.start()]) for found in HEADER.finditer(text)]


def _above(text: str, position: int) -> int:
    """The start of the comment lines right above a position."""
    lines = text[:position].splitlines(keepends=True)
    while lines and lines[-1].startswith("#"):
        position -= len(lines.pop())
    return position


def _left(text: str, entry: Deviation, modes: tuple[str, ...], updates: Updates) -> str:
    """The text of an entry, narrowed to the modes in which it still counts; empty when there is none."""
    stale = {mode for one, mode in updates.stale if one == entry}
    left = [mode for mode in modes if mode not in stale]
    if not left or not stale:
        return text if left else ""
    line = f"modes = {json.dumps(left)}\n"
    if entry.modes:
        return MODE_LINE.sub(line, text)
    return re.sub(r"^(scenario\s*=.*\n)", rf"\g<1>{line}", text, flags=re.M)


def merged(entries: Iterable[Deviation], modes: dict[str, tuple[str, ...]]) -> list[Deviation]:
    """Entries that differ in their mode only, as one; without modes where it stands for all of them."""
    alike: dict[str, Deviation] = {}
    for entry in entries:
        key = as_toml(replace(entry, modes=()))
        known = alike.get(key, replace(entry, modes=()))
        alike[key] = replace(known, modes=(*known.modes, *entry.modes))
    everywhere = [
        replace(one, modes=()) if set(one.modes) == set(modes[one.scenario]) else one for one in alike.values()
    ]
    return sorted(everywhere, key=lambda entry: entry.scenario)


def as_toml(entry: Deviation) -> str:
    """An entry as a `[[deviation]]` table."""
    lines = ["[[deviation]]", f"scenario = {_toml(entry.scenario)}"]
    lines += [f"modes = {_toml(list(entry.modes))}"] if entry.modes else []
    lines += [f"cause = {_toml(entry.cause)}", f"reason = {_toml(entry.reason)}"]
    lines += [f"invariant = {_toml(list(entry.invariants))}"] if entry.invariants else []
    lines += [f"gate = {_toml(list(entry.gates))}"] if entry.gates else []
    lines += [f"{name} = true" for name in ("sometimes", "endless") if getattr(entry, name)]
    if entry.instead:
        lines += ["instead = [", *(f"  {_toml(_without_null(patch))}," for patch in entry.instead), "]"]
    return "\n".join(lines)


def _without_null(patch: dict[str, Json]) -> dict[str, Json]:
    """TOML has no null and no half a character: a value that holds one is written as a text of JSON."""
    for name in ("to", "insert"):
        if name in patch and NO_TOML.search(json.dumps(patch[name])):
            return {"at": patch["at"], f"{name}-json": json.dumps(patch[name])}
    return patch


def _toml(value: Json) -> str:
    """A JSON value without null as TOML, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_toml(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)
