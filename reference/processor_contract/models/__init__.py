"""The model protocol: what the loop asks of a provider.

Flows in: a `ModelRequest`. Flows out: chunks `{type, payload}`, the last one `finish` with `finishReason` and `usage`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..context import AbortSignal
from ..data import Chunk, Json, Prompt
from ..errors import InvalidAgent, told
from ..settings import described


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
    `error`, `finish`; any of them may have `providerMetadata`, which goes back to the provider with what it stands on
    (LLM-13). A chunk `stream-start` says what there is to say of the call besides its answer: `warnings` (dicts),
    `request` (its body), `rawResponse`; it may come again when more is known, and processors get its members only
    (LLM-8). `stream` raises `APICallError` when the provider refuses; any other exception counts as a failed call
    too (ERR-1).
    """

    id: str

    def stream(self, request: ModelRequest) -> Iterator[Chunk]: ...


Provider = Mapping[str, Model] | Callable[[str], "Model | None"]


class ModelRegistry:
    """Finds a model by instance, or by its id `provider/name`; one may serve many agents, from any thread (CFG-10).

    `register` adds one model, `register_provider` everything under one prefix. A model that a provider makes is made
    once. What lies behind a model is its own affair: nothing here opens a connection.
    """

    def __init__(
        self, models: Mapping[str, Model] | None = None, providers: Mapping[str, Provider] | None = None
    ) -> None:
        self._models: dict[str, Model] = {}
        self._providers: dict[str, Provider] = {}
        self._making = threading.RLock()  # a provider may ask for a model itself
        if not isinstance(models, Mapping | None):
            raise InvalidAgent(f"models is {described(models)}; use a ModelRegistry or a dict by id", "CFG-7")
        for id, model in (models or {}).items():
            self.register(id, model)
        for name, provider in (providers or {}).items():
            self.register_provider(name, provider)

    def register(self, id: str, model: Model) -> None:
        """The model behind an id, in the place of any other. Raises `InvalidAgent` for what is no model."""
        if not isinstance(id, str) or not id:
            raise InvalidAgent(f"a model cannot be registered as {id!r}; use a text `provider/name`", "CFG-7")
        self._models[id] = checked_model(model)

    def register_provider(self, name: str, provider: Provider) -> None:
        """All models `name/...`: a mapping of their names, or a function that makes the model of a name.

        The function returns None, or raises LookupError, for a name that it does not know; the name may have slashes.
        """
        if not isinstance(name, str) or not name or "/" in name:
            raise InvalidAgent(f"a provider cannot be called {name!r}; use a text without a slash", "CFG-7")
        if not callable(provider) and not isinstance(provider, Mapping):
            raise InvalidAgent(
                f"provider {name!r} is {described(provider)}; use a mapping of models, or a function of their names",
                "CFG-7",
            )
        self._providers[name] = provider

    def resolve(self, model: Any) -> Model:
        """The model itself, or the one of that id. Raises `InvalidAgent`, which says what is known, where there is none
        (CFG-7).
        """
        if not isinstance(model, str):
            return checked_model(model)
        with self._making:
            if model not in self._models:
                self._models[model] = self._provided(model)
            return self._models[model]

    def _provided(self, id: str) -> Model:
        prefix, _, name = id.partition("/")
        provider = self._providers.get(prefix)
        if provider is None or not name:
            known = ", ".join(sorted([*self._models, *(f"{each}/..." for each in self._providers)])) or "none"
            raise InvalidAgent(f"model {id!r} is not registered (known: {known}); register it or its provider", "CFG-7")
        try:
            made = provider[name] if isinstance(provider, Mapping) else provider(name)
        except LookupError:
            made = None
        except Exception as error:
            raise InvalidAgent(f"provider {prefix!r} failed to make model {id!r}: {told(error)}", "CFG-7") from error
        if made is None:
            known = ", ".join(sorted(provider)) if isinstance(provider, Mapping) else "it does not say which"
            raise InvalidAgent(f"provider {prefix!r} has no model {name!r} (known: {known})", "CFG-7")
        return checked_model(made)


def checked_model(model: Any) -> Model:
    """What has a `stream` method. Raises `InvalidAgent` for anything else."""
    if isinstance(model, type) or not callable(getattr(model, "stream", None)):
        raise InvalidAgent(f"{described(model)} is no model; use an object with a `stream` method", "CFG-7")
    return model  # type: ignore[no-any-return]
