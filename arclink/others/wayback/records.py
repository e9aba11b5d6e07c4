"""WARC files of fetched captures: records are appended one by one, each on disk before it counts.

A file begins with a warcinfo record. It then has a ``metadata`` record for each answer of the
archive's index; a ``response`` (``resource`` without HTTP) for each fetched payload, with the time
of the memento and the digest of the index; and a ``revisit`` for each further capture of a payload.
``WARC-Source-URI`` is the URI-M of a record's source and ``WARC-Creation-Date`` the time of the
download, as in pywb's recorder.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from arclink.archives.writing import (
    digest_field,
    digested_record,
    http_head,
    member_of,
    revisit_profile,
    warc_date,
    warcinfo_block,
)
from arclink.errors import InputError
from arclink.model import NO_CHECKSUM, REVISIT, Checksum, Timestamp, UriR
from arclink.others.wayback.replay import Fetched
from arclink.reasons import Reason
from arclink.rows.cdx import RESOURCE, RESPONSE, REVISIT_MIME, Capture
from arclink.timestamps import now_in_iso

NAME, SUFFIX = "wayback-", ".warc.gz"
_SAME_PAYLOAD = revisit_profile("identical-payload-digest")
NOT_MODIFIED = revisit_profile("server-not-modified")


@dataclass(frozen=True, slots=True)
class RecordAddress:
    """Address of a record: name of the file, offset and length in bytes as stored."""

    file: str
    offset: int
    length: int


class WarcFiles:
    """The WARC files of a folder: ``wayback-00001.warc.gz`` and so on.

    A run never appends to a file of an earlier run, because a build may have read it since.

    Args:
        folder: Folder of the files.
        source: Base address of the archive, for the warcinfo record.
        size: Bytes after which a new file is begun.
    """

    def __init__(self, folder: Path, source: str, size: int) -> None:
        self._folder = folder
        self._source = source
        self._size = size
        self._name = ""
        self._end = 0
        self._file: BinaryIO | None = None

    def close(self) -> None:
        """Close the file that is being written."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def write_answer(self, question: str, body: bytes, mime: str) -> RecordAddress:
        """Append an answer of the archive's index; ``question`` is the URI that was requested."""
        return self._append(
            "metadata",
            question,
            {"WARC-Date": now_in_iso()},
            body=body,
            content_type=mime or "text/plain",
        )

    def write_capture(self, capture: Capture, fetched: Fetched) -> RecordAddress:
        """Append a capture with its fetched payload; the index's checksum is used if it has one."""
        fields = _fields(capture, fetched.uri_m) | {
            "WARC-Payload-Digest": digest_field(_checksum(capture, fetched))
        }
        if fetched.is_cut:
            fields["WARC-Truncated"] = (
                "length" if Reason.NOTE_ANSWER_CUT in fetched.notes else "unspecified"
            )
        if capture.record_type == RESOURCE and not capture.original.lower().startswith(
            ("http:", "https:")
        ):
            return self._append(
                RESOURCE,
                capture.original,
                fields,
                body=fetched.body,
                content_type=fetched.mime.replace("-", ""),
            )
        headers = [*fetched.headers, ("Content-Length", str(len(fetched.body)))]
        return self._append(
            RESPONSE,
            capture.original,
            fields,
            body=fetched.body,
            http=http_head(f"HTTP/1.1 {fetched.status} {fetched.phrase}", headers),
        )

    def write_revisit(
        self, capture: Capture, uri_m: str, payload: tuple[UriR, Timestamp] | None
    ) -> RecordAddress:
        """Append a capture that repeats a payload.

        ``payload`` is the original and time of the capture with the payload; None if it is not
        known.
        Without a checksum, the record says that the server answered "not modified".
        """
        fields = _fields(capture, uri_m) | {"WARC-Profile": NOT_MODIFIED}
        if capture.checksum != NO_CHECKSUM:
            fields |= {
                "WARC-Profile": _SAME_PAYLOAD,
                "WARC-Payload-Digest": digest_field(capture.checksum),
            }
        if payload is not None:
            fields |= {
                "WARC-Refers-To-Target-URI": payload[0],
                "WARC-Refers-To-Date": warc_date(payload[1]),
            }
        headers = [] if capture.mime in ("-", REVISIT_MIME) else [("Content-Type", capture.mime)]
        status = capture.status
        if status == "-":
            status = "304" if capture.checksum == NO_CHECKSUM else "200"
        return self._append(
            REVISIT, capture.original, fields, http=http_head(f"HTTP/1.1 {status}", headers)
        )

    def _append(
        self,
        record_type: str,
        uri: str,
        fields: Mapping[str, str],
        body: bytes = b"",
        content_type: str = "",
        http: bytes = b"",
    ) -> RecordAddress:
        """Write one record, and flush it to disk."""
        if self._file is None or self._end >= self._size:
            self._begin()
        return self._write(digested_record(record_type, uri, fields, body, http, content_type))

    def _begin(self) -> None:
        """Begin a new file with its warcinfo record."""
        self.close()
        numbers = [
            int(path.name[len(NAME) : -len(SUFFIX)])
            for path in self._folder.glob(f"{NAME}[0-9]*{SUFFIX}")
        ]
        self._name = f"{NAME}{max(numbers, default=0) + 1:05}{SUFFIX}"
        self._file = (self._folder / self._name).open("xb")
        self._end = 0
        info = warcinfo_block(f"fetched from {self._source}")
        fields = {"WARC-Filename": self._name, "WARC-Date": now_in_iso()}
        self._write(digested_record("warcinfo", "", fields, info))

    def _write(self, record: bytes) -> RecordAddress:
        data = member_of(record)
        assert self._file is not None
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        address = RecordAddress(self._name, self._end, len(data))
        self._end += len(data)
        return address


def cut_back(folder: Path, ends: Mapping[str, int]) -> None:
    """Truncate WARC files to their recorded ends.

    What follows was written by a run that was killed.

    Args:
        folder: Folder of the files.
        ends: Bytes by name of file; files that are not named are removed.

    Raises:
        InputError: A file is missing or shorter than recorded.
    """
    for name, end in ends.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size < end:
            raise InputError(
                f"{path}: had {end} bytes when it was written, and now is shorter or "
                "missing; restore it, or use another --into folder"
            )
        if path.stat().st_size > end:
            os.truncate(path, end)
    for path in folder.glob(f"{NAME}[0-9]*{SUFFIX}"):
        if path.name not in ends:
            path.unlink()


def _checksum(capture: Capture, fetched: Fetched) -> Checksum:
    return fetched.checksum if capture.checksum == NO_CHECKSUM else capture.checksum


def _fields(capture: Capture, uri_m: str) -> dict[str, str]:
    return {
        "WARC-Date": warc_date(capture.timestamp),
        "WARC-Source-URI": uri_m,
        "WARC-Creation-Date": now_in_iso(),
    }
