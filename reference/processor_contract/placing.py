"""Where returned messages stand: the new order of the list, worked out from the old one.

Flows in: the list's messages, the ids that a hook was given, what it returned. Flows out: the list's messages anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from .data import Message


def placed(messages: Sequence[Message], seen: Sequence[str], returned: Sequence[Message]) -> list[Message]:
    """The list with the `returned` messages among those outside the view, whose ids are not in `seen` (MSG-17).

    Messages outside the view never move. Kept ones whose order is unchanged stay where they are, and new ones follow
    their predecessor; only a changed order puts the returned ones together, at the view's first place.
    """
    in_view = set(seen)
    by_id = {message["id"]: message for message in returned}
    first = next((at for at, message in enumerate(messages) if message["id"] in in_view), len(messages))
    kept = [one for one in seen if one in by_id]
    if kept != [message["id"] for message in returned if message["id"] in in_view]:
        outside = [message for message in messages if message["id"] not in in_view]
        before = sum(1 for message in messages[:first] if message["id"] not in in_view)
        return [*outside[:before], *returned, *outside[before:]]
    followers = _followers(returned, in_view)
    laid: list[Message] = []
    for at, message in enumerate(messages):
        if at == first:
            laid += followers.pop(None, [])
        if message["id"] not in in_view:
            laid.append(message)
        elif message["id"] in by_id:
            laid.append(by_id[message["id"]])
            laid += followers.pop(message["id"], [])
    return laid + followers.pop(None, [])


def _followers(returned: Sequence[Message], in_view: set[str]) -> dict[str | None, list[Message]]:
    """The new messages, by the id of the kept one they follow (None: they stand first)."""
    followers: dict[str | None, list[Message]] = {}
    predecessor: str | None = None
    for message in returned:
        if message["id"] in in_view:
            predecessor = message["id"]
        else:
            followers.setdefault(predecessor, []).append(message)
    return followers
