"""Server-sent events, however the network cuts them."""

from __future__ import annotations

import pytest

from processor_contract.models import events
from processor_contract.models.events import Event, EventTooLong, decoded, encoded

STREAM = (
    b"\xef\xbb\xbf: a remark\r\nevent: odd\rdata: {\"a\": \"\xc3\xa9\xe2\x98\x83\"}\n\n"
    b"data:one\r\ndata: two\r\n\r\nid: 7\nretry: 5\n\ndata\n\nevent: alone\n\ndata:  kept\n\n"
)  # fmt: skip
EXPECTED = [Event('{"a": "é☃"}', "odd"), Event("one\ntwo"), Event(""), Event(" kept")]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_in_pieces_of_any_size(size: int) -> None:
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]

    assert list(decoded(pieces)) == EXPECTED


def test_every_single_cut() -> None:
    assert all(list(decoded([STREAM[:at], b"", STREAM[at:]])) == EXPECTED for at in range(len(STREAM) + 1))


def test_an_event_that_the_stream_ends_within_is_none() -> None:
    assert list(decoded([b"data: a\n\ndata: b\n"])) == [Event("a")]


def test_what_was_encoded_is_decoded() -> None:
    assert list(decoded([encoded("a\nb", "odd"), encoded("")])) == [Event("a\nb", "odd"), Event("")]


@pytest.mark.parametrize("piece", [b"x", b"data: xxxxxxx\n"])
def test_what_does_not_end_is_refused(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LONGEST_EVENT", 1000)

    with pytest.raises(EventTooLong, match="has more than 1000 bytes"):
        list(decoded([piece] * 2000))


def test_a_long_line_in_tiny_pieces() -> None:
    assert list(decoded([b"data: ", *[b"x"] * 300_000, b"\n\n"])) == [Event("x" * 300_000)]


def test_bytes_that_are_no_characters_do_not_stop_the_stream() -> None:
    assert list(decoded([b"data: \xff\n\ndata: b\n\n"])) == [Event("\ufffd"), Event("b")]
