"""Talking to a cluster: prepared statements, requests that are bounded in flight and tried again, errors in our words.

Everything this store asks or writes may be repeated: a question changes nothing, a row written again is the same row, and a
lightweight transaction says who won. So a request that timed out, or whose node died, is sent again, to another node if there is
one; only when that does not help for a while does the caller hear of it.

One connection per process and URL, shared by its threads and never by a child: the driver's sockets and threads do not survive a
fork.
"""

import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any, TypeVar

from cassandra import (
    AuthenticationFailed,
    ConsistencyLevel,
    CoordinationFailure,
    DriverException,
    InvalidRequest,
    OperationTimedOut,
    RequestExecutionException,
    Timeout,
    Unauthorized,
    Unavailable,
)
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable, ResponseFuture, Session
from cassandra.connection import ConnectionException
from cassandra.policies import ConstantSpeculativeExecutionPolicy, DCAwareRoundRobinPolicy, RetryPolicy, TokenAwarePolicy
from cassandra.query import BatchStatement, BatchType, BoundStatement, PreparedStatement, tuple_factory

from arclink.errors import StoreError
from arclink.store.cassandra.addresses import Address

Values = Sequence[object]

Found = Sequence[Any]
"""A row: columns in the order asked; what they hold is known where the statement stands."""

IN_FLIGHT = 96
"""Questions that one caller has under way at a time."""

BATCHES_IN_FLIGHT = 8
"""Batches that a writer has under way at a time."""

BATCH_BYTES = 36 * 1024
"""Size of a batch: Cassandra's default refuses 50 KiB."""

BATCH_ROWS = 200

ATTEMPTS = 8
"""Times that a request is sent, with pauses of 0.1, 0.2, 0.4 … seconds, 2 at most, between."""

CONNECT_ATTEMPTS = 3

HEDGE = 3.0
"""Seconds after which another node is asked, too: a node that died says nothing."""

_AGAIN = (Timeout, OperationTimedOut, Unavailable, CoordinationFailure, NoHostAvailable, ConnectionException, RequestExecutionException)


class _Elsewhere(RetryPolicy):  # type: ignore[misc]  # the driver has no types
    """A request that failed on one node is sent once more by another coordinator; what that says counts."""

    def on_read_timeout(self, *_: object, retry_num: int, **__: object) -> tuple[int, None]:
        return (self.RETRY_NEXT_HOST if retry_num == 0 else self.RETHROW), None

    def on_write_timeout(self, *_: object, retry_num: int, **__: object) -> tuple[int, None]:
        return (self.RETRY_NEXT_HOST if retry_num == 0 else self.RETHROW), None


Answer = TypeVar("Answer")

_TABLE = re.compile(r"\b(FROM|INTO|UPDATE|TRUNCATE|TABLE IF NOT EXISTS) (\w+)(?![\w.])")
"""Where the name of a table stands in our statements."""


