"""Agent: the front door.

Flows in: settings of the agent, then of each call. Flows out: `generate()` returns a `RunResult`, `stream()` a
`Stream`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .checks import (
    check_array,
    check_options,
    check_things,
    checked_count,
    checked_function,
    checked_instructions,
    checked_settings,
    refuse_late,
    say_shared_ids,
    tools_by_name,
)
from .context import AbortSignal, Clock, RequestContext
from .data import Message, StepResult, new_id
from .errors import Cancelled, InvalidAgent, RunEnded, told
from .loop import aborted, ended_by, input_phase, stream_of
from .memory import HISTORY_ID, Memory, MessageHistory
from .message_list import MessageList
from .models import Model, ModelRegistry
from .pipeline import plan
from .processor import InputStepArgs, Processor
from .run import Run, Settings
from .run_trace import NO_TRACE, NoTrace, RunTrace
from .settings import PLAIN, over
from .stream import RunResult, Stream, beside, failure_of, result_of
from .tools import Tool
from .tracing import Tracer, TracingContext

Processors = Sequence[Any] | Callable[[RequestContext], Sequence[Any]]
Input = str | Message | Iterable[Message]
PREPARE_STEP_ID = "prepare-step"
RESERVED_IDS = (HISTORY_ID, PREPARE_STEP_ID)
DEFAULT_MAX_STEPS = 5
DEFAULT_RETRIES_WITH_ERROR_PROCESSORS = 10


class PrepareStep(Processor):
    """A call's `prepare_step` as the last link of the processInputStep chain (ORD-7)."""

    id = PREPARE_STEP_ID

    def __init__(self, prepare_step: Callable[[InputStepArgs], Any]) -> None:
        self.process_input_step = prepare_step  # it may return what the hook may (CFG-22)


@dataclass(slots=True)
class CallOptions:
    """What one call may bring; what is None is the agent's (CFG-4, CFG-19, CFG-20).

    An array and the tools replace the agent's whole, settings as `settings.over` says. `thread` and `resource` name the
    conversation to remember; `context` are messages for this request only; `system` is a further system message.
    `prepare_step` gets what processInputStep gets and may return what it may. `stop_when` gets the steps so far
    whenever the loop would go on (CFG-23). `tracing_context` is that of the hook or tool that makes the call: the
    request's spans stand below its own then.
    """

    model: Model | str | None = None
    tools: Iterable[Tool] | None = None
    input_processors: Processors | None = None
    output_processors: Processors | None = None
    error_processors: Processors | None = None
    max_processor_retries: int | None = None
    max_retries: int | None = None
    max_steps: int | None = None
    thread: str | None = None
    resource: str | None = None
    context: Sequence[Message] = ()
    system: str | None = None
    request_context: RequestContext | None = None
    abort_signal: AbortSignal | None = None
    prepare_step: Callable[[InputStepArgs], Any] | None = None
    stop_when: Callable[[list[StepResult]], Any] | None = None
    tool_choice: Any = None
    active_tools: Sequence[str] | None = None
    provider_options: Mapping[str, Any] | None = None
    model_settings: Mapping[str, Any] | None = None
    structured_output: Mapping[str, Any] | None = None
    tracing_context: TracingContext | None = None


