"""The appendix: which rules each statement and decision has become, and what is wrong with that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from processor_conformance import appendix, locate
from processor_conformance.spec import Rule, load
from runner_kit import rule

BEHIND = "<!-- appendix -->\n<!-- /appendix -->\n\n| rows | why |\n|---|---|\n"


def of(name: str, *sources: str) -> Rule:
    return replace(rule(name), sources=sources)


def text(*lines: str) -> str:
    return "# The contract\n\n" + BEHIND + "".join(f"{line}\n" for line in lines)


def test_every_kind_of_source_names_rows() -> None:
    found = of("ORD-1", "document S-015, S-068", "decision 7, G-33, F-15", "observed").rows
    assert found == ["S-015", "S-068", "decision 7", "G-33", "F-15"]


def test_a_row_has_the_rules_that_name_it_in_their_order() -> None:
    rules = [of("ORD-1", "document S-001"), of("STA-1", "document S-001, S-002")]
    assert appendix.mapped(rules) == {"S-001": ["ORD-1", "STA-1"], "S-002": ["STA-1"]}


def test_a_reason_may_be_that_of_several_rows() -> None:
    assert appendix.reasons(text("| S-019, decision 31 | typing only |")) == {
        "S-019": ["typing only"],
        "decision 31": ["typing only"],
    }


def test_the_table_has_a_line_for_each_row() -> None:
    found = appendix.table({"decision 7": ["STA-1", "STA-2"]}, {"F-3": ["why"]}).splitlines()[2:]
    assert len(found) == 240 + 31 + 38 + 60
    assert found[246] == "| decision 7 | STA-1, STA-2 |"
    assert found[273] == "| F-3 | none, see below |"
    assert found[-1] == "| G-60 |  |"


def test_it_is_written_between_its_markers_and_again_the_same() -> None:
    rules = [of("ORD-1", "document S-001")]
    once = appendix.written(text("| S-019 | typing only |"), rules)
    assert "<!-- appendix -->\n| row | rules |\n|---|---|\n| S-001 | ORD-1 |\n" in once
    assert appendix.written(once, rules) == once
    assert appendix.reasons(once) == {"S-019": ["typing only"]}


def test_nothing_is_written_without_markers() -> None:
    assert appendix.written("# The contract\n", [of("ORD-1", "document S-001")]) == "# The contract\n"


@pytest.mark.parametrize(
    ("source", "lines", "fault"),
    [
        ("document S-241", (), "S-241: there is no such row (named by ORD-1)"),
        ("decision F-39", (), "F-39: there is no such row (named by ORD-1)"),
        ("decision 32", (), "decision 32: there is no such row (named by ORD-1)"),
        ("document S-001", ("| S-300 | why |",), "S-300: there is no such row (named by the table of rows"),
        ("document S-001", ("| S-001 | why |",), "S-001: ORD-1 says it, and SPEC.md has a reason"),
        ("document S-001", ("| S-002 | why |", "| S-002 | and why |"), "S-002: SPEC.md says twice"),
    ],
)
def test_names_a_fault(source: str, lines: tuple[str, ...], fault: str) -> None:
    assert [found for found in appendix.faults(text(*lines), [of("ORD-1", source)]) if found.startswith(fault)]


EVERYTHING = text(f"| {', '.join(name for name in appendix.ROWS if name not in ('S-001', 'S-005'))} | why |")


def test_nothing_is_wrong_with_rows_that_have_rules_or_a_reason() -> None:
    assert appendix.faults(EVERYTHING, [of("ORD-1", "document S-001, S-005")]) == []


def test_a_row_without_rule_and_reason_is_a_fault() -> None:
    faults = appendix.faults(EVERYTHING, [of("ORD-1", "document S-001")])
    assert faults == ["S-005: no rule says it, and SPEC.md gives no reason why"]


def test_the_specification_leaves_nothing_over() -> None:
    path = locate.find("SPEC.md")
    assert appendix.faults(path.read_text("utf-8"), list(load(path).values())) == []


def test_a_rule_made_of_what_only_the_later_document_says_is_for_the_later_revision() -> None:
    rules = [of("ORD-1", "document S-005"), of("ORD-2", "document S-005, S-001"), of("ORD-3", "observed")]
    faults = appendix.faults(EVERYTHING, rules)
    assert faults == ["ORD-1: only the nine-hook document says it; its last field is 'nine-hook'"]


def test_what_is_left_over_is_listed_by_kind() -> None:
    left = appendix.unmapped(text("| F-2 | why |"), [of("ORD-1", "decision 1, F-1")])
    assert "decision 1" not in left["decisions"]
    assert left["fine print"][0] == "F-3"
    assert len(left["statements"]) == 240
