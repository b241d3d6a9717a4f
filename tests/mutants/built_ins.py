"""Mutants of the built-in processors: prefill error handler (ERR-40 to ERR-44), response cache (LLM-20 to LLM-28)."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

from processor_contract import checks, loop
from processor_contract.agent import Agent
from processor_contract.data import Chunk, clone
from processor_contract.errors import APICallError
from processor_contract.message_list import MessageList
from processor_contract.processor import APIErrorArgs, LLMRequestArgs, LLMResponseArgs
from processor_contract.processors import InMemoryCache, PrefillErrorHandler, ResponseCache
from processor_contract.processors import prefill_error_handler as handler
from processor_contract.processors import response_cache as cache
from processor_contract.returns import Slate
from processor_contract.run import Run

from . import Patch, mutant

END: Chunk = {"type": "finish", "payload": {"finishReason": "stop"}}


# -- the prefill error handler -----------------------------------------------------------------------------------------


def handles(patch: Patch, around: Callable[[Callable[[], Any], APIErrorArgs], Any]) -> None:
    """Puts `around(handle, args)` in the place of what the handler does with an error."""

    def process(original: Any, own: PrefillErrorHandler, args: APIErrorArgs) -> Any:
        return around(lambda: original(own, args), args)

    patch.wrap(PrefillErrorHandler, "process_api_error", process)


def words(patch: Patch, add: Callable[[MessageList], None]) -> None:
    """Lets `add(message_list)` stand in the place of the message that the handler adds."""

    def around(handle: Callable[[], Any], args: APIErrorArgs) -> Any:
        own = args.message_list
        args.message_list = MessageList()
        returned = handle()
        args.message_list = own
        if returned is not None:
            add(own)
        return returned

    handles(patch, around)


@mutant("ERR-40")
def the_prefill_handler_looks_at_answers(patch: Patch) -> None:
    """A refusal is something the model says: the handler is a processor of answers."""
    patch.set(PrefillErrorHandler, "process_api_error", None)


@mutant("ERR-41")
def a_refused_prefill_is_only_repeated(patch: Patch) -> None:
    """Asking again is enough."""
    words(patch, lambda messages: None)


@mutant("ERR-41")
def the_last_word_is_the_system_s(patch: Patch) -> None:
    """A system message asks to go on."""
    words(patch, lambda messages: messages.add_system(handler.REMINDER))


@mutant("ERR-41")
def the_refused_words_are_taken_back(patch: Patch) -> None:
    """What stands last and is refused is removed."""

    def add(messages: MessageList) -> None:
        messages.remove_by_ids([messages.everything()[-1]["id"]])
        messages.add(handler.REMINDER, "context")

    words(patch, add)


@mutant("ERR-41")
def only_the_message_of_a_refusal_is_read(patch: Patch) -> None:
    """The response body is the provider's affair."""
    patch.function(handler.is_refused_prefill, lambda error: handler.REFUSALS.search(str(error)) is not None)


@mutant("ERR-41")
def one_provider_refuses_prefills(patch: Patch) -> None:
    """Refusals are known by the words of one provider."""
    patch.set(handler, "REFUSALS", re.compile("does not support assistant message prefill"))


@mutant("ERR-41")
def only_the_first_step_is_refused(patch: Patch) -> None:
    """Only what the caller hands in can end with the assistant's words."""
    handles(patch, lambda handle, args: handle() if args.step_number == 0 else None)


@mutant("ERR-42")
def the_prefill_handler_never_gives_up(patch: Patch) -> None:
    """Every refusal is mended."""

    def around(handle: Callable[[], Any], args: APIErrorArgs) -> Any:
        args.state.clear()
        return handle()

    handles(patch, around)


@mutant("ERR-42")
def a_prefill_is_mended_once_in_a_run(patch: Patch) -> None:
    """One message is enough for all steps."""
    handles(patch, lambda handle, args: None if args.state else handle())


@mutant("ERR-42")
def every_retry_was_the_prefill_handler_s(patch: Patch) -> None:
    """Its own tries are read off `retryCount`."""
    handles(patch, lambda handle, args: None if args.retry_count else handle())


@mutant("ERR-43")
def every_rejection_is_a_refused_prefill(patch: Patch) -> None:
    """A request that the provider rejects is mended by a word of the user."""
    patch.function(handler.is_refused_prefill, lambda error: isinstance(error, APICallError))


