"""A stream as bytes: JSON lines, WARC records, or the text of pages as WARC records.

All forms begin at once, hold no body larger than a megabyte in memory, and have a last line or
record that says whether the stream is complete, why not, what came without bytes, and the token to
continue with. Output without this end was cut off.

For one store, the bytes are always the same: interruptions leave no trace. So WARC records get ids
and dates that follow from the capture.

Source: ISO 28500 (WARC 1.1); the WET files of Common Crawl (``conversion`` records of plain text).
"""

import uuid
from binascii import b2a_base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import NamedTuple

import orjson

from arclink.access.texts import printable_uri
from arclink.archives.payloads import DEFAULT_LIMIT
from arclink.archives.warc_fields import warc_date
from arclink.archives.writing import END_OF_RECORD, head_as_warc, request_of, warc_record
from arclink.captures.queries import StreamForm
from arclink.captures.read import IN_MEMORY, most_bytes, one_capture, reason_of, too_long
from arclink.captures.stream import CaptureStream, StreamedCapture, StreamEnd
from arclink.captures.text import read_text
from arclink.errors import CaptureError, OperatorError
from arclink.model import Memento, Timestamp
from arclink.reasons import Reason
from arclink.uris.methods import method_of_key

TOKEN_FIELD = "ArcLink-After"
"""Name of the field with the token in the head of a WARC record."""

END_URI = "metadata://arclink/stream-end"
"""Target URI of the last record of a WARC stream."""

MOST_TEXT = 4 << 20
"""Bytes of a page that are read for its text if it is limited: a parser takes 20 times as many."""

_NO_TIME = Timestamp("19700101000000")
_IDS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:arclink:stream")


class StreamOutput(NamedTuple):
    """A form of a stream.

    Attributes:
        media_type: Its media type.
        write: Yields the bytes of a capture; whole lines and records after the last piece. It
            raises a `CaptureError` before the first piece if the capture cannot be read. The switch
            says whether a capture is limited to `most_bytes`.
        write_lost: Returns the bytes of a capture that cannot be read, and counts it.
        write_end: Returns the last line or record.
    """

    media_type: str
    write: Callable[[StreamedCapture, bool], Iterator[bytes]]
    write_lost: Callable[[StreamedCapture, Reason], bytes]
    write_end: Callable[[StreamEnd], bytes]


def write_stream(
    stream: CaptureStream, form: StreamForm, *, is_limited: bool = False
) -> Iterator[bytes]:
    """Yield a stream as bytes, with its end.

    A capture that cannot be read is counted, and the stream continues with the next one. If the
    store cannot be read any more, the end says so, and the error is raised after it.

    Args:
        stream: The stream.
        form: The form of the bytes.
        is_limited: Whether each capture may become `most_bytes` at most.

    Raises:
        OperatorError: The store cannot be read.
    """
    output = FORMS[form]
    error: OperatorError | OSError | None = None
    try:
        for capture in stream:
            yield from write_capture(output, capture, is_limited=is_limited)
    except (OperatorError, OSError) as problem:
        error = problem
    finally:
        stream.close()
    why = "" if error is None else "the store or its disk cannot be read any more"
    yield output.write_end(stream.end(why))
    if error is not None:
        raise error


def write_capture(
    output: StreamOutput, capture: StreamedCapture, *, is_limited: bool = False
) -> Iterator[bytes]:
    """Yield the bytes of a capture; if it cannot be read, count it and say so as its form does."""
    pieces = output.write(capture, is_limited)
    try:
        with one_capture(capture.memento):
            first = next(pieces, b"")
    except CaptureError as error:
        yield output.write_lost(capture, reason_of(error))
        return
    yield first
    yield from pieces


def _facts(memento: Memento) -> dict[str, object]:
    method = method_of_key(memento.surt)
    return {
        "uri": printable_uri(memento.original),
        "surt": printable_uri(memento.surt),
        "timestamp": memento.timestamp,
        "status": memento.status,
        "mime": memento.mime,
        "languages": memento.languages,
        "type": memento.record_type,
        **({"method": method} if method else {}),
        "digest": memento.checksum,
        "file": memento.file,
        "offset": memento.offset,
        "length": memento.length,
    }


# JSON lines


