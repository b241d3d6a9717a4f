"""The adapter driven line by line: what it answers, what it refuses, how many calls it keeps apart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

import processor_contract
from processor_contract.adapter import connect
from reference_kit import message

SOURCE_ROOT = Path(processor_contract.__file__).parent.parent
PROCESSOR = {"key": "p", "id": "p", "hooks": ["processInput"]}
AGENT = {"models": ["mock/one"], "processors": [PROCESSOR], "inputProcessors": ["p"]}
SAID = [
    {"type": "text-delta", "payload": {"id": "t", "text": "hi"}},
    {"type": "finish", "payload": {"finishReason": "stop", "usage": {}}},
]


class Runner:
    """The other end of the wire: sends requests, and answers what it is asked from a table of functions."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[Any], Any]] = {
            "hook/call": lambda params: {"return": {"$undefined": True}},
            "model/call": lambda params: {"parts": SAID},
        }
        self.got: Queue[Any] = Queue()
        self.asked: list[Any] = []
        self._waiting: dict[str, Queue[Any]] = {}
        self._receive = connect(self._take)
        self._numbers = iter(range(1, 10_000))

    def _take(self, line: str) -> None:
        parsed = json.loads(line)
        if "method" not in parsed:
            self._waiting.pop(parsed["id"], self.got).put(parsed)
        elif "id" in parsed:
            self.asked.append(parsed)
            threading.Thread(target=self._answer, args=(parsed,), daemon=True).start()

    def _answer(self, request: Any) -> None:
        result = self.answers[request["method"]](request["params"])
        self.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def send(self, line: Any) -> None:
        self._receive(line if isinstance(line, str) else json.dumps(line))

    def begin(self, method: str, params: Any) -> Queue[Any]:
        """Sends a request; the answer will be in the queue."""
        identity = f"r{next(self._numbers)}"
        answer: Queue[Any] = Queue()
        self._waiting[identity] = answer
        self.send({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        return answer

    def ask(self, method: str, **params: Any) -> Any:
        """Sends a request and waits for its answer."""
        return self.begin(method, params).get(timeout=10)


@pytest.fixture
def runner() -> Runner:
    made = Runner()
    made.ask("session/open", session="s", agent=AGENT)
    return made


def during(runner: Runner, operations: list[Any]) -> Any:
    """The answers to operations sent while processInput is open."""
    results: list[Any] = []

    def hook(params: Any) -> Any:
        results.append(runner.ask("object/do", handle=params["handle"], operations=operations)["result"]["results"])
        return {"return": {"$undefined": True}}

    runner.answers["hook/call"] = hook
    runner.ask("run/start", session="s", run="1", mode="generate", input=[message("u", "hello")])
    return results[0]


def written_and_read(runner: Runner, value: Any) -> Any:
    """What a state's member reads after it was set to a value."""
    return during(runner, [{"op": "set", "at": "state/x", "value": value}, {"op": "read", "at": "state/x"}])[1]["value"]


def started(runner: Runner, count: int) -> list[Any]:
    """The outcomes of so many runs, all started at once; the name of each is its input."""
    names = [f"run-{number}" for number in range(count)]
    answers = [
        runner.begin("run/start", {"session": "s", "run": name, "mode": "generate", "input": name}) for name in names
    ]
    return [answer.get(timeout=10)["result"]["outcome"] for answer in answers]


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "text"),
    [
        ("odd/method", {}, "method 'odd/method' is unknown; known are initialize, "),
        ("object/do", {"handle": "c9", "operations": []}, "no call has the handle 'c9'"),
        ("session/close", {"session": "x"}, "session 'x' is not open"),
        ("storage/read", {"session": "x", "thread": "t", "resource": "r"}, "session 'x' is not open"),
        ("run/start", {"session": "x", "run": "1", "mode": "stream", "input": "hi"}, "session 'x' is not open"),
        ("run/read", {"run": "x", "count": 1}, "run 'x' has no stream"),
        ("run/result", {"run": "x"}, "run 'x' has no stream"),
        ("run/close", {"run": "x"}, "run 'x' has no stream"),
        ("run/cancel", {"run": "x"}, "run 'x' was not started"),
        ("initialize", {"protocols": [7]}, "this adapter speaks protocol 1"),
    ],
)
def test_what_cannot_be_done_is_answered_with_an_error(runner: Runner, method: str, params: Any, text: str) -> None:
    answer = runner.ask(method, **params)

    assert (answer["error"]["code"], text in answer["error"]["message"]) == (-32601, True)