@mutant("ERR-43")
def whatever_names_the_assistant_is_a_refusal(patch: Patch) -> None:
    """Errors about an assistant's last words are all the same."""
    patch.set(handler, "REFUSALS", re.compile(f"ends with|{handler.REFUSALS.pattern}", re.I | re.S))


@mutant("ERR-44")
def the_last_word_was_the_user_s(patch: Patch) -> None:
    """What is sent as the user's message is the user's, and belongs to the conversation."""
    words(patch, lambda messages: messages.add(handler.REMINDER, "input"))


# -- the response cache ------------------------------------------------------------------------------------------------


def keyed(patch: Patch, change: Callable[[ResponseCache, LLMRequestArgs], None]) -> None:
    """Lets `change(cache, args)` change what a key is made of; `args` is a copy, and so is its request."""

    def key_of(original: Any, own: ResponseCache, args: LLMRequestArgs) -> Any:
        args = copy.copy(args)
        args._asked = dataclasses.replace(args._asked)
        change(own, args)
        return original(own, args)

    patch.wrap(ResponseCache, "key_of", key_of)


def without(patch: Patch, **members: Any) -> None:
    """These members of a request are the same in every key."""

    def change(own: ResponseCache, args: LLMRequestArgs) -> None:
        for name, value in members.items():
            setattr(args._asked, name, value)

    keyed(patch, change)


def kept(patch: Patch, change: Callable[[LLMResponseArgs], None]) -> None:
    """Lets `change(args)` change what the cache is told of an answer."""

    def process(original: Any, own: ResponseCache, args: LLMResponseArgs) -> None:
        args = copy.copy(args)
        change(args)
        original(own, args)

    patch.wrap(ResponseCache, "process_llm_response", process)


def ends_well(patch: Patch, is_whole: Callable[[list[Chunk]], bool]) -> None:
    """Puts another sense of a whole answer in the place of the cache's."""
    patch.function(cache.is_whole, is_whole)


@mutant("LLM-20")
def replays_are_written_back(patch: Patch) -> None:
    """Whatever was answered is kept, wherever it came from."""
    kept(patch, lambda args: setattr(args, "from_cache", False))


@mutant("LLM-21")
def nothing_is_found_again(patch: Patch) -> None:
    """The cache only collects."""
    patch.set(InMemoryCache, "get", lambda own, key: None)


@mutant("LLM-21")
def only_the_last_answer_is_kept(patch: Patch) -> None:
    """A run has one answer: its steps with tools are asked for anew."""

    def is_whole(chunks: list[Chunk]) -> bool:
        return bool(chunks) and chunks[-1].get("payload", {}).get("finishReason") == "stop"

    ends_well(patch, is_whole)


@mutant("LLM-22")
def only_the_last_message_is_the_question(patch: Patch) -> None:
    """Who asks the same words asks the same."""
    keyed(patch, lambda own, args: setattr(args, "prompt", args.prompt[-1:]))


@mutant("LLM-22")
def every_model_gives_the_same_answer(patch: Patch) -> None:
    """The model is no part of the question."""
    keyed(patch, lambda own, args: setattr(args, "model", None))


@mutant("LLM-22")
def settings_change_no_answer(patch: Patch) -> None:
    """Settings are how it is asked, not what."""
    without(patch, settings=None)


@mutant("LLM-22")
def provider_options_change_no_answer(patch: Patch) -> None:
    """What is said to one provider is no part of the question."""
    without(patch, provider_options=None)


@mutant("LLM-22")
def an_answer_has_any_structure(patch: Patch) -> None:
    """The structure that is asked for is no part of the question."""
    without(patch, structured_output=None)


@mutant("LLM-22")
def tools_change_no_answer(patch: Patch) -> None:
    """Which tools there are is the agent's affair."""
    without(patch, tools=[])


@mutant("LLM-22")
def the_choice_of_tools_changes_no_answer(patch: Patch) -> None:
    """Tools are what counts, not who has to use them."""
    without(patch, tool_choice=None)


@mutant("LLM-22")
def the_first_step_s_settings_are_the_request_s(patch: Patch) -> None:
    """A request's settings are looked up once."""

    def change(own: ResponseCache, args: LLMRequestArgs) -> None:
        args._asked.settings = args.state.setdefault("settings", args._asked.settings)

    keyed(patch, change)


@mutant("LLM-22")
def what_cannot_be_compared_is_left_out(patch: Patch) -> None:
    """A key is made of what there is a text for."""

    def change(own: ResponseCache, args: LLMRequestArgs) -> None:
        args._asked.settings = json.loads(json.dumps(args._asked.settings, default=lambda value: None))

    keyed(patch, change)


