"""Broken variants of the reference: what holds the suite to account.

Flows in: nothing. Flows out: `MUTANTS`, by name. Each breaks one rule on purpose, in the way a plausible misreading
would, and a scenario of that very rule has to notice. A mutant is a function that makes its changes through a `Patch`;
its docstring says what somebody got wrong. `python -m mutants` plays them.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from processor_contract import pipeline
from processor_contract.agent import Agent, CallOptions
from processor_contract.data import Chunk
from processor_contract.hooks import HOOKS, Hook
from processor_contract.returns import Returns, Slate
from processor_contract.run import Link, Run, Settings


class Patch:
    """Changes to the reference that can be taken back."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def set(self, holder: Any, name: str, value: Any) -> None:
        """Puts a value in the place of an attribute, a dict's key being one."""
        if isinstance(holder, dict):
            before = holder[name]
            holder[name] = value
            self._undo.append(lambda: holder.__setitem__(name, before))
            return
        own = name in vars(holder) if hasattr(holder, "__dict__") else True
        before = vars(holder)[name] if own and hasattr(holder, "__dict__") else getattr(holder, name)
        setattr(holder, name, value)
        self._undo.append(lambda: setattr(holder, name, before) if own else delattr(holder, name))

    def cell(self, hook: str, **cells: Any) -> Hook:
        """Changes cells of a hook's row in the table; returns the row as it was before, copied."""
        row = HOOKS[hook]
        before = type(row)(**{name: getattr(row, name) for name in type(row).__slots__})
        for name, value in cells.items():
            self.set(row, name, value)
        return before

    def derived(self, hook: str, after: Callable[[Any, Any], object]) -> None:
        """Lets `after(run, slate)` change what a hook's processors are handed, each one behind all the rest."""
        before = self.cell(hook).derive

        def derive(run: Any, slate: Any) -> None:
            if before is not None:
                before(run, slate)
            after(run, slate)

        self.cell(hook, derive=derive)

    def returned(self, hook: str, around: Callable[[Returns, Run, Link, Slate, Any], bool]) -> None:
        """Puts `around(original, run, link, slate, returned)` in the place of what a hook's return comes to."""
        before = self.cell(hook).returns
        self.cell(hook, returns=lambda *given: around(before, *given))

    def arguments(self, change: Callable[[Run, Link, Slate, Any], Any]) -> None:
        """Lets `change(run, link, slate, args)` change what every hook is called with."""

        def arguments(original: Callable[..., Any], run: Run, link: Link, slate: Slate) -> Any:
            args = original(run, link, slate)
            change(run, link, slate, args)
            return args

        self.around(pipeline.arguments, arguments)

    def settled(self, change: Callable[[Agent, CallOptions, Settings], Any]) -> None:
        """Lets `change(agent, options, settings)` change what a request runs with, as agent and call have made it."""

        def settled(original: Callable[..., Settings], own: Agent, options: CallOptions, context: Any) -> Settings:
            settings = original(own, options, context)
            change(own, options, settings)
            return settings

        self.wrap(Agent, "_settings", settled)

    def function(self, function: Callable[..., Any], replacement: Callable[..., Any]) -> None:
        """Puts another function in the place of one of the reference's, wherever a module or class holds it."""
        for module in [module for name, module in sys.modules.items() if name.startswith("processor_contract")]:
            for name, value in list(vars(module).items()):
                if value is function:
                    self.set(module, name, replacement)
                elif isinstance(value, dict):
                    for key in [key for key, item in value.items() if item is function]:
                        self.set(value, key, replacement)

    def around(self, function: Callable[..., Any], around: Callable[..., Any]) -> None:
        """Puts `around(function, *args)` in the place of one of the reference's functions."""
        self.function(function, lambda *args, **named: around(function, *args, **named))

    def chain(self, hook: str, around: Callable[..., Any]) -> None:
        """Puts `around(chain, run, slate)` in the place of a hook's chain; `chain(run, slate)` is that chain itself."""

        def call(original: Callable[..., Any], run: Any, name: str, slate: Any) -> Any:
            if name != hook:
                return original(run, name, slate)
            return around(lambda run, slate: original(run, name, slate), run, slate)

        self.around(pipeline.call, call)

    def wrap(self, holder: type, name: str, around: Callable[..., Any]) -> None:
        """Puts `around(original, self, *args)` in the place of a method."""
        original = vars(holder)[name]
        self.set(holder, name, lambda own, *args, **named: around(original, own, *args, **named))

    def within(self, holder: type, name: str) -> list[bool]:
        """A list that holds something as long as a method is at work."""
        at_work: list[bool] = []

        def noted(original: Callable[..., Any], own: Any, *args: Any, **named: Any) -> Any:
            at_work.append(True)
            try:
                return original(own, *args, **named)
            finally:
                at_work.pop()

        self.wrap(holder, name, noted)
        return at_work

    def undo(self) -> None:
        """Takes every change back, the last one first."""
        while self._undo:
            self._undo.pop()()


@dataclass(frozen=True, slots=True)
class Mutant:
    """One broken variant: the rule it breaks, what it does wrong, and how."""

    name: str
    rule: str
    mistake: str
    change: Callable[[Patch], None]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The reference is broken as long as this lasts."""
        patch = Patch()
        try:
            self.change(patch)
            yield
        finally:
            patch.undo()


def stream_parts(run: Run) -> list[Chunk]:
    """The chunks that have come to processOutputStream so far; none where the run has no such processor."""
    return run.passing


MUTANTS: dict[str, Mutant] = {}


def mutant(rule: str) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Registers a mutant of a rule, under its function's name with dashes."""

    def register(change: Callable[[Patch], None]) -> Callable[[Patch], None]:
        name = change.__name__.replace("_", "-")
        if name in MUTANTS:
            raise ValueError(f"mutant {name!r} is there twice; give one of them another name")
        if not change.__doc__:
            raise ValueError(f"mutant {name!r} has no docstring; say what it gets wrong")
        MUTANTS[name] = Mutant(name, rule, " ".join(change.__doc__.split()), change)
        return change

    return register


for _module in pkgutil.iter_modules(__path__):
    if _module.name != "__main__":
        importlib.import_module(f"{__name__}.{_module.name}")  # each registers its own
