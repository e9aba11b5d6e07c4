"""Settings of a service, with defaults that suit one machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from arclink.access.groups import Budget
from arclink.access.replay import NO_REPLAY, ReplayPrefix
from arclink.federation.instances import Instance
from arclink.federation.limits import QueryLimits
from arclink.service.hosts import Hosts
from arclink.service.replay.origin import ReplayOrigin
from arclink.store.embargo import Embargo


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of one service, and the other instances that it queries.

    Attributes:
        longest_query: Maximum characters of a request's query part; more is a 414. A
            percent-encoded URI takes up to three times its own length.
        retry_after: Seconds that a client should wait if the store cannot be read.
        budget: Maximum cost of one request in the store.
        collection: Name of this store among several collections of one service; empty if it is the
            only one.
        title: Title of the archive, for its front page; empty without a title.
        description: What the archive is, for its front page.
        titles: Titles of collections by name, if there are several stores.
        descriptions: Descriptions of collections by name.
        replay: Replay prefix of the URI-Ms of mementos; empty if no prefix is set.
        public: URL of this service as clients know it, ending in ``/``; if empty, the URL in their
            requests is used.
        hosts: Names under which the service answers.
        embargo: Captures that are hidden from all answers.
        subset: Name of a stored subset, or a selection; all answers are of its captures. Empty for
            all captures.
        archive: Name of this service's store in answers merged from several archives.
        instances: The only other services that are queried for such an answer.
        limits: Maximum cost of one query to all of them.
        browse: Where archived pages are replayed, for people who browse the past.
        origins: Origins whose scripts may read answers in a browser, as in ``Origin``; ``*`` for
            all.
        has_pages: Whether captures themselves are shown, not only their links.
        archives: Further locations of archive files (`arclink.captures.archive_paths`).
    """

    longest_query: int = 200_000
    retry_after: int = 30
    budget: Budget = field(default_factory=Budget)
    collection: str = ""
    title: str = ""
    description: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    descriptions: Mapping[str, str] = field(default_factory=dict)
    replay: ReplayPrefix = NO_REPLAY
    public: str = ""
    hosts: Hosts = field(default_factory=Hosts)
    embargo: Embargo = field(default_factory=Embargo)
    subset: str = ""
    archive: str = "here"
    instances: tuple[Instance, ...] = ()
    limits: QueryLimits = field(default_factory=QueryLimits)
    browse: ReplayOrigin = field(default_factory=ReplayOrigin)
    origins: tuple[str, ...] = ()
    has_pages: bool = True
    archives: tuple[str, ...] = ()

    @property
    def cited_as(self) -> str:
        """Title of the archive, or its name among collections; empty without."""
        return self.title or self.collection
