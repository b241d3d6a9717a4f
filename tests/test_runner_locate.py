"""Where the suite's data is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from processor_conformance import locate

ROOT = Path(__file__).resolve().parent.parent


def test_a_checkout_has_it_at_its_root() -> None:
    assert locate.find("fixtures/scenarios") == ROOT / "fixtures" / "scenarios"


def test_an_installed_package_carries_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "SPEC.md").write_text("")
    monkeypatch.setattr(locate, "ROOTS", (tmp_path, *locate.ROOTS))
    assert locate.find("SPEC.md") == tmp_path / "SPEC.md"


def test_what_is_nowhere_is_said_to_be_missing() -> None:
    with pytest.raises(FileNotFoundError, match="fixtures/none is neither in"):
        locate.find("fixtures/none")


def test_what_may_be_missing_is_none() -> None:
    assert locate.find_or_none("fixtures/none") is None
