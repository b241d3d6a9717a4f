"""Finds the suite's data: the fixtures and SPEC.md.

Flows in: a name below the project's root, such as `fixtures/scenarios`. Flows out: where it lies, in a checkout or in
an installed wheel (which carries the data inside the package; an editable install does not, and uses the checkout).
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOTS = (PACKAGE / "data", PACKAGE.parents[1])


def find(name: str) -> Path:
    """The path of `name`; raises FileNotFoundError when neither place has it."""
    for root in ROOTS:
        if (root / name).exists():
            return root / name
    looked = " and ".join(str(root) for root in ROOTS)
    raise FileNotFoundError(f"{name} is neither in {looked}; install the wheel or work in a checkout")


def find_or_none(name: str) -> Path | None:
    """The path of `name`, or None: for data that the suite can do without."""
    try:
        return find(name)
    except FileNotFoundError:
        return None
