"""Mutants of the family RES, rules 29 to 33: the object that an answer is, and what a result says besides its steps."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from processor_contract import agent, loop, structured
from processor_contract.data import Chunk
from processor_contract.errors import InvalidObject
from processor_contract.run import Attempt, Run
from processor_contract.stream import RunResult
from processor_contract.structured import Answer, wanted

from . import Patch, mutant


def answering(patch: Patch, change: Callable[[Run, Answer], Answer]) -> None:
    """Changes what an answer is as an object."""
    patch.around(structured.answer_of, lambda original, run: change(run, original(run)))


def reading(patch: Patch, change: Callable[[str], str]) -> None:
    """Changes the text that an object is read from."""
    patch.around(structured.object_in, lambda original, text, schema: original(change(text), schema))


def gathering(patch: Patch, name: str, gather: Callable[[RunResult], Any]) -> None:
    """Changes what one member of a result is made of."""
    patch.set(RunResult, name, property(gather))


# -- the object --------------------------------------------------------------------------------------------------------


@mutant("RES-29")
def the_object_is_the_model_s_own(patch: Patch) -> None:
    """Structured output is between the caller and the model; filters are for texts."""
    said: defaultdict[int, str] = defaultdict(str)

    def taken(original: Any, run: Run, attempt: Attempt, part: Chunk, recording: bool) -> Any:
        if part["type"] == "text-delta":
            said[id(attempt)] += part["payload"]["text"]
        return original(run, attempt, part, recording)

    patch.around(loop.taken, taken)
    patch.around(structured.text_of_last, lambda original, run: original(run) and said[id(run.attempt)])


@mutant("RES-29")
def the_object_is_all_that_was_said(patch: Patch) -> None:
    """The text of a run is that of all its steps, and the object is what it says."""
    patch.around(
        structured.text_of_last, lambda original, run: original(run) and "".join(step["text"] for step in run.steps)
    )


@mutant("RES-29")
def the_schema_is_the_call_s(patch: Patch) -> None:
    """Who asked for an object knows which one."""

    def answer(original: Callable[[Run], Answer], run: Run) -> Answer:
        run.attempt.structured_output = run.settings.structured_output
        return original(run)

    patch.around(structured.answer_of, answer)


@mutant("RES-29")
def every_answer_is_an_object(patch: Patch) -> None:
    """What is JSON is read as JSON, whoever asked for it."""

    def answer(run: Run, answer: Answer) -> Answer:
        asked = run.attempt.structured_output or run.settings.structured_output
        return answer if asked else Answer(structured.object_in(run.steps[-1]["text"], {}))

    answering(patch, answer)


# -- where there is none -----------------------------------------------------------------------------------------------


@mutant("RES-30")
def half_an_object_is_completed(patch: Patch) -> None:
    """Models forget the last bracket, and like to add a word: what is meant is clear."""

    def mended(text: str) -> str:
        try:
            _, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            return text + "}" * (text.count("{") - text.count("}"))
        return text[:end]

    reading(patch, mended)


@mutant("RES-30")
def what_is_json_fits(patch: Patch) -> None:
    """The model has had the schema, so its answer fits."""
    patch.around(structured.object_in, lambda original, text, schema: original(text, {}))


@mutant("RES-30")
def no_object_is_no_answer(patch: Patch) -> None:
    """Who asks for an object and gets none has got nothing."""

    def generate(original: Any, own: agent.Agent, *given: Any, **options: Any) -> RunResult:
        result: RunResult = original(own, *given, **options)
        wanted(result.answer)
        return result

    patch.wrap(agent.Agent, "generate", generate)


@mutant("RES-30")
def the_error_has_the_answer(patch: Patch) -> None:
    """A message that shows what was wrong helps."""

    def answer(run: Run, answer: Answer) -> Answer:
        if answer.error is not None and answer.error.of_answer:
            answer.error = InvalidObject(f"this is not it: {run.steps[-1]['text']}", of_answer=True)
        return answer

    answering(patch, answer)


@mutant("RES-30")
def a_schema_nobody_can_check_fits_all(patch: Patch) -> None:
    """A schema that is none asks for nothing."""

    def read(original: Any, text: str, schema: Any) -> Any:
        try:
            return original(text, schema)
        except InvalidObject as error:
            if error.of_answer:
                raise
            return original(text, {})

    patch.around(structured.object_in, read)


@mutant("RES-31")
def a_fallback_is_an_answer(patch: Patch) -> None:
    """With a fallback nothing can go wrong."""
    answering(patch, lambda run, answer: Answer(answer.value) if answer.fallback else answer)


@mutant("RES-31")
def a_fallback_is_for_what_is_no_json(patch: Patch) -> None:
    """An answer that does not fit is an answer."""

    def answer(run: Run, answer: Answer) -> Answer:
        misfit = answer.fallback and "does not fit" in str(answer.error)
        return Answer(error=answer.error) if misfit else answer

    answering(patch, answer)


@mutant("RES-31")
def nothing_is_no_fallback(patch: Patch) -> None:
    """Who gives nothing to fall back on wants no fallback."""

    def answer(run: Run, answer: Answer) -> Answer:
        return Answer(error=answer.error) if answer.fallback and answer.value is None else answer

    answering(patch, answer)


@mutant("RES-32")
def a_fallback_is_for_every_end(patch: Patch) -> None:
    """A fallback is what a caller gets who gets nothing else."""

    def answer(run: Run, answer: Answer) -> Answer:
        asked = run.settings.structured_output or {}
        ended = answer.error is not None and not answer.error.of_answer
        return Answer(asked["fallbackValue"], answer.error, fallback=True) if ended else answer

    answering(patch, answer)


@mutant("RES-32")
def nobody_says_why_there_is_no_object(patch: Patch) -> None:
    """That there is no object is all there is to say."""

    def answer(run: Run, answer: Answer) -> Answer:
        return answer if answer.error is None else Answer(answer.value, InvalidObject("no object"), answer.fallback)

    answering(patch, answer)


# -- what the steps brought --------------------------------------------------------------------------------------------


@mutant("RES-33")
def the_sources_are_those_of_the_last_step(patch: Patch) -> None:
    """The answer is what the last step said, and stands on what that step found."""
    gathering(patch, "sources", lambda result: result.steps[-1].get("sources", []))


@mutant("RES-33")
def the_files_are_those_of_the_first_step(patch: Patch) -> None:
    """The first step that brought files has them all."""
    gathering(patch, "files", lambda result: next((step["files"] for step in result.steps if "files" in step), []))


@mutant("RES-33")
def reasoning_is_put_in_lines(patch: Patch) -> None:
    """Each step's reasoning is a paragraph."""
    gathering(patch, "reasoning", lambda result: "\n".join(step.get("reasoning", "") for step in result.steps))


@mutant("RES-33")
def results_are_those_of_the_last_step(patch: Patch) -> None:
    """The last results are those that count."""
    gathering(patch, "tool_results", lambda result: result.steps[-1]["toolResults"])
