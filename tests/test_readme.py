"""What README shows is what happens."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import re
from typing import Any

import pytest

import processor_contract
from layout import ROOT
from mock_kit import question, serving
from processor_contract.models.script import read_turns


def test_the_processor_of_the_readme_does_what_its_comments_say() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.S)[0]
    promised = [line.rsplit("# ", 1)[1] for line in code.splitlines() if line.startswith("print(")]
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})

    came = [line[: len(wish) - 4] if wish.endswith(" ...") else line
            for line, wish in zip(printed.getvalue().splitlines(), promised, strict=True)]  # fmt: skip
    assert [wish.removesuffix(" ...") for wish in promised] == came


def test_the_script_of_the_readme_can_be_played() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    script = re.findall(r"(# the first turn that fits.*?)```", text, re.S)[0]

    assert len(read_turns(script.encode().split(b"\n"), "README.md")) == 4


def test_the_cut_of_the_readme_comes_after_what_was_to_be_said() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    (line,) = re.findall(r"^.*cutAfter.*$", text, re.M)
    with serving(json.loads(line)) as server:
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
        connection.request("POST", "/v1/chat/completions", json.dumps(question("x", stream=True)))
        with pytest.raises(http.client.IncompleteRead) as raised:
            connection.getresponse().read()
        connection.close()

    assert "".join(re.findall(r'"content": "(.*?)"', raised.value.partial.decode())) == "It is co"


def test_the_real_model_of_the_readme_is_found() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "OpenAICompatible" in block)
    names: dict[str, Any] = {"Agent": processor_contract.Agent}

    exec(compile(code, "README.md", "exec"), names)

    assert repr(names["models"].resolve("local/x")) == "OpenAICompatible('local/x', base_url='http://127.0.0.1:8317/v1')"
