"""SPEC's table of hooks is the reference's table of hooks."""

from __future__ import annotations

import dataclasses
import re

from layout import ROOT
from processor_contract.hooks import HOOKS, Hook
from processor_contract.message_list import MessageList
from processor_contract.returns import chunk, ignored, prompt_or_response, retry_or_not, step_overrides

SEES: dict[object, str] = {None: "none", MessageList.everything: "all", MessageList.response: "response"}
RETURNS: dict[object, str] = {
    step_overrides: "step overrides",
    prompt_or_response: "prompt or response",
    retry_or_not: "retry or not",
    chunk: "chunk",
    ignored: "ignored",
}


def row(hook: Hook) -> list[str]:
    fields = {field.name for field in dataclasses.fields(hook.args)}
    has = ["yes" if name in fields else "no" for name in ("state", "writer", "abort_signal")]
    return [
        hook.wire,
        f"{hook.array}Processors",
        SEES[hook.sees],
        *has,
        RETURNS.get(hook.returns, "messages"),
        "both" if hook.in_six else "nine-hook",
    ]


def test_the_table_of_hooks_in_the_specification_is_that_of_the_reference() -> None:
    text = (ROOT / "SPEC.md").read_text("utf-8").partition("## The hooks")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| process.*$", text, re.M)
    written = [[cell.strip() for cell in line.strip("| ").split("|")] for line in rows]

    assert written == [row(hook) for hook in HOOKS.values()]
