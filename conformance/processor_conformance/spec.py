"""SPEC.md as rules.

Flows in: the text of SPEC.md, whose rules have a fixed form (a heading `### STA-3 · Title`, a line of level, sources
and revisions, the statement, then `*Intent.*`, `*Why.*`, `*Seen at*`, `*Shown by*` and `*Broken by*`). Flows out:
`Rule`, by id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from . import locate
from .words import REVISION, REVISIONS, RULE, SIX

FAMILIES = {
    "ORD": "order",
    "STA": "state",
    "PER": "persistence",
    "TRI": "abort and tripwire",
    "RTY": "retry",
    "ERR": "errors",
    "MSG": "messages",
    "STR": "stream",
    "DAT": "data chunks",
    "TOOL": "tools",
    "LLM": "request and response",
    "CFG": "configuration",
    "CTX": "context and tracing",
    "RES": "result",
}
HEADING = re.compile(rf"^### ({RULE.pattern}) · (.+)$", re.MULTILINE)
MARKED = re.compile(r"^\*(Intent|Why|Seen at|Shown by|Broken by)\.?\*\s*(.*)$")
LEVELS = ("MUST", "SHOULD", "MAY")
DECISION = "decision "
# The statements that the six-hook document does not make: in that revision a rule made of them is ours.
LATER = frozenset(
    f"S-{number:03}"
    for first, last in (
        (5, 5), (9, 9), (12, 12), (26, 27), (29, 33), (35, 53), (71, 71), (94, 97), (101, 116), (142, 142), (154, 155),
        (158, 158), (160, 160), (165, 181), (203, 206), (208, 213), (216, 222), (224, 227), (229, 240),
    )
    for number in range(first, last + 1)
)  # fmt: skip


class SpecError(ValueError):
    """SPEC.md is not in the form the suite reads: a bug of the suite."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what holds, on whose word, and where it is seen. The lists are empty where the line is missing."""

    id: str
    title: str
    level: str
    sources: tuple[str, ...]
    revisions: tuple[str, ...]
    statement: str
    intent: str = ""
    why: str = ""
    seen_at: tuple[str, ...] = ()
    shown_by: tuple[str, ...] = ()
    broken_by: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        return family(self.id)

    @property
    def source(self) -> str:
        return " · ".join(self.sources)

    @property
    def rows(self) -> list[str]:
        """The statements and decisions it is made of, by their own names; a decision's number is `decision 7`."""
        named = [name for source in self.sources for name in source.partition(" ")[2].split(",")]
        return list(dict.fromkeys(row(name) for name in named if name.strip()))

    def documented(self, revision: str = REVISION) -> bool:
        """Whether the document of this revision says it; else it is our decision, or was observed."""
        return any(row.startswith("S-") and not (revision == SIX and row in LATER) for row in self.rows)


def row(name: str) -> str:
    """A row's own name, however a list spells it: `7` and `decision 7` are one."""
    name = name.strip().removeprefix(DECISION)
    return f"{DECISION}{name}" if name.isdigit() else name


def family(rule: str) -> str:
    """`ORD` of `ORD-3`."""
    return rule.partition("-")[0]


def family_order(name: str) -> int:
    """Where the family of a rule or scenario stands in SPEC.md; unknown ones come last."""
    prefix = family(name)
    return list(FAMILIES).index(prefix) if prefix in FAMILIES else len(FAMILIES)


def load(path: Path | None = None) -> dict[str, Rule]:
    """The rules of SPEC.md by id, in its order."""
    return parse((path or locate.find("SPEC.md")).read_text("utf-8"))


def parse(text: str) -> dict[str, Rule]:
    """The rules in `text`; raises SpecError on a rule that is not in the form, or is there twice."""
    rules: dict[str, Rule] = {}
    for rule_id, title, body in sections(text):
        if rule_id in rules:
            raise SpecError(f"SPEC.md has {rule_id} twice; give one of them the next free number")
        rules[rule_id] = _rule(rule_id, title, body)
    return rules


def sections(text: str) -> list[tuple[str, str, str]]:
    """(id, title, body) of every rule, the body ending at the next heading."""
    found = list(HEADING.finditer(text))
    return [(one[1], one[2].strip(), re.split(r"^#+ ", text[one.end() :], maxsplit=1, flags=re.M)[0]) for one in found]


def _rule(rule_id: str, title: str, body: str) -> Rule:
    first, *rest = body.strip().split("\n")
    level, *sources = [field.strip() for field in first.split(" · ")]
    if level not in LEVELS or not sources:
        raise SpecError(
            f"SPEC.md, {rule_id}: the line below the heading is not 'LEVEL · sources · revisions': {first!r}"
        )
    marked = {"statement": ""}
    key = "statement"
    for line in rest:
        mark = MARKED.match(line)
        if mark:
            key = mark[1]
        marked[key] = marked.get(key, "") + (mark[2] if mark else line) + "\n"
    texts = {key: _joined(text) for key, text in marked.items()}
    return Rule(
        rule_id, title, level, tuple(sources[:-1]), _revisions(rule_id, sources[-1]), texts["statement"],
        intent=texts.get("Intent", ""), why=texts.get("Why", ""), seen_at=_listed(texts.get("Seen at", ""), ";"),
        shown_by=_listed(texts.get("Shown by", ""), ","), broken_by=_listed(texts.get("Broken by", ""), ","),
    )  # fmt: skip


def _revisions(rule_id: str, word: str) -> tuple[str, ...]:
    if word == "both revisions":
        return REVISIONS
    if word in REVISIONS:
        return (word,)
    raise SpecError(f"SPEC.md, {rule_id}: the last field names the revisions (both revisions, nine-hook), not {word!r}")


def _joined(text: str) -> str:
    """Lines of one paragraph joined; paragraphs, lists and tables left apart."""
    return re.sub(r"(?<!\n)\n(?![\n|*\-])", " ", text.strip())


def _listed(text: str, separator: str) -> tuple[str, ...]:
    return tuple(piece.strip() for piece in text.rstrip(". ").split(separator) if piece.strip())
