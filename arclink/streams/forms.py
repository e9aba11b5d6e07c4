"""A stream as bytes: JSON lines, WARC records, or the text of pages as WARC records.

All forms begin at once, hold no body larger than a megabyte in memory, and have a last line or
record that says whether the stream is complete, why not, what came without bytes, and the token to
continue with. Output without this end was cut off.

For one store, the bytes are always the same: interruptions leave no trace. So WARC records get ids
and dates that follow from the capture.

Source: ISO 28500 (WARC 1.1); the WET files of Common Crawl (``conversion`` records of plain text).
"""

import re
import uuid
from binascii import b2a_base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from typing import NamedTuple

import orjson

from arclink.access.texts import printable_uri
from arclink.archives.records import parse_head
from arclink.archives.warc_fields import digest_field, warc_date
from arclink.errors import CaptureError, DataError, OperatorError, PayloadError, RecordError
from arclink.model import Memento, Timestamp
from arclink.pages.read import IN_MEMORY, CapturedPage
from arclink.pages.text import read_text
from arclink.reasons import Reason
from arclink.streams.queries import StreamForm
from arclink.streams.stream import CaptureStream, StreamedCapture, StreamEnd
from arclink.takeaway.records import request_of
from arclink.uris.methods import method_of_key

TOKEN_FIELD = "ArcLink-After"
"""Name of the field with the token in the head of a WARC record."""

END_URI = "metadata://arclink/stream-end"
"""Target URI of the last record of a WARC stream."""

_NO_TIME = Timestamp("19700101000000")
_LONGEST_HEAD = 1 << 20
_LENGTH_FIELD = re.compile(rb"(?im)^(content-length:)[^\r\n]*")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_IDS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:arclink:stream")


class StreamOutput(NamedTuple):
    """A form of a stream.

    Attributes:
        media_type: Its media type.
        write: Yields the bytes of a capture; whole lines and records after the last piece.
        write_end: Returns the last line or record.
    """

    media_type: str
    write: Callable[[StreamedCapture], Iterator[bytes]]
    write_end: Callable[[StreamEnd], bytes]


def write_stream(stream: CaptureStream, form: StreamForm) -> Iterator[bytes]:
    """Yield a stream as bytes, with its end.

    If the store cannot be read any more, the end says so, and the error is raised after it.

    Raises:
        OperatorError: The store cannot be read.
    """
    output = FORMS[form]
    error: OperatorError | OSError | None = None
    try:
        for capture in stream:
            yield from output.write(capture)
    except (OperatorError, OSError) as problem:
        error = problem
    finally:
        stream.close()
    why = "" if error is None else "the store or its disk cannot be read any more"
    yield output.write_end(stream.end(why))
    if error is not None:
        raise error


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


def _write_line(capture: StreamedCapture) -> Iterator[bytes]:
    memento = capture.memento
    facts = _facts(memento)
    try:
        page = capture.read()
    except CaptureError as error:
        reason = _reason_of(error)
        capture.lose(reason)
        yield _json({**facts, "reason": reason.name, "after": capture.after}) + b"\n"
        return
    with page:
        if page.place.file != memento.file or page.place.offset != memento.offset:
            facts["payload"] = {"file": page.place.file, "offset": page.place.offset}
        facts["headers"] = page.headers.fields
        if page.status != memento.status:
            facts["status"] = page.status
        yield from _body(facts, page, capture)


def _body(
    facts: Mapping[str, object], page: CapturedPage, capture: StreamedCapture
) -> Iterator[bytes]:
    """Yield the line of a page: facts, body, and then what is known only after the body."""
    reasons: list[Reason] = []
    pieces = _encoded(page, reasons)
    start = b"".join([next(pieces, b""), next(pieces, b"")])
    if reasons and not start:
        capture.lose(reasons[0])
        yield _json({**facts, "reason": reasons[0].name, "after": capture.after}) + b"\n"
        return
    yield _json(facts)[:-1] + b',"body":"' + start
    yield from pieces
    rest: dict[str, object] = {}
    if reasons:
        capture.lose(reasons[0])
        rest["reason"] = reasons[0].name
    rest["after"] = capture.after
    yield b'",' + _json(rest)[1:] + b"\n"


def _encoded(page: CapturedPage, reasons: list[Reason]) -> Iterator[bytes]:
    """Yield the decoded body as base64; adds the reason why it ends early, if it does."""
    waiting = b""
    try:
        for piece in page.decoded():
            waiting += piece
            whole = len(waiting) - len(waiting) % 3
            if whole >= IN_MEMORY // 16:
                yield b2a_base64(waiting[:whole], newline=False)
                waiting = waiting[whole:]
    except (RecordError, PayloadError) as error:
        reasons.append(error.reason)
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


