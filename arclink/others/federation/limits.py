"""The limits of a query to other instances."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """The limits of one query.

    Attributes:
        instance_seconds: Maximum seconds for one page of one instance's answer.
        whole_seconds: Maximum seconds for all pages of all instances.
        page_bytes: Bytes of one page; a larger one is refused.
        pages: Pages of one instance; after them the answer is partial.
        links: Links or rows of one instance; after them the answer is partial.
        at_once: Queries that one instance answers at the same time; a further query fails because
            the instance is busy.
        cache_bytes: Bytes of all cached answers.
        cache_seconds: Seconds for which an answer is fresh.
    """

    instance_seconds: float = 10.0
    whole_seconds: float = 20.0
    page_bytes: int = 16 << 20
    pages: int = 20
    links: int = 200_000
    at_once: int = 4
    cache_bytes: int = 64 << 20
    cache_seconds: float = 300.0
