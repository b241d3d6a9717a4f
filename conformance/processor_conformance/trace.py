"""What the runner saw while a scenario was played: events in four lanes per run.

Flows in: nothing; the player appends. Flows out: `Trace`, which verdicts, recordings and coverage read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .words import Json, Lane


@dataclass(slots=True)
class Event:
    """One observation.

    `at` is its place in the order of arrival over all lanes and runs. `name` is what a lens selects by: the hook,
    `tool`, the callback, `store/read`, `store/write`, `warning`; the chunk's type or `opened`; `model` or
    `model/aborted`; the span's kind. `data` is the event in the form a scenario's `expect` uses. `late` marks what came
    after the run's outcome.
    """

    at: int
    run: str
    lane: Lane
    name: str
    data: dict[str, Json]
    late: bool = False


@dataclass(slots=True)
class Trace:
    """Everything one play of a scenario brought, and how it ended.

    `outcomes` maps a run's name to its outcome; `stored` maps (thread, resource) to the messages in the store at the
    end.
    """

    scenario: str
    mode: str
    events: list[Event] = field(default_factory=list)
    outcomes: dict[str, dict[str, Json]] = field(default_factory=dict)
    stored: dict[tuple[str, str], list[Json]] = field(default_factory=dict)
    stuck_gates: list[str] = field(default_factory=list)

    def lane(self, run: str, lane: Lane) -> list[Event]:
        """The events of one run in one lane, in order."""
        return [event for event in self.events if event.run == run and event.lane == lane]
