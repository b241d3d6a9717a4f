"""Mutants of the family ORD: hooks at the wrong place, in the wrong order, too often or not at all."""

from __future__ import annotations

from typing import Any

from processor_contract import agent, pipeline
from processor_contract.run import Run

from . import Patch, mutant


@mutant("ORD-3")
def output_chains_reversed(patch: Patch) -> None:
    """Output processors are called from the last to the first, like layers of an onion."""
    plan = pipeline.plan

    def reversed_plan(run: Run) -> None:
        plan(run)
        for name in ("process_output_stream", "process_output_step", "process_tool_result", "process_output_result"):
            run.plan[name].reverse()

    patch.function(plan, reversed_plan)


@mutant("ORD-7")
def prepare_step_first(patch: Patch) -> None:
    """prepareStep is put before the input processors instead of behind them."""
    settings = agent.Agent._settings

    def first(own: agent.Agent, options: Any, context: Any) -> Any:
        made = settings(own, options, context)
        if options.prepare_step is not None:
            made.inputs = [made.inputs[-1], *made.inputs[:-1]]
        return made

    patch.set(agent.Agent, "_settings", first)
