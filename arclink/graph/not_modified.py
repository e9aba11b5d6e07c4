"""Revisits that say "not modified" and not of what: their checksum names the capture they refer to.

A server-not-modified revisit has no payload and no digest, only (perhaps) the capture whose validators the crawler sent
(``WARC-Refers-To-Target-URI`` and ``-Date``; WARC 1.1, 6.7.3). Which payload that is follows from the mementos of the whole
graph, of batches still to come too; so the memento keeps what its record says, and a store looks it up when it answers.
"""

from arclink.model import Checksum, Timestamp, UriR

_START = "not-modified:"


def checksum_of_reference(uri: str, timestamp: str) -> Checksum:
    """Return what stands for the checksum of a revisit that refers to a capture.

    Args:
        uri: Target URI of that capture; empty if the record does not say.
        timestamp: 14 digits; empty if the record does not say.

    >>> checksum_of_reference("http://a.example/", "20100101000000")
    'not-modified:20100101000000 http://a.example/'
    """
    return Checksum(f"{_START}{timestamp} {uri}")


def reference_of(checksum: Checksum) -> tuple[UriR, Timestamp] | None:
    """Return (target URI, timestamp) of the capture referred to, both perhaps empty; None if it is a payload's checksum.

    >>> reference_of(Checksum("not-modified: "))
    ('', '')
    """
    if not checksum.startswith(_START):
        return None
    timestamp, _, uri = checksum.removeprefix(_START).partition(" ")
    return UriR(uri), Timestamp(timestamp)
