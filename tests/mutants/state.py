"""Mutants of the family STA: state that lives too long, too short, or in the wrong hands."""

from __future__ import annotations

from typing import Any

from processor_contract.run import Run

from . import Patch, mutant


@mutant("STA-3")
def state_kept_in_the_process(patch: Patch) -> None:
    """A processor's state is made once and kept from request to request."""
    states: dict[str, dict[str, Any]] = {}
    patch.set(Run, "state_of", lambda run, processor_id: states.setdefault(processor_id, {}))
