"""Processors at work on the stream: a counter and a filter that look beyond one chunk, and a collector of data chunks.

`python examples/chunks.py` shows them. The counter and the collector are those of the contract's documents.
"""

from __future__ import annotations

from typing import Any

from processor_contract import Agent, Chunk, Processor, RunResult, ScriptedModel, Tool, ToolContext
from processor_contract.processor import OutputResultArgs, OutputStreamArgs


class WordCount(Processor):
    """Adds up the words of all steps in its state, and reports them to the client when the answer is complete."""

    id = "word-count"

    def process_output_stream(self, args: OutputStreamArgs) -> Chunk:
        args.state.setdefault("words", 0)  # state starts empty in every request
        if args.part["type"] == "text-delta":
            args.state["words"] += len(args.part["payload"]["text"].split())
        if args.part["type"] == "finish":  # the model's own: once, in the step that ends the run
            args.writer.custom({"type": "data-words", "data": args.state["words"], "transient": True})
        return args.part


class PhraseFilter(Processor):
    """Stops an answer before a phrase is complete, also where the model sends it in pieces.

    It looks at the chunks so far as the model sent them. What has gone out cannot be taken back: the beginning of the
    phrase may have been read.
    """

    id = "phrase-filter"

    def __init__(self, phrase: str) -> None:
        self._phrase = phrase

    def process_output_stream(self, args: OutputStreamArgs) -> Chunk:
        if args.part["type"] == "text-delta":
            said = "".join(one["payload"]["text"] for one in args.stream_parts if one["type"] == "text-delta")
            if self._phrase in said:
                args.abort("blocked phrase", metadata={"phrase": self._phrase})
        return args.part


class ModerationCollector(Processor):
    """Gathers the warnings that tools and processors send, and takes what is nobody's business out of them."""

    id = "moderation-collector"
    process_data_parts = True

    def process_output_stream(self, args: OutputStreamArgs) -> Chunk | None:
        if args.part["type"] == "data-debug":
            return None  # dropped like a text: neither shown nor stored
        if args.part["type"] == "data-moderation":
            args.state.setdefault("warnings", []).append(args.part["data"])
        return args.part

    def process_output_result(self, args: OutputResultArgs) -> None:
        warnings = args.state.get("warnings", [])
        args.writer.custom({"type": "data-summary", "data": {"warnings": len(warnings)}})


def check(args: dict[str, Any], context: ToolContext) -> dict[str, bool]:
    """A tool that says how far it is while it works, and what it has found."""
    context.writer.custom({"type": "data-progress", "data": {"done": 0.5}, "transient": True})
    context.writer.custom({"type": "data-moderation", "data": {"level": "warn", "reason": f"{args['text']!r} is odd"}})
    context.writer.custom({"type": "data-debug", "data": {"key": "secret"}})
    return {"ok": True}


def counted(*answers: Any) -> list[Chunk]:
    """The chunks of a request whose words are counted."""
    agent = Agent(ScriptedModel(answers), tools=[Tool("check", check)], output_processors=[WordCount()])
    return list(agent.stream("Say something."))


def filtered(*pieces: str, phrase: str = "launch code") -> tuple[str, RunResult]:
    """What the client reads of an answer in these pieces, and the result."""
    stream = Agent(ScriptedModel([{"text": list(pieces)}]), output_processors=[PhraseFilter(phrase)]).stream("Tell me.")
    read = "".join(chunk["payload"]["text"] for chunk in stream if chunk["type"] == "text-delta")
    return read, stream.result()


def collected() -> tuple[list[Chunk], RunResult]:
    """The data chunks of a request whose tool sends some, and the result."""
    model = ScriptedModel([{"tool_calls": [{"name": "check", "args": {"text": "abc"}}]}, "All checked."])
    agent = Agent(model, tools=[Tool("check", check)], output_processors=[ModerationCollector()])
    stream = agent.stream("Check this.")
    return [chunk for chunk in stream if chunk["type"].startswith("data-")], stream.result()


def main() -> None:
    """All three at work."""
    words = [chunk["data"] for chunk in counted("three short words") if chunk["type"] == "data-words"]
    print(f"word-count: {words[0]} words")
    for pieces in (("nothing ", "to see ", "here"), ("the laun", "ch code", " is 7")):
        read, result = filtered(*pieces)
        print(f"phrase-filter: read {read!r}; {result.tripwire or 'let pass'}")
    chunks, result = collected()
    print(f"moderation-collector: sent {[chunk['type'] for chunk in chunks]}")
    print(f"moderation-collector: kept {[part['type'] for part in result.messages[-1]['content']['parts']]}")


if __name__ == "__main__":
    main()
