"""Every error that ArcLink raises on purpose.

::

    ArclinkError
    ├── UsageError           the call is wrong: exit 2
    │   ├── GoneError            the call names data that existed and was removed
    │   ├── NoTextsError         the answer needs the text of pages, which was not read
    │   └── LimitError           the answer needs more time or memory than the call allows
    ├── OperatorError        a file, setting or store needs a person: exit 1
    │   ├── InputError           an archive or CDX file cannot be used at all
    │   │   └── MissingFileError     an archive file does not exist at its path
    │   ├── StoreError           a store is missing, not ArcLink's, newer, locked or out of space
    │   │   ├── OvertakenError       captures were forgotten since a batch was read
    │   │   └── SealError            a file that ArcLink keeps next to a store is damaged or missing
    │   ├── CaptureError         a capture cannot be read: missing, or without payload
    │   ├── PipelineError        a step of a build failed
    │   ├── NetworkError         another machine does not answer, or its answer cannot be read
    │   ├── WaybackError         a Wayback Machine does not answer, or asks ArcLink to stop
    │   ├── InstanceError        another instance does not answer, or answers wrongly
    │   ├── ExportError          an export cannot be written, or is too large for its purpose
    │   └── WriteError           a file cannot be written: the disk is full or read-only, or broken
    │       └── FullDiskError        there is no room for data that does not fit into memory
    └── DataError            one bad row, record or link: counted by its reason, the job continues
        ├── CdxError             a line is not a CDX row
        ├── RecordError          an archive record cannot be read
        ├── PayloadError         the coding of a payload cannot be undone
        ├── UriError             a reference does not resolve
        └── FetchError           an answer of a Wayback Machine cannot be used

The text of an operator's error says what is wrong, where, and what to do. A data error carries the
`Reason` under which it is counted.
"""

import errno
import re
from enum import Enum
from pathlib import Path

from arclink.reasons import Reason

_USER = re.compile(
    r"://(?:[^/?#\s'\"]*@"
    # A password may have characters that must be encoded; a port is no password.
    r"|[^/?#@:\s'\"]*:(?![0-9]{1,5}(?:[/?#,\s'\"]|$))\S*@)"
)


def hide_credentials(text: str) -> str:
    """Return a text in which each address has ``***`` in place of its user and password.

    `ArclinkError` does this for every message.

    >>> hide_credentials("s3://key:secret@bucket/a, http://host:80/b@c")
    's3://***@bucket/a, http://host:80/b@c'
    >>> hide_credentials("cassandra://me:pass/word@node/links")
    'cassandra://***@node/links'
    """
    return _USER.sub("://***@", text) if "@" in text else text


class ArclinkError(Exception):
    """Base class of all errors that ArcLink raises on purpose.

    Its text shows no users and passwords of addresses.
    """

    def __str__(self) -> str:
        return hide_credentials(super().__str__())


class UsageError(ArclinkError):
    """The call itself is wrong; the text says which value and what is allowed."""


class GoneError(UsageError):
    """The call names data that existed and was removed; the text says how to continue."""


class NoTextsError(UsageError):
    """The answer needs the text of pages, and none was read; the text says how to read it."""

    def __init__(self) -> None:
        super().__init__(
            "the text of pages was not read: run `arclink tables --text --store STORE`, and each "
            "later build keeps it"
        )


class Limit(Enum):
    """What an answer may need too much of, by its words."""

    TIME = "time"
    MEMORY = "memory"


class LimitError(UsageError):
    """The answer needs more than the caller allows, or than a service allows all its clients.

    It is no answer: nothing is known from it.

    Args:
        limit: What it needs more of.
        text: How much is allowed, and what to do.
    """

    def __init__(self, limit: Limit, text: str) -> None:
        self.limit = limit
        super().__init__(text)


class OperatorError(ArclinkError):
    """A file, setting or service needs a person; the text says what, where, and what to do."""


class InputError(OperatorError):
    """An archive or CDX file cannot be used at all."""


class MissingFileError(InputError):
    """An archive file does not exist, or no longer exists."""


def unreadable(text: str, error: OSError) -> InputError:
    """Return the error for a file that cannot be opened: `MissingFileError` if it is missing."""
    return (
        MissingFileError(text) if error.errno in (errno.ENOENT, errno.ENOTDIR) else InputError(text)
    )


class StoreError(OperatorError):
    """A store is missing, not ArcLink's, newer than this version, locked, or out of space."""


class OvertakenError(StoreError):
    """Captures were forgotten since a batch was read, so the batch must be read again."""


