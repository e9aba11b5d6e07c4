"""The connection to a cluster: prepared statements, bounded concurrency, retries, and errors.

This is the only module that knows the driver. Every request of this store may be repeated: a query
changes nothing, a row written again is the same row, and a lightweight transaction reports who won.
So a request that timed out, or whose node died, is sent again, to another node if there is one. The
caller gets an error only after that has failed for some time (`Address.patience`).

There is one connection per process and URL. Threads share it, but a child process never uses it:
the driver's sockets and threads do not survive a fork.
"""

import os
import re
import ssl
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, count, pairwise, zip_longest
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
from cassandra.cluster import (
    EXEC_PROFILE_DEFAULT,
    Cluster,
    ExecutionProfile,
    NoHostAvailable,
    ResponseFuture,
    Session,
)
from cassandra.connection import ConnectionException
from cassandra.policies import (
    ConstantSpeculativeExecutionPolicy,
    DCAwareRoundRobinPolicy,
    RetryPolicy,
    TokenAwarePolicy,
)
from cassandra.query import (
    BatchStatement,
    BatchType,
    BoundStatement,
    PreparedStatement,
    tuple_factory,
)

from arclink.engines.cassandra.addresses import Address
from arclink.errors import StoreError
from arclink.store.protocols import WHOLE, Share

Values = Sequence[object]

Found = Sequence[Any]
"""A row: columns in the order of the query, with the types that the statement determines."""

_IN_FLIGHT = 96
"""Greatest number of queries of one caller at a time."""

TOGETHER = 32
"""Greatest number of partitions that one request asks for.

A request costs the client the CPU time of some ten small rows; a node reads the partitions of one
request one after the other.
"""

PIECES = 16
"""Number of token ranges in which a whole table is read."""

KEY_PASSWORD = "ARCLINK_CASSANDRA_KEY_PASSWORD"
"""Environment variable with the password of the private key."""

_BATCHES_IN_FLIGHT = 8
"""Greatest number of batches of a writer at a time."""

BATCH_BYTES = 36 * 1024
"""Size of a batch in bytes: Cassandra's default refuses 50 KiB."""

BATCH_ROWS = 200

ATTEMPTS = 8
"""Number of times a request is sent, with pauses of 0.1, 0.2, 0.4 … (at most 2) seconds between."""

_LEAST_SECONDS = 1.0
"""Minimum seconds for one request, even if the total time (`Address.patience`) is over."""

_HEDGE = 3.0
"""Seconds after which the request is also sent to another node: a dead node does not answer."""

_AGAIN = (
    Timeout,
    OperationTimedOut,
    Unavailable,
    CoordinationFailure,
    NoHostAvailable,
    ConnectionException,
    RequestExecutionException,
)


class _Elsewhere(RetryPolicy):  # type: ignore[misc]  # the driver has no types
    """Sends a request that failed on one node once more, through another coordinator."""

    def on_read_timeout(self, *_: object, retry_num: int, **__: object) -> tuple[int, None]:
        return (self.RETRY_NEXT_HOST if retry_num == 0 else self.RETHROW), None

    def on_write_timeout(self, *_: object, retry_num: int, **__: object) -> tuple[int, None]:
        return (self.RETRY_NEXT_HOST if retry_num == 0 else self.RETHROW), None


class _RoutedStatement(BoundStatement):  # type: ignore[misc]  # the driver has no types
    """A query whose nodes do not follow from its values."""

    def __init__(self, prepared: PreparedStatement, route: bytes | None) -> None:
        super().__init__(prepared)
        self._route = route

    @property
    def routing_key(self) -> bytes | None:
        return self._route or super().routing_key


Answer = TypeVar("Answer")

_TABLE = re.compile(r"\b(FROM|INTO|UPDATE|TRUNCATE|TABLE IF NOT EXISTS) (\w+)(?![\w.])")
"""Matches the name of a table in the statements of this store."""


