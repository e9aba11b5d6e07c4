"""SQL over the relations of a store: a DuckDB database in memory that can only read them.

A text of a user reaches no file, network or setting: only statements that are known to be queries
are run, and DuckDB itself opens nothing but the files of the relations, which it cannot write
(`arclink.analysis.relations.held`).
"""

import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any, Self

import duckdb
import pyarrow as arrow
from duckdb import StatementType

from arclink.access.capture_fields import RELATION
from arclink.analysis.relations.columns import RELATIONS
from arclink.analysis.relations.held import HeldRelations, SqlError, translated
from arclink.analysis.relations.kept import held_relations
from arclink.analysis.relations.sql_texts import COMMON, text_of
from arclink.analysis.relations.writing import batches_of, connected, executed, quoted, reading
from arclink.closing import Closing
from arclink.errors import FullDiskError, Limit, LimitError, WriteError
from arclink.files.atomic import folder_next_to
from arclink.model import Kind
from arclink.store.protocols import Scans

KEY = {
    "surt": "surt",
    "timestamp": "timestamp",
    "written": "coalesce(written, uri)",
    "checksum": "checksum",
}
"""What no two captures have in common: fields of captures, and the SQL for them."""

_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(ANALYZE\s+)?", re.IGNORECASE)
_END = re.compile(r";\s*(--[^\n]*)?\s*$")
_QUERIES = ([StatementType.SELECT], [StatementType.MULTI])
_ROWS = 50_000
"""Number of rows of a record batch, about."""

_TEMPORARY = 10
"""Temporary files of a user's query may have this many times the bytes of its memory."""

_BATCHES_AHEAD = 4
"""Number of record batches that are made before they are read."""

_NO_COLUMNS = arrow.schema([])

_BYTES_OF_MEGABYTE = 1_000_000

_PATIENCE = 0.05
"""Seconds between looks at the clock, and between requests to stop."""


@dataclass(frozen=True, slots=True)
class SqlLimits:
    """What a query may use.

    Attributes:
        memory: Megabytes of memory; more goes to temporary files, up to ten times as much for
            queries of users.
        seconds: Seconds after which a query is stopped, and all queries of one connection together
            (`RelationsDatabase.apart`); 0 for no limit.
        rows: Megabytes of rows that an answer may have, which the caller turns into objects of
            several times as many; 0 for no limit.
        keep_on: Called while an answer is waited for; an error that it raises stops the query.
    """

    memory: int = 2_000
    seconds: float = 0
    rows: int = 0
    keep_on: Callable[[], None] = lambda: None