@mutant("LLM-23")
def the_conversation_is_the_question(patch: Patch) -> None:
    """A request is known by the conversation, before processors rewrite it."""
    prompts: dict[int, Any] = {}

    def around(chain: Any, run: Run, slate: Slate) -> Slate:
        prompts[threading.get_ident()] = clone(slate["prompt"])
        after: Slate = chain(run, slate)
        return after

    patch.chain("process_llm_request", around)
    keyed(patch, lambda own, args: setattr(args, "prompt", prompts[threading.get_ident()]))


@mutant("LLM-24")
def a_cache_may_stand_anywhere(patch: Patch) -> None:
    """Where a processor stands is the user's affair."""
    patch.function(checks.check_places, lambda processors: None)


@mutant("LLM-24")
def places_in_a_call_s_arrays_are_free(patch: Patch) -> None:
    """Places are looked at when an agent is made."""
    made: list[bool] = patch.within(Agent, "__init__")
    patch.around(checks.check_places, lambda check, processors: check(processors) if made else None)


@mutant("LLM-24")
def nobody_stands_behind_a_cache(patch: Patch) -> None:
    """The cache has to be the last of its array."""
    patch.set(ResponseCache, "last_with", "process_input")


@mutant("LLM-25")
def what_was_cut_off_is_whole(patch: Patch) -> None:
    """The length was the caller's wish."""
    patch.set(cache, "WHOLE", (*cache.WHOLE, "length"))


@mutant("LLM-25")
def what_was_filtered_is_whole(patch: Patch) -> None:
    """The filter says the same each time."""
    patch.set(cache, "WHOLE", (*cache.WHOLE, "content-filter"))


@mutant("LLM-25")
def no_end_is_an_end(patch: Patch) -> None:
    """An answer is whole unless its finish says otherwise."""

    def is_whole(chunks: list[Chunk]) -> bool:
        return bool(chunks) and chunks[-1].get("payload", {}).get("finishReason", "stop") in cache.WHOLE

    ends_well(patch, is_whole)


@mutant("LLM-25")
def answers_are_kept_as_they_come(patch: Patch) -> None:
    """Each chunk is written when it is there, and what ends the call ends the answer."""
    asked: list[tuple[ResponseCache, str]] = []

    def request(original: Any, own: ResponseCache, args: LLMRequestArgs) -> Any:
        returned = original(own, args)
        asked[:] = [(own, args.state["key"])]
        return returned

    def provided(original: Any, *given: Any) -> Iterator[Chunk]:
        own, key = asked[0] if asked else (None, "")
        came: list[Chunk] = []
        try:
            for part in original(*given):
                if part["type"].startswith("text"):
                    came.append(part)
                yield part
        finally:
            if own is not None and own._backend.get(key) is None:
                own._backend.set(key, json.dumps([*came, END]))

    patch.wrap(ResponseCache, "process_llm_request", request)
    patch.around(loop.provided, provided)


@mutant("LLM-26")
def answers_are_kept_as_they_went_out(patch: Patch) -> None:
    """The cache keeps what the client got."""

    def change(args: LLMResponseArgs) -> None:
        texts = [chunk for chunk in args.chunks if chunk["type"] == "text-delta"]
        for chunk in texts[:1]:
            chunk["payload"]["text"] = args.steps[-1]["text"]

    kept(patch, change)


@mutant("LLM-28")
def a_cache_that_is_down_stops_the_run(patch: Patch) -> None:
    """An exception in a hook ends the run, whoever raised it first."""
    patch.set(ResponseCache, "_asked", lambda own, ask: ask())


@mutant("LLM-28")
def whatever_was_kept_is_an_answer(patch: Patch) -> None:
    """What comes out of the cache has been an answer once."""
    original = cache.chunks_of
    patch.function(original, lambda text: original(text) or (None if text is None else [END]))


@mutant("LLM-27")
def the_key_is_the_cache_s(patch: Patch) -> None:
    """What the request hook has found out is noted on the object."""
    noted: dict[int, Any] = {}

    def request(original: Any, own: ResponseCache, args: LLMRequestArgs) -> Any:
        returned = original(own, args)
        noted[id(own)] = args.state["key"]
        return returned

    def response(original: Any, own: ResponseCache, args: LLMResponseArgs) -> None:
        args.state["key"] = noted[id(own)]
        original(own, args)

    patch.wrap(ResponseCache, "process_llm_request", request)
    patch.wrap(ResponseCache, "process_llm_response", response)
