"""The mock provider's server: clients that leave, how it starts and how it stops, and its command."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from layout import ROOT
from mock_kit import CHAT, asked, ended, last, port_of, question, serving, talking
from processor_contract.models import server as module
from processor_contract.models.script import Script
from processor_contract.models.server import MockServer

pytestmark = pytest.mark.usefixtures("direct")


def named() -> list[str]:
    return sorted(thread.name for thread in threading.enumerate())


def test_nothing_is_left_when_it_has_stopped() -> None:
    before = named()
    with serving({"text": ["a"] * 10, "fault": {"chunkDelay": 600}, "times": 0}) as server:
        lines = [talking(server) for _ in range(5)]
        for number, line in enumerate(lines):
            line.request("POST", CHAT, json.dumps(question(str(number), stream=number > 0)))
            line.getresponse().read(1)

    assert named() == before
    assert [entry["outcome"] for entry in server.log()] == ["complete", "cut", "cut", "cut", "cut"]
    for line in lines:
        line.close()


def test_it_stops_while_a_client_idles_and_one_is_in_mid_request() -> None:
    before = named()
    with serving({"text": "a"}) as server:
        idle, halting = talking(server), talking(server)
        idle.connect()
        halting.putrequest("POST", CHAT)
        halting.putheader("Content-Length", "100")
        halting.endheaders(b"{")

    assert named() == before
    idle.close()
    halting.close()


def test_a_client_that_leaves_is_noted(capfd: pytest.CaptureFixture[str]) -> None:
    with serving({"text": ["x" * 10_000] * 10_000}) as server:
        line = talking(server)
        line.request("POST", CHAT, json.dumps(question("x", stream=True)))
        line.getresponse().read(10)
        line.close()

        assert ended(server) == "gone"
        assert last(server)["events"] < 10_000
    assert capfd.readouterr() == ("", "")


def test_a_server_that_never_started_can_be_stopped() -> None:
    MockServer(Script.of([{}])).stop()


def test_ports_are_free_ones_and_loopback_s() -> None:
    with serving({}) as one, serving({}) as other:
        assert one.url != other.url
        assert one.url.startswith("http://127.0.0.1:")


def test_a_port_of_one_s_own() -> None:
    with serving({}) as server:
        port = port_of(server)
    with serving({"text": "a"}, port=port) as again:
        assert asked(again.url + CHAT, question("x"))[0] == 200
        with pytest.raises(OSError, match=rf"host '127.0.0.1', port {port}: Address already in use; choose others"):
            MockServer(Script.of([{}]), port=port)


@pytest.mark.parametrize("host", ["", "ü..x", "a" * 300])
def test_a_host_that_is_none(host: str) -> None:
    with pytest.raises(OSError, match="the mock cannot listen on host"):
        MockServer(Script.of([{}]), host=host)


@pytest.mark.parametrize("port", [-1, 70_000])
def test_a_port_that_is_none(port: int) -> None:
    with pytest.raises(OSError, match=f"port {port}"):
        MockServer(Script.of([{}]), port=port)


def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def broken(*given: Any) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(module.Handler, "converse", broken)
    with serving({"text": "a"}) as server, pytest.raises(http.client.RemoteDisconnected):
        asked(server.url + CHAT, question("x"))

    assert "ZeroDivisionError: ours" in capfd.readouterr().err


# -- the command -------------------------------------------------------------------------------------------------------


def command(*arguments: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "processor_contract.models.server", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "reference")}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_its_address_and_stops_when_told(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"text": "a"}\n{"text": "b", "fault": {"delay": 600}}\n')
    program = command("--script", script)
    with subprocess.Popen(program, env=environment(), stdout=-1, stderr=-1, text=True) as running:
        assert running.stdout is not None
        url = running.stdout.readline().strip()
        answered = asked(url + CHAT, question("x"))
        waiting = http.client.HTTPConnection(url.removeprefix("http://"))
        waiting.request("POST", CHAT, json.dumps(question("x")))
        while len(asked(url + "/log")[1]["requests"]) < 2:
            pass
        running.send_signal(number)
        out, err = running.communicate(timeout=10)
        waiting.close()

    assert answered[1]["choices"][0]["message"]["content"] == "a"
    assert (running.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize(
    ("script", "said"),
    [('{"txt": "a"}', "script.jsonl:1: a turn has no member 'txt'; known: text"), (None, "script.jsonl: No such")],
)
def test_the_command_refuses_a_bad_script(script: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "script.jsonl"
    if script is not None:
        file.write_text(script)

    done = subprocess.run(command("--script", file), env=environment(), capture_output=True, text=True, timeout=20)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