def _write_record(capture: StreamedCapture) -> Iterator[bytes]:
    """Yield the record of a capture with its token in the head; nothing if it cannot be read.

    If it answers another method than GET, a request record comes first: a client that continues
    after a token gets both or none.

    A record that breaks off is left out, too: half a record would damage those after it.
    """
    try:
        size, pieces = capture.record()
        if size > IN_MEMORY and sum(map(len, pieces)) == size:
            size, pieces = capture.record()
        head, body, rest = _split(pieces)
        block = b"" if size > IN_MEMORY else body + b"".join(rest)
    except CaptureError as error:
        capture.lose(_reason_of(error))
        return
    length = size - len(head)
    if not head or (size <= IN_MEMORY and len(block) != length):
        capture.lose(Reason.PAYLOAD_DAMAGED)
        return
    if method_of_key(capture.memento.surt):
        parsed = parse_head(head)
        yield request_of(capture.memento, parsed.fields if parsed and parsed.is_warc else {})
    if head[:5].upper() == b"WARC/":
        named = _LENGTH_FIELD.sub(rb"\g<1> %d" % length, _HEAD_END.split(head)[0])
        token = f"\r\n{TOKEN_FIELD}: {capture.after}\r\n\r\n".encode()
        yield named + token
    else:
        yield _head_of_arc(capture, body if size > IN_MEMORY else block, length)
    yield from chain([body], rest) if size > IN_MEMORY else [block]
    yield b"\r\n\r\n"


def _split(pieces: Iterator[bytes]) -> tuple[bytes, bytes, Iterator[bytes]]:
    """Return the head of a record, the first bytes of its block, and the pieces after these."""
    start = b""
    for piece in pieces:
        start += piece
        is_warc = start[:5].upper() == b"WARC/"
        found = (_HEAD_END if is_warc else re.compile(rb"\n")).search(start)
        if found is not None:
            return start[: found.end()], start[found.end() :], pieces
        if len(start) > _LONGEST_HEAD:
            break
    return b"", b"", pieces


def _head_of_arc(capture: StreamedCapture, block: bytes, length: int) -> bytes:
    memento = capture.memento
    is_http = block[:5].upper() == b"HTTP/"
    fields = {"WARC-Type": "response" if is_http else "resource"}
    if memento.checksum and ":" not in memento.checksum and memento.checksum != "-":
        fields["WARC-Payload-Digest"] = digest_field(memento.checksum)
    mime = "application/http; msgtype=response" if is_http else memento.mime.strip("-")
    return _head(memento, fields, mime or "application/octet-stream", length, capture.after)


def _head(
    memento: Memento, fields: Mapping[str, str], content_type: str, length: int, after: str
) -> bytes:
    """Return the head of a new record about a capture."""
    about = f"{fields['WARC-Type']} {memento.timestamp} {memento.checksum} {memento.original}"
    return _warc_head(
        {
            **fields,
            "WARC-Target-URI": printable_uri(memento.original),
            "WARC-Date": warc_date(memento.timestamp),
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(_IDS, about)}>",
            "Content-Type": content_type,
            "Content-Length": str(length),
            TOKEN_FIELD: after,
        }
    )


def _warc_head(fields: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode("utf-8", "replace")


def _end_record(end: StreamEnd) -> bytes:
    """Return a ``metadata`` record with the end as JSON; its date is that of the last capture."""
    block = orjson.dumps(_end_facts(end))
    head = _warc_head(
        {
            "WARC-Type": "metadata",
            "WARC-Target-URI": END_URI,
            "WARC-Date": warc_date(end.last or _NO_TIME),
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(_IDS, block.decode())}>",
            "Content-Type": "application/json",
            "Content-Length": str(len(block)),
        }
    )
    return head + block + b"\r\n\r\n"


# Text


def _write_text(capture: StreamedCapture) -> Iterator[bytes]:
    """Yield a ``conversion`` record with the text of a page; nothing if it has no text."""
    try:
        with capture.read() as page:
            text = "".join(f"{line}\n" for line in read_text(page).lines())
    except (CaptureError, DataError) as error:
        capture.lose(_reason_of(error))
        return
    block = text.encode("utf-8", "replace")
    fields = {"WARC-Type": "conversion"}
    yield _head(capture.memento, fields, "text/plain; charset=utf-8", len(block), capture.after)
    yield block + b"\r\n\r\n"


def _reason_of(error: CaptureError | DataError) -> Reason:
    return error.reason or Reason.PAYLOAD_NOT_AT_HAND


FORMS: Mapping[StreamForm, StreamOutput] = {
    StreamForm.JSONL: StreamOutput("application/x-ndjson", _write_line, _end_line),
    StreamForm.WARC: StreamOutput("application/warc", _write_record, _end_record),
    StreamForm.TEXT: StreamOutput("application/warc", _write_text, _end_record),
}
"""The forms of a stream."""
