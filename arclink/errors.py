"""Every error that ArcLink raises on purpose.

::

    ArclinkError
    ├── UsageError           the call is wrong: exit 2
    ├── OperatorError        a file, setting or store needs a person: exit 1
    │   ├── InputError           an archive or CDX file that cannot be used at all
    │   │   └── MissingFileError     one that is not where it is said to be
    │   ├── StoreError           a store that is missing, foreign, newer, locked or full
    │   ├── PipelineError        a step of a build failed
    │   ├── WaybackError         a Wayback Machine that does not answer, or asks to be left alone
    │   ├── InstanceError        another instance that does not answer, or not as it should
    │   └── ExportError          an export that cannot be written, or is too large for what it is for
    └── DataError            one bad row, record or link: counted by its reason, the job goes on
        ├── CdxError             a line that is no CDX row
        ├── RecordError          an archive record that cannot be read
        ├── PayloadError         a payload whose coding cannot be undone
        ├── UriError             a reference that does not resolve
        └── FetchError           an answer of a Wayback Machine that cannot be used

An operator's error says what is wrong, where, and what to do. A data error carries the `Reason` it is counted by.
"""

import errno

from arclink.reasons import Reason


class ArclinkError(Exception):
    """Whatever ArcLink raises on purpose."""


class UsageError(ArclinkError):
    """The call itself is wrong; the text says which value and what is allowed."""


class OperatorError(ArclinkError):
    """Something outside needs a person; the text says what, where, and what to do."""


class InputError(OperatorError):
    """An archive or CDX file cannot be used at all."""


class MissingFileError(InputError):
    """An archive file is not there, or not any more."""


def unreadable(text: str, error: OSError) -> InputError:
    """Return the error for a file that the system does not give: `MissingFileError` if there is none."""
    return MissingFileError(text) if error.errno in (errno.ENOENT, errno.ENOTDIR) else InputError(text)


class StoreError(OperatorError):
    """A store is missing, not ours, newer than this version, locked, or out of space."""


class PipelineError(OperatorError):
    """A step of a build failed; the text names the step and the cause."""


class WaybackError(OperatorError):
    """A Wayback Machine does not answer, asks to be left alone, or is not where it was said to be."""


class InstanceError(OperatorError):
    """Another instance does not answer, or not as it should; the text says why, and begins where its name ends."""


class ExportError(OperatorError):
    """An export cannot be written where it is to be, or is too large for what it is for."""


class DataError(ArclinkError):
    """One datum is bad; it is counted by ``reason`` and the work goes on.

    Args:
        reason: What it is counted as.
        detail: What was found, with the value; one line.
        file: The file it came from, if known.
        offset: Byte offset in that file as stored (compressed), if known.
    """

    def __init__(self, reason: Reason, detail: str = "", file: str | None = None, offset: int | None = None) -> None:
        self.reason = reason
        self.detail = detail
        self.file = file
        self.offset = offset
        place = "" if file is None else f" ({file}" + ("" if offset is None else f" at byte {offset}") + ")"
        super().__init__(f"{reason.text}{': ' + detail if detail else ''}{place}")


class CdxError(DataError):
    """A line is no CDX row."""


class RecordError(DataError):
    """An archive record cannot be read."""


class PayloadError(DataError):
    """The coding of a payload cannot be undone."""


class UriError(DataError):
    """A reference does not resolve to a URI."""


class FetchError(DataError):
    """A Wayback Machine gave no answer, or none that can be used."""
