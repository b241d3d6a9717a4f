"""Fixtures of several modules: the mock provider, and surroundings that reach it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mock_kit import KEY, PROXIES, TURNS, scripted
from processor_contract.models.server import MockServer


@pytest.fixture(scope="module")
def mock_provider() -> Iterator[MockServer]:
    """The server that all clients talk to; it says `mock_kit.TURNS`."""
    with MockServer(scripted(**TURNS)) as server:
        yield server


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy stands between the test and its server, and a key is there to be hidden."""
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
