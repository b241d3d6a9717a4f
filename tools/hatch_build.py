"""Build hook: puts the scenarios and the specification into the wheel, and only there.

An editable install has them in the checkout already; hatchling's own `force-include` would put a second copy beside
the first, which nothing keeps up to date.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATA = {"fixtures": "processor_conformance/data/fixtures", "SPEC.md": "processor_conformance/data/SPEC.md"}


class WheelData(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"].update(DATA)
