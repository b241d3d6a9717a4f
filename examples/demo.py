"""`make demo`: one agent, three processors, three requests, and a timeline of what ran when."""

from __future__ import annotations

import json
from typing import Any

from processor_contract import (
    Agent,
    InMemoryStorage,
    Memory,
    ModelRequest,
    Processor,
    RunResult,
    ScriptedModel,
    Tool,
    TripWire,
)
from processor_contract.data import text_of
from processor_contract.hooks import HOOKS
from processors import ContentFilter, QualityGuardrail, WordCounter

ANSWERS = [
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

    def model(self, request: ModelRequest, number: int) -> Any:
        """A model call: what it is told besides the conversation, and the answer from the script."""
        feedback = [message["content"] for message in request.prompt if message["role"] == "system"][1:]
        self.note("model", f"asked with {len(request.prompt)} messages", f"told: {feedback[0]!r}" if feedback else "")
        return ANSWERS[number]


def ask(agent: Agent, timeline: Timeline, question: str) -> RunResult:
    """One request, streamed, with every chunk on the timeline."""
    print(f"\n--- {question}")
    stream = agent.stream(question, thread="demo", resource="reader")
    for chunk in stream:
        timeline.chunk(chunk)
    result = stream.result()
    print(f"    text: {result.text!r}; finish reason {result.finish_reason}; tokens {result.usage['totalTokens']}")
    return result


def main() -> None:
    """A tool step, a rejected answer and an accepted one; a blocked question; a follow-up that remembers."""
    timeline = Timeline()

    def weather(args: dict[str, Any]) -> dict[str, Any]:
        timeline.note("tool", f"weather({args['city']})", "runs only after processOutputStep let the step pass")
        return {"celsius": -4, "sky": "clear"}

    storage = InMemoryStorage()
    both = timeline.watch(ContentFilter("damn"))
    agent = Agent(
        ScriptedModel(timeline.model),
        instructions="Answer in one sentence.",
        tools=[Tool("weather", weather, "The weather in a city")],
        input_processors=[both],
        output_processors=[both, timeline.watch(WordCounter()), timeline.watch(QualityGuardrail(words=5))],
        max_processor_retries=2,
        memory=Memory(storage),
    )
    ask(agent, timeline, "How is the weather in Oslo?")
    print("    The first answer was rejected: it is nowhere in the text, and nowhere in the store below.")
    ask(agent, timeline, "So a damn nice day?")
    print("    The question was blocked: the model was not asked, and nothing was stored.")
    ask(agent, timeline, "Sorry. Once more, please?")
    print("\n--- what the store holds")
    for message in storage.read("demo", "reader"):
        print(f"      {message['role']:9} {text_of(message)}")


if __name__ == "__main__":
    main()
