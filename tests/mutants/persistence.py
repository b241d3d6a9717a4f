"""Mutants of the family PER: too much in the store, too little, at the wrong time or in the wrong form."""

from __future__ import annotations

from processor_contract import loop
from processor_contract.data import clone

from . import Patch, mutant


@mutant("PER-7")
def prompt_shares_the_messages(patch: Patch) -> None:
    """The prompt is put back into the list: what processLLMRequest changed is what is kept."""
    to_prompt = loop.to_prompt
    patch.function(to_prompt, lambda system, feedback, messages: to_prompt(system, feedback, messages))
    patch.function(clone, lambda value: value)
