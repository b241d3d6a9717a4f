"""What README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re

from layout import ROOT


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
