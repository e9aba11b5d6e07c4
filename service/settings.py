"""Settings of a service, with defaults that suit one machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from arclink.access.members import Budget
from arclink.access.replay import NO_REPLAY, ReplayPrefix
from arclink.others.federation.instances import Instance
from arclink.others.federation.limits import QueryLimits
from arclink.service.addresses import Hosts, name_of
from arclink.store.embargo import Embargo

# The origins of the service and of its replay, as a browser knows them.
#
# On one machine, the replay has another port, and the other name of the loopback: ``127.0.0.1`` for
# the service means ``localhost`` for the replay. Cookies ignore ports, so with one host name an
# archived script could set cookies that the browser then sends to the service. Two names are also
# two sites, which browsers put into separate processes.
#
# Behind a reverse proxy, both origins must be given (``--public``, ``--browse-origin``).
#
# Source: RFC 6265, section 8.5 (cookies and ports); the HTML standard, section 7.1.1 (origins,
# sites).

_LOOPBACK: Final = {"127.0.0.1": "localhost", "localhost": "127.0.0.1", "[::1]": "localhost"}


@dataclass(frozen=True, slots=True)
class ReplayOrigin:
    """Where archived pages are replayed.

    Attributes:
        origin: Origin of the replay as clients know it; empty if it follows from ``port``.
        service: Origin of the service as clients know it; empty if it follows from
            ``service_port``. Both or none of the two origins are given.
        port: Port on which the replay listens; 0 without replay.
        service_port: Port on which the service listens.
    """

    origin: str = ""
    service: str = ""
    port: int = 0
    service_port: int = 0

    def of_replay(self, host: str) -> str:
        """Return the origin of the replay, for a page that the service shows.

        Args:
            host: Host that the client asked, with its port, as in ``Host``.

        Returns:
            The origin; empty if nothing can be replayed there: there is no replay, or the browser
            would refuse its service worker, because the host is neither local nor served over TLS.

        >>> ReplayOrigin(port=8081, service_port=8080).of_replay("127.0.0.1:8080")
        'http://localhost:8081'
        """
        return self.origin or self._beside(host, self.port)

    def of_service(self, host: str) -> str:
        """Return the origin of the service, for a page of the replay; empty if it is unknown.

        >>> ReplayOrigin(port=8081, service_port=8080).of_service("localhost:8081")
        'http://127.0.0.1:8080'
        """
        return self.service or self._beside(host, self.service_port)

    @staticmethod
    def _beside(host: str, port: int) -> str:
        other = _LOOPBACK.get(name_of(host))
        return f"http://{other}:{port}" if other and port else ""


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
        archives: Further locations of archive files (`arclink.store.archive_paths`).
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
