"""The one writer of WARC: values of fields, new records, and records with another head.

A record of a WARC file keeps its head, except for a wrong Content-Length, a date that is no date,
fields to add, and line ends at its end that other readers may not accept. A record of an ARC file
gets a head that follows from the record and its capture alone, so it is the same whenever and
wherever it is written.

Source: ISO 28500:2017 (WARC 1.1), 4 to 6.
"""

import ipaddress
import re
import uuid
import zlib
from base64 import b32encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha1
from tempfile import SpooledTemporaryFile

from isal import isal_zlib

from arclink.archives.payloads import payload_checksum
from arclink.archives.reader import RecordParts
from arclink.archives.records import ArchiveRecord, warc_fields
from arclink.checksums import digest_in
from arclink.model import NO_CHECKSUM, REVISIT, Checksum, Memento, Timestamp
from arclink.uris.surts import method_of_key
from arclink.version import VERSION

_WARC_VERSION = "1.1"
"""Version of WARC of all records that are written, except where a caller names another one."""

END_OF_RECORD = b"\r\n\r\n"
"""The end of every WARC record."""

ANSWER_FIELD = "ArcLink-Answer"
"""Field of a request record that ArcLink wrote: where its answer is.

Two records of an archive may have one WARC-Record-ID, so ``WARC-Concurrent-To`` does not always say
which of them is the answer.
"""

NEXT_RECORD = "next record"

FIELDS_TYPE = "application/warc-fields"
_REQUEST_TYPE, _RESPONSE_TYPE = (
    f"application/http; msgtype={one}" for one in ("request", "response")
)
_TYPES = {
    "warcinfo": FIELDS_TYPE,
    "metadata": FIELDS_TYPE,
    "request": _REQUEST_TYPE,
    "response": _RESPONSE_TYPE,
    REVISIT: _RESPONSE_TYPE,
}

_BYTES_OF_MEMBER = 8 << 20
"""Largest number of bytes of a packed record in memory; longer ones go to a temporary file."""

_PIECE = 1 << 20
_LEVEL = 2

_LENGTH, _DATE = "Content-Length", "WARC-Date"
_LINE_ENDS = re.compile("[\r\n]+")
_URI = re.compile(r"(?:[^:/?#]*://)?(?:[^/?#]*@)?([^/?#]*)([^?#]*)(\?[^#]*)?")


def warc_date(timestamp: Timestamp) -> str:
    """Return a timestamp in the format of WARC-Date (ISO 28500, 5.4).

    >>> warc_date(Timestamp("20100212060001"))
    '2010-02-12T06:00:01Z'
    """
    year, rest = timestamp[:4], timestamp[4:]
    month, day, hour, minute, second = (rest[at : at + 2] for at in range(0, 10, 2))
    return f"{year}-{month}-{day}T{hour}:{minute}:{second}Z"


