"""Two processors that ask for another attempt, as the contract's documents show them: one mends a refused request, one
judges answers. `python examples/recovery.py` shows both at work.
"""

from __future__ import annotations

from collections.abc import Callable

from processor_contract import Agent, APICallError, Processor, RunResult, ScriptedModel
from processor_contract.processor import APIErrorArgs, OutputStepArgs

ENOUGH = 0.7
MOST_RETRIES = 3


class ErrorRecovery(Processor):
    """Trims a conversation that has grown too long for the model, once for each step."""

    id = "error-recovery"

    def process_api_error(self, args: APIErrorArgs) -> dict[str, bool] | None:
        if args.retry_count > 0:
            return None  # trimmed before, and still too long
        if not isinstance(args.error, APICallError) or "context length exceeded" not in str(args.error):
            return None
        messages = args.message_list.get.all.db()
        if len(messages) <= 4:
            return None
        args.message_list.remove_by_ids([messages[1]["id"], messages[2]["id"]])
        return {"retry": True}


class QualityScore(Processor):
    """Has an answer tried again while its score is too low, and blocks it in the end."""

    id = "quality-score"

    def __init__(self, score: Callable[[str], float]) -> None:
        self._score = score

    def process_output_step(self, args: OutputStepArgs) -> None:
        score = self._score(args.text)
        if score >= ENOUGH:
            return
        if args.retry_count < MOST_RETRIES:
            args.abort(f"The answer scores {score:.1f}; say more, and be exact.", retry=True, metadata={"score": score})
        args.abort("The answer stayed too weak.", metadata={"score": score})


def of_some_length(text: str) -> float:
    """A score for the show: ten words are a good answer."""
    return min(len(text.split()) / 10, 1.0)


def trimmed() -> tuple[RunResult, list[int]]:
    """A request that is too long at first: the result, and how many messages each call had."""
    refused = APICallError("context length exceeded", status_code=400)
    model = ScriptedModel([refused, "Seven, with the two that I have forgotten."])
    agent = Agent(model, error_processors=[ErrorRecovery()])
    asked = [
        {"role": role, "content": {"parts": [{"type": "text", "text": text}]}}
        for role, text in (("user", "One."), ("assistant", "Two?"), ("user", "Three."), ("assistant", "Four?"),
                           ("user", "How many was that?"))
    ]  # fmt: skip
    result = agent.generate(asked)  # type: ignore[arg-type]
    return result, [len(request.prompt) for request in model.requests]


def judged(*answers: str) -> tuple[RunResult, ScriptedModel]:
    """A request whose answers are judged: the result, and the model that gave them."""
    model = ScriptedModel(answers)
    agent = Agent(model, output_processors=[QualityScore(of_some_length)], max_processor_retries=MOST_RETRIES)
    return agent.generate("What is a processor?"), model


def main() -> None:
    """Both at work."""
    result, messages = trimmed()
    print(f"error-recovery: calls with {' and then '.join(map(str, messages))} messages; answered: {result.text}")
    good = "An object whose hooks an agent calls while it works on a request."
    result, model = judged("A thing.", good)
    print(f"quality-score: {len(model.requests)} calls; feedback: {model.requests[1].prompt[0]['content']}")
    print(f"quality-score: answered: {result.text}")
    result, model = judged(*["A thing."] * 4)
    print(f"quality-score: {len(model.requests)} calls; blocked: {result.tripwire}")


if __name__ == "__main__":
    main()
