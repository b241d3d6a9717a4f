"""The tapes themselves: one for each thread, no way around them to the network, and nothing on them that is private."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from layout import ROOT
from processor_contract import AbortSignal, RunResult
from processor_contract.models.endpoint import Exchange
from recorded_kit import (
    CASSETTES,
    KEY,
    QUESTION,
    Missed,
    agent,
    connected,
    on_this_thread,
    surroundings,
    vcr_cassette_dir,
    vcr_config,
)
from reference_kit import at_once, processor

pytestmark = [
    pytest.mark.block_network,
    pytest.mark.usefixtures(surroundings.__name__, vcr_cassette_dir.__name__, vcr_config.__name__),
]


# -- one cassette per thread -------------------------------------------------------------------------------------------

EVERYONE: dict[str, Callable[[], RunResult]] = {
    "plain-answer": lambda: agent(streaming=False).generate(QUESTION),
    "streamed-answer": lambda: agent().generate(QUESTION, abort_signal=AbortSignal()),  # on threads of its own
    "length-cut": lambda: agent(5).generate(QUESTION),
}


def test_each_thread_has_a_cassette(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exchange, "_connect", connected)
    played: list[tuple[str, bool, str]] = []
    start = threading.Barrier(12)

    def play(name: str) -> None:
        with on_this_thread(name) as cassette:
            start.wait()
            result = EVERYONE[name]()
            played.append((name, cassette.all_played, result.text))

    at_once(*(partial(play, name) for name in EVERYONE for _ in range(4)))

    assert sorted(name for name, whole, _ in played if whole) == sorted(list(EVERYONE) * 4)
    assert len({(name, text) for name, _, text in played}) == len(EVERYONE)


# -- what is not on the tape -------------------------------------------------------------------------------------------


@pytest.mark.vcr
@pytest.mark.default_cassette("plain-answer")
def test_error_processors_do_not_swallow_a_miss() -> None:
    forgiving = processor("forgiving", process_api_error=lambda args: {"retry": True})

    with pytest.raises(Missed):
        agent(error_processors=[forgiving]).generate("A question that nobody ever asked.")


def test_the_network_is_refused() -> None:
    with socket.socket() as line, pytest.raises(RuntimeError, match="Network is disabled"):
        line.connect(("127.0.0.1", 8317))


# -- what must not be on the tape --------------------------------------------------------------------------------------

TAPES = sorted(CASSETTES.glob("*.yaml"))
TELLTALE = {
    "the key": re.escape(KEY),
    "a header with a key": r"(?i)authorization|bearer|api-key|cookie",
    "a path of the machine": r"(?<![\w:/])(?!/v1/chat/completions)/(?:[\w.@~+-]+/)+[\w.@~+-]+",
    "an address of the machine": r"\b(?!127\.0\.0\.1\b)\d{1,3}(?:\.\d{1,3}){3}\b",
    "the name of the machine": rf"\b{re.escape(socket.gethostname())}\b",
    "an id of the server": r"(?!0{8}-)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}",
    "a date": r"\b20\d\d-\d\d-\d\d|GMT|\"created\":(?!\s*1767225600)",
}


@pytest.mark.parametrize("what", TELLTALE)
@pytest.mark.parametrize("tape", TAPES, ids=lambda path: path.stem)
def test_a_cassette_holds_no_secret(tape: Path, what: str) -> None:
    assert re.findall(TELLTALE[what], tape.read_text("utf-8")) == []


@pytest.mark.parametrize("what", TELLTALE)
def test_a_secret_would_be_found(what: str) -> None:
    leaks = {
        "the key": KEY,
        "a header with a key": "Authorization: [Basic eA==]",
        "a path of the machine": 'File "/home/me/site-packages/app.py", line 3',
        "an address of the machine": "http://192.168.1.7:80",
        "the name of the machine": f"at {socket.gethostname()}.",
        "an id of the server": "chatcmpl-b4f7d453-f3b5-4f00-a28f-a1c43ef92531",
        "a date": "Mon, 30 Nov 2026 04:05:26 GMT",
    }

    assert re.findall(TELLTALE[what], leaks[what]) != []


def test_every_test_has_its_cassette_and_every_cassette_its_test() -> None:
    source = (ROOT / "tests" / "test_recorded_http.py").read_text("utf-8")
    tested = {name.replace("_", "-") for name in re.findall(r"^def test_(\w+)", source, re.MULTILINE)}

    assert len(TAPES) >= 12
    assert [tape.stem for tape in TAPES if tape.stem.partition("[")[0] not in tested] == []
