"""Two hundred streams at once against the mock: all complete, memory stays flat, no thread is left."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from typing import Any

import pytest

from mock_kit import serving
from processor_contract import Agent
from processor_contract.models.openai_compatible import OpenAICompatible
from processor_contract.models.server import MockServer
from reference_kit import at_once

pytestmark = pytest.mark.usefixtures("direct")
STREAMS = 200
WORDS = [f"word{number} " for number in range(30)]
GROWTH = 200_000  # bytes between one round and the next: a thousandth of what the streams of a round carry and hold


def round_of_streams(server: MockServer) -> list[str]:
    """As many streams as there are, all of them open in mid-answer at one moment: their texts."""
    agent = Agent(OpenAICompatible("openai/mock", base_url=f"{server.url}/v1"))
    texts: list[str] = []
    everyone = threading.Barrier(STREAMS, timeout=120)  # nobody waits for ever for one that failed

    def read() -> None:
        stream: Any = agent.stream("x")
        while next(stream)["type"] != "text-delta":
            pass
        everyone.wait()
        texts.append(stream.result().text)

    at_once(*[read] * STREAMS)
    return texts


def test_two_hundred_streams_at_once() -> None:
    before = threading.active_count()
    turn = {"text": WORDS, "times": 0}
    sizes = []
    with serving(turn, log_length=STREAMS) as server:
        round_of_streams(server)
        tracemalloc.start()
        for _ in range(3):
            assert round_of_streams(server) == ["".join(WORDS)] * STREAMS
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        outcomes = {entry["outcome"] for entry in server.log()}

    assert outcomes == {"complete"}
    assert sizes[2] - sizes[1] < GROWTH, sizes
    assert threading.active_count() == before
