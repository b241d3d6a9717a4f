"""A miniature implementation with its adapter: enough of an agent loop to try the play engine on, and no more.

It is not the contract. It calls the hooks it knows in a plausible order, keeps live objects by token, and speaks
every method of the protocol. `connect` drives it in this process; run as a program it speaks over its stdin and
stdout, with a thread for each run. `alone.py` is the same without threads, `misbehaving.py` has the ways to go wrong.
"""

from __future__ import annotations

import copy
import itertools
import json
import sys
import threading
from collections.abc import Callable
from typing import Any

Json = Any
CAPABILITIES = [
    "generate", "stream", "pull", "close", "cancel", "pulled-model", "concurrent-runs", "memory", "scripted-store",
    "call-overrides", "parallel-tools", "function-arrays", "prepare-step", "on-violation",
]  # fmt: skip


class Abort(Exception):
    """What a processor's abort raises."""

    def __init__(self, processor: str, given: Json) -> None:
        super().__init__(given.get("reason", ""))
        self.processor = processor
        self.given = given


class Failed(Exception):
    """An error that a script raises."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.error = error


class Run:
    """One request."""

    def __init__(self, session: Session, params: Json) -> None:
        self.session = session
        self.name: str = params["run"]
        self.mode: str = params["mode"]
        self.options = params.get("options", {})
        given = params["input"]
        self.messages: list[Json] = given if isinstance(given, list) else [{"role": "user", "content": given}]
        self.response: list[Json] = []
        self.states: dict[str, Json] = {}
        self.chunks: list[Json] = []
        self.cancelled = threading.Event()
        self.call = ""


class Session:
    """One agent."""

    def __init__(self, params: Json) -> None:
        agent = params["agent"]
        self.agent = agent
        self.processors = {one["key"]: one for one in agent["processors"]}
        self.tools = {one["name"]: one for one in agent["tools"]}
        stored = agent.get("memory", {}).get("stored", [])
        self.store = {(one["thread"], one["resource"]): list(one["messages"]) for one in stored}


class Mini:
    """The adapter and what it adapts."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self.send_line = send
        self.names = itertools.count(1)
        self.waiting: dict[str, tuple[threading.Event, list[Json]]] = {}
        self.sessions: dict[str, Session] = {}
        self.runs: dict[str, Run] = {}
        self.handles: dict[str, dict[str, Json]] = {}
        self.objects: dict[str, Json] = {}

    # -- the wire ----------------------------------------------------------------------------------------------------

    def send(self, **message: Json) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", **message}))

    def receive(self, line: str) -> None:
        message = json.loads(line)
        if "method" in message:
            threading.Thread(target=self.serve, args=(message,), daemon=True).start()
        else:
            event, box = self.waiting.pop(message["id"])
            box.append(message)
            event.set()

    def ask(self, method: str, **params: Json) -> Json:
        name = f"a{next(self.names)}"
        event, box = self.waiting[name] = (threading.Event(), [])
        self.send(id=name, method=method, params=params)
        event.wait()
        return self.result(box[0])

    def result(self, answer: Json) -> Json:
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["result"]

    def serve(self, message: Json) -> None:
        try:
            result = getattr(self, message["method"].replace("/", "_"))(message["params"])
        except Exception as error:
            self.send(id=message["id"], error={"code": -32000, "message": f"{type(error).__name__}: {error}"})
        else:
            self.send(id=message["id"], result=result)

    # -- what the runner asks ----------------------------------------------------------------------------------------

    def initialize(self, params: Json) -> Json:
        implementation = {"name": "mini", "version": "1"}
        return {
            "protocol": 1,
            "implementation": implementation,
            "revisions": ["nine-hook", "six-hook"],
            "capabilities": CAPABILITIES,
        }

    def session_open(self, params: Json) -> Json:
        self.sessions[params["session"]] = Session(params)
        return {}

    def session_close(self, params: Json) -> Json:
        del self.sessions[params["session"]]
        return {}

    def shutdown(self, params: Json) -> Json:
        return {}

    def tick(self, params: Json) -> Json:
        return {}

    def storage_read(self, params: Json) -> Json:
        place = params["thread"], params["resource"]
        return {"messages": self.sessions[params["session"]].store.get(place, [])}

    def run_start(self, params: Json) -> Json:
        run = self.runs[params["run"]] = Run(self.sessions[params["session"]], params)
        if params.get("reading") == "pull":
            run.chunks = self.pulled(run)
            return {"opened": True}
        try:
            return {"outcome": self.loop(run)}
        except Failed as failed:
            error = {"name": "Error", "token": "t0", **failed.error}
            raised = [{key: error[key] for key in ("name", "message", "token")}]
            return {"outcome": {"raised": raised, "at": "start"}}

    def run_read(self, params: Json) -> Json:
        run = self.runs[params["run"]]
        taken = run.chunks[: params["count"]]
        run.chunks = run.chunks[params["count"] :]
        return {"chunks": taken, "done": len(taken) < params["count"]}

    def run_result(self, params: Json) -> Json:
        return {"outcome": {"text": "", "finishReason": "stop", "steps": []}}

    def run_close(self, params: Json) -> Json:
        return self.run_cancel(params)

    def run_cancel(self, params: Json) -> Json:
        run = self.runs[params["run"]]
        run.cancelled.set()
        if run.call:
            self.send(method="model/aborted", params={"run": run.name, "call": run.call})
        return {}

    def object_do(self, params: Json) -> Json:
        arguments = self.handles[params["handle"]]
        results = []
        for operation in params["operations"]:
            try:
                results.append({"value": self.operate(arguments, operation)})
            except Exception as error:
                results.append({"error": {"name": type(error).__name__, "message": str(error)}})
        return {"results": results}

    # -- live objects ------------------------------------------------------------------------------------------------

    def operate(self, arguments: Json, operation: Json) -> Json:
        if operation["op"] == "call":
            return {"called": operation["method"]}
        *path, last = operation["at"].split("/")
        holder = arguments
        for name in path:
            holder = holder[int(name) if isinstance(holder, list) else name]
        key = int(last) if isinstance(holder, list) else last
        if operation["op"] == "token":
            return self.token(holder[key])
        if operation["op"] == "set":
            holder[key] = self.made(operation["value"], arguments)
            return {"$undefined": True}
        if operation["op"] == "append":
            holder[key].append(self.made(operation["value"], arguments))
            return len(holder[key])
        if operation["op"] == "remove":
            return holder.pop(key)
        return copy.deepcopy(holder[key])

    def token(self, thing: Json) -> str:
        for token, known in list(self.objects.items()):
            if known is thing:
                return token
        token = f"o{next(self.names)}"
        self.objects[token] = thing
        return token

    def made(self, template: Json, arguments: Json) -> Json:
        if isinstance(template, dict) and "$ref" in template:
            value = arguments
            for name in template["$ref"].split("/"):
                value = value[int(name) if isinstance(value, list) else name]
            return value
        if isinstance(template, dict) and "$token" in template:
            return self.objects[template["$token"]]
        if isinstance(template, dict) and "$spread" in template:
            return {**self.made(template["$spread"], arguments), **self.made(template["with"], arguments)}
        if isinstance(template, dict):
            return {key: self.made(value, arguments) for key, value in template.items()}
        return [self.made(one, arguments) for one in template] if isinstance(template, list) else template

    # -- the loop ----------------------------------------------------------------------------------------------------

    def hook(self, run: Run, array: str, hook: str, **arguments: Json) -> Json:
        """Calls one hook of every processor of an array; gives the last answer that was something."""
        last = None
        for key in self.keys(run, array):
            processor = run.session.processors[key]
            if hook not in processor["hooks"]:
                continue
            state = run.states.setdefault(processor["id"], {})
            given = {"state": state, "messages": run.messages, **arguments}
            handle = f"h{next(self.names)}"
            self.handles[handle] = given
            tokens = {"state": self.token(state), "instance": self.token(processor)}
            answer = self.ask(
                "hook/call", run=run.name, handle=handle, processor=key, hook=hook,
                arguments=copy.deepcopy(given), tokens=tokens,
            )["return"]  # fmt: skip
            if isinstance(answer, dict) and "$abort" in answer:
                raise Abort(processor["id"], answer["$abort"])
            if isinstance(answer, dict) and "$throw" in answer:
                raise Failed(answer["$throw"])
            last = None if answer == {"$undefined": True} else self.made(answer, given)
            if hook == "processOutputStream" and last is not None:
                arguments["part"] = last
        return last

    def keys(self, run: Run, array: str) -> list[str]:
        given = run.options.get(array, run.session.agent.get(array, []))
        if isinstance(given, list):
            return given
        handle = f"h{next(self.names)}"
        asked = self.ask(
            "callback/call", run=run.name, handle=handle, callback=array, arguments={}, tokens={}
        )  # fmt: skip
        keys: list[str] = asked["return"]
        return keys

    def loop(self, run: Run) -> Json:
        try:
            return self.steps(run)
        except Abort as abort:
            payload = {**abort.given, "processorId": abort.processor}
            self.chunk(run, {"type": "tripwire", "payload": payload})
            return {"text": "", "finishReason": "other", "steps": [], "tripwire": payload}

    def steps(self, run: Run) -> Json:
        place = run.options.get("memory")
        if place and "scripted-store" in CAPABILITIES:
            self.ask("store/read", run=run.name, **place)
        self.hook(run, "inputProcessors", "processInput")
        self.chunk(run, {"type": "start", "payload": {}})
        texts = []
        for number in range(run.session.agent.get("maxSteps", 5)):
            self.hook(run, "inputProcessors", "processInputStep", stepNumber=number)
            text, calls = self.step(run)
            texts.append(text)
            if not calls or run.cancelled.is_set():
                break
        self.hook(run, "outputProcessors", "processOutputResult")
        if place:
            failing = self.ask("store/write", run=run.name, **place, messages=run.messages).get("error")
            if failing:
                raise Failed(failing)
            run.session.store.setdefault((place["thread"], place["resource"]), []).extend(run.messages)
        self.chunk(run, {"type": "finish", "payload": {"finishReason": "stop"}})
        steps = [{"text": text} for text in texts]
        return {"text": "".join(texts), "finishReason": "stop", "usage": {}, "steps": steps}

    def step(self, run: Run) -> tuple[str, list[Json]]:
        text, calls = "", []
        for part in self.model(run):
            kept = self.hook(run, "outputProcessors", "processOutputStream", part=part) if self.filters(run) else part
            if kept is None:
                continue
            self.chunk(run, kept)
            text += kept["payload"].get("text", "") if kept["type"] == "text-delta" else ""
            calls += [kept["payload"]] if kept["type"] == "tool-call" else []
        run.messages.append({"role": "assistant", "content": text})
        for call, result in zip(calls, self.tools(run, calls), strict=True):
            run.messages.append({"role": "tool", "content": result})
            self.hook(run, "outputProcessors", "processToolResult", result=result, **call)
        return text, calls

    def filters(self, run: Run) -> bool:
        keys = self.keys(run, "outputProcessors")
        return any("processOutputStream" in run.session.processors[key]["hooks"] for key in keys)

    def model(self, run: Run) -> list[Json]:
        call = run.call = f"c{next(self.names)}"
        model = run.session.agent["models"][0]
        answer = self.ask(
            "model/call", run=run.name, call=call, model=model, mode=run.mode, prompt=run.messages,
            tools=list(run.session.tools), signal=False,
        )  # fmt: skip
        if "error" in answer:
            raise Failed(answer["error"])
        parts: list[Json] = answer.get("parts", [])
        for entry in answer.get("content", []):
            text = {"type": "text-delta", "payload": {"id": "0", "text": entry.get("text")}}
            parts.append(text if "text" in entry else {"type": entry["type"], "payload": entry})
        while answer.get("pull") and not run.cancelled.is_set():
            following = self.ask("model/next", run=run.name, call=call)
            if "error" in following:
                raise Failed(following["error"])
            if "done" in following:
                break
            parts.append(following["part"])
        return parts

    def tools(self, run: Run, calls: list[Json]) -> list[Json]:
        """All calls of a step at once."""
        results: list[Json] = [None] * len(calls)

        def one(index: int, call: Json) -> None:
            handle = f"h{next(self.names)}"
            self.handles[handle] = {"args": call["args"]}
            results[index] = self.ask(
                "tool/call", run=run.name, handle=handle, tool=call["toolName"], toolCallId=call["toolCallId"],
                args=call["args"], tokens={},
            )["return"]  # fmt: skip

        self.at_once([(one, index, call) for index, call in enumerate(calls)])
        return results

    def at_once(self, jobs: list[Any]) -> None:
        threads = [threading.Thread(target=job, args=given, daemon=True) for job, *given in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def chunk(self, run: Run, chunk: Json) -> None:
        if run.mode == "stream":
            self.send(method="stream/chunk", params={"run": run.name, "chunk": chunk})

    def pulled(self, run: Run) -> list[Json]:
        return [{"type": "text-delta", "payload": {"id": "0", "text": str(number)}} for number in range(5)]


def connect(send: Callable[[str], None]) -> Callable[[str], None]:
    """For `python:chaos.mini:connect`."""
    return Mini(send).receive


WRITING = threading.Lock()


def out(line: str) -> None:
    """Writes a line to stdout, whole."""
    with WRITING:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def speak(mini: Mini) -> None:
    """Drives an adapter over stdin and stdout until stdin ends."""
    for line in sys.stdin:
        mini.receive(line)


if __name__ == "__main__":
    speak(Mini(out))
