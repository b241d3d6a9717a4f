"""PrefillErrorHandler: gives the user the last word where a model insists on it.

Flows in: the error of a model call. Flows out: one more user message in the repeated call, or nothing.
"""

from __future__ import annotations

import re

from ..processor import APIErrorArgs, Processor

REMINDER = "<system-reminder>Continue.</system-reminder>"
REFUSALS = re.compile(
    r"assistant message prefill"  # does not support it
    r"|prefill.{0,80}(enable_thinking|thinking mode)"  # does not support it while it thinks
    r"|\bend(s|ing)? with an? (user|model|assistant) (message|turn)",  # has to end with the user's, or not with its own
    re.IGNORECASE | re.DOTALL,
)


class PrefillErrorHandler(Processor):
    """Mends calls that were refused because the conversation ends with an assistant's message: some models take that
    for the beginning of their answer, and others refuse it.

    Once for each step it adds a user message that asks to go on, for this request only (nothing of it is stored), and
    has the call repeated (ERR-41). Every other error goes its way. Belongs into `error_processors` (ERR-40).
    """

    id = "prefill-error-handler"

    def process_api_error(self, args: APIErrorArgs) -> dict[str, bool] | None:
        """Looks at the error's message and, where it has one, at the response body."""
        if args.state.get("mended") == args.step_number or not is_refused_prefill(args.error):  # ERR-42, ERR-43
            return None
        args.state["mended"] = args.step_number
        args.message_list.add(REMINDER, "context")  # ERR-44
        return {"retry": True}


def is_refused_prefill(error: BaseException) -> bool:
    """Whether the error says that the last message may not be the assistant's."""
    said = f"{error}\n{getattr(error, 'response_body', None) or ''}"
    return REFUSALS.search(said) is not None