@pytest.mark.parametrize(("options", "told"), [({}, {}), ({"structuredOutput": {"schema": {}}}, {"object": None})])
def test_an_object_that_is_null_is_told_from_none(runner: Runner, options: Any, told: Any) -> None:
    delta = {"type": "text-delta", "payload": {"id": "t", "text": "null"}}
    runner.answers["model/call"] = lambda params: {"parts": [delta, SAID[-1]]}
    started = runner.ask("run/start", session="s", run="1", mode="generate", input="hi", options=options)
    outcome = started["result"]["outcome"]

    assert (outcome["text"], {key: outcome[key] for key in outcome if key.startswith("object")}) == ("null", told)


@pytest.mark.parametrize(("revision", "told"), [("nine-hook", "result"), ("six-hook", "error")])
def test_a_session_has_the_hooks_of_the_revision_asked_for(revision: str, told: str) -> None:
    runner = Runner()
    assert "six-hook" in runner.ask("initialize", protocols=[1], revision=revision)["result"]["revisions"]
    later = {**PROCESSOR, "hooks": ["processInput", "processLLMRequest"]}
    assert told in runner.ask("session/open", session="s", agent={**AGENT, "processors": [later]})
    cache = {"key": "a", "builtIn": "response-cache"}
    assert told in runner.ask("session/open", session="t", agent={**AGENT, "processors": [cache]})


def test_a_built_in_that_there_is_not_is_refused_by_name(runner: Runner) -> None:
    answer = runner.ask("session/open", session="t", agent={**AGENT, "processors": [{"key": "a", "builtIn": "oracle"}]})

    text = "there is no built-in processor 'oracle' here; there are prefill-error-handler, response-cache"
    assert answer["error"] == {"code": -32601, "message": text}


def test_missing_parameters_are_answered_with_an_error(runner: Runner) -> None:
    assert runner.ask("object/do")["error"] == {"code": -32000, "message": "KeyError: 'handle'"}


def test_a_line_that_is_no_json_is_answered_with_an_error(runner: Runner) -> None:
    runner._waiting[None] = runner.got  # type: ignore[index]
    runner.send("{no json")

    assert runner.got.get(timeout=10)["error"]["code"] == -32700


def test_an_answer_to_nothing_changes_nothing(runner: Runner) -> None:
    runner.send({"jsonrpc": "2.0", "id": "a99", "result": {}})

    assert runner.ask("tick")["result"] == {}


def test_a_refusal_by_the_runner_ends_the_run_as_an_error(runner: Runner) -> None:
    answers = runner.answers.pop("model/call"), runner._answer

    def refuse(request: Any) -> None:
        if request["method"] == "model/call":
            runner.send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -1, "message": "closed"}})
        else:
            answers[1](request)

    runner._answer = refuse  # type: ignore[method-assign]
    outcome = runner.ask("run/start", session="s", run="1", mode="generate", input="hi")["result"]["outcome"]

    assert outcome["raised"][0]["message"] == "the runner refused model/call: closed"


# -- operations --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ({"op": "odd"}, "KeyError"),
        ({}, "KeyError"),
        ({"op": "read"}, "KeyError"),
        ({"op": "read", "at": "nothing"}, "NoSuchPath"),
        ({"op": "set", "at": "messages/9", "value": 1}, "IndexError"),
        ({"op": "set", "at": "messages/x", "value": 1}, "NoSuchPath"),
        ({"op": "append", "at": "state", "value": 1}, "AttributeError"),
        ({"op": "remove", "at": "state/nothing"}, "KeyError"),
        ({"op": "call", "on": "messageList", "method": "odd"}, "NoSuchMethod"),
        ({"op": "call", "on": "state", "method": "pop"}, "NoSuchMethod"),
        ({"op": "call", "on": "messageList", "method": "add", "args": []}, "TypeError"),
        ({"op": "set", "at": "state/a", "value": {"$odd": 1}}, "ContractError"),
        ({"op": "set", "at": "state/a", "value": {"$token": "o999"}}, "NoSuchPath"),
    ],
)
def test_an_operation_that_fails_says_so(runner: Runner, operation: Any, name: str) -> None:
    assert name == during(runner, [operation])[0]["error"]["name"]


