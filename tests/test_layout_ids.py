"""SPEC.md, the code's comments, the scenarios and the mutants speak of the same rules."""

from __future__ import annotations

import re

import pytest

from layout import PRODUCT, PROGRAMS, REFERENCE, ROOT, files
from mutants import MUTANTS
from processor_conformance import scenario, spec

RULE_ID = re.compile(r"\b(?:" + "|".join(spec.FAMILIES) + r")-\d+\b")


@pytest.fixture(scope="module")
def rules() -> dict[str, spec.Rule]:
    return spec.load()


def test_every_id_in_the_code_and_its_pages_is_a_rule(rules: dict[str, spec.Rule]) -> None:
    unknown = [
        f"{path.relative_to(ROOT).as_posix()}:{number} {rule}"
        for path in files(*PRODUCT, ROOT / "fixtures" / "deviations", suffixes=(*PROGRAMS, ".md", ".toml", ".json"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for rule in RULE_ID.findall(line)
        if rule not in rules
    ]

    assert unknown == []


def test_every_rule_has_a_home_in_the_reference(rules: dict[str, spec.Rule]) -> None:
    named = {rule for path in files(REFERENCE) for rule in RULE_ID.findall(path.read_text("utf-8"))}

    assert [rule for rule in rules if rule not in named] == []


def test_the_specification_refers_only_to_rules_it_has(rules: dict[str, spec.Rule]) -> None:
    assert set(RULE_ID.findall((ROOT / "SPEC.md").read_text("utf-8"))) - set(rules) == set()


def test_every_scenario_names_rules_that_exist(rules: dict[str, spec.Rule]) -> None:
    named = {(one.id, rule) for one in scenario.load_all() for rule in one.rules}

    assert sorted((name, rule) for name, rule in named if rule not in rules) == []


def test_every_mutant_breaks_a_rule_that_exists(rules: dict[str, spec.Rule]) -> None:
    assert {name: mutant.rule for name, mutant in MUTANTS.items() if mutant.rule not in rules} == {}


def test_every_rule_has_a_scenario(rules: dict[str, spec.Rule]) -> None:
    own = {one.rule for one in scenario.load_all()}

    assert [rule for rule in rules if rule not in own] == []
