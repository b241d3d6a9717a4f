"""The contract's words, as messages and scenarios spell them: each list stands here once.

Flows in: nothing. Flows out: THE TABLE of hooks, and the closed lists that the other modules and the schemas (by a
test) agree with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

Json = Any  # a JSON value: whoever takes one says in words what it holds
Lane = Literal["work", "client", "provider", "spans"]
LANES: tuple[Lane, ...] = ("work", "client", "provider", "spans")
MODES = ("generate", "stream")
REVISIONS = ("nine-hook", "six-hook")
REVISION, SIX = REVISIONS
PROTOCOL = 1


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook: the array its chain walks, and whether it is shown what the model call just before it brought.

    The `retryCount` of such a hook counts the attempt that this model call was. `in_six`, `later` and `plain_abort` say
    what the six-hook revision has of it: the hook at all, all arguments but these, an abort with more than a reason.
    """

    array: str
    of_attempt: bool = False
    in_six: bool = True
    later: tuple[str, ...] = ()
    plain_abort: bool = False


# A hook is added here; the schemas list the same names.
HOOKS: dict[str, Hook] = {
    "processInput": Hook("inputProcessors"),
    "processInputStep": Hook("inputProcessors", later=("retryCount",), plain_abort=True),
    "processLLMRequest": Hook("inputProcessors", in_six=False),
    "processLLMResponse": Hook("inputProcessors", of_attempt=True, in_six=False),
    "processOutputStream": Hook("outputProcessors", of_attempt=True, later=("retryCount",), plain_abort=True),
    "processOutputStep": Hook("outputProcessors", of_attempt=True, later=("usage", "steps", "providerMetadata")),
    "processToolResult": Hook("outputProcessors", in_six=False),
    "processOutputResult": Hook("outputProcessors", later=("retryCount",), plain_abort=True),
    "processAPIError": Hook("errorProcessors"),
}
ARRAYS = tuple(dict.fromkeys(hook.array for hook in HOOKS.values()))
CALLBACKS = ("prepareStep", "stopWhen", "onViolation", *ARRAYS)  # an array is one where a function gives it
# The processors that an implementation may bring ready-made: by name (their capability's, too), the hooks each has.
BUILT_INS: dict[str, tuple[str, ...]] = {
    "prefill-error-handler": ("processAPIError",),
    "response-cache": ("processLLMRequest", "processLLMResponse"),
}
# What hooks are handed, all of them together; which hook gets which is in PROTOCOL.md.
ARGUMENTS = (
    "messages", "systemMessages", "messageList", "stepNumber", "steps", "model", "tools", "toolChoice",
    "activeTools", "providerOptions", "modelSettings", "structuredOutput", "prompt", "error", "part", "streamParts",
    "chunks", "fromCache", "warnings", "request", "rawResponse", "finishReason", "providerMetadata", "toolCalls",
    "text", "usage", "toolName", "toolCallId", "args", "result", "providerExecuted", "state", "writer", "abort",
    "abortSignal", "retryCount", "requestContext", "tracingContext",
)  # fmt: skip
# The methods that operations call, by argument.
METHODS: dict[str, tuple[str, ...]] = {
    "messageList": (
        *(f"get.{view}.{form}" for view in ("all", "input", "response", "remembered") for form in ("db", "ui", "core")),
        "add", "removeByIds", "updateToolInvocation", "addSystem", "getSystemMessages", "getAllSystemMessages",
        "replaceAllSystemMessages", "clear.all.db", "clear.input.db", "clear.response.db",
    ),
    "writer": ("custom",),
    "requestContext": ("get", "set", "has", "delete"),
    "abortSignal": ("aborted",),
    "tracingContext": ("span",),
}  # fmt: skip
STORE = ("store/read", "store/write")
SETTINGS = ("toolChoice", "activeTools", "providerOptions", "modelSettings", "structuredOutput")
WORK = (*HOOKS, "tool", *CALLBACKS, *STORE, "warning")  # the names of events in the work lane
PROVIDER = ("model", "model/aborted")
TERMINAL = ("finish", "tripwire", "abort")  # the chunks of which a stream has one, its last
UNDEFINED: Json = {"$undefined": True}
RULE = re.compile(r"[A-Z]{3,4}-\d+")
