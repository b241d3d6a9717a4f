"""The real framework as a client of the mock, over HTTP, with the provider package that its users take."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from layout import ROOT
from processor_contract.models.server import MockServer

FOLDER = ROOT / "conformance" / "adapters" / "mastra"
NODE = FOLDER / "node_modules" / "node" / "bin" / "node"
CLIENT = FOLDER / "over-http" / "client.mjs"
INSTALLED = NODE.exists() and (CLIENT.parent / "node_modules").exists()
# It comes by npm, which `make test` needs for nothing else; where everything is checked it has to be there.
pytestmark = pytest.mark.skipif(
    not INSTALLED and os.environ.get("CI") != "true", reason="the framework is not installed: sh tools/setup mastra"
)

FAILED = "Failed to process successful response"
ERRORS: dict[str, dict[str, Any]] = {
    "refused": {"name": "AI_APICallError", "statusCode": 400, "isRetryable": False},
    "locked": {"name": "AI_APICallError", "statusCode": 401, "isRetryable": False},
    "busy": {"name": "AI_APICallError", "statusCode": 429, "isRetryable": True},
    "down": {"name": "AI_APICallError", "statusCode": 503, "isRetryable": True},
    "hangup": {"name": "AI_APICallError", "isRetryable": True},
    "cut": {"name": "AI_APICallError", "message": FAILED, "statusCode": 200},
    "reset": {"name": "AI_APICallError", "message": FAILED, "statusCode": 200},
}
IN_MID_STREAM = {
    **ERRORS,
    "malformed": {"name": "AI_JSONParseError"},
    "reported": {"name": "Error", "message": "The server had an error."},
}


@pytest.fixture(scope="module")
def outcomes(mock_provider: MockServer) -> dict[str, Any]:
    """What came of each question, asked by one process after the other, plain and streamed."""
    words = ["plain", "tool", "long", "split", *IN_MID_STREAM]
    questions = [question for word in words for question in (word, f"{word}-stream")]
    command: list[str | Path] = [NODE, CLIENT, f"{mock_provider.url}/v1", *questions]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["question"]: line for line in lines}


def fits(expected: dict[str, Any], error: dict[str, Any]) -> bool:
    return expected.items() <= error.items()


def test_a_plain_answer(outcomes: dict[str, Any]) -> None:
    assert (outcomes["plain"]["text"], outcomes["plain"]["finishReason"]) == ("It is fine.", "stop")
    assert outcomes["plain"]["usage"]["totalTokens"] == 15


def test_a_streamed_answer(outcomes: dict[str, Any]) -> None:
    assert outcomes["plain-stream"]["deltas"] == ["It is ", "fine."]
    assert outcomes["plain-stream"]["usage"]["totalTokens"] == 15


@pytest.mark.parametrize("question", ["tool", "tool-stream"])
def test_a_tool_call_and_its_answer(outcomes: dict[str, Any], question: str) -> None:
    said = outcomes[question]

    assert said["called"] == ["Oslo"]
    assert said.get("text", "".join(said.get("deltas", []))) == "Cold."


@pytest.mark.parametrize("question", ["long", "long-stream"])
def test_an_answer_cut_by_its_length(outcomes: dict[str, Any], question: str) -> None:
    assert outcomes[question]["finishReason"] == "length"


def test_characters_in_halves(outcomes: dict[str, Any]) -> None:
    assert outcomes["split"]["text"] == "Tromsø −4 °C ☃ 🥶"
    assert outcomes["split-stream"]["deltas"] == ["Tromsø ", "−4 °C ", "☃ 🥶"]


@pytest.mark.parametrize("word", ERRORS)
def test_a_fault_of_a_plain_answer(outcomes: dict[str, Any], word: str) -> None:
    assert fits(ERRORS[word], outcomes[word]["raised"])


@pytest.mark.parametrize("word", IN_MID_STREAM)
def test_a_fault_of_a_stream(outcomes: dict[str, Any], word: str) -> None:
    said = outcomes[f"{word}-stream"]

    assert [fits(IN_MID_STREAM[word], error) for error in said["errors"]] == [True]
    assert said["finishReason"] == "error"
