"""The built-in processors. Nothing flows in; `from processor_contract.processors import PrefillErrorHandler`."""

from __future__ import annotations

from .cache_backend import CacheBackend, InMemoryCache
from .prefill_error_handler import PrefillErrorHandler
from .response_cache import ResponseCache

__all__ = ["CacheBackend", "InMemoryCache", "PrefillErrorHandler", "ResponseCache"]
