"""What the real framework is known to break, held to its reproductions and to an adapter that knows nothing of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from layout import ROOT
from processor_conformance import deviations, scenario, spec
from processor_conformance.deviations import Cause, Deviation

ADAPTER = ROOT / "conformance" / "adapters" / "mastra"
REPRODUCTIONS = ADAPTER / "reproductions"
KNOWN = deviations.load(ROOT / "fixtures" / "deviations" / "mastra.toml")
SCENARIOS = {one.id: one for one in scenario.load_all()}
OPEN = "// No scenario yet.\n"  # the first line of a reproduction that no cause names
LONGEST_BRIDGE = 250
RULE = re.compile(rf"\b(?:{'|'.join(spec.FAMILIES)})-\d+\b")
OURS = re.compile(r"adapter|bridge|protocol|conformance|\.\./javascript", re.I)

causes = pytest.mark.parametrize("cause", KNOWN.causes.values(), ids=lambda cause: cause.id)
entries = pytest.mark.parametrize("entry", KNOWN.entries, ids=lambda entry: entry.scenario)
reproductions = pytest.mark.parametrize("path", sorted(REPRODUCTIONS.glob("*.mjs")), ids=lambda path: path.stem)


def broken_by(entry: Deviation) -> set[str]:
    """The rules that an entry says are broken: its scenario's, where the trace differs, and those of invariants."""
    differs = bool(entry.instead or entry.gates)
    return {*entry.invariants, *((SCENARIOS[entry.scenario].rule,) if differs else ())}


def test_every_entry_fits_a_scenario_and_every_cause_explains_one() -> None:
    KNOWN.check(SCENARIOS.values())


def test_the_file_names_the_version_that_is_installed() -> None:
    pinned = json.loads((ADAPTER / "package.json").read_text("utf-8"))["dependencies"]["@mastra/core"]
    assert KNOWN.path is not None
    assert f"`@mastra/core` {pinned}" in KNOWN.path.read_text("utf-8").splitlines()[0]


@causes
def test_a_cause_is_what_its_reproduction_says(cause: Cause) -> None:
    said = (REPRODUCTIONS / f"{cause.id}.mjs").read_text("utf-8").splitlines()[-1]
    assert (cause.reproduction, said[len("sees('") : -len("');")].replace("\\'", "'")) == (
        f"{cause.id}.mjs",
        cause.shows,
    )


@causes
def test_a_cause_names_the_rules_that_its_deviations_break(cause: Cause) -> None:
    assert set(cause.rules) == {rule for one in KNOWN.entries if one.cause == cause.id for rule in broken_by(one)}


@entries
def test_an_entry_changes_something_and_says_in_a_sentence_what(entry: Deviation) -> None:
    assert broken_by(entry)
    assert re.fullmatch(r".{12,116}\.", entry.reason)


@reproductions
def test_a_reproduction_uses_the_framework_directly(path: Path) -> None:
    assert OURS.findall(path.read_text("utf-8")) == []


@reproductions
def test_a_reproduction_has_a_cause_or_says_that_it_has_none_yet(path: Path) -> None:
    assert path.read_text("utf-8").startswith(OPEN) != (path.stem in KNOWN.causes)


def test_what_reproductions_share_does_not_use_the_adapter() -> None:
    assert OURS.findall((REPRODUCTIONS / "support" / "scripted.mjs").read_text("utf-8")) == []


def test_the_bridge_is_short() -> None:
    assert len((ADAPTER / "bridge.mjs").read_text("utf-8").splitlines()) <= LONGEST_BRIDGE


@pytest.mark.parametrize(
    "path", [ADAPTER / "bridge.mjs", *sorted((ADAPTER.parent / "javascript").glob("*.mjs"))], ids=lambda path: path.name
)
def test_the_adapter_knows_no_scenario_and_no_rule(path: Path) -> None:
    text = path.read_text("utf-8")
    assert (RULE.findall(text), [name for name in SCENARIOS if name in text]) == ([], [])
