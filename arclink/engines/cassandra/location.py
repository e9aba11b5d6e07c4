"""A store in Cassandra at its URL, before it is opened."""

from importlib.util import find_spec

from arclink.engines.cassandra.addresses import PATIENCE, parse_address
from arclink.errors import OperatorError
from arclink.store.protocols import GraphStore


class CassandraLocation:
    """A store in a keyspace (`arclink.store.location.RemoteLocation`).

    Args:
        where: The URL of the store.
        patience: Seconds to wait for an answer, if the URL does not say.

    Raises:
        UsageError: The URL does not name a keyspace.
    """

    def __init__(self, where: str, patience: float | None = None) -> None:
        self.address = parse_address(where, patience or PATIENCE)
        self.identity = self.address.name
        self.name = self.address.keyspace
        self.local_name = f"{self.name}.cassandra"

    def open(self, *, create: bool) -> GraphStore:
        needs_driver()
        from arclink.engines.cassandra.store import CassandraStore

        return CassandraStore(self.address, create=create)

    def exists(self) -> bool:
        needs_driver()
        from arclink.engines.cassandra.schema import is_there

        return is_there(self.address)

    def empty(self) -> None:
        needs_driver()
        from arclink.engines.cassandra.schema import empty_store

        empty_store(self.address)

    def let_go(self) -> None:
        from arclink.engines.cassandra.database import forget_database

        forget_database(self.address)


def needs_driver() -> None:
    """Check that the driver for Cassandra stores is installed.

    Raises:
        OperatorError: It is not installed.
    """
    if find_spec("cassandra") is None:
        raise OperatorError(
            "a Cassandra store needs the package cassandra-driver; install it: pip install "
            "'arclink[cassandra]'"
        )