def _write_line(capture: StreamedCapture, is_limited: bool) -> Iterator[bytes]:
    """Yield the line of a capture: facts, body, and then what is known only after the body."""
    memento = capture.memento
    with capture.read() as page:
        facts = _facts(memento)
        if page.place.file != memento.file or page.place.offset != memento.offset:
            facts["payload"] = {"file": page.place.file, "offset": page.place.offset}
        facts["headers"] = page.headers.fields
        if page.status != memento.status:
            facts["status"] = page.status
        pieces = _encoded(page.decoded(most_bytes(page.place.length) if is_limited else None))
        try:
            start = next(pieces, b"")
        except CaptureError as error:
            yield _lost_line(capture, reason_of(error), facts)
            return
        yield _json(facts)[:-1] + b',"body":"' + start
        rest: dict[str, object] = {}
        try:
            yield from pieces
        except CaptureError as error:
            capture.lose(reason_of(error))
            rest["reason"] = reason_of(error).name
        rest["after"] = capture.after
        yield b'",' + _json(rest)[1:] + b"\n"


def _lost_line(
    capture: StreamedCapture, reason: Reason, facts: Mapping[str, object] | None = None
) -> bytes:
    capture.lose(reason)
    known = _facts(capture.memento) if facts is None else facts
    return _json({**known, "reason": reason.name, "after": capture.after}) + b"\n"


def _encoded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a body as base64; an error is raised after the bytes before it."""
    waiting = b""
    try:
        for piece in pieces:
            waiting += piece
            whole = len(waiting) - len(waiting) % 3
            if whole >= IN_MEMORY // 16:
                yield b2a_base64(waiting[:whole], newline=False)
                waiting = waiting[whole:]
    except CaptureError:
        if waiting:
            yield b2a_base64(waiting, newline=False)
        raise
    if waiting:
        yield b2a_base64(waiting, newline=False)


def _json(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # a header field may hold half of a surrogate pair
        return orjson.dumps(_sound(value))


def _sound(value: object) -> object:
    """Return a value without characters that UTF-8 does not have."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {name: _sound(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_sound(one) for one in value]
    return value


def _end_line(end: StreamEnd) -> bytes:
    return orjson.dumps({"end": _end_facts(end)}, option=orjson.OPT_APPEND_NEWLINE)


def _end_facts(end: StreamEnd) -> Mapping[str, object]:
    facts = asdict(end)
    del facts["last"]
    return {"complete": facts.pop("is_complete"), **facts}


# WARC


def _write_record(capture: StreamedCapture, is_limited: bool) -> Iterator[bytes]:
    """Yield the record of a capture with its token in the head.

    If it answers another method than GET, a request record comes first: a client that continues
    after a token has both or none.
    """
    record = capture.record()
    if record.parts.block_length >= DEFAULT_LIMIT:
        record.close()
        if is_limited and record.parts.block_length > most_bytes(capture.memento.length):
            raise too_long(capture.memento)
        # Half a record would damage those after it.
        record = capture.record(is_checked=True)
    with record:
        token = {TOKEN_FIELD: capture.after}
        yield request_of(capture.memento, record.parts.record) + head_as_warc(
            record.parts, capture.memento, token
        )
        yield from record.parts.block
        yield END_OF_RECORD


def _lost_record(capture: StreamedCapture, reason: Reason) -> bytes:
    capture.lose(reason)
    return b""


def _end_record(end: StreamEnd) -> bytes:
    """Return a ``metadata`` record with the end as JSON; its date is that of the last capture."""
    block = orjson.dumps(_end_facts(end))
    fields = {
        "WARC-Type": "metadata",
        "WARC-Target-URI": END_URI,
        "WARC-Date": warc_date(end.last or _NO_TIME),
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(_IDS, block.decode())}>",
        "Content-Type": "application/json",
    }
    return warc_record(fields, block)


# Text


def _write_text(capture: StreamedCapture, is_limited: bool) -> Iterator[bytes]:
    """Yield a ``conversion`` record with the text of a page."""
    memento = capture.memento
    with capture.read() as page:
        text = read_text(page, MOST_TEXT if is_limited else DEFAULT_LIMIT)
    block = "".join(f"{line}\n" for line in text.lines()).encode("utf-8", "replace")
    about = f"conversion {memento.timestamp} {memento.checksum} {memento.original}"
    fields = {
        "WARC-Type": "conversion",
        "WARC-Target-URI": printable_uri(memento.original),
        "WARC-Date": warc_date(memento.timestamp),
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(_IDS, about)}>",
        "Content-Type": "text/plain; charset=utf-8",
    }
    if text.is_cut:
        capture.lose(Reason.PAYLOAD_TOO_LONG)
        fields["WARC-Truncated"] = "length"
    yield warc_record({**fields, TOKEN_FIELD: capture.after}, block)


FORMS: Mapping[StreamForm, StreamOutput] = {
    StreamForm.JSONL: StreamOutput("application/x-ndjson", _write_line, _lost_line, _end_line),
    StreamForm.WARC: StreamOutput("application/warc", _write_record, _lost_record, _end_record),
    StreamForm.TEXT: StreamOutput("application/warc", _write_text, _lost_record, _end_record),
}
"""The forms of a stream."""
