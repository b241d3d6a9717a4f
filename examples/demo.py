"""`make demo`: one agent, three processors, three requests, and a timeline of what ran when.

The answers are a script's; with `--model openai/NAME` and `--base-url` they are a real model's.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from processor_contract import (
    Agent,
    APICallError,
    Chunk,
    InMemoryStorage,
    InvalidAgent,
    Memory,
    Model,
    ModelRequest,
    Processor,
    RunResult,
    ScriptedModel,
    Tool,
    TripWire,
)
from processor_contract.data import text_of
from processor_contract.hooks import HOOKS
from processor_contract.models import ModelRegistry
from processor_contract.models.openai_compatible import OpenAICompatible
from processors import ContentFilter, QualityGuardrail, WordCounter

ANSWERS: list[Any] = [
    {"tool_calls": [{"name": "weather", "args": {"city": "Oslo"}}]},
    {"text": ["No idea."]},
    {"text": ["It is a damn ", "cold but sunny ", "day in Oslo."]},
    {"text": ["As I said: ", "cold and sunny, ", "minus four degrees."]},
]


class Timeline:
    """Prints a line for everything that happens: hooks, model calls, tools, and what the client gets."""

    def __init__(self) -> None:
        self._number = 0
        self._passing: list[str] = []  # the processors that the present chunk has passed

    def note(self, lane: str, what: str, remark: str = "") -> None:
        self._number += 1
        print(f"{self._number:4}  {lane:8} {what:40} {remark}".rstrip())

    def chunk(self, chunk: Any) -> None:
        """A chunk the client gets, and whose hands it went through."""
        payload = chunk.get("payload", chunk.get("data"))
        content = {key: value for key, value in (payload or {}).items() if key not in ("usage", "toolCallId", "id")}
        through = f"  (through {', '.join(self._passing)})" if self._passing else ""
        self._passing.clear()
        self.note("client", chunk["type"], (json.dumps(content, ensure_ascii=False) if content else "") + through)

    def watch(self, processor: Processor) -> Processor:
        """The same processor; each of its hooks says when it is called and what came of it."""
        for name, hook in HOOKS.items():
            if hasattr(processor, name):
                watched = self._stream if name == "process_output_stream" else self._hook
                setattr(processor, name, watched(processor, hook.wire, getattr(processor, name)))
        return processor

    def _hook(self, processor: Processor, wire: str, method: Any) -> Any:
        def called(args: Any) -> Any:
            if self._passing:  # the model's own finish: processors see it, the client does not
                self.note("stream", "finish", f"stays inside  (through {', '.join(self._passing)})")
                self._passing.clear()
            where = f"step {args.step_number}" if hasattr(args, "step_number") else ""
            try:
                returned = method(args)
            except TripWire as tripwire:
                asked = "asks for another attempt" if tripwire.retry else "ABORTS"
                self.note("hook", f"{wire} · {processor.id}", f"{where} {asked}: {tripwire}")
                raise
            self.note("hook", f"{wire} · {processor.id}", where)
            return returned

        return called

    def _stream(self, processor: Processor, wire: str, method: Any) -> Any:
        def called(args: Any) -> Any:
            before = json.dumps(args.part)
            returned = method(args)
            self._passing.append(processor.id + ("" if json.dumps(returned) == before else ": CHANGED"))
            return returned

        return called


class Watched:
    """A model; each call of it is on the timeline, with what it is told besides the conversation."""

    def __init__(self, model: Model, timeline: Timeline) -> None:
        self.id = model.id
        self._model = model
        self._timeline = timeline

    def stream(self, request: ModelRequest) -> Iterator[Chunk]:
        feedback = [message["content"] for message in request.prompt if message["role"] == "system"][1:]
        told = f"told: {feedback[0]!r}" if feedback else ""
        self._timeline.note("model", f"asked with {len(request.prompt)} messages", told)
        return self._model.stream(request)


def ask(agent: Agent, timeline: Timeline, question: str) -> RunResult:
    """One request, streamed, with every chunk on the timeline."""
    print(f"\n--- {question}")
    stream = agent.stream(question, thread="demo", resource="reader")
    for chunk in stream:
        timeline.chunk(chunk)
    result = stream.result()
    if result.error is not None:
        raise result.error
    print(f"    text: {result.text!r}; finish reason {result.finish_reason}; tokens {result.usage['totalTokens']}")
    return result


def model_of(id: str | None, base_url: str | None) -> Model:
    """The model of an id `openai/...`, or the script."""
    if id is None:
        return ScriptedModel(ANSWERS)
    openai = OpenAICompatible.provider("openai", base_url=base_url)
    return ModelRegistry(providers={"openai": openai}).resolve(id)


def converse(model: Model, scripted: bool) -> None:
    """A tool step, a rejected answer and an accepted one; a blocked question; a follow-up that remembers."""
    timeline = Timeline()

    def weather(args: dict[str, Any]) -> dict[str, Any]:
        timeline.note("tool", f"weather({args})", "runs only after processOutputStep let the step pass")
        return {"celsius": -4, "sky": "clear"}

    def remark(text: str) -> None:
        if scripted:
            print(f"    {text}")

    storage = InMemoryStorage()
    both = timeline.watch(ContentFilter("damn"))
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    agent = Agent(
        Watched(model, timeline),
        instructions="Answer in one sentence.",
        tools=[Tool("weather", weather, "The weather in a city", city)],
        input_processors=[both],
        output_processors=[both, timeline.watch(WordCounter()), timeline.watch(QualityGuardrail(words=5))],
        max_processor_retries=2,
        model_settings={"maxOutputTokens": 60},
        memory=Memory(storage),
    )
    ask(agent, timeline, "How is the weather in Oslo?")
    remark("The first answer was rejected: it is nowhere in the text, and nowhere in the store below.")
    ask(agent, timeline, "So a damn nice day?")
    remark("The question was blocked: the model was not asked, and nothing was stored.")
    ask(agent, timeline, "Sorry. Once more, please?")
    print("\n--- what the store holds")
    for message in storage.read("demo", "reader"):
        print(f"      {message['role']:9} {text_of(message)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns 1, and says why in a line, where the model cannot be asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="openai/NAME: a real model in the place of the script")
    parser.add_argument("--base-url", help="where it is, such as http://127.0.0.1:8000/v1 (default: OpenAI itself)")
    given = parser.parse_args(arguments)
    if given.base_url and not given.model:
        parser.error("--base-url is where a real model is; name it as well, with --model openai/NAME")
    try:
        converse(model_of(given.model, given.base_url), scripted=given.model is None)
    except (APICallError, InvalidAgent) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