class Agent:
    """A model with tools, memory and processors, for any number of requests at once.

    `model` is a model, or the id of one that `models` finds: a registry, or models by id (CFG-10). The three arrays
    hold processors, or are functions of the request context that return them. `max_processor_retries` caps the retries
    at one step; unset it is 10 with error processors, else none. `max_retries` is how often a model call that may
    succeed later is repeated before it counts as failed, with growing pauses by the `clock` (ERR-33). The last five
    settings go with every model call, unless the call, a processor or `prepare_step` has others (CFG-19): `tool_choice`
    is 'auto', 'none', 'required' or `{"type": "tool", "toolName": name}`, `active_tools` names those of the tools that
    are offered, the other three are dicts. `tracer` gets the spans of every request. `ids` makes the ids of requests
    and messages, and the `clock` says when a message was made: where nothing may differ between two runs, give both.
    Raises `InvalidAgent` for what cannot work.
    """

    def __init__(
        self,
        model: Model | str,
        *,
        name: str = "agent",
        instructions: str | Sequence[str] = (),
        tools: Iterable[Tool] = (),
        models: ModelRegistry | Mapping[str, Model] | None = None,
        input_processors: Processors = (),
        output_processors: Processors = (),
        error_processors: Processors = (),
        max_processor_retries: int | None = None,
        max_retries: int = 0,
        max_steps: int = DEFAULT_MAX_STEPS,
        memory: Memory | None = None,
        clock: Clock | None = None,
        tool_choice: Any = None,
        active_tools: Sequence[str] | None = None,
        provider_options: Mapping[str, Any] | None = None,
        model_settings: Mapping[str, Any] | None = None,
        structured_output: Mapping[str, Any] | None = None,
        ids: Callable[[], str] = new_id,
        tracer: Tracer | None = None,
    ) -> None:
        check_things({"memory": memory, "clock": clock, "tracer": tracer})
        self.name = name
        self._models = models if isinstance(models, ModelRegistry) else ModelRegistry(models)
        self._model = self._models.resolve(model)
        self._instructions = checked_instructions(instructions)
        self._tools = tools_by_name(tools)
        self._arrays = {"input": input_processors, "output": output_processors, "error": error_processors}
        self._defaults = checked_settings(
            {
                "tool_choice": tool_choice,
                "active_tools": active_tools,
                "provider_options": provider_options,
                "model_settings": model_settings,
                "structured_output": structured_output,
            }
        )
        self._max_retries = checked_count("max_processor_retries", max_processor_retries, 0, "CFG-8")
        self._model_retries = checked_count("max_retries", max_retries, 0)
        self._clock = clock or Clock()
        self._new_id = checked_function("ids", ids) or new_id
        self._tracer = tracer
        self._max_steps = checked_count("max_steps", max_steps, 1)
        self._memory = memory
        self._said: dict[str, object] = {}  # the ids of which it was said that several processors have them
        for array, processors in self._arrays.items():
            if callable(processors):
                refuse_late(processors, f"the function of {array}_processors")
            else:
                check_array(array, processors, RESERVED_IDS)
        say_shared_ids([each for each in self._arrays.values() if not callable(each)], self._said)

    def generate(self, input: Input, **options: Any) -> RunResult:
        """Runs a request to its end, by the same stream as `stream` (ORD-19). Options are the fields of `CallOptions`.

        Raises the provider's error where nobody recovered it (ERR-31), `HookFailed`, `NotSaved` (with the result in it)
        where only the store failed, `Cancelled`. An abort is no exception: it is in `result.tripwire`.
        """
        run = self._run(input, options)
        opened(run).drain()
        if run.error is not None:
            raise failure_of(run, run.error)
        return result_of(run)

    def stream(self, input: Input, **options: Any) -> Stream:
        """Starts a request: the input phase runs before this returns (ORD-20), the rest as the stream is read.

        Options are the fields of `CallOptions`. Raises `HookFailed` where processInput failed (ERR-10).
        """
        run = self._run(input, options)
        run.closable = True
        return opened(run)

    def _run(self, input: Input, given: dict[str, Any]) -> Run:
        check_options(given, CallOptions.__slots__)
        options = CallOptions(**given)
        check_things({name: getattr(options, name) for name in ("request_context", "abort_signal", "tracing_context")})
        own = options.request_context
        context = RequestContext() if own is None else own  # CTX-3, CTX-5: a new one, not the agent's
        message_list = MessageList(options.thread, options.resource, self._new_id, self._clock)
        for text in self._instructions:
            message_list.add_system(text)
        if options.system is not None:
            message_list.add_system(options.system, "user-provided")
        message_list.add(options.context, "context")  # MSG-33: what is wrong with it, or the input, raises here
        message_list.add(input, "input")
        run = Run(self._settings(options, context), message_list, context)
        run.caller_signal = options.abort_signal
        run.trace = self._trace(run.id, options.tracing_context)
        plan(run)
        return run

    def _trace(self, run_id: str, within: TracingContext | None) -> NoTrace:
        """The run's trace: within the span that the call was made in, else one of its own, or none (CTX-7, CTX-15)."""
        above = None if within is None else within.current_span
        about = {"runId": run_id, "agent": self.name}
        if above is not None:
            return RunTrace(above.child(self.name, kind="run", **about))
        return NO_TRACE if self._tracer is None else RunTrace(self._tracer.begin("run", self.name, **about))

    def _settings(self, options: CallOptions, context: RequestContext) -> Settings:
        call_retries = checked_count("max_processor_retries", options.max_processor_retries, 0, "CFG-8")
        own = checked_settings({name: getattr(options, name) for name in PLAIN})
        prepare_step = checked_function("prepare_step", options.prepare_step)
        inputs = self._array("input", options.input_processors, context)
        outputs = self._array("output", options.output_processors, context)
        errors = self._array("error", options.error_processors, context)
        say_shared_ids([inputs, outputs, errors], self._said)
        if prepare_step is not None:
            inputs.append(PrepareStep(prepare_step))  # ORD-7, ORD-33
        history = self._history(options)
        default = DEFAULT_RETRIES_WITH_ERROR_PROCESSORS if errors else None  # RTY-12, RTY-13
        return Settings(
            model=self._model if options.model is None else self._models.resolve(options.model),
            models=self._models,
            tools=self._tools if options.tools is None else tools_by_name(options.tools),
            inputs=[*history, *inputs],  # ORD-21: the runtime's own stand first ...
            outputs=[*outputs, *history],  # ... and last, whichever arrays the call brings (ORD-28)
            errors=errors,
            max_retries=first_given(call_retries, self._max_retries, default),  # RTY-3; 0 is given (RTY-14)
            max_steps=first_given(checked_count("max_steps", options.max_steps, 1), self._max_steps),
            stop_when=checked_function("stop_when", options.stop_when),
            model_retries=first_given(checked_count("max_retries", options.max_retries, 0), self._model_retries),
            clock=self._clock,
            new_id=self._new_id,
            **{name: over(name, default, own[name]) for name, default in self._defaults.items()},
        )

    def _array(self, array: str, override: Processors | None, context: RequestContext) -> list[Any]:
        """The call's array in the place of the agent's (CFG-4), a function called once a request (CFG-5, CFG-21)."""
        processors = self._arrays[array] if override is None else override
        made = callable(processors)
        refuse_late(processors, f"the function of {array}_processors")
        try:
            resolved = (processors(context) or []) if callable(processors) else processors
        except Exception as error:
            raise InvalidAgent(f"the function of {array}_processors failed: {told(error)}", "ERR-27") from error
        if made or override is not None:  # the agent's own were checked when it was made
            check_array(array, resolved, RESERVED_IDS)
        return list(resolved)

    def _history(self, options: CallOptions) -> list[Processor]:
        if self._memory is None or (options.thread is None and options.resource is None):
            return []  # PER-24
        named = {"thread": options.thread, "resource": options.resource}
        for name, value in named.items():
            if not isinstance(value, str) or not value:  # a login that was forgotten is often an empty text
                wrong = "missing" if value is None else f"{value!r:.99}"
                raise InvalidAgent(
                    f"memory needs a thread and a resource; {name} is {wrong}: give both as texts, or neither", "PER-42"
                )
        return [MessageHistory(self._memory, **named)]  # type: ignore[arg-type]


def first_given(*values: Any) -> Any:
    """The first value that is not None; None where all are."""
    return next((value for value in values if value is not None), None)


def opened(run: Run) -> Stream:
    """The stream of a run, after its input phase; its signal fires with the caller's."""
    signal = run.caller_signal
    release = signal.on_abort(run.signal.abort) if signal is not None else lambda: None
    try:
        beside(run, lambda: input_phase(run))
    except (RunEnded, Cancelled) as ending:
        last = aborted(run, ending) if isinstance(ending, Cancelled) else ended_by(run, ending)
        return Stream(run, last, release)
    except BaseException:
        release()
        run.trace.end("error")
        raise
    return Stream(run, stream_of(run), release)
