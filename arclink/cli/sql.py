"""``arclink sql 'SELECT …'``: questions about captures and links in SQL."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arclink.access.declarations import (
    PATH,
    SQL,
    SUBSET,
    Given,
    Parameter,
    named,
    number,
    whole_number,
)
from arclink.access.provenance import provenance_of, today
from arclink.cli.options import GRAPH, STORE, open_requested_graph, takes, write_answer
from arclink.errors import ArclinkError, Limit, LimitError
from arclink.store.location import name_of_store
from arclink.store.protocols import Scans

if TYPE_CHECKING:
    from arclink.analysis.relations.database import SqlDatabase

EXAMPLES = (
    "arclink sql 'SELECT host, count(*) FROM captures GROUP BY ALL' --store links.db",
    "arclink sql --store links.db",
)

FORMAT = Parameter(
    "format",
    "Format of the answer.",
    named({name: name for name in ("table", "csv", "json", "parquet", "csvw")}),
    default="table",
)
INTO = Parameter(
    "into",
    "Output file; next to a CSV file, FILE-metadata.json says what its columns are and where they "
    "are from (CSVW).",
    PATH,
    metavar="FILE",
    otherwise="standard output",
)
MEMORY = Parameter(
    "memory",
    "Megabytes of memory that a query may use; more goes to temporary files.",
    whole_number(None, least=100),
    default="2000",
    metavar="MB",
)
SECONDS = Parameter(
    "seconds",
    "Seconds after which a query is stopped.",
    number(least=0, is_above=True),
    metavar="SECONDS",
    otherwise="no limit",
)

_RULES = (
    "Tables: captures, links. A query ends with a semicolon, such as DESCRIBE links; "
    "Ctrl-D ends the shell."
)


@click.command()
@takes(SQL, *GRAPH, FORMAT, INTO, MEMORY, SECONDS)
def command(given: Given) -> None:
    """Answer a query about the tables `captures` and `links` of a store, or of a subset of it.

    The tables are made on first use, or copied from where tasks have written them, and kept next to
    the store (`arclink tables`). Queries can only read them.
    docs/reference/relations.md lists the columns.
    """
    from arclink.extras import analysis_extra

    with analysis_extra():
        import duckdb  # noqa: F401
        import pyarrow  # noqa: F401
    from arclink.analysis.relations.database import SqlDatabase, SqlLimits

    limits = SqlLimits(MEMORY.required(given), SECONDS.optional(given) or 0)
    query = SQL.optional(given)
    where = STORE.required(given)
    with ExitStack() as opened:
        store = opened.enter_context(open_requested_graph(given))
        database = opened.enter_context(SqlDatabase(where, store, limits))
        if query is not None:
            _answer(database, store, query, given)
        elif sys.stdin.isatty():
            _shell(database, store, given)
        else:
            for text in database.split(sys.stdin.read()):
                _answer(database, store, text, given)


def _answer(database: "SqlDatabase", store: Scans, text: str, given: Given) -> None:
    from arclink.access.formats.rows import with_provenance
    from arclink.analysis.relations.answers import SQL_FORMATS, sql_as_csvw

    form, into = FORMAT.required(given), INTO.optional(given)
    archive, asked = name_of_store(STORE.required(given)), Given({SQL.name: (text,)})
    origin = provenance_of(store, archive, "sql", asked, (SQL, SUBSET))
    try:
        with database.reading(text) as rows:
            rows.schema = with_provenance(rows.schema, origin.as_fields(today() if into else ""))
            metadata = partial(sql_as_csvw, rows.schema) if form == "csv" else None
            write_answer(SQL_FORMATS[form](rows), into, metadata)
    except LimitError as error:
        option = {Limit.TIME: SECONDS, Limit.MEMORY: MEMORY}[error.limit]
        raise LimitError(error.limit, f"{error} (--{option.name})") from error


def _shell(database: "SqlDatabase", store: Scans, given: Given) -> None:
    """Answer queries that a person writes, until the end of input."""
    click.echo(_RULES)
    for text in typed(_with_history()):
        try:
            _answer(database, store, text, given)
        except ArclinkError as error:
            click.echo(str(error), err=True)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)


def typed(read: Callable[[str], str]) -> Iterator[str]:
    """Yield the queries that a person writes; a line that begins with a dot shows the rules."""
    lines: list[str] = []
    while True:
        try:
            lines.append(read("   ...> " if lines else "arclink> "))
        except KeyboardInterrupt:
            click.echo()
            lines = []
            continue
        except EOFError:
            click.echo()
            return
        text = "\n".join(lines).strip()
        if text in (".quit", ".exit"):
            return
        if text.startswith("."):
            click.echo(_RULES)
            lines = []
        elif text.endswith(";") or not text:
            lines = []
            if text:
                yield text


def _with_history() -> Callable[[str], str]:
    """Return `input` with the lines of earlier shells, where Python has them."""
    try:
        import readline
    except ImportError:
        return input
    import atexit

    path = Path(click.get_app_dir("arclink")) / "sql_history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            readline.read_history_file(path)
    except OSError:
        return input
    readline.set_history_length(1_000)
    atexit.register(_keep_history, readline, path)
    return input


def _keep_history(readline: Any, path: Path) -> None:
    try:
        readline.write_history_file(path)
        path.chmod(0o600)  # queries may name people
    except OSError:
        return