class Database:
    """A keyspace of a cluster.

    Args:
        address: Of the store.

    Raises:
        StoreError: No node answers, or it refuses us.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        auth = None
        if address.user:
            auth = PlainTextAuthProvider(address.user, os.environ.get("ARCLINK_CASSANDRA_PASSWORD", ""))
        consistency: int = getattr(ConsistencyLevel, address.consistency)
        is_local = address.consistency.startswith("LOCAL_")
        profile = ExecutionProfile(
            load_balancing_policy=TokenAwarePolicy(
                DCAwareRoundRobinPolicy(address.datacenter) if address.datacenter else DCAwareRoundRobinPolicy()
            ),
            retry_policy=_Elsewhere(),
            consistency_level=consistency,
            serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL if is_local else ConsistencyLevel.SERIAL,
            request_timeout=address.timeout,
            row_factory=tuple_factory,
            speculative_execution_policy=ConstantSpeculativeExecutionPolicy(HEDGE, 2),
        )
        self._consistency = consistency
        with self._translated():
            self._cluster, self._session = _connected(address, auth, profile)
        self._prepared: dict[str, PreparedStatement] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of the cluster."""
        self._cluster.shutdown()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        name = self.address.name
        try:
            yield
        except (AuthenticationFailed, Unauthorized) as error:
            raise StoreError(f"{name} refuses the user ({error}). Name one in the URL, and set ARCLINK_CASSANDRA_PASSWORD.") from error
        except NoHostAvailable as error:
            causes = list(error.errors.values()) if isinstance(error.errors, dict) else [error]
            if any(isinstance(cause, AuthenticationFailed) for cause in causes):
                raise StoreError(f"{name} refuses the user. Name one in the URL, and set ARCLINK_CASSANDRA_PASSWORD.") from error
            raise StoreError(
                f"no node of {name} answers ({'; '.join(sorted({*map(str, causes)}))[:300]}). Is it running, and are host and port right?"
            ) from error
        except InvalidRequest as error:
            raise StoreError(f"{name}: {error}. Is this the keyspace of a store? arclink schema apply --store {name} makes one.") from error
        except (*_AGAIN, DriverException) as error:
            raise StoreError(
                f"{name} does not do what it is asked ({type(error).__name__}: {error}). See the nodes' logs, then start again."
            ) from error

    def _again(self, ask: Callable[[], Answer], *, is_new: bool = False) -> Answer:
        """Return an answer, asked for again if that may help.

        Args:
            ask: What is asked.
            is_new: Whether it names what was made a moment ago: a node may not have heard of that yet.
        """
        for attempt in range(ATTEMPTS):
            try:
                return ask()
            except InvalidRequest as error:
                if not (is_new and "exist" in str(error)) or attempt == ATTEMPTS - 1:
                    raise
            except _AGAIN:
                if attempt == ATTEMPTS - 1:
                    raise
            time.sleep(min(2.0, 0.1 * 2**attempt))
        raise AssertionError  # the last attempt returns or raises

    def _prepare(self, statement: str) -> PreparedStatement:
        prepared = self._prepared.get(statement)
        if prepared is None:
            with self._lock:
                prepared = self._again(lambda: self._session.prepare(self._qualified(statement)))
                prepared.is_idempotent = True
                self._prepared[statement] = prepared
        return prepared

    def _qualified(self, statement: str) -> str:
        """Return a statement with the name of our keyspace before that of the table."""
        return _TABLE.sub(rf"\1 {self.address.keyspace}.\2", statement)

    def command(self, statement: str) -> None:
        """Run a statement that changes the schema."""
        with self._translated():
            self._again(lambda: self._session.execute(self._qualified(statement), timeout=max(60.0, self.address.timeout)), is_new=True)

    def ask(self, statement: str, values: Values = ()) -> list[Found]:
        """Return all rows of an answer."""
        with self._translated():
            bound = self._prepare(statement).bind(values)
            return self._again(lambda: list(self._session.execute(bound)))

    def pages(self, statement: str, values: Values, page: int) -> Iterator[Found]:
        """Yield the rows of a long answer; so many of them are held at a time, and nothing is held open on the nodes."""
        with self._translated():
            bound = self._prepare(statement).bind(values)
            bound.fetch_size = page
        state: bytes | None = None
        while True:
            with self._translated():
                result = self._again(lambda state=state: self._session.execute(bound, paging_state=state))  # type: ignore[misc]
                rows, state = list(result.current_rows), result.paging_state
            yield from rows
            if not state:
                return

    def ask_each(self, statement: str, questions: Iterable[Values]) -> list[list[Found]]:
        """Return the answers to the same question about many things, in their order; they are asked side by side."""
        answers: list[list[Found]] = []
        under_way: deque[tuple[BoundStatement, ResponseFuture]] = deque()

        def take() -> None:
            bound, future = under_way.popleft()
            try:
                rows = list(future.result())
            except _AGAIN as error:
                if isinstance(error, InvalidRequest):
                    raise
                rows = self._again(lambda: list(self._session.execute(bound)))
            answers.append(rows)

        with self._translated():
            prepared = self._prepare(statement)
            for values in questions:
                if len(under_way) >= IN_FLIGHT:
                    take()
                bound = prepared.bind(values)
                under_way.append((bound, self._session.execute_async(bound)))
            while under_way:
                take()
        return answers

    def agree(self, statement: str, values: Values) -> tuple[bool, Found]:
        """Run a lightweight transaction; return whether it took place, and what was found where it did not."""
        with self._translated():
            bound = self._prepare(statement).bind(values)
            row = self._again(lambda: self._session.execute(bound).one())
        return bool(row[0]), row[1:]

    def token_ranges(self, pieces: int) -> list[tuple[int, int]]:
        """Return ranges of tokens, ``low < token <= high``, that hold everything between them: ``pieces`` equal ones."""
        low, high = -(2**63), 2**63 - 1
        borders = [low + (high - low) * number // pieces for number in range(pieces)] + [high]
        return list(pairwise(borders))

    def bytes_on_disk(self) -> int:
        """Return the space of the keyspace's tables on all nodes that answer, in whole MiB per table."""
        total = 0
        statement = "SELECT mebibytes FROM system_views.disk_usage WHERE keyspace_name = %s"
        with self._translated():
            for host in self._cluster.metadata.all_hosts():
                if host.is_up:
                    rows = self._again(lambda host=host: list(self._session.execute(statement, (self.address.keyspace,), host=host)))  # type: ignore[misc]
                    total += sum(row[0] for row in rows) << 20
        return total

    def writer(self) -> "Writer":
        """Return a writer of rows."""
        return Writer(self)


def _connected(address: Address, auth: PlainTextAuthProvider | None, profile: ExecutionProfile) -> tuple[Cluster, Session]:
    """Return a connection; a node that is too busy to answer is asked again."""
    for attempt in range(CONNECT_ATTEMPTS):
        cluster = Cluster(
            list(address.hosts),
            address.port,
            auth_provider=auth,
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            connect_timeout=address.timeout,
            control_connection_timeout=address.timeout,
            max_schema_agreement_wait=60,
            protocol_version=5,  # of Cassandra 4.0 and later; asking for a newer one first would only be refused, with a warning
        )
        try:
            return cluster, cluster.connect()
        except NoHostAvailable as error:
            cluster.shutdown()
            is_slow = isinstance(error.errors, dict) and any(isinstance(one, OperationTimedOut) for one in error.errors.values())
            if not is_slow or attempt == CONNECT_ATTEMPTS - 1:
                raise
        except BaseException:
            cluster.shutdown()
            raise
    raise AssertionError  # the last attempt returns or raises


class Writer:
    """Writes rows in batches, each of rows that have a node in common; bounded in flight. What is in no batch yet waits for `flush`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._session = database._session
        self._waiting: dict[object, list[BoundStatement]] = {}
        self._sizes: dict[object, int] = {}
        self._under_way: deque[tuple[BatchStatement | BoundStatement, ResponseFuture]] = deque()
        self.rows = 0

    def put(self, statement: str, values: Values, size: int) -> None:
        """Write a row.

        Args:
            statement: An ``INSERT`` that may be repeated.
            values: Its values.
            size: About how many bytes they are.
        """
        bound = self._database._prepare(statement).bind(values)
        node = self._node_of(bound)
        waiting = self._waiting.setdefault(node, [])
        if waiting and self._sizes[node] + size > BATCH_BYTES:
            self._send(node)
            waiting = self._waiting.setdefault(node, [])
        waiting.append(bound)
        self._sizes[node] = self._sizes.get(node, 0) + size + 40
        self.rows += 1
        if self._sizes[node] >= BATCH_BYTES or len(waiting) >= BATCH_ROWS:
            self._send(node)

    def _node_of(self, bound: BoundStatement) -> object:
        metadata = self._database._cluster.metadata
        if len(metadata._hosts) == 1:
            return None
        replicas = metadata.get_replicas(self._database.address.keyspace, bound.routing_key)
        return replicas[0].endpoint if replicas else None

    def _send(self, node: object) -> None:
        waiting = self._waiting.pop(node, [])
        self._sizes.pop(node, None)
        if not waiting:
            return
        request: BatchStatement | BoundStatement = waiting[0]
        if len(waiting) > 1:
            request = BatchStatement(BatchType.UNLOGGED, consistency_level=self._database._consistency)
            for bound in waiting:
                request.add(bound)
            request.is_idempotent = True
            # The batch goes to the node that its rows have in common.
            request.routing_key, request.keyspace = waiting[0].routing_key, self._database.address.keyspace
        while len(self._under_way) >= BATCHES_IN_FLIGHT:
            self._take()
        with self._database._translated():
            self._under_way.append((request, self._session.execute_async(request)))

    def _take(self) -> None:
        request, future = self._under_way.popleft()
        with self._database._translated():
            try:
                future.result()
            except _AGAIN as error:
                if isinstance(error, InvalidRequest):
                    raise
                self._database._again(lambda: self._session.execute(request))

    def flush(self) -> None:
        """Write everything; when this returns, the cluster has acknowledged every row."""
        for node in list(self._waiting):
            self._send(node)
        while self._under_way:
            self._take()


_open: dict[tuple[int, Address], Database] = {}
_open_lock = threading.Lock()


def database_of(address: Address) -> Database:
    """Return this process's connection to a store; the first call makes it.

    Raises:
        StoreError: No node answers, or there is no such keyspace.
    """
    key = os.getpid(), address
    with _open_lock:
        database = _open.get(key)
        if database is None:
            database = _open[key] = Database(address)
        return database


def forget_database(address: Address) -> None:
    """Close this process's connection to a store, if there is one."""
    with _open_lock, suppress(KeyError):
        _open.pop((os.getpid(), address)).close()
