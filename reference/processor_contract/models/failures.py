"""What went wrong with a call: in words, and whether the same call may succeed later.

Flows in: a network error, a status, the body of a refusal, a Retry-After header. Flows out: what each of them says.
"""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import json
import re
import ssl
from datetime import datetime

RETRYABLE = frozenset({408, 409, 425, 429})  # and all from 500 on


def retryable(status: int) -> bool:
    """Whether a request that got this status may succeed later."""
    return status in RETRYABLE or status >= 500


def said_of(error: OSError | http.client.HTTPException, verb: str) -> tuple[str, bool]:
    """What a network error says, and whether the same call may succeed later."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the provider's certificate is not trusted: {error.verify_message}", False
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
        return f"no TLS connection with the provider: {error.reason or error}", False
    if isinstance(error, TimeoutError):
        return "the provider was silent for too long", True
    if isinstance(error, http.client.HTTPException) and not isinstance(error, (OSError, http.client.IncompleteRead)):
        return f"the provider does not speak HTTP: {type(error).__name__}", False
    if str(error).startswith("Tunnel connection failed"):
        return f"the proxy refused: {error}", False
    return f"the provider {verb}: {error}", True


def message_in(body: str) -> str:
    """What an error body says, in the forms that providers use; else its beginning. Empty where it says nothing."""
    try:
        found = json.loads(body)
        if isinstance(found, list) and len(found) == 1:
            found = found[0]  # Google's wrap it
        for name in ("error", "message", "detail"):
            if isinstance(found, dict) and name in found:
                found = found[name]
        return found if isinstance(found, str) else json.dumps(found)[:200] if found else ""
    except (ValueError, RecursionError):
        return " ".join(body.split())[:200]


def seconds(retry_after: str | None) -> float | None:
    """A Retry-After header in seconds; None where it is none, or a date that cannot be read."""
    if retry_after is None:
        return None
    if re.fullmatch(r"[0-9]{1,10}(\.[0-9]{1,10})?", retry_after.strip()):
        return float(retry_after)
    with contextlib.suppress(TypeError, ValueError):
        when = email.utils.parsedate_to_datetime(retry_after)
        return max((when - datetime.now(when.tzinfo)).total_seconds(), 0.0)
    return None
