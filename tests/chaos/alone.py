"""The miniature without threads: while it waits for an answer, it serves the requests that arrive meanwhile."""

from __future__ import annotations

import json
import sys
from typing import Any

from chaos import mini

Json = Any


class Alone(mini.Mini):
    """One thread that reads, works and writes."""

    def ask(self, method: str, **params: Json) -> Json:
        name = f"a{next(self.names)}"
        self.send(id=name, method=method, params=params)
        while True:
            message = json.loads(sys.stdin.readline())
            if "method" in message:
                self.serve(message)
            elif message["id"] == name:
                return self.result(message)

    def at_once(self, jobs: list[Any]) -> None:
        for job, *given in jobs:
            job(*given)

    def serve(self, message: Json) -> None:
        super().serve(message)
        if message["method"] == "shutdown":
            sys.exit(0)


if __name__ == "__main__":
    mini.CAPABILITIES.remove("concurrent-runs")
    mini.CAPABILITIES.remove("parallel-tools")
    alone = Alone(mini.out)
    while line := sys.stdin.readline():
        alone.serve(json.loads(line))
