"""Three processors as people write them: a word counter, a content filter and a quality guardrail."""

from __future__ import annotations

from typing import Any

from processor_contract import Processor, text_of
from processor_contract.processor import InputArgs, OutputResultArgs, OutputStepArgs, OutputStreamArgs


class WordCounter(Processor):
    """Counts the words of the answer as they stream by, and reports them to the client at the end."""

    id = "word-counter"

    def process_output_stream(self, args: OutputStreamArgs) -> Any:
        args.state.setdefault("words", 0)  # state starts empty in every request
        if args.part["type"] == "text-delta":
            args.state["words"] += len(args.part["payload"]["text"].split())
        return args.part

    def process_output_result(self, args: OutputResultArgs) -> None:
        args.writer.custom({"type": "data-words", "data": {"streamed": args.state["words"]}, "transient": True})


class ContentFilter(Processor):
    """Blocks words in what the user asks, and stars them out in what the model says."""

    id = "content-filter"

    def __init__(self, *words: str) -> None:
        self._words = words

    def process_input(self, args: InputArgs) -> None:
        for message in args.messages:
            for word in self._words:
                if word in text_of(message).lower():
                    args.abort(f"the question holds the word {word!r}", metadata={"word": word})

    def process_output_stream(self, args: OutputStreamArgs) -> Any:
        if args.part["type"] == "text-delta":
            for word in self._words:
                args.part["payload"]["text"] = args.part["payload"]["text"].replace(word, "*" * len(word))
        return args.part


class QualityGuardrail(Processor):
    """Asks for another attempt while an answer is too short, twice at most."""

    id = "quality-guardrail"

    def __init__(self, words: int) -> None:
        self._words = words

    def process_output_step(self, args: OutputStepArgs) -> list[Any]:
        if not args.tool_calls and len(args.text.split()) < self._words:
            args.abort(f"the answer has fewer than {self._words} words", retry=args.retry_count < 2)
        return []  # an empty array changes nothing here
