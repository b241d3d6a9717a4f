"""Mutants of TOOL-14 that look at a part of a schema only."""

from __future__ import annotations

from collections.abc import Collection

from processor_contract import keywords

from . import Patch, mutant

RECORDS = ("type", "properties", "required")


def unheeded(patch: Patch, names: Collection[str]) -> None:
    """These keywords say nothing."""
    for name in names:
        row = keywords.KEYWORDS[name]
        patch.set(keywords.KEYWORDS, name, keywords.Keyword(row.form, row.of, lambda place, argument: None))


@mutant("TOOL-14")
def only_types_and_names_are_checked(patch: Patch) -> None:
    """Arguments fit where they have the members and types that the schema names."""
    unheeded(patch, keywords.KEYWORDS.keys() - set(RECORDS))


@mutant("TOOL-14")
def formats_are_advice(patch: Patch) -> None:
    """A format says how a text may look."""
    unheeded(patch, ["format"])


@mutant("TOOL-14")
def combined_schemas_are_not_followed(patch: Patch) -> None:
    """A schema holds where it stands, and not where it is referred to or combined."""
    unheeded(patch, ["allOf", "anyOf", "oneOf", "not", "$ref"])
