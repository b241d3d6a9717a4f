"""Two processors that change messages: one puts the question into lower case, one gives reasoning another name.

`python examples/messages.py` shows both at work. They are those of the contract's documents, and stand for the two
ways to change messages: returning new ones under their ids, and editing those that a hook is given.
"""

from __future__ import annotations

from typing import Any

from processor_contract import Agent, InMemoryStorage, Memory, MessageList, Processor, ScriptedModel, Tool, text_of
from processor_contract.data import Message, Part
from processor_contract.processor import InputArgs, InputStepArgs


class LowerCase(Processor):
    """Returns new messages under the ids of the old: texts in lower case, everything else as it was.

    The model is asked so, and so it is stored.
    """

    id = "lower-case"

    def process_input(self, args: InputArgs) -> list[Message]:
        return [_lower(message) for message in args.messages]


class ReasoningTransformer(Processor):
    """Renames the reasoning of earlier answers in place, in every step; the list it returns is the one that it got."""

    id = "reasoning-transformer"

    def __init__(self, name: str) -> None:
        self._name = name

    def process_input_step(self, args: InputStepArgs) -> MessageList:
        for message in args.messages:
            if message["role"] == "assistant":
                for part in message["content"].get("parts", []):
                    if part["type"] == "reasoning":
                        part["type"] = self._name
        return args.message_list


def _lower(message: Message) -> Message:
    parts = message["content"].get("parts")
    if parts is None:
        return message
    lowered: list[Part] = [{**part, "text": part["text"].lower()} if part["type"] == "text" else part for part in parts]
    return {**message, "content": {**message["content"], "parts": lowered}}


def lowered(question: Any) -> tuple[ScriptedModel, list[Message]]:
    """A question as the model got it, and what is stored of it and its answer."""
    model, store = ScriptedModel(["Grey."]), InMemoryStorage()
    agent = Agent(model, input_processors=[LowerCase()], memory=Memory(store))
    agent.generate(question, thread="t", resource="r")
    return model, store.read("t", "r")


def reasoned() -> ScriptedModel:
    """A model that reasons and calls a tool, and then is sent its own reasoning under another name."""
    call = {"name": "weather", "args": {"city": "Oslo"}}
    model = ScriptedModel([{"reasoning": ["They ask for Oslo."], "tool_calls": [call]}, "Rain."])
    agent = Agent(
        model,
        input_processors=[ReasoningTransformer("thinking")],
        tools=[Tool("weather", lambda args: {"sky": "grey"})],
    )
    agent.generate("How is the weather in Oslo?")
    return model


def main() -> None:
    """Both processors at work."""
    model, stored = lowered("HOW is the Weather?")
    asked = model.requests[0].prompt[-1]["content"][0]["text"]
    print(f"lower-case: asked {asked!r}, stored {text_of(stored[0])!r}")
    kinds = [part["type"] for part in reasoned().requests[1].prompt[1]["content"]]
    print(f"reasoning-transformer: the model got back {', '.join(kinds)}")


if __name__ == "__main__":
    main()
