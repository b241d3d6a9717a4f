"""The command `python -m mutants`: what it refuses, and what it keeps of the table."""

from __future__ import annotations

import pytest

from mutants import MUTANTS
from mutants.__main__ import main, merged

NAME, OTHER, *_ = MUTANTS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "there is no mutant 'nope'; see tests/mutants/"),
        (["nope", "--write"], "there is no mutant 'nope'"),
        ([NAME + "x"], f"did you mean {NAME}"),
        (["--on", "ORD"], "--on says what --write plays"),
        (["--write", "--on", "nope"], "nope"),
        (["serve"], "serve takes the name of one mutant"),
        (["serve", NAME, OTHER], "serve takes the name of one mutant"),
        (["serve", "nope"], "there is no mutant 'nope'"),
    ],
)
def test_what_is_not_there_is_a_usage_error(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_one_mutant_is_written_into_the_table_of_the_others() -> None:
    before = {OTHER: {"rule": "?", "mistake": "?", "killed_by": ["old[stream]"]}, "no-more": {"killed_by": []}}
    found = merged(before, {NAME: ["b[stream]", "a[stream]"]})
    assert {name: row["killed_by"] for name, row in found.items()} == {
        NAME: ["a[stream]", "b[stream]"],
        OTHER: ["old[stream]"],
    }


def test_what_was_noted_of_scenarios_not_played_stays() -> None:
    before = {NAME: {"rule": "?", "mistake": "?", "killed_by": ["no-more[stream]", "old[stream]", "played[stream]"]}}
    found = merged(before, {NAME: ["new[stream]"]}, elsewhere=frozenset({"old[stream]"}))
    assert found[NAME]["killed_by"] == ["new[stream]", "old[stream]"]


def test_the_rule_and_the_mistake_come_from_the_mutant() -> None:
    found = merged({OTHER: {"rule": "?", "mistake": "?", "killed_by": []}}, {})
    assert found[OTHER] == {"rule": MUTANTS[OTHER].rule, "mistake": MUTANTS[OTHER].mistake, "killed_by": []}