def digest_field(checksum: Checksum) -> str:
    """Return a checksum in the format of a WARC field, with its algorithm (ISO 28500, 5.8).

    >>> digest_field(Checksum("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"))
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return f"sha1:{checksum}" if re.fullmatch("[A-Z2-7]{32}", checksum) else checksum


def revisit_profile(name: str, version: str = _WARC_VERSION) -> str:
    """Return the profile of a revisit as WARC-Profile has it (ISO 28500, 6.7).

    >>> revisit_profile("server-not-modified")
    'http://netpreserve.org/warc/1.1/revisit/server-not-modified'
    """
    return f"http://netpreserve.org/warc/{version}/revisit/{name}"


def field_lines(fields: Mapping[str, str]) -> bytes:
    """Return fields as lines: of a head, or of a block of the type `FIELDS_TYPE`.

    A line end in a value becomes a blank, and half of a surrogate pair a question mark.
    """
    lines = (f"{name}: {_LINE_ENDS.sub(' ', value)}\r\n" for name, value in fields.items())
    return "".join(lines).encode("utf-8", "replace")


def warcinfo_block(description: str) -> bytes:
    """Return the block of the warcinfo record of a file that ArcLink makes."""
    made = {"software": f"arclink/{VERSION}", "format": f"WARC File Format {_WARC_VERSION}"}
    return field_lines({**made, "description": description})


def warc_record(fields: Mapping[str, str], block: bytes, version: str = _WARC_VERSION) -> bytes:
    """Return a new record; its length is added to ``fields``."""
    return _warc_head({**fields, _LENGTH: str(len(block))}, version) + block + END_OF_RECORD


def digested_record(
    record_type: str,
    uri: str,
    fields: Mapping[str, str],
    payload: bytes = b"",
    http: bytes = b"",
    content_type: str = "",
    version: str = _WARC_VERSION,
) -> bytes:
    """Return a new record with the digests of its block and payload, as a crawler writes it.

    Args:
        record_type: Its ``WARC-Type``.
        uri: Its ``WARC-Target-URI``; empty for none.
        fields: Its other fields, which come first. Without a ``WARC-Record-ID``, it gets one.
        payload: The payload; empty for a revisit, whose digest is in ``fields``.
        http: The HTTP head (`http_head`); empty without HTTP.
        content_type: Type of the block; if empty, that of its record type.
        version: Version of WARC.
    """
    known = {**fields, "WARC-Type": record_type}
    known.setdefault("WARC-Record-ID", f"<urn:uuid:{uuid.uuid4()}>")
    if uri:
        known["WARC-Target-URI"] = uri
    if record_type not in ("warcinfo", REVISIT):
        known.setdefault("WARC-Payload-Digest", _sha1_field(payload))
    known["WARC-Block-Digest"] = _sha1_field(http + payload)
    known["Content-Type"] = content_type or _TYPES.get(record_type, "application/octet-stream")
    return warc_record(known, http + payload, version)


def _sha1_field(data: bytes) -> str:
    return f"sha1:{b32encode(sha1(data, usedforsecurity=False).digest()).decode()}"


def http_head(line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """Return an HTTP head with the bytes that were received.

    ``http.client`` decodes a head as Latin-1, so encoding restores its bytes; a media type of an
    index may be any text.
    """
    lines = [line.strip(), *(f"{name}: {value}" for name, value in headers), ""]
    text = "".join(f"{line}\r\n" for line in lines)
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()


def member_of(record: bytes) -> bytes:
    """Return a record as a gzip member without time, as small as zlib can."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(record) + packer.flush()


def packed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Return a record of any length as a gzip member, packed fast.

    An error of ``pieces`` is raised before the first piece.
    """
    packer = isal_zlib.compressobj(_LEVEL, wbits=31)
    # It is closed, and so removed, with the iterator below.
    member = SpooledTemporaryFile(_BYTES_OF_MEMBER)  # noqa: SIM115
    try:
        for piece in pieces:
            member.write(packer.compress(piece))
        member.write(packer.flush())
    except BaseException:
        member.close()
        raise
    member.seek(0)

    def stored() -> Iterator[bytes]:
        with member:
            while piece := member.read(_PIECE):
                yield piece

    return stored()


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
        "Content-Type": _REQUEST_TYPE,
    }
    request = f"{method} {path or '/'}{query} HTTP/1.1\r\nHost: {host}\r\n\r\n"
    known = {name: value for name, value in fields.items() if value}
    return warc_record(known, request.encode("utf-8", "replace"))


def _warc_head(fields: Mapping[str, str], version: str = _WARC_VERSION) -> bytes:
    r"""Return the head of a record, with the empty line after it.

    >>> _warc_head({"A": "b\nc"})
    b'WARC/1.1\r\nA: b c\r\n\r\n'
    """
    return b"WARC/%b\r\n%b\r\n" % (version.encode(), field_lines(fields))


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
        "Content-Type": content_type or _RESPONSE_TYPE,
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
        "Content-Type": _RESPONSE_TYPE if is_http else record.content_type,
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
