"""The built-in processors, by the protocol's names.

Flows in: an entry of `session/open` that names one. Flows out: the processor, made as its users make it.
"""

from __future__ import annotations

from ..data import Json
from ..hooks import HOOKS
from ..processor import Processor
from ..processors import PrefillErrorHandler, ResponseCache
from .values import ScriptedError
from .wire import Unserved

BUILT_INS: dict[str, type[PrefillErrorHandler | ResponseCache]] = {
    "prefill-error-handler": PrefillErrorHandler,
    "response-cache": ResponseCache,
}


class FailingBackend:
    """A backend of a cache whose every call raises."""

    def get(self, key: str) -> str | None:
        raise ScriptedError("CacheDown", "the cache is down")

    def set(self, key: str, text: str) -> None:
        raise ScriptedError("CacheDown", "the cache is down")


class GarbledBackend:
    """A backend of a cache that gives back what is no answer."""

    def get(self, key: str) -> str | None:
        return "garbled"

    def set(self, key: str, text: str) -> None:
        return None


BACKENDS: dict[str, type[FailingBackend | GarbledBackend]] = {"failing": FailingBackend, "garbled": GarbledBackend}


def hooks_of(processor: Json) -> list[str]:
    """The hooks, by their wire names, that a processor of the session is to have."""
    if "builtIn" not in processor:
        return list(processor["hooks"])
    name = processor["builtIn"]
    if name not in BUILT_INS:
        raise Unserved(f"there is no built-in processor {name!r} here; there are {', '.join(BUILT_INS)}")
    return [hook.wire for own, hook in HOOKS.items() if hasattr(BUILT_INS[name], own)]


def built_in(spec: Json) -> Processor:
    """The processor that is named, with a backend of the kind that is named, if any."""
    if "backend" in spec:
        return ResponseCache(BACKENDS[spec["backend"]]())
    return BUILT_INS[spec["builtIn"]]()
