"""Which capture a revisit refers to, if its record has no usable digest.

There is one order for all revisits: the digest; else the capture that is named, by URI and time;
else, only if the server said "not modified", the capture before the revisit.
"""

from contextlib import suppress

from arclink.checksums import checksum_of_reference
from arclink.model import Checksum, Timestamp, UriR
from arclink.rows.cdx import NOT_MODIFIED
from arclink.timestamps import TimestampError, normal_timestamp


def reference_to(original: UriR, uri: str, timestamp: str) -> Checksum | None:
    """Return the reference to the capture that a revisit names; None if it names none.

    Args:
        original: Original of the revisit.
        uri: The URI that it names; empty if it names none, and then its own one is meant.
        timestamp: The time that it names, as written; may be empty.
    """
    when: Timestamp | None = None
    with suppress(TimestampError):
        when = normal_timestamp(timestamp)[0]
    return checksum_of_reference(UriR(uri or original), when) if when else None


def reference_of(
    original: UriR, uri: str, timestamp: str, profile: str, status: str
) -> Checksum | None:
    """Return the reference of a revisit without a usable digest; None if it refers to no capture.

    Args:
        original: See `reference_to`.
        uri: See `reference_to`.
        timestamp: See `reference_to`.
        profile: Its profile; may be empty.
        status: Its status; says whether it is "not modified" if it has no profile.
    """
    named = reference_to(original, uri, timestamp)
    is_unmodified = NOT_MODIFIED in profile or (not profile and status == "304")
    if named is None and is_unmodified and uri in ("", original):
        return checksum_of_reference(original, None)
    return named
