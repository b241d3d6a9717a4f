"""A processor that chooses the model step by step, as the contract's documents show it: a fast one for the first
answer, a strong one once tools have been called, and no more tools when it takes too long.
`python examples/dynamic_model.py` shows it at work, on a registry whose provider is scripted; a real one is registered
in the same way.
"""

from __future__ import annotations

from typing import Any

from processor_contract import Agent, ModelRegistry, Processor, RunResult, ScriptedModel, Tool
from processor_contract.processor import InputStepArgs

FAST = "openai/gpt-5-mini"
STRONG = "openai/gpt-5.6-sol"
ENOUGH_STEPS = 5
CALL = {"tool_calls": [{"name": "weather", "args": {"city": "Oslo"}}]}


class DynamicModel(Processor):
    """A fast model first, a strong one behind tool calls; beyond five steps no tools."""

    id = "dynamic-model"

    def process_input_step(self, args: InputStepArgs) -> dict[str, Any]:
        if args.step_number == 0:
            return {"model": FAST}
        if args.steps and args.steps[-1].get("toolCalls"):
            return {"model": STRONG}
        if args.step_number > ENOUGH_STEPS:
            return {"tool_choice": "none"}
        return {}


def registry(fast: ScriptedModel, strong: ScriptedModel) -> ModelRegistry:
    """Both models behind one provider; a function of the name would do as well as the mapping."""
    return ModelRegistry(providers={"openai": {"gpt-5-mini": fast, "gpt-5.6-sol": strong}})


def asked(calls: int) -> tuple[RunResult, list[str]]:
    """A question that takes some tool calls: the result, and which model was called for each step."""
    fast, strong = ScriptedModel([CALL], id=FAST), ScriptedModel([CALL] * (calls - 1) + ["Rain."], id=STRONG)
    agent = Agent(
        FAST,
        models=registry(fast, strong),
        tools=[Tool("weather", lambda args: {"sky": "grey"})],
        input_processors=[DynamicModel()],
    )
    result = agent.generate("How is the weather in Oslo?")
    return result, [FAST] * len(fast.requests) + [STRONG] * len(strong.requests)


def main() -> None:
    """The processor at work."""
    result, models = asked(calls=2)
    print(f"dynamic-model: asked {', then '.join(models)}; answered: {result.text}")


if __name__ == "__main__":
    main()
