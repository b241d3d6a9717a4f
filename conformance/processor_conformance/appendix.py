"""SPEC.md's appendix: which rules each statement of the documents, and each decision, has become.

Flows in: the rules, whose sources name rows (`document S-201 · decision 7, F-15, G-33`), and the table of SPEC.md that
gives the reason for each row without a rule. Flows out: the table of all rows as Markdown, SPEC.md with it between its
two markers, and what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from .spec import Rule

MARKERS = ("<!-- appendix -->", "<!-- /appendix -->")
TABLE = re.compile(f"(?<={MARKERS[0]}\n).*?(?={MARKERS[1]})", re.S)
HEADER = "| row | rules |\n|---|---|\n"
NO_RULE = "none, see below"
DECISION = "decision "
# The statements of the two documents, the decisions and their fine print, and what was decided on gaps.
KINDS = {
    "statements": [f"S-{number:03}" for number in range(1, 241)],
    "decisions": [f"{DECISION}{number}" for number in range(1, 32)],
    "fine print": [f"F-{number}" for number in range(1, 39)],
    "gaps": [f"G-{number:02}" for number in range(1, 61)],
}
ROWS = [row for rows in KINDS.values() for row in rows]


def sources(rule: Rule) -> Iterator[str]:
    """The rows that a rule names: a word for the kind of source, then ids; a decision's is its number."""
    for source in rule.sources:
        _, _, named = source.partition(" ")
        yield from map(_row, filter(None, named.split(",")))


def _row(named: str) -> str:
    """A row's own name, however a list spells it: `7` and `decision 7` are one."""
    name = named.strip().removeprefix(DECISION)
    return f"{DECISION}{name}" if name.isdigit() else name


def mapped(rules: Iterable[Rule]) -> dict[str, list[str]]:
    """For each row that some rule names, the rules, in the order of SPEC.md."""
    found: dict[str, list[str]] = {}
    for rule in rules:
        for row in dict.fromkeys(sources(rule)):
            found.setdefault(row, []).append(rule.id)
    return found


def reasons(text: str) -> dict[str, list[str]]:
    """For each row of the hand-kept table behind the generated one, why no rule says it."""
    found: dict[str, list[str]] = {}
    for line in re.findall(r"^\| ((?:[SFG]-|decision )\d.*) \|$", text.partition(MARKERS[1])[2], re.M):
        rows, _, reason = line.partition(" | ")
        for row in rows.split(","):
            found.setdefault(_row(row), []).append(reason)
    return found


def written(text: str, rules: Iterable[Rule]) -> str:
    """SPEC.md with the table as it is now; as it was where it has no markers."""
    return TABLE.sub(lambda _: table(mapped(rules), reasons(text)), text)


def table(found: Mapping[str, list[str]], without: Mapping[str, list[str]]) -> str:
    """The table, a line for each row in the order of the documents."""
    return HEADER + "".join(
        f"| {row} | {', '.join(found.get(row, [NO_RULE] if row in without else []))} |\n" for row in ROWS
    )


def faults(text: str, rules: Iterable[Rule]) -> list[str]:
    """Every row that has rules as well as a reason, several reasons, or is none."""
    found, without = mapped(rules), reasons(text)
    named = [*found, *(row for row in without if row not in found)]
    return [
        *(f"{row}: there is no such row (named by {', '.join(found.get(row, ['the table of rows without a rule']))})"
          for row in named if row not in ROWS),
        *(f"{row}: {', '.join(found[row])} says it, and SPEC.md has a reason why no rule does"
          for row in without if row in found),
        *(f"{row}: SPEC.md says twice why no rule says it" for row, said in without.items() if len(said) > 1),
    ]  # fmt: skip


def unmapped(text: str, rules: Iterable[Rule]) -> dict[str, list[str]]:
    """The rows of each kind that neither a rule names nor a reason accounts for."""
    known = {*mapped(rules), *reasons(text)}
    return {kind: [row for row in rows if row not in known] for kind, rows in KINDS.items()}