def test_an_operation_that_fails_does_not_keep_the_next_from_running(runner: Runner) -> None:
    results = during(runner, [{"op": "odd"}, {"op": "set", "at": "state/n", "value": 1}, {"op": "read", "at": "state"}])

    assert results[1:] == [{"value": None}, {"value": {"n": 1}}]


def test_an_abort_by_operation_is_caught(runner: Runner) -> None:
    results = during(runner, [{"op": "abort", "reason": "no", "retry": False, "metadata": 1}])

    assert (results[0]["error"]["name"], results[0]["error"]["message"]) == ("TripWire", "no")


def test_values_that_contain_themselves_come_back(runner: Runner) -> None:
    assert written_and_read(runner, {"$circular": True}) == {"self": {"$circular": True}}


@pytest.mark.parametrize("text", ["\ud800", "é😀", "\u2028", 'quote " and \\ slash', "\x00"])
def test_texts_of_all_kinds_come_back(runner: Runner, text: str) -> None:
    assert text == written_and_read(runner, text)


def test_a_message_of_a_megabyte_comes_back(runner: Runner) -> None:
    text = "é" * 1_000_000

    assert text == written_and_read(runner, text)


# -- several at once ---------------------------------------------------------------------------------------------------


def test_open_calls_do_not_keep_others_waiting(runner: Runner) -> None:
    together = threading.Barrier(8, timeout=10)

    def hook(params: Any) -> Any:
        together.wait()
        return {"return": {"$undefined": True}}

    runner.answers["hook/call"] = hook

    assert [outcome["text"] for outcome in started(runner, 8)] == ["hi"] * 8


def test_every_call_names_its_run(runner: Runner) -> None:
    started(runner, 8)
    calls = [one["params"] for one in runner.asked if one["method"] == "hook/call"]

    assert [one["arguments"]["messages"][0]["content"]["content"] == one["run"] for one in calls] == [True] * 8


def test_handles_and_request_ids_come_once(runner: Runner) -> None:
    started(runner, 8)
    handles = [one["params"]["handle"] for one in runner.asked if "handle" in one["params"]]

    assert (8, len(runner.asked)) == (len(set(handles)), len({one["id"] for one in runner.asked}))


# -- the process -------------------------------------------------------------------------------------------------------


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    made = subprocess.Popen(
        [sys.executable, "-X", "dev", "-m", "processor_contract.adapter"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE_ROOT)},
        text=True,
        encoding="utf-8",
    )
    yield made
    made.kill()
    made.wait()
    for pipe in (made.stdin, made.stdout, made.stderr):
        assert pipe is not None
        pipe.close()


def told(process: subprocess.Popen[str], **request: Any) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_the_process_speaks_the_protocol(process: subprocess.Popen[str]) -> None:
    answer = told(process, id="1", method="initialize", params={"protocols": [1], "revision": "nine-hook"})

    assert (answer["id"], answer["result"]["protocol"]) == ("1", 1)


def test_the_process_ends_after_a_shutdown_though_stdin_stays_open(process: subprocess.Popen[str]) -> None:
    answer = told(process, id="1", method="shutdown", params={})

    assert (answer["result"], process.wait(5)) == ({}, 0)


def test_the_process_ends_with_stdin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()

    assert process.wait(5) == 0


def test_the_process_says_nothing_on_stderr(process: subprocess.Popen[str]) -> None:
    told(process, id="1", method="initialize", params={"protocols": [1], "revision": "nine-hook"})
    told(process, id="2", method="shutdown", params={})
    process.wait(5)
    assert process.stderr is not None

    assert process.stderr.read() == ""


def test_the_process_survives_a_line_that_is_no_json(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("no json\n\n")
    refused = told(process, id="1", method="tick", params={})
    answered = json.loads(process.stdout.readline())  # type: ignore[union-attr]

    assert {None, "1"} == {refused["id"], answered["id"]}
