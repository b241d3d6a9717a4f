"""SPEC.md read as rules."""

from __future__ import annotations

import pytest

from processor_conformance.spec import Rule, SpecError, parse

TEXT = """# Title

## STA · State

### STA-3 · Every request starts with empty state
MUST · document S-201, S-204 · decision 7, F-15 · both revisions

Each call hands every processor a `state`
that holds nothing.

*Intent.* Nothing of one request
reaches another's.
*Why.* We chose.
*Seen at* generate, stream; step first, later.
*Shown by* STA-3-one,
STA-3-two.
*Broken by* kept-on-the-agent.

### STA-4 · Another
SHOULD · observed · nine-hook

It holds.

## Next
"""
RULE = Rule(
    "STA-3",
    "Every request starts with empty state",
    "MUST",
    ("document S-201, S-204", "decision 7, F-15"),
    ("nine-hook", "six-hook"),
    "Each call hands every processor a `state` that holds nothing.",
    intent="Nothing of one request reaches another's.",
    why="We chose.",
    seen_at=("generate, stream", "step first, later"),
    shown_by=("STA-3-one", "STA-3-two"),
    broken_by=("kept-on-the-agent",),
)


def test_reads_every_field() -> None:
    assert parse(TEXT)["STA-3"] == RULE


def test_a_rule_ends_at_the_next_heading() -> None:
    assert parse(TEXT)["STA-4"].statement == "It holds."


@pytest.mark.parametrize(("name", "documented"), [("STA-3", True), ("STA-4", False)])
def test_knows_whose_word_it_is(name: str, documented: bool) -> None:
    assert parse(TEXT)[name].documented() is documented


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("SHOULD ·", "OUGHT ·", "STA-4: the line below the heading"),
        ("· nine-hook", "· ten-hook", "STA-4: the last field names the revisions .*, not 'ten-hook'"),
        ("### STA-4", "### STA-3", "has STA-3 twice"),
    ],
)
def test_a_rule_in_another_form_is_refused(old: str, new: str, what: str) -> None:
    with pytest.raises(SpecError, match=what):
        parse(TEXT.replace(old, new))
