"""SPEC.md's appendix: which rules each statement of the documents, and each decision, has become.

Flows in: the rules, whose sources name rows (`document S-201 · decision 7, F-15, G-33`), and the table of SPEC.md that
gives the reason for each row without a rule. Flows out: the table of all rows as Markdown, SPEC.md with it between its
two markers, and what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from .spec import DECISION, LATER, Rule, row
from .words import SIX

MARKERS = ("<!-- appendix -->", "<!-- /appendix -->")
TABLE = re.compile(f"(?<={MARKERS[0]}\n).*?(?={MARKERS[1]})", re.S)
HEADER = "| row | rules |\n|---|---|\n"
NO_RULE = "none, see below"
# The statements of the two documents, the decisions and their fine print, and what was decided on gaps.
KINDS = {
    "statements": [f"S-{number:03}" for number in range(1, 241)],
    "decisions": [f"{DECISION}{number}" for number in range(1, 32)],
    "fine print": [f"F-{number}" for number in range(1, 39)],
    "gaps": [f"G-{number:02}" for number in range(1, 61)],
}
ROWS = [name for names in KINDS.values() for name in names]


def mapped(rules: Iterable[Rule]) -> dict[str, list[str]]:
    """For each row that some rule names, the rules, in the order of SPEC.md."""
    found: dict[str, list[str]] = {}
    for rule in rules:
        for name in rule.rows:
            found.setdefault(name, []).append(rule.id)
    return found


def reasons(text: str) -> dict[str, list[str]]:
    """For each row of the hand-kept table behind the generated one, why no rule says it."""
    found: dict[str, list[str]] = {}
    for line in re.findall(r"^\| ((?:[SFG]-|decision )\d.*) \|$", text.partition(MARKERS[1])[2], re.M):
        names, _, reason = line.partition(" | ")
        for name in names.split(","):
            found.setdefault(row(name), []).append(reason)
    return found


def written(text: str, rules: Iterable[Rule]) -> str:
    """SPEC.md with the table as it is now; as it was where it has no markers."""
    return TABLE.sub(lambda _: table(mapped(rules), reasons(text)), text)


def table(found: Mapping[str, list[str]], without: Mapping[str, list[str]]) -> str:
    """The table, a line for each row in the order of the documents."""
    said = {**{name: [NO_RULE] for name in without}, **found}
    return HEADER + "".join(f"| {name} | {', '.join(said.get(name, ()))} |\n" for name in ROWS)


def faults(text: str, rules: Collection[Rule]) -> list[str]:
    """Every row that has neither rules nor a reason, both, or several reasons, or is none; and every rule that holds in
    a revision that knows nothing of what it is made of.
    """
    found, without = mapped(rules), reasons(text)
    said = {**{name: ["the table of rows without a rule"] for name in without}, **found}
    made = [rule for rule in rules if SIX in rule.revisions and rule.rows]
    return [
        *(f"{name}: no rule says it, and SPEC.md gives no reason why" for name in ROWS if name not in said),
        *(f"{name}: there is no such row (named by {', '.join(by)})" for name, by in said.items() if name not in ROWS),
        *(f"{name}: {', '.join(found[name])} says it, and SPEC.md has a reason why no rule does"
          for name in without if name in found),
        *(f"{name}: SPEC.md says twice why no rule says it" for name, why in without.items() if len(why) > 1),
        *(f"{rule.id}: only the nine-hook document says it; its last field is 'nine-hook'"
          for rule in made if LATER.issuperset(rule.rows)),
    ]  # fmt: skip


def unmapped(text: str, rules: Iterable[Rule]) -> dict[str, list[str]]:
    """The rows of each kind that neither a rule names nor a reason accounts for."""
    known = {*mapped(rules), *reasons(text)}
    return {kind: [name for name in names if name not in known] for kind, names in KINDS.items()}