class Database:
    """A keyspace of a cluster.

    Args:
        address: Of the store.

    Raises:
        StoreError: No node answers, or the cluster refuses the connection.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        auth = None
        if address.user:
            auth = PlainTextAuthProvider(
                address.user, os.environ.get("ARCLINK_CASSANDRA_PASSWORD", "")
            )
        consistency: int = getattr(ConsistencyLevel, address.consistency)
        is_local = address.consistency.startswith("LOCAL_")
        profile = ExecutionProfile(
            load_balancing_policy=TokenAwarePolicy(
                DCAwareRoundRobinPolicy(address.datacenter)
                if address.datacenter
                else DCAwareRoundRobinPolicy()
            ),
            retry_policy=_Elsewhere(),
            consistency_level=consistency,
            serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL
            if is_local
            else ConsistencyLevel.SERIAL,
            request_timeout=address.timeout,
            row_factory=tuple_factory,
            speculative_execution_policy=ConstantSpeculativeExecutionPolicy(_HEDGE, 2),
        )
        self._consistency = consistency
        with self._translated():
            self._cluster, self._session = _connected(address, auth, profile)
        self._prepared: dict[str, PreparedStatement] = {}
        # True after a request ran out of patience, until the next answer: other requests then
        # give up sooner.
        self._is_away = False

    def close(self) -> None:
        """Close the connection to the cluster."""
        self._cluster.shutdown()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        name = self.address.name
        try:
            yield
        except (AuthenticationFailed, Unauthorized) as error:
            raise StoreError(
                f"{name} refuses the user ({error}). Name one in the URL, and set "
                "ARCLINK_CASSANDRA_PASSWORD."
            ) from error
        except NoHostAvailable as error:
            causes = list(error.errors.values()) if isinstance(error.errors, dict) else [error]
            if any(isinstance(cause, AuthenticationFailed) for cause in causes):
                raise StoreError(
                    f"{name} refuses the user. Name one in the URL, and set "
                    "ARCLINK_CASSANDRA_PASSWORD."
                ) from error
            missing = _missing_replicas(causes)
            if missing:
                raise StoreError(f"{name}: {missing}") from error
            refused = _tls_refusal(self.address, causes)
            if refused:
                raise StoreError(f"{name}: {refused}") from error
            raise StoreError(
                f"no node of {name} answers ({'; '.join(sorted({*map(str, causes)}))[:300]}). "
                "Check that it is running, its host and port, and whether it needs TLS (tls=…)."
            ) from error
        except InvalidRequest as error:
            raise StoreError(
                f"{name}: {error}. Is this the keyspace of a store? arclink schema apply "
                f"--store {name} creates one."
            ) from error
        except (*_AGAIN, DriverException) as error:
            missing = _missing_replicas([error])
            if missing:
                raise StoreError(f"{name}: {missing}") from error
            raise StoreError(
                f"{name} refuses a request ({type(error).__name__}: {error}).{self._nodes_down()} "
                "Read the nodes' logs, then start again."
            ) from error

    def _nodes_down(self) -> str:
        """Return a sentence about the nodes that the driver knows to be down; empty without any."""
        cluster = getattr(self, "_cluster", None)  # missing if connecting failed
        hosts = cluster.metadata.all_hosts() if cluster is not None else []
        down = sorted(host.address for host in hosts if host.is_up is False)
        if not down:
            return ""
        return f" Of its {len(hosts)} nodes {len(down)} are down: {', '.join(down)}."

    def _again(self, ask: Callable[[float], Answer], *, is_new: bool = False) -> Answer:
        """Return the answer to a request, which is repeated if that may help.

        Args:
            ask: Sends the request; it gets the number of seconds that the request may take.
            is_new: Whether the request names a newly created table, which a node may not know yet.
        """
        deadline = time.monotonic() + (_LEAST_SECONDS if self._is_away else self.address.patience)
        for attempt in count(1):
            pause = min(2.0, 0.05 * 2**attempt)
            is_last = attempt == ATTEMPTS
            try:
                answer = ask(
                    max(_LEAST_SECONDS, min(self.address.timeout, deadline - time.monotonic()))
                )
            except Unauthorized:
                raise  # it is a RequestExecutionException too, but repeating does not help
            except InvalidRequest as error:
                if (
                    not (is_new and "exist" in str(error))
                    or is_last
                    or time.monotonic() + pause > deadline
                ):
                    raise
            except _AGAIN:
                if is_last or time.monotonic() + pause > deadline:
                    self._is_away = True
                    raise
            else:
                self._is_away = False
                return answer
            time.sleep(pause)
        raise AssertionError  # the last attempt returns or raises

    def _rows(self, bound: BoundStatement, seconds: float) -> list[Found]:
        return list(self._session.execute(bound, timeout=seconds))

    def _prepare(self, statement: str) -> PreparedStatement:
        prepared = self._prepared.get(statement)
        if prepared is None:
            prepared = self._again(lambda _: self._session.prepare(self._qualified(statement)))
            prepared.is_idempotent = True
            # Two threads may both prepare it; that is cheaper than making them wait.
            self._prepared[statement] = prepared
        return prepared

    def _qualified(self, statement: str) -> str:
        """Return a statement with the keyspace before the name of the table."""
        return _TABLE.sub(rf"\1 {self.address.keyspace}.\2", statement)

    def command(self, statement: str) -> None:
        """Run a statement that changes the schema."""
        with self._translated():
            self._again(
                lambda _: self._session.execute(
                    self._qualified(statement), timeout=max(60.0, self.address.timeout)
                ),
                is_new=True,
            )

    def ask(self, statement: str, values: Values = ()) -> list[Found]:
        """Return all rows of a query's answer."""
        with self._translated():
            bound = self._prepare(statement).bind(values)
            return self._again(lambda seconds: self._rows(bound, seconds))

    def page(
        self, statement: str, values: Values, size: int, state: bytes | None = None
    ) -> tuple[list[Found], bytes | None]:
        """Return some rows of a long answer, and the state after them; None at the end.

        Args:
            statement: The query.
            values: Its values.
            size: Greatest number of rows.
            state: State after the rows before them. Nothing is held open on the nodes.
        """
        with self._translated():
            bound = self._prepare(statement).bind(values)
            bound.fetch_size = size
            result = self._again(
                lambda seconds: self._session.execute(bound, timeout=seconds, paging_state=state)
            )
            return list(result.current_rows), result.paging_state

    def pages(self, statement: str, values: Values, size: int) -> Iterator[Found]:
        """Yield the rows of a long answer, holding at most ``size`` rows at a time."""
        state: bytes | None = None
        while True:
            rows, state = self.page(statement, values, size, state)
            yield from rows
            if not state:
                return

    def ask_each(
        self, statement: str, questions: Iterable[Values], routes: Iterable[bytes | None] = ()
    ) -> list[list[Found]]:
        """Return the answers to one query with many values, in order; they run concurrently.

        Args:
            statement: The query.
            questions: Values of each.
            routes: For each, the routing key of a partition whose nodes are asked; if not given,
                it follows from the values.
        """
        answers: list[list[Found]] = []
        under_way: deque[tuple[BoundStatement, ResponseFuture]] = deque()

        def take() -> None:
            bound, future = under_way.popleft()
            try:
                rows = list(future.result())
            except _AGAIN as error:
                if isinstance(error, InvalidRequest):
                    raise
                rows = self._again(lambda seconds: self._rows(bound, seconds))
            answers.append(rows)

        with self._translated():
            prepared = self._prepare(statement)
            for values, route in zip_longest(questions, routes):
                if len(under_way) >= _IN_FLIGHT:
                    take()
                bound = _RoutedStatement(prepared, route).bind(values)
                under_way.append((bound, self._session.execute_async(bound)))
            while under_way:
                take()
        return answers

    def ask_partitions(
        self, statement: str, of_one: str, primary_keys: Sequence[Values]
    ) -> list[list[Found]]:
        """Return the rows of many partitions, in the order given; few requests ask for them.

        Each request goes to a node that has all its partitions.

        Args:
            statement: Query whose last value is a list (``IN ?``); the primary key comes first.
            of_one: The same query for one primary key (``= ?``), which says the node.
            primary_keys: Values of the columns of each primary key, in the order of the statement.
        """
        distinct = list(dict.fromkeys(map(tuple, primary_keys)))
        groups: defaultdict[tuple[object, Values], list[tuple[object, ...]]] = defaultdict(list)
        keys: list[bytes | None] = [None] * len(distinct)
        if len(self._cluster.metadata._hosts) > 1:
            with self._translated():
                keys = [
                    self._prepare(of_one).bind(primary_key).routing_key for primary_key in distinct
                ]
        for primary_key, key in zip(distinct, keys, strict=True):
            groups[self.node_of(key), primary_key[:-1]].append(primary_key)
        routes = dict(zip(distinct, keys, strict=True))
        batches = [
            members[begin : begin + TOGETHER]
            for members in groups.values()
            for begin in range(0, len(members), TOGETHER)
        ]
        answers = self.ask_each(
            statement,
            ((*batch[0][:-1], [primary_key[-1] for primary_key in batch]) for batch in batches),
            [routes[batch[0]] for batch in batches],
        )
        rows_of: defaultdict[tuple[object, ...], list[Found]] = defaultdict(list)
        for row in chain.from_iterable(answers):
            rows_of[tuple(row[: len(primary_keys[0])])].append(row)
        return [rows_of[tuple(primary_key)] for primary_key in primary_keys]

    def node_of(self, routing_key: bytes | None) -> object:
        """Return the first node that has a partition; None if there is no choice."""
        metadata = self._cluster.metadata
        if len(metadata._hosts) == 1 or routing_key is None:
            return None
        replicas = metadata.get_replicas(self.address.keyspace, routing_key)
        return replicas[0].endpoint if replicas else None

    def agree(self, statement: str, values: Values) -> tuple[bool, Found]:
        """Run a lightweight transaction.

        Returns:
            Whether it was applied, and the row that was found if it was not.
        """
        with self._translated():
            bound = self._prepare(statement).bind(values)
            row = self._again(lambda seconds: self._session.execute(bound, timeout=seconds).one())
        return bool(row[0]), row[1:]

    def all_pages(self, statement: str, size: int, share: Share = WHOLE) -> Iterator[Found]:
        """Yield the rows of a share of a table, by ranges of tokens, holding at most ``size`` rows.

        Args:
            statement: A query for the rows with ``? < token <= ?``.
            size: Greatest number of rows at a time.
            share: Of the tokens.
        """
        low, high = -(2**63), 2**63 - 1
        ranges = -(-PIECES // share.of)  # a share is a part of the table already
        borders = [
            low + (high - low) * (share.number * ranges + number) // (share.of * ranges)
            for number in range(ranges + 1)
        ]
        for begin_and_end in pairwise(borders):
            yield from self.pages(statement, begin_and_end, size)

    def bytes_on_disk(self) -> int:
        """Return the disk space of the keyspace's tables on all nodes that answer.

        Returns:
            Bytes, in whole MiB per table.
        """
        total = 0
        statement = "SELECT mebibytes FROM system_views.disk_usage WHERE keyspace_name = %s"
        with self._translated():
            for host in self._cluster.metadata.all_hosts():
                if host.is_up:
                    query = partial(
                        self._session.execute, statement, (self.address.keyspace,), host=host
                    )
                    rows = list(self._again(lambda seconds, query=query: query(timeout=seconds)))  # type: ignore[misc]
                    total += sum(row[0] for row in rows) << 20
        return total

    def writer(self) -> "Writer":
        """Return a writer of rows."""
        return Writer(self)


def _missing_replicas(causes: Iterable[object]) -> str:
    """Return a text with the numbers of needed and available replicas.

    The text is empty if a request failed for another reason. A coordinator reports missing replicas
    in one of two ways: it knows that replicas are down and does not ask (`Unavailable`), or it
    asked and too few answered in time (`Timeout`). The driver then asks another node, so both also
    occur among the causes of a `NoHostAvailable`, next to the nodes that are down.

    Args:
        causes: Errors of the driver, one per node that was asked; or one error of a request.
    """
    shortages: list[tuple[int, int, str, str]] = []
    for cause in causes:
        match cause:
            case Unavailable():
                answered, needed, how = cause.alive_replicas, cause.required_replicas, "are up"
            case Timeout():
                answered, needed = cause.received_responses, cause.required_responses
                how = "answered in time"
            case _:
                continue
        if answered is not None and needed is not None and answered < needed:
            level = ConsistencyLevel.value_to_name.get(cause.consistency, "its consistency")
            shortages.append((needed, answered, how, level))
    if not shortages:
        return ""
    needed, answered, how, level = min(shortages, key=lambda shortage: shortage[1] - shortage[0])
    return (
        f"too few nodes answer: {level} needs {needed} replicas of the data, and {answered} {how}. "
        "Start the nodes that are down (nodetool status lists them), or read the logs of slow "
        "nodes; then try again."
    )


_ENDED_BY_NODE = re.compile("alert|EOF occurred|reset by peer", re.IGNORECASE)
"""Matches errors of a connection that the other side ends while TLS is agreed on."""


def _tls_refusal(address: Address, causes: Iterable[object]) -> str:
    """Return a text that says which side refuses the other's certificate; empty if none does.

    Args:
        address: Of the store.
        causes: Errors of the driver, one per node that was asked.
    """
    texts = sorted({str(cause) for cause in causes})
    for text in texts:
        if "certificate verify failed" in text:
            return (
                f"ArcLink does not trust the certificate of a node ({text}). Name the authority "
                "that signed it (tls=FILE); the certificate must name the node's host or address."
            )
    if not address.tls or not (ended := list(filter(_ENDED_BY_NODE.search, texts))):
        return ""
    if address.certificate:
        return (
            f"a node ends the connection, probably because it does not trust the certificate "
            f"{address.certificate} ({ended[0]}). The node's truststore needs that certificate or "
            "its authority; the node's log names the reason."
        )
    return (
        f"a node ends the connection, probably because it requires a client certificate "
        f"({ended[0]}). Name one: certificate=FILE and key=FILE."
    )


def _connected(
    address: Address, auth: PlainTextAuthProvider | None, profile: ExecutionProfile
) -> tuple[Cluster, Session]:
    """Return a connection; nodes that are too busy to answer are asked again."""
    deadline = time.monotonic() + address.patience
    while True:
        seconds = max(
            _LEAST_SECONDS, min(address.timeout, (deadline - time.monotonic()) / len(address.hosts))
        )
        cluster = Cluster(
            list(address.hosts),
            address.port,
            auth_provider=auth,
            ssl_context=_tls_of(address),
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            connect_timeout=seconds,
            control_connection_timeout=seconds,
            max_schema_agreement_wait=60,
            # Cassandra 4.0 and later; a newer version would be refused with a warning.
            protocol_version=5,
        )
        try:
            return cluster, cluster.connect()
        except NoHostAvailable as error:
            cluster.shutdown()
            is_slow = isinstance(error.errors, dict) and any(
                isinstance(failure, OperationTimedOut) for failure in error.errors.values()
            )
            if not is_slow or time.monotonic() + _LEAST_SECONDS > deadline:
                raise
        except BaseException:
            cluster.shutdown()
            raise


def _tls_of(address: Address) -> ssl.SSLContext | None:
    """Return the TLS settings of a connection; None for an unencrypted connection.

    Raises:
        StoreError: A file with certificates or the key cannot be read.
    """
    if not address.tls:
        return None
    try:
        context = ssl.create_default_context(
            cafile=None if address.tls == "system" else address.tls
        )
    except (OSError, ssl.SSLError) as error:
        raise StoreError(
            f"tls={address.tls}: this is not a readable file of certificates (PEM) "
            f"({error}). Or use tls=system."
        ) from error
    if address.certificate:
        try:
            context.load_cert_chain(
                address.certificate, address.key or None, os.environ.get(KEY_PASSWORD, "")
            )
        except (OSError, ValueError) as error:
            key = f" and key={address.key}" if address.key else ""
            raise StoreError(
                f"certificate={address.certificate}{key}: not a certificate with its private key "
                f"(PEM), or not readable ({error}). If the key has a password, set {KEY_PASSWORD}."
            ) from error
    return context


class Writer:
    """Writes rows in batches, each for one node, with a bounded number in flight.

    Rows that are not in a full batch yet wait for `flush`.
    """

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
            size: Approximate size of the values in bytes.
        """
        bound = self._database._prepare(statement).bind(values)
        node = self._database.node_of(bound.routing_key)
        waiting = self._waiting.setdefault(node, [])
        if waiting and self._sizes[node] + size > BATCH_BYTES:
            self._send(node)
            waiting = self._waiting.setdefault(node, [])
        waiting.append(bound)
        self._sizes[node] = self._sizes.get(node, 0) + size + 40
        self.rows += 1
        if self._sizes[node] >= BATCH_BYTES or len(waiting) >= BATCH_ROWS:
            self._send(node)

    def _send(self, node: object) -> None:
        waiting = self._waiting.pop(node, [])
        self._sizes.pop(node, None)
        if not waiting:
            return
        request: BatchStatement | BoundStatement = waiting[0]
        if len(waiting) > 1:
            request = BatchStatement(
                BatchType.UNLOGGED, consistency_level=self._database._consistency
            )
            for bound in waiting:
                request.add(bound)
            request.is_idempotent = True
            # Send the batch to the node that all its rows have in common.
            request.routing_key, request.keyspace = (
                waiting[0].routing_key,
                self._database.address.keyspace,
            )
        while len(self._under_way) >= _BATCHES_IN_FLIGHT:
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
                self._database._again(
                    lambda seconds: self._session.execute(request, timeout=seconds)
                )

    def flush(self) -> None:
        """Write everything; when this returns, the cluster has acknowledged every row."""
        for node in list(self._waiting):
            self._send(node)
        while self._under_way:
            self._take()


_open: dict[tuple[int, Address], Database] = {}
_open_lock = threading.Lock()
_left_behind: list[object] = []


def _after_fork() -> None:
    """Reset the connections in a child process after a fork.

    A lock that another thread of the parent held would stay locked here for ever. When asked to
    connect, the driver would first close each of the parent's connections, which takes their locks.
    Its event loop is kept unchanged, not even destroyed, because its sockets belong to the parent.
    """
    global _open_lock
    _open_lock = threading.Lock()
    reactor = sys.modules.get("cassandra.io.libevreactor")
    if reactor is not None:
        _left_behind.append(reactor._global_loop)
        reactor._global_loop = None  # type: ignore[attr-defined]


os.register_at_fork(after_in_child=_after_fork)
_failed: dict[tuple[int, Address], tuple[float, StoreError]] = {}


def database_of(address: Address) -> Database:
    """Return this process's connection to a store; the first call creates it.

    If a caller waits while another thread fails to connect, it gets the same error; otherwise the
    last of many callers would wait for all attempts.

    Raises:
        StoreError: No node answers, or the keyspace does not exist.
    """
    key = os.getpid(), address
    asked_at = time.monotonic()
    with _open_lock:
        database = _open.get(key)
        if database is not None:
            return database
        failed_at, error = _failed.get(key, (0.0, None))
        if error is not None and failed_at > asked_at:
            raise StoreError(str(error)) from error
        try:
            database = _open[key] = Database(address)
        except StoreError as error:
            _failed[key] = time.monotonic(), error
            raise
        return database


def forget_database(address: Address) -> None:
    """Close this process's connection to a store, if there is one."""
    with _open_lock, suppress(KeyError):
        _open.pop((os.getpid(), address)).close()
