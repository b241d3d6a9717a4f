"""Structured output: the object that an answer is, where one was asked for.

Flows in: what was asked of the model (`{"schema": ..., "fallbackValue"?: ...}`, or the schema itself), and the run that
has ended. Flows out: the object, or what is wrong with the answer. That the wish reaches the model is CFG-18.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .context import UNSET, Unset
from .data import Json, clone, read_json
from .errors import InvalidObject, InvalidSchema, told
from .run import Run
from .schema import Schema


@dataclass(slots=True)
class Answer:
    """What an answer is as an object: `value` (`UNSET` where none was asked for), or the `error` that says why it is
    none; `fallback` where the value is the one that was to be taken then.
    """

    value: Json | Unset = UNSET
    error: InvalidObject | None = None
    fallback: bool = False


def answer_of(run: Run) -> Answer:
    """The object of a run that has ended: its last step's text, as the processors left it, by the schema of that step's
    model call (RES-29); a fallback in the place of an answer that is none (RES-31). Nothing where none was asked for.
    """
    asked = run.attempt.structured_output or run.settings.structured_output
    if not asked:
        return Answer()
    try:
        return Answer(object_in(text_of_last(run), asked.get("schema", asked)))
    except InvalidObject as error:
        if error.of_answer and "fallbackValue" in asked:
            return Answer(clone(asked["fallbackValue"]), error, fallback=True)
        return Answer(error=error)


def text_of_last(run: Run) -> str:
    """The last step's text. Raises `InvalidObject` where the run did not come to an answer, and says why (RES-32)."""
    if run.tripwire is not None:
        raise InvalidObject(f"there is no object: the run was aborted: {run.tripwire.reason}")
    if run.error is not None:
        raise InvalidObject(f"there is no object: the run failed: {told(run.error)}") from run.error
    return run.steps[-1]["text"] if run.steps else ""


def object_in(text: str, schema: Json) -> Json:
    """The JSON value that a text is, if it fits the schema. Raises `InvalidObject`, which never quotes the text: it may
    hold what a processor would have taken out (RES-30).
    """
    try:
        value = read_json(text)
    except RecursionError as error:
        raise InvalidObject("the answer is nested too deeply to be read", of_answer=True) from error
    except ValueError as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidObject(f"the answer is no JSON{where}; it has {len(text)} characters", of_answer=True) from None
    try:
        fault = Schema(schema).fault(value, "the object")
    except InvalidSchema as error:
        raise InvalidObject(f"the object cannot be checked: {error}") from error
    if fault is not None:
        raise InvalidObject(f"the answer does not fit its schema: {fault}", of_answer=True)
    return value


def wanted(answer: Answer) -> Any:
    """The object, for who relies on it. Raises `InvalidObject` where there is none."""
    if answer.error is not None and not answer.fallback:
        raise answer.error
    return None if answer.value is UNSET else answer.value