class RelationsDatabase(Closing):
    """A DuckDB in memory, for statements of ArcLink itself.

    Args:
        limits: What each query may use.
        work: Folder for temporary files; none are written if it is not given.
    """

    def __init__(self, limits: SqlLimits | None = None, work: Path | None = None) -> None:
        self._limits = limits or SqlLimits()
        self.has_texts = False
        self._once: dict[str, list[tuple[Any, ...]]] = {}
        self._tables: set[str] = set()
        self._making = Lock()
        self._end: float | None = None
        self._is_of_users = False
        self._values: dict[str, object] = {}
        self._definitions: dict[str, str] = {}
        self._check_files: Callable[[], None] = lambda: None
        self.connection = connected(
            memory_limit=f"{self._limits.memory}MB", temp_directory=str(work or "")
        )
        # Each view and query would read the metadata of the files again: of 100 million links, 15
        # ms each. The files never change (`HeldRelations`).
        self.connection.execute("SET GLOBAL parquet_metadata_cache = true")

    def set(self, values: Mapping[str, object]) -> None:
        """Set variables: a statement reads each as ``getvariable('name')``."""
        for name, value in values.items():
            if name not in self._values or self._values[name] != value:
                self.connection.execute(f"SET VARIABLE {name} = $value", {"value": value})
                self._values[name] = value

    def define(self, name: str, statement: str) -> None:
        """Make a view or macro by a statement, unless this has made it for the same connection."""
        if self._definitions.get(name) != statement:
            self.run(statement)
            self._definitions[name] = statement

    def kinds(self, wants: Callable[[Kind], bool]) -> list[str]:
        """Return the kinds of links that are there and wanted."""
        found = self.once("SELECT DISTINCT kind FROM links")
        return [kind for (kind,) in found if wants(kind)]

    def once(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query that reads no variable; it runs once for all connections."""
        if statement not in self._once:
            self._once[statement] = self.run(statement)
        return self._once[statement]

    def make_once(self, table: str, make: Callable[[], None]) -> None:
        """Call a function that makes a table for all connections, unless it is there."""
        patience = self.patience()
        while not self._making.acquire(timeout=_PATIENCE):  # another connection makes one
            patience()
        try:
            if table not in self._tables:
                make()
                self._tables.add(table)
        finally:
            self._making.release()

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement to its end, and return its rows.

        Raises:
            Exception: Those of `translated`.
        """
        with self._translated():
            return executed(self.connection, statement)

    def found(self, text: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query that may take long, within the limits; see `reading`."""
        return [tuple(row.values()) for row in self.answer(text).to_pylist()]

    def finish(self, statement: str) -> None:
        """Run a statement that may take long, within the limits; see `reading`."""
        with self.reading(statement) as rows:
            for _ in rows:
                pass

    @property
    def limits(self) -> SqlLimits:
        """What each query may use."""
        return self._limits

    @property
    def memory(self) -> int:
        """Megabytes of memory that each query may use."""
        return self._limits.memory

    def check_rows(self, size: int) -> None:
        """Check that rows of an answer, in bytes, are not too many to return.

        Raises:
            LimitError: They are.
        """
        if self._limits.rows and size > self._limits.rows * _BYTES_OF_MEGABYTE:
            words = f"the answer has more than {self._limits.rows:,} MB of rows: ask for fewer"
            raise LimitError(Limit.MEMORY, words)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn errors inside the block into others; see `translated`.

        Raises:
            TablesError: A file of the relations is damaged: what DuckDB made of it is no answer.
        """
        try:
            with translated(self._limits.memory, is_of_user=self._is_of_users):
                yield
        finally:
            self._check_files()

    def add_table(self, name: str, columns: Any, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add a table, in place of one with the same name; ``columns`` is an Arrow schema."""
        self.add_batches(name, columns, batches_of(rows, columns))

    def add_batches(self, name: str, columns: Any, batches: Iterable[Any]) -> None:
        """Add a table of record batches; see `add_table`."""
        reader = arrow.RecordBatchReader.from_batches(columns, batches)
        self.connection.register("added", reader)
        self.run(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM added")
        self.connection.unregister("added")

    def patience(self) -> Callable[[], None]:
        """Return a function that raises an error from the time on when an answer is not waited for.

        Raises:
            LimitError: It takes longer than the limit.
        """
        limits = self._limits
        end = self._end or self._end_from_now()

        def check() -> None:
            limits.keep_on()
            if end is not None and time.monotonic() > end:
                raise LimitError(
                    Limit.TIME,
                    f"stopped after {limits.seconds:g} seconds: ask for less, or allow more time",
                )

        return check

    def _end_from_now(self) -> float | None:
        return time.monotonic() + self._limits.seconds if self._limits.seconds else None

    @contextmanager
    def reading(self, text: str, rows: int = _ROWS) -> Iterator["SqlRows"]:
        """Yield the answer of a query while it is made; see `run`.

        Args:
            text: The query.
            rows: Number of rows of a record batch, about.
        """
        with SqlRows(self.connection, text, rows, self.patience(), self._translated) as answer:
            yield answer
            self._check_files()

    def answer(self, text: str) -> Any:
        """Return the answer of a query as an Arrow table; see `run`.

        Args:
            text: The query: SELECT (also as WITH, FROM, VALUES, PIVOT, DESCRIBE, SUMMARIZE, SHOW)
                or EXPLAIN.
        """
        with self.reading(text) as rows:
            return with_integers(arrow.Table.from_batches(rows, rows.schema))

    @contextmanager
    def apart(self, **limits: Any) -> Iterator[Self]:
        """Yield another connection to the same relations, with variables and views of its own.

        Any thread may call it. All its queries together may take the seconds of its limits.

        Args:
            **limits: Its limits (`SqlLimits`), if they are others; its memory is the same.
        """
        other = copy(self)
        other.connection = self.connection.cursor()
        other._values, other._definitions = {}, {}
        other._limits = replace(self._limits, **limits)
        other._end = other._end_from_now()
        try:
            yield other
        finally:
            other.connection.close()

    def close(self) -> None:
        self.connection.close()


class ShownRelations(RelationsDatabase):
    """A DuckDB in memory that shows the relations of a store, for statements of ArcLink itself.

    ``links_by_page`` has most columns of the links in another order
    (`arclink.analysis.relations.writing`). ``numbered_texts`` and ``numbered_words``
    have ``text_part`` and ``text_row``, by which words are found: names of contents are long.

    What the store does not show is not in the views either (`arclink.analysis.relations.columns`).

    Args:
        where: The path or URL of the store. If it is empty, or its relations cannot be written next
            to it, they are made for this use.
        store: The store, or a view of it.
        limits: What each query may use.
        folder: Folder for temporary files; that of the system if not given.
        files: The relations, if the caller has opened them; closed with this.
        with_texts: Whether it shows texts and words, too (`held_relations`).

    Attributes:
        has_texts: Whether texts of contents were read; without them, `texts` and `words` are empty.

    Raises:
        OperatorError: The relations cannot be written.
        StoreError: The store cannot be read.
    """

    def __init__(
        self,
        where: str,
        store: Scans,
        limits: SqlLimits | None = None,
        folder: Path | None = None,
        files: HeldRelations | None = None,
        *,
        with_texts: bool = False,
    ) -> None:
        with ExitStack() as opened:
            if files is not None:
                opened.enter_context(files)
            # The next process removes the files of one that was killed.
            parent = folder or Path(tempfile.gettempdir())
            work = opened.enter_context(folder_next_to(parent / "sql"))
            if files is None:
                held = partial(held_relations, where, store.whole, with_texts=with_texts)
                try:
                    files = held(None if where else work / "tables")
                except FullDiskError:
                    raise
                except WriteError:  # the folder of the store is read-only
                    files = held(work / "tables")
                opened.enter_context(files)
            super().__init__(limits, work)
            opened.callback(self.connection.close)
            self._check_files = files.check
            files.show_to(self.connection)
            self._names = [name for names in files.names.values() for name in names]
            self.has_texts = bool(files.names.get("texts"))
            if store is store.whole:
                self.run(f"CREATE VIEW captures AS FROM {_rows_of('captures', files)}")
                self._show(files)
            else:
                self._show_part(files, store)
            self._opened = opened.pop_all()

    def _show(self, files: HeldRelations, condition: str = "true") -> None:
        """Show the relations except for captures, of contents that meet a condition of SQL."""
        for name in ("links", "links_by_page", "texts"):
            self.run(f"CREATE VIEW {name} AS FROM {_rows_of(name, files)} WHERE {condition}")
        texts = _rows_of_parts("texts", "content, title, is_cut", "file_row_number", files)
        words = _rows_of_parts("words", "word, times, places", "content", files)
        if condition != "true":
            texts = f"SELECT * FROM ({texts}) WHERE {condition}"
            words = f"FROM ({words}) SEMI JOIN ({texts}) USING (text_part, text_row)"
        self.run(f"CREATE VIEW numbered_texts AS {texts}")
        self.run(f"CREATE VIEW numbered_words AS {words}")
        self.run(
            "CREATE VIEW words AS SELECT word, content, times, places "
            f"FROM ({words}) JOIN ({texts}) USING (text_part, text_row)"
        )

    def _show_part(self, files: HeldRelations, store: Scans) -> None:
        """Show the captures of a view, and the links of the contents that they show.

        A view may show a capture, but not what it shows: a revisit of a payload that only a hidden
        capture holds.
        """
        keys = [(f"shown_{name}", arrow.string()) for name in KEY]
        values = [RELATION.getters[name] for name in KEY]
        found = (
            (*(value(one) for value in values), store.shows_payload(one))
            for one in store.scan_mementos()
        )
        self.add_table("shown", arrow.schema([*keys, ("is_shown", arrow.bool_())]), found)
        # IS NOT DISTINCT FROM: a checksum may be null.
        same = " AND ".join(f"{sql} IS NOT DISTINCT FROM shown_{name}" for name, sql in KEY.items())
        part = f"FROM {reading(files.names['captures'])} AS c SEMI JOIN"
        self.run(
            f"CREATE TABLE captures AS SELECT c.* {part} shown ON {same} AND is_shown UNION ALL "
            "SELECT c.* REPLACE (NULL AS content, NULL AS title, status AS shown_status, "
            f"NULL AS shown_mime) {part} shown ON {same} AND NOT is_shown"
        )
        self.run("DROP TABLE shown")
        self._show(files, "content IN (SELECT content FROM captures WHERE content IS NOT NULL)")

    def close(self) -> None:
        self._opened.close()


def _rows_of(relation: str, files: HeldRelations) -> str:
    """Return the SQL of a relation; without files, it has no rows."""
    if paths := files.names.get(relation):
        return reading(paths)
    columns = ", ".join(f"NULL::{column.kind} AS {column.name}" for column in RELATIONS[relation])
    return f"(SELECT {columns} WHERE false)"


def _rows_of_parts(relation: str, columns: str, row: str, files: HeldRelations) -> str:
    """Return the SQL of texts or words with the numbers of part and row of a content's text."""
    parts = (
        f"SELECT {columns}, {part} AS text_part, {row}::BIGINT AS text_row "
        f"FROM read_parquet({quoted(name)}, file_row_number = true)"
        for part, name in enumerate(files.names.get(relation, ()))
    )
    nothing = f"SELECT {columns}, 0 AS text_part, 0::BIGINT AS text_row"
    return " UNION ALL ".join(parts) or f"{nothing} FROM {_rows_of(relation, files)}"


class SqlDatabase(ShownRelations):
    """Answers SQL of users over the relations; see `ShownRelations`.

    Args:
        where: See `ShownRelations`.
        store: See `ShownRelations`.
        limits: What each query may use.
        is_closed: Whether users may not see what ``store`` hides. The files have all of it, and
            a query can name them as a view does: so their links are copied then.
    """

    def __init__(
        self,
        where: str,
        store: Scans,
        limits: SqlLimits | None = None,
        *,
        is_closed: bool = False,
    ) -> None:
        super().__init__(where, store, limits, with_texts=not is_closed or store is store.whole)
        for name in ("links_by_page", "numbered_texts", "numbered_words"):
            self.run(f"DROP VIEW {name}")  # what users need is in the others
        if not self.has_texts:
            # No row would look like none. Of a closed database, copies could have any size.
            self.run("DROP VIEW texts")
            self.run("DROP VIEW words")
        if is_closed and store is not store.whole:
            with super().reading("CREATE TABLE shown AS FROM links"):
                pass
            self.run("DROP VIEW links")
            self.run("ALTER TABLE shown RENAME TO links")
            self._names = []
        self._is_of_users = True
        self.run(f"SET allowed_paths = [{', '.join(map(quoted, self._names))}]::VARCHAR[]")
        for setting in (
            f"max_temp_directory_size = '{_TEMPORARY * self._limits.memory}MB'",
            "autoinstall_known_extensions = false",
            "autoload_known_extensions = false",
            "python_enable_replacements = false",  # no variable of Python is a table
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self.run(f"SET {setting}")

    @contextmanager
    def reading(self, text: str, rows: int = _ROWS) -> Iterator["SqlRows"]:
        self._check(text)
        # A part of a query could change rows: WITH one AS (DELETE …). Nothing else than the files
        # and a folder for temporary files can be reached, but the next query would see it.
        self.connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            with super().reading(text, rows) as answer:
                yield answer
        finally:
            with suppress(duckdb.TransactionException):  # an error has ended it
                self.connection.execute("ROLLBACK")

    def split(self, text: str) -> list[str]:
        """Return the statements of a text.

        Raises:
            SqlError: It cannot be read.
        """
        with self._translated():
            return [statement.query for statement in self.connection.extract_statements(text)]

    def _check(self, text: str) -> None:
        """Check that a text is one query, alone or after EXPLAIN.

        DuckDB's parser decides. Its kinds of statements do not suffice: one with PIVOT consists of
        several steps and has a kind of its own, whether it reads, makes a table or writes a file.
        Only a query can be a table of another query.

        Raises:
            SqlError: It is anything else.
        """
        with self._translated():
            statements = self.connection.extract_statements(text)
        explained = _EXPLAIN.match(text)
        if explained and len(statements) == 1:
            self._check(text[explained.end() :])
        elif [one.type for one in statements] not in _QUERIES or not any(
            self._is_table(query) for query in (text, _END.sub("", text))
        ):
            raise SqlError(
                "one query is expected, such as SELECT, FROM, SUMMARIZE or EXPLAIN; nothing can "
                "be changed"
            )

    def _is_table(self, query: str) -> bool:
        try:
            found = self.connection.extract_statements(f"FROM (\n{query}\n)")
        except duckdb.Error:
            return False
        return [one.type for one in found] in _QUERIES


class SqlRows(Closing):
    """The rows of an answer, as Arrow record batches.

    A thread of its own runs the query: DuckDB and Arrow do not notice Ctrl-C, and a waiting Python
    does.

    Attributes:
        schema: The columns.
    """

    def __init__(
        self,
        connection: Any,
        text: str,
        rows: int,
        patience: Callable[[], None],
        translating: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._connection, self._patience, self._translated = connection, patience, translating
        self._made: SimpleQueue[Any] = SimpleQueue()
        self._room = Semaphore(_BATCHES_AHEAD)
        self._is_closed = False
        self._thread = Thread(target=self._run, args=(text, rows), daemon=True)
        self._thread.start()
        try:
            self.schema = self._next()
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[Any]:
        while (batch := self._next()) is not None:
            yield batch
            self._room.release()

    def _run(self, text: str, rows: int) -> None:
        try:
            relation = self._connection.sql(text)
            if relation is None:  # a statement that makes or fills a table
                self._made.put(_NO_COLUMNS)
                self._made.put(None)
                return
            reader = relation.to_arrow_reader(rows)
            self._made.put(reader.schema)
            for batch in reader:
                self._room.acquire()
                if self._is_closed:
                    return
                self._made.put(batch)
            self._made.put(None)
        except BaseException as error:  # for the thread that waits for it
            self._made.put(error)

    def _next(self) -> Any:
        while True:
            try:
                item = self._made.get(timeout=_PATIENCE)
            except Empty:
                self._patience()
                continue
            if isinstance(item, BaseException):
                with self._translated():
                    raise item
            return item

    def close(self) -> None:
        self._is_closed = True
        self._room.release()
        while self._thread.is_alive():
            self._connection.interrupt()
            self._thread.join(_PATIENCE)


def with_integers(table: Any) -> Any:
    """Return a table with sums as integers of 64 bits, where DuckDB has 128 and Arrow decimals."""
    for index, field in enumerate(table.schema):
        if arrow.types.is_decimal(field.type) and field.type.scale == 0:
            with suppress(arrow.ArrowInvalid):  # a number that is too large
                column = table.column(index).cast(arrow.int64())
                table = table.set_column(index, field.name, column)
    return table


# Questions about the relations: ``questions/NAME.sql``, with values that are bound by name.
#
# A text has statements that define views and macros, and ends with one query. It reads values as
# variables, ``getvariable('level')``: no value is ever a part of a text. Formats of exports run
# their scripts in the same way.

_COMMENTS = re.compile(r"(\s|--[^\n]*\n)*")
_COMMENT = re.compile(r"--[^\n]*")
_CREATES = re.compile(r"CREATE OR REPLACE TEMP (?:MACRO|VIEW) (\w+)")


def statements_of(database: RelationsDatabase, text: str) -> list[str]:
    """Return the statements of a text, without the comments before them."""
    statements = database.connection.extract_statements(text)
    return [_COMMENTS.sub("", statement.query, count=1).strip() for statement in statements]


def ask(
    database: RelationsDatabase, *names: str, values: Mapping[str, object] | None = None
) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a question, in the order of its query.

    Args:
        database: The relations.
        *names: The texts: those of views that it uses, and its own.
        values: What it asks for.

    Raises:
        OperatorError: The files of the relations cannot be read.
    """
    query = prepared(database, text_of(COMMON, *names), values or {})
    rows: Sequence[Mapping[str, Any]] = database.answer(query).to_pylist()
    return rows


def prepared(
    database: RelationsDatabase,
    text: str,
    values: Mapping[str, object],
    run: Callable[[str], object] | None = None,
) -> str:
    """Return the query at the end of a text, after those definitions were made that it uses.

    Args:
        database: The relations.
        text: The text.
        values: The values of its variables.
        run: Runs the statements that make and fill tables; `RelationsDatabase.finish` if not given.
    """
    database.set(values)
    if text not in _NEEDED:
        _NEEDED[text] = _needed(statements_of(database, text))
    *steps, query = _NEEDED[text]
    for statement in steps:
        if created := _CREATES.match(statement):
            database.define(created[1], statement)
        else:
            (run or database.finish)(statement)
    return query


_NEEDED: dict[str, Sequence[str]] = {}
"""The statements of texts."""


def _needed(statements: Sequence[str]) -> Sequence[str]:
    """Return the query at the end after those definitions that it uses, directly or not."""
    *steps, query = statements
    needed = [query]
    for step in reversed(steps):
        created = _CREATES.match(step)
        is_used = created and any(
            re.search(rf"\b{created[1]}\b", _COMMENT.sub("", one)) for one in needed
        )
        if is_used or not created:
            needed.insert(0, step)
    return needed
