"""The model protocol: what the loop asks of a provider.

Flows in: a `ModelRequest`. Flows out: chunks `{type, payload}`, the last one `finish` with `finishReason` and `usage`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..context import AbortSignal
from ..data import Chunk, Json, Prompt
from ..errors import InvalidAgent


@dataclass(slots=True)
class ModelRequest:
    """One call of a provider. `tools` are `{name, description, parameters}`; `abort_signal` fires when nobody waits
    any more.
    """

    prompt: Prompt
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: Json = None
    settings: Json = None
    provider_options: Json = None
    structured_output: Json = None
    abort_signal: AbortSignal | None = None


class Model(Protocol):
    """A provider's model. `id` is `provider/name`.

    `stream` yields chunks `text-start/-delta/-end`, `reasoning-...`, `tool-call`, `tool-result`, `source`, `file`,
    `error`, `finish`. It raises `APICallError` when the provider refuses; any other exception counts as a failed call
    too (ERR-1).
    """

    id: str

    def stream(self, request: ModelRequest) -> Iterator[Chunk]: ...


class ModelRegistry:
    """Finds a model by instance or by id."""

    def __init__(self, models: Mapping[str, Model] | None = None) -> None:
        self._models = dict(models or {})

    def resolve(self, model: Any) -> Model:
        """The model itself, or the registered one of that id. Raises `InvalidAgent` for an unknown id (CFG-7)."""
        if isinstance(model, str):
            if model not in self._models:
                known = ", ".join(sorted(self._models)) or "none"
                raise InvalidAgent(f"model {model!r} is not registered (known: {known}); pass it in `models`", "CFG-7")
            return self._models[model]
        if not callable(getattr(model, "stream", None)):
            raise InvalidAgent(f"{type(model).__name__} is no model; it has no `stream` method", "CFG-7")
        return model  # type: ignore[no-any-return]
