"""Writing of WARC records: new ones, and records of archive files with another head.

A record of a WARC file keeps its head, except for a wrong Content-Length, a date that is no date,
fields to add, and line ends at its end that other readers may not accept. A record of an ARC file
gets a head that follows from the record and its capture alone, so it is the same whenever and
wherever it is written.

Source: ISO 28500:2017 (WARC 1.1), 4 to 6.
"""

import ipaddress
import re
import uuid
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache

from arclink.archives.payloads import payload_checksum
from arclink.archives.reader import RecordParts
from arclink.archives.records import ArchiveRecord, warc_fields
from arclink.archives.warc_fields import digest_field, warc_date
from arclink.checksums import digest_in
from arclink.model import NO_CHECKSUM, Memento
from arclink.uris.surts import method_of_key

END_OF_RECORD = b"\r\n\r\n"
"""The end of every WARC record."""

ANSWER_FIELD = "ArcLink-Answer"
"""Field of a request record that ArcLink wrote: where its answer is.

Two records of an archive may have one WARC-Record-ID, so ``WARC-Concurrent-To`` does not always say
which of them is the answer.
"""

NEXT_RECORD = "next record"

_LENGTH, _DATE = "Content-Length", "WARC-Date"
_LINE_ENDS = re.compile("[\r\n]+")
_URI = re.compile(r"(?:[^:/?#]*://)?(?:[^/?#]*@)?([^/?#]*)([^?#]*)(\?[^#]*)?")


def warc_record(fields: Mapping[str, str], block: bytes) -> bytes:
    """Return a new record; its length is added to ``fields``."""
    return _warc_head({**fields, _LENGTH: str(len(block))}) + block + END_OF_RECORD


def request_of(memento: Memento, record: ArchiveRecord) -> bytes:
    """Return a request record with the method of a capture; empty for GET.

    Without it, a reader of the file could not see that the capture answers another method. It has
    what the store knows of the request, so it says that it is not complete (``WARC-Truncated``).

    Args:
        memento: The capture.
        record: Its record in its archive file.
    """
    method = method_of_key(memento.surt)
    if not method:
        return b""
    found = _URI.match(record.uri)
    host, path, query = found.groups("") if found else ("", "", "")
    answer = record.fields.get("warc-record-id", "")
    about = f"{method} {memento.timestamp} {answer or record.uri}"
    fields = {
        "WARC-Type": "request",
        "WARC-Target-URI": record.uri,
        "WARC-Date": warc_date(memento.timestamp),
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, about)}>",
        "WARC-Concurrent-To": answer,
        ANSWER_FIELD: NEXT_RECORD,
        "WARC-Truncated": "unspecified",
        "Content-Type": "application/http; msgtype=request",
    }
    request = f"{method} {path or '/'}{query} HTTP/1.1\r\nHost: {host}\r\n\r\n"
    known = {name: value for name, value in fields.items() if value}
    return warc_record(known, request.encode("utf-8", "replace"))


def _warc_head(fields: Mapping[str, str]) -> bytes:
    r"""Return the head of a record of WARC 1.1, with the empty line after it.

    A line end in a value becomes a blank, and half of a surrogate pair a question mark.

    >>> _warc_head({"A": "b\nc"})
    b'WARC/1.1\r\nA: b c\r\n\r\n'
    """
    lines = (f"{name}: {_LINE_ENDS.sub(' ', value)}\r\n" for name, value in fields.items())
    return b"WARC/1.1\r\n%b\r\n" % "".join(lines).encode("utf-8", "replace")


def head_as_warc(
    parts: RecordParts, memento: Memento, further: Mapping[str, str] | None = None
) -> bytes:
    """Return a head for the block of a record of any archive file.

    Args:
        parts: The record.
        memento: Its capture, which has the time and the digest that a record of an ARC file lacks.
        further: Fields to add.

    Raises:
        RecordError: The body breaks off, and its digest is not known (``PAYLOAD_DAMAGED``).
    """
    further = further or {}
    if not parts.is_warc:
        return _warc_head({**_fields_of_arc(parts, memento), **further})
    changed: dict[str, str] = {}
    if not parts.is_length_right:
        changed[_LENGTH] = str(parts.block_length)
    if not parts.record.timestamp:
        changed[_DATE] = warc_date(memento.timestamp)
    return _with_fields(parts.head, changed | dict(further))


def head_of_response(memento: Memento, content_type: str, block_length: int) -> bytes:
    """Return a head for a response that no record has as a whole: that of a revisit.

    Args:
        memento: The revisit.
        content_type: Type of the payload if there is no HTTP head; else empty.
        block_length: Bytes of the HTTP head and the payload.
    """
    about = f"response {memento.file}#{memento.offset} {memento.timestamp} {memento.original}"
    digest = digest_in(memento.checksum)
    fields = {
        "WARC-Type": "resource" if content_type else "response",
        "WARC-Target-URI": memento.original,
        "WARC-Date": warc_date(memento.timestamp),
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, about)}>",
        "WARC-Payload-Digest": "" if digest == NO_CHECKSUM else digest_field(digest),
        "Content-Type": content_type or "application/http; msgtype=response",
        _LENGTH: str(block_length),
    }
    return _warc_head({name: value for name, value in fields.items() if value})


def _with_fields(head: bytes, changed: Mapping[str, str]) -> bytes:
    """Return a WARC head in which some fields have other values; fields that it lacks are added."""
    waiting = {name.lower(): f"{name}: {value}".encode() for name, value in changed.items()}
    lines = [head[: head.index(b"\n")].rstrip(b"\r")]
    names = frozenset(waiting)
    for name, line in warc_fields(head):
        if name not in names:
            lines.append(line)
        elif name in waiting:
            lines.append(waiting.pop(name))
    return b"\r\n".join([*lines, *waiting.values()]) + b"\r\n\r\n"


def _fields_of_arc(parts: RecordParts, memento: Memento) -> Mapping[str, str]:
    """Return the fields of a WARC head for a record of an ARC file."""
    record = parts.record
    is_http = record.status != "-" or bool(record.http_headers.fields)
    about = f"{memento.file}#{memento.offset} {memento.timestamp} {record.uri}"
    identity = uuid.uuid5(uuid.NAMESPACE_URL, about)
    is_typed = bool(record.http_headers.fields) or not is_http
    fields = {
        "WARC-Type": "response" if is_http else "resource",
        "WARC-Target-URI": record.uri,
        "WARC-Date": warc_date(memento.timestamp),
        "WARC-Record-ID": f"<urn:uuid:{identity}>",
        "WARC-IP-Address": _address_in(record.fields.get("warc-ip-address", "")),
        "WARC-Payload-Digest": _digest_of(record, memento),
        "WARC-Identified-Payload-Type": "" if is_typed else record.content_type,
        "Content-Type": "application/http; msgtype=response" if is_http else record.content_type,
        _LENGTH: str(parts.block_length),
    }
    return {name: value for name, value in fields.items() if value}


def _digest_of(record: ArchiveRecord, memento: Memento) -> str:
    """Return the digest of the payload: that of the store, else that of the recorded body."""
    digest = digest_in(memento.checksum)
    return digest_field(payload_checksum(record) if digest == NO_CHECKSUM else digest)


@lru_cache(maxsize=1024)  # a host has many records
def _address_in(text: str) -> str:
    """Return an IP address of an ARC file in its usual form; empty if it is not one."""
    with suppress(ValueError):
        address = ipaddress.ip_address(text)
        return "" if address.is_unspecified else str(address)
    return ""
