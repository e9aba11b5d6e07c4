"""Revisits that say "not modified" and not of what: their checksum names the capture they refer to.

A server-not-modified revisit has no payload and no digest, only (perhaps) when the capture was made whose validators the
crawler sent (``WARC-Refers-To-Date``; WARC 1.1, 5.6 and 6.7.3). Which payload that is follows from the mementos of the
whole graph, of batches still to come too; so the memento keeps what its record says, and a store looks it up when it
answers: the capture of the same original at that time; where no time is said, the last capture before the revisit. A
capture that is named but not in the graph is not guessed at.
"""

from arclink.model import Checksum, Timestamp, UriR

_START = "not-modified:"


def checksum_of_reference(original: UriR, timestamp: Timestamp | None) -> Checksum:
    """Return what stands for the checksum of a revisit of ``original``.

    Args:
        original: Of the revisit, and so of the capture it refers to.
        timestamp: Of the capture it refers to; None if the record does not say.

    >>> checksum_of_reference(UriR("http://a.example/"), Timestamp("20100101000000"))
    'not-modified:20100101000000 http://a.example/'
    """
    return Checksum(f"{_START}{timestamp or ''} {original}")


def is_reference(checksum: Checksum) -> bool:
    """Tell whether a checksum stands for a capture that a revisit refers to."""
    return checksum.startswith(_START)


def timestamp_of_reference(checksum: Checksum) -> Timestamp | None:
    """Return when the capture was made that a revisit refers to; None if the record does not say.

    >>> timestamp_of_reference(Checksum("not-modified: http://a.example/"))
    """
    return Timestamp(checksum.removeprefix(_START).partition(" ")[0]) or None
