"""The origins of the service and of its replay, as a browser knows them.

On one machine, the replay has another port, and the other name of the loopback: ``127.0.0.1`` for
the service means ``localhost`` for the replay. Cookies ignore ports, so with one host name an
archived script could set cookies that the browser then sends to the service. Two names are also two
sites, which browsers put into separate processes.

Behind a reverse proxy, the operator names both origins.

Source: RFC 6265, section 8.5 (cookies and ports); the HTML standard, section 7.1.1 (origins,
sites).
"""

from dataclasses import dataclass
from typing import Final

from arclink.service.hosts import name_of

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