class SealError(StoreError):
    """A file that ArcLink keeps is damaged, missing, or has no checksums.

    Args:
        path: The file.
        what: What is wrong; continues a sentence that begins with the path.
        remedy: What to do, as a sentence.
        is_missing: Whether there is no such file.
    """

    def __init__(
        self, path: Path, what: str, remedy: str = "", *, is_missing: bool = False
    ) -> None:
        self.path = path
        self.what = what
        self.is_missing = is_missing
        super().__init__(f"{path} {what}{f'. {remedy}' if remedy else ''}")

    def with_remedy(self, remedy: str) -> "SealError":
        """Return the same error with a sentence that says what to do."""
        return SealError(self.path, self.what, remedy, is_missing=self.is_missing)


class CaptureError(OperatorError):
    """A capture cannot be read: it does not exist, or its archive file or payload is missing.

    Args:
        text: What is wrong; for a capture, with the name of its archive file.
        reason: Why the capture cannot be read; None if there is no capture.
        file: Name of its archive file; empty if there is no capture.
    """

    def __init__(self, text: str, reason: Reason | None = None, file: str = "") -> None:
        self.reason = reason
        self.file = file
        super().__init__(text)


class PipelineError(OperatorError):
    """A step of a build failed; the text names the step and the cause."""


class TaskError(PipelineError):
    """A task refused to go on: it would do the same if it ran again."""


class NetworkFailure(Enum):
    """The ways in which an exchange over the network fails; the value says what to do."""

    UNKNOWN_HOST = "check the address"
    REFUSED = "check the address, and that the server runs"
    UNREACHABLE = "check the address and the network"
    NO_TLS = "check that the server speaks HTTPS, and its certificate"
    SILENT = "try again later, or allow more time"
    """No byte came for the longest time allowed."""
    OVER = "try again later, or allow more time in total"
    """The answer was not complete in time."""
    NOT_HTTP = "check the address: another kind of server is there"
    BROKE_OFF = "try again later"
    TOO_LARGE = "check the address, or allow larger answers"


class NetworkError(OperatorError):
    """Another machine does not answer, or its answer cannot be read.

    Args:
        failure: The kind of failure.
        url: The URL of the request.
        detail: Description of the problem.
    """

    def __init__(self, failure: NetworkFailure, url: str, detail: str) -> None:
        self.failure = failure
        self.url = url
        self.detail = detail
        super().__init__(f"{url[:200]}: {detail}; {failure.value}")


class WaybackError(OperatorError):
    """A Wayback Machine does not answer, asks ArcLink to stop, or is not at the given address."""


class InstanceError(OperatorError):
    """Another instance does not answer, or answers wrongly.

    The text says why. It continues a sentence that begins with the name of the instance.
    """


class ExportError(OperatorError):
    """An export cannot be written at the given path, or is too large for its purpose."""


class WriteError(OperatorError):
    """A file cannot be written, because the disk is full, read-only or broken, or by permissions.

    Args:
        path: The file or folder.
        reason: The system's words for the reason.
        advice: What to do, as a sentence.
    """

    def __init__(self, path: Path, reason: str, advice: str) -> None:
        self.reason = reason
        super().__init__(f"{path} cannot be written: {reason}. {advice}")


class FullDiskError(WriteError):
    """There is no room for the temporary files of data that does not fit into memory.

    Args:
        folder: The folder of the files.
        reason: The system's words for the reason.
        needed: Number of bytes that had to be written.
        free: Number of bytes that the disk has left.
        remedy: What to do, if no space can be freed there.
    """

    def __init__(self, folder: Path, reason: str, needed: int, free: int, remedy: str) -> None:
        advice = (
            f"Data that does not fit into memory needs up to {needed:,} bytes there, and {free:,} "
            f"are free. Free some space there, {remedy}."
        )
        super().__init__(folder, reason, advice)


class DataError(ArclinkError):
    """One datum is bad. It is counted by ``reason``, and the work continues.

    Args:
        reason: The reason under which the datum is counted.
        detail: Description of the problem, with the value, on one line.
        file: File the datum comes from, if known.
        offset: Byte offset in that file as stored (compressed), if known.
    """

    def __init__(
        self, reason: Reason, detail: str = "", file: str | None = None, offset: int | None = None
    ) -> None:
        self.reason = reason
        self.detail = detail
        self.file = file
        self.offset = offset
        where = (
            ""
            if file is None
            else f" ({file}" + ("" if offset is None else f" at byte {offset}") + ")"
        )
        super().__init__(f"{reason.text}{': ' + detail if detail else ''}{where}")


class CdxError(DataError):
    """A line is not a CDX row."""


class RecordError(DataError):
    """An archive record cannot be read."""


class PayloadError(DataError):
    """The coding of a payload cannot be undone."""


class UriError(DataError):
    """A reference does not resolve to a URI."""


class FetchError(DataError):
    """A Wayback Machine sent no answer, or an answer that cannot be used."""
