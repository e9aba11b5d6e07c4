"""A stream as JSON lines: the facts about each capture, its headers, and its body as base64."""

from binascii import b2a_base64
from collections.abc import Iterator, Mapping

import orjson

from arclink.captures.fields import facts_of
from arclink.captures.read import IN_MEMORY, most_bytes, reason_of
from arclink.captures.stream import StreamedCapture, StreamEnd
from arclink.errors import CaptureError
from arclink.reasons import Reason


def write_line(capture: StreamedCapture, limit: int) -> Iterator[bytes]:
    """Yield the line of a capture: facts, body, and then what is known only after the body."""
    memento = capture.memento
    with capture.read() as page:
        facts = facts_of(memento)
        if page.body_memento.file != memento.file or page.body_memento.offset != memento.offset:
            facts["payload"] = {"file": page.body_memento.file, "offset": page.body_memento.offset}
        facts["headers"] = page.headers.fields
        if page.status != memento.status:
            facts["status"] = page.status
        pieces = _encoded(page.decoded(most_bytes(page.body_memento.length, limit)))
        try:
            start = next(pieces, b"")
        except CaptureError as error:
            capture.lose(reason_of(error))
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


def lost_line(capture: StreamedCapture, reason: Reason) -> bytes:
    """Return the line of a capture that cannot be read."""
    return _lost_line(capture, reason, facts_of(capture.memento))


def _lost_line(capture: StreamedCapture, reason: Reason, facts: Mapping[str, object]) -> bytes:
    return _json({**facts, "reason": reason.name, "after": capture.after}) + b"\n"


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


def end_line(end: StreamEnd) -> bytes:
    """Return the last line."""
    return orjson.dumps({"end": end.facts()}, option=orjson.OPT_APPEND_NEWLINE)
