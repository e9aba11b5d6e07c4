"""Values of WARC fields, as ISO 28500 writes them."""

import re
from datetime import UTC, datetime

from arclink.model import Checksum, Timestamp


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


def now_as_warc_date() -> str:
    """Return the current time in the format of WARC-Date."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
