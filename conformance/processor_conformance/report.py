"""What a run says: each failure, then the summary, as text for a person.

Flows in: results, the spec and what is known of the mutants. Flows out: lines of text. What the adapter did wrong comes
first, for a failure may only come of it; the first line of a failure names the rule it breaks, the last line of a
summary says what passed.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .deviations import Deviations
from .match import Divergence
from .pattern import NOTHING
from .spec import FAMILIES, Rule, family, family_order
from .telling import LABEL, WIDTH, divergence, labelled
from .verdict import Conclusion, Kind, Result, fails, level
from .words import Json

FULL = 6  # failures told in full, and as many kinds of faults
LISTED = 20  # failures of one rule that are told at all
ALIKE = 0.5  # of the failures of a mutant and of this run together, those that both have: below, nothing is alike
NAMED = 5  # rules named in the last line
COLUMNS: dict[str, tuple[Kind, ...]] = {
    "passed": ("pass",),
    "failed": ("fail", "stale"),
    "deviating": ("deviation",),
    "faulty": ("adapter-fault", "suite-error"),
    "not asked": ("unsupported",),
}
FAULTS: tuple[Kind, ...] = COLUMNS["faulty"]
WORDS: dict[Kind, str] = {
    "stale": "STALE",
    "adapter-fault": "ADAPTER FAULT",
    "suite-error": "SUITE ERROR",
    "fail": "FAIL",
}


@dataclass(frozen=True, slots=True)
class Mutants:
    """The known broken variants of the reference: the rule each breaks, the items that fail for it, what is wrong."""

    rules: dict[str, str]
    killed_by: dict[str, frozenset[str]]
    mistakes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, raw: Json) -> Mutants:
        table = raw.get("mutants", {})
        return cls(
            {name: mutant["rule"] for name, mutant in table.items()},
            {name: frozenset(mutant["killed_by"]) for name, mutant in table.items()},
            {name: mutant.get("mistake", "") for name, mutant in table.items()},
        )

    def nearest(self, item: str, rule: str, failing: set[str], played: set[str], count: int = 2) -> list[str]:
        """The mutants that fail this item and whose failures, among those played, are like these, in words.

        The most alike come first, among equals those that break the same rule.
        """
        own = {name: items & played for name, items in self.killed_by.items() if item in items}
        alike = {name: len(items & failing) / len(items | failing) for name, items in own.items()}
        found = sorted(
            (name for name in alike if alike[name] >= ALIKE), key=lambda name: (-alike[name], self.rules[name] != rule)
        )
        return [
            f"{name} ({self.rules[name]}; fails {len(own[name] & failing)} of these {len(failing)})"
            for name in found[:count]
        ]


def failures(conclusion: Conclusion, mutants: Mutants | None = None) -> list[str]:
    """Faults, then each failure that makes the run fail, then those of rules that only SHOULD or MAY hold.

    For a rule that fails often the first is told in full and some others in a line; so are all after several rules.
    """
    failing = [result for result in conclusion.failing() if result.kind not in FAULTS]
    lines = _faults([result for result in conclusion.failing() if result.kind in FAULTS])
    ids = {result.item.id for result in failing if result.kind == "fail"}
    played = {result.item.id for result in conclusion.results}
    groups = itertools.groupby(
        [*sorted(failing, key=_severity), *conclusion.reported()], key=lambda result: (result.kind, _rule(result))
    )
    cut = False
    for number, ((kind, rule), group) in enumerate(groups):
        first, *others = group
        if number < FULL:
            comparable = mutants if kind == "fail" and not _nothing_came(first.divergence) else None
            looks_like = comparable.nearest(first.item.id, rule, ids, played) if comparable else []
            lines += ["", *failure(first, conclusion.spec, looks_like)]
        else:
            lines.append(headline(first, conclusion.spec))
        lines += [headline(result, conclusion.spec) for result in others[: LISTED - 1]]
        lines += [f"... and {_count(len(others) - LISTED + 1, 'play')} more of {rule}"] if len(others) >= LISTED else []
        cut = cut or number + 1 == FULL or len(others) >= LISTED
    if cut:
        lines += ["", "more of a rule: processor-conformance run RULE; everything: --json FILE"]
    return lines[1:]


def _faults(results: Sequence[Result]) -> list[str]:
    """Equal faults once, with how many plays they cost."""
    groups: dict[tuple[Kind, str], list[Result]] = {}
    for result in sorted(results, key=lambda result: result.kind != "suite-error"):
        groups.setdefault((result.kind, re.sub(r"\d+", "0", result.message)), []).append(result)
    lines = []
    for number, ((kind, _), same) in enumerate(groups.items()):
        first, where = same[0], "first in " if len(same) > 1 else ""
        lines += ["", f"{WORDS[kind]} · {_count(len(same), 'play')} · {where}{first.item.id}"]
        lines += labelled("what", first.message if number < FULL else first.message[: WIDTH - LABEL - 2])
        lines += labelled("its stderr", first.stderr) if number < FULL and first.stderr else []
    return lines


def _nothing_came(found: Divergence | None) -> bool:
    """Whether a lane is empty: that is like every mistake that ends a run early, and says nothing of which."""
    return found is not None and found.kind == "expectation" and found.came is NOTHING and found.index == 0


def _severity(result: Result) -> tuple[bool, int]:
    return result.kind != "fail", family_order(_rule(result))


def _rule(result: Result) -> str:
    return result.broken[0] if result.broken else result.item.scenario.rule


def headline(result: Result, spec: dict[str, Rule]) -> str:
    """The line that names the rule: `FAIL ORD-3 · its title · the item`."""
    rule = _rule(result)
    title = spec[rule].title if rule in spec else result.item.scenario.title
    word = WORDS[result.kind] if fails(result, spec) else f"NOT AS IT {level(rule, spec)} BE"
    return f"{word} {rule} · {title} · {result.item.id}"


def failure(result: Result, spec: dict[str, Rule], looks_like: Sequence[str] = ()) -> list[str]:
    """One failure in full: where, what was last in common, what was expected and came, and the rule."""
    lines = [headline(result, spec)]
    if result.message:
        lines += labelled("what", result.message)
    if result.divergence:
        lines += divergence(result.divergence)
    if result.stderr:
        lines += labelled("its stderr", result.stderr)
    if result.kind == "fail":
        lines += _about(spec.get(_rule(result)), result)
    lines += labelled("looks like", "; ".join(looks_like)) if looks_like else []
    return lines


def _about(rule: Rule | None, result: Result) -> list[str]:
    lines = labelled("rule", rule.statement) + labelled("intent", rule.intent) if rule else []
    lines += labelled("source", f"{rule.level} · {rule.source}") if rule else []
    own = result.item.scenario.rule
    if own not in result.broken:
        lines += labelled("besides", f"the scenario itself, which is about {own}, passes")
    return lines


def summary(
    conclusion: Conclusion, who: str, known: Deviations | None = None, missing: Iterable[str] = ()
) -> list[str]:
    """The table by family, what is broken and deviates, the two verdicts, and the line that says it all."""
    lines = [*_table(conclusion.results), ""]
    lines += _broken(conclusion)
    lines += _deviating(conclusion, known)
    lines += labelled("not asked", f"needs what is not declared: {', '.join(sorted(missing))}") if missing else []
    lines += labelled("partial", _lacking(conclusion)) if conclusion.lacks else []
    lines += labelled("documents alone", _verdict(conclusion, documents=True)) + labelled(
        "in full", _verdict(conclusion, documents=False)
    )
    return [*lines, "", last_line(conclusion, who)]


def _table(results: Sequence[Result]) -> list[str]:
    counts: dict[str, Counter[Kind]] = {}
    for result in results:
        counts.setdefault(family(result.item.scenario.rule), Counter())[result.kind] += 1
    shown = [
        name
        for name, kinds in COLUMNS.items()
        if name in ("passed", "failed") or any(c[k] for c in counts.values() for k in kinds)
    ]
    lines = ["  " + " " * 26 + "".join(f"{name:>11}" for name in shown)]
    for name in sorted(counts, key=family_order):
        numbers = [sum(counts[name][kind] for kind in COLUMNS[column]) for column in shown]
        lines.append(
            f"  {f'{name} {FAMILIES.get(name, str())}':<26}" + "".join(f"{number or '-':>11}" for number in numbers)
        )
    return lines


def _broken(conclusion: Conclusion) -> list[str]:
    lines = []
    for rule in _ordered(conclusion, "broken"):
        known = conclusion.spec.get(rule)
        word = "broken" if level(rule, conclusion.spec) == "MUST" else f"broken ({level(rule, conclusion.spec)})"
        lines += labelled(word, f"{rule} {known.title} [{known.source}]" if known else rule)
    return lines


def _deviating(conclusion: Conclusion, known: Deviations | None) -> list[str]:
    deviating = [result for result in conclusion.results if result.kind == "deviation"]
    counts = Counter(cause for result in deviating for cause in dict.fromkeys(entry.cause for entry in result.entries))
    causes = known.causes if known else {}
    lines = []
    for cause, count in counts.items():
        about = causes.get(cause)
        text = f"{about.shows} [{', '.join(about.rules)}; {_count(count, 'play')}; {cause}]" if about else cause
        lines += labelled("deviates", text)
    return lines


def _ordered(conclusion: Conclusion, standing: str) -> list[str]:
    return sorted((rule for rule, word in conclusion.standings.items() if word == standing), key=family_order)


def _musts(conclusion: Conclusion, *, documents: bool) -> list[str]:
    """The MUST rules that results say something about, of the documents or all."""
    rules = [rule for rule in conclusion.standings if level(rule, conclusion.spec) == "MUST"]
    return [rule for rule in rules if conclusion.documented(rule)] if documents else rules


def _verdict(conclusion: Conclusion, *, documents: bool) -> str:
    rules = _musts(conclusion, documents=documents)
    kept = sum(conclusion.standings[rule] == "kept" for rule in rules)
    others = [rule for rule in rules if conclusion.standings[rule] not in ("kept", "not asked")]
    asked = sum(conclusion.standings[rule] != "not asked" for rule in rules)
    if not asked:
        return "no such rule was played"
    word = _holds(conclusion, documents)
    whose = " that a document states" if documents else ", our decisions included"
    named = f"; not {', '.join(sorted(others, key=family_order))}" if documents and others else ""
    return f"{word}: {kept} of {_count(asked, 'MUST rule')} kept{whose}{named}"


def last_line(conclusion: Conclusion, who: str) -> str:
    """What passed, in one line."""
    scenarios = {result.item.scenario.id for result in conclusion.results if result.kind != "unsupported"}
    plays = sum(result.kind != "unsupported" for result in conclusion.results)
    alone, full = _word(conclusion, documents=True), _word(conclusion, documents=False)
    verdicts = f"documents alone: {alone}, in full: {full}"
    verdicts += f"; {_lacking(conclusion)}" if conclusion.lacks else ""
    return f"{_in_a_word(conclusion, who)} ({_count(len(scenarios), 'scenario')}, {_count(plays, 'play')}; {verdicts})"


def _word(conclusion: Conclusion, *, documents: bool) -> str:
    """A verdict in one word; none where no such rule was played."""
    rules = _musts(conclusion, documents=documents)
    if all(conclusion.standings[rule] == "not asked" for rule in rules):
        return "not asked"
    return _holds(conclusion, documents)


def _lacking(conclusion: Conclusion) -> str:
    """Which hooks are not there, and how much was therefore not asked."""
    unasked = {one.item.scenario.id for one in conclusion.results if one.item.scenario.hooks & conclusion.lacks}
    return f"it has no {', '.join(sorted(conclusion.lacks))}; {_count(len(unasked), 'scenario')} not asked for that"


def _holds(conclusion: Conclusion, documents: bool) -> str:
    """Whether a verdict holds, in a word; nobody without some hooks is told more than that nothing asked is broken."""
    holds = conclusion.documents_alone if documents else conclusion.in_full
    return "in part" if holds and conclusion.lacks else "yes" if holds else "no"


def _in_a_word(conclusion: Conclusion, who: str) -> str:
    kinds = Counter(result.kind for result in conclusion.results)
    standings = conclusion.standings
    number = sum(word != "not asked" for word in standings.values())
    asked = _count(number, "rule")
    broken = [rule for rule in _ordered(conclusion, "broken") if level(rule, conclusion.spec) == "MUST"]
    lesser = len(_ordered(conclusion, "broken")) - len(broken)
    word = "partial" if conclusion.lacks else "conformant"
    if kinds["suite-error"]:
        return f"suite error: {_count(kinds['suite-error'], 'play')} could not be judged, by no fault of {who}"
    if broken:
        return f"not conformant: {who} breaks {len(broken)} of {asked}: {_named(broken)}"
    if kinds["adapter-fault"]:
        return f"not conformant: the adapter of {who} failed in {_count(kinds['adapter-fault'], 'play')}"
    if kinds["stale"]:
        return f"not up to date: {_count(kinds['stale'], 'known deviation')} of {who} no longer happens"
    if kinds["deviation"]:
        kept = sum(word == "kept" for word in standings.values())
        return f"accounted for: {who} keeps {kept} of {asked} and breaks the others as its deviations file says"
    if lesser:
        musts = _all(sum(standings[rule] != "not asked" for rule in _musts(conclusion, documents=False)), "MUST rule")
        return f"{word}: {who} keeps {musts}; {lesser} that it SHOULD keep {'is' if lesser == 1 else 'are'} broken"
    if not number:
        return f"nothing asked: {who} declares nothing that these scenarios need"
    return f"{word}: {who} keeps {_all(number, 'rule')}"


def _named(rules: list[str]) -> str:
    more = f" and {len(rules) - NAMED} more" if len(rules) > NAMED else ""
    return ", ".join(rules[:NAMED]) + more


def _all(number: int, noun: str) -> str:
    return f"its {_count(number, noun)}" if number == 1 else f"all {_count(number, noun)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
