"""Errors of the Cassandra driver become ArcLink's errors; no cluster is needed."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from cassandra import (
    AuthenticationFailed,
    ConsistencyLevel,
    OperationTimedOut,
    ReadFailure,
    ReadTimeout,
    Unavailable,
    WriteTimeout,
)
from cassandra.cluster import NoHostAvailable
from cassandra.connection import ConnectionException, ConnectionShutdown

from arclink.engines.cassandra.addresses import parse_address
from arclink.engines.cassandra.database import Database
from arclink.errors import StoreError

ADDRESS = parse_address("cassandra://10.0.0.1/links?replication=3")
QUORUM = ConsistencyLevel.QUORUM

DOWN = ConnectionException("Host has been marked down or removed")
REFUSED = ConnectionRefusedError(
    111, "Tried connecting to [('10.0.0.2', 9042)]. Last error: refused"
)
ONE_UP = Unavailable("Cannot achieve consistency level QUORUM", QUORUM, 2, 1)
NONE_UP = Unavailable("Cannot achieve consistency level QUORUM", QUORUM, 2, 0)
READ_ONE = ReadTimeout(
    "Coordinator node timed out waiting for replica nodes' responses",
    consistency=QUORUM,
    required_responses=2,
    received_responses=1,
    data_retrieved=True,
)
WROTE_ONE = WriteTimeout(
    "Coordinator node timed out",
    consistency=QUORUM,
    required_responses=2,
    received_responses=1,
    write_type=0,
)


def hosts(*errors: Exception) -> NoHostAvailable:
    """Return the error that the driver raises when no node answered."""
    return NoHostAvailable(
        "Unable to complete the operation against any hosts",
        {f"10.0.0.{number}:9042": error for number, error in enumerate(errors, 1)},
    )


def database_with(down: Sequence[str]) -> Any:
    """Return the parts of a database that its messages need: three nodes, some of them down."""
    nodes = [
        SimpleNamespace(address=f"10.0.0.{number}", is_up=f"10.0.0.{number}" not in down)
        for number in (1, 2, 3)
    ]
    database: Any = Database.__new__(Database)
    database.address = ADDRESS
    database._cluster = SimpleNamespace(metadata=SimpleNamespace(all_hosts=lambda: nodes))
    return database


def test_the_error_about_a_silent_node_names_the_nodes_that_are_down() -> None:
    database = database_with(["10.0.0.2", "10.0.0.3"])
    with (
        pytest.raises(StoreError, match=r"Of its 3 nodes 2 are down: 10\.0\.0\.2, 10\.0\.0\.3\."),
        database._translated(),
    ):
        raise OperationTimedOut


def said_of(error: Exception) -> str:
    database = database_with(())
    with pytest.raises(StoreError) as raised, database._translated():
        raise error
    return str(raised.value)


@pytest.mark.parametrize(
    ("error", "answered"),
    [
        pytest.param(hosts(ONE_UP, DOWN, DOWN), "1 are up", id="two of three marked down"),
        pytest.param(hosts(DOWN, ONE_UP, REFUSED), "1 are up", id="in any order"),
        pytest.param(hosts(READ_ONE, DOWN, DOWN), "1 answered in time", id="just died"),
        pytest.param(hosts(ONE_UP, READ_ONE, NONE_UP), "0 are up", id="the least is said"),
        pytest.param(ONE_UP, "1 are up", id="the only node asked"),
        pytest.param(READ_ONE, "1 answered in time", id="read"),
        pytest.param(WROTE_ONE, "1 answered in time", id="write"),
    ],
)
def test_a_missing_quorum_is_said_with_its_numbers(error: Exception, answered: str) -> None:
    said = said_of(error)
    assert f"QUORUM needs 2 replicas of the data, and {answered}." in said
    assert said.startswith("cassandra://10.0.0.1:9042/links: too few nodes answer")
    assert "Check that it is running" not in said


@pytest.mark.parametrize(
    ("error", "says"),
    [
        pytest.param(hosts(REFUSED, DOWN), "Check that it is running", id="no node"),
        pytest.param(hosts(ConnectionShutdown("closed")), "Check that it is running", id="closed"),
        pytest.param(hosts(OperationTimedOut()), "Check that it is running", id="silent"),
        pytest.param(hosts(AuthenticationFailed("bad"), DOWN), "refuses the user", id="user"),
        pytest.param(
            ReadTimeout("digest", consistency=QUORUM, required_responses=2, received_responses=2),
            "refuses a request",
            id="enough",
        ),
        pytest.param(OperationTimedOut(), "refuses a request", id="no numbers"),
        pytest.param(
            ReadFailure("failed", consistency=QUORUM, required_responses=2, received_responses=1),
            "refuses a request",
            id="replicas that failed are there",
        ),
    ],
)
def test_another_failure_does_not_speak_of_replicas(error: Exception, says: str) -> None:
    said = said_of(error)
    assert says in said
    assert "replicas" not in said.partition("Read the nodes")[0].replace("replica nodes", "")


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        pytest.param(
            "tls=system",
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate",
            "ArcLink does not trust the certificate of a node",
            id="this side",
        ),
        pytest.param(
            "tls=system",
            "EOF occurred in violation of protocol",
            "requires a client certificate",
            id="the node, without a certificate",
        ),
        pytest.param(
            "tls=system&certificate=a.pem",
            "[SSL: TLSV1_ALERT_INTERNAL_ERROR] tlsv1 alert internal error",
            "it does not trust the certificate a.pem",
            id="the node, with a certificate",
        ),
        pytest.param("", "Connection reset by peer", "whether it needs TLS", id="without TLS"),
        pytest.param("tls=system", "refused", "no node of .* answers", id="another failure"),
    ],
)
def test_a_failure_of_tls_names_the_side_that_refuses(options: str, error: str, says: str) -> None:
    database = database_with(())
    database.address = parse_address(f"cassandra://10.0.0.1/links?{options}")
    with pytest.raises(StoreError, match=says), database._translated():
        raise hosts(ConnectionException(error))
