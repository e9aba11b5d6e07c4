"""Generated selections, and their meaning in SQL."""

from collections.abc import Sequence
from typing import Any

import duckdb
from hypothesis import strategies as st

from arclink.captures.subsets.fields import sample_bound, sample_number
from arclink.captures.subsets.language import (
    AllOf,
    AnyOf,
    Condition,
    Except,
    Selection,
    all_of,
    any_of,
    outside,
)
from arclink.model import Memento
from arclink.store.protocols import Scans
from arclink.timestamps import first_of, last_of
from arclink.uris.surts import surt_of_query

HOSTS = ["kalvik2010.example", "aurora-daily.example", "snowblind.blog.example", "nobody.example"]
PAGES = [
    "http://www.kalvik2010.example/",
    "http://www.kalvik2010.example/ceremony/opening.html",
    "http://aurora-daily.example/sport/kalvik.html",
    "http://nobody.example/",
]
VALUES = {
    "uri": [
        *PAGES,
        "*",
        "kalvik2010.example/*",
        "kalvik2010.example/ceremony/*",
        "*.blog.example",
        "*/*.html",
        "*/sport/*",
    ],
    "host": [*HOSTS, "*.blog.example", "*o*.example"],
    "domain": ["example", "blog.example", "kalvik2010.example", "nobody.example"],
    "prefix": ["example,blog", "example,kalvik2010)/c", "example,", "zz"],
    "from": ["2009", "200912", "2010-01-15", "201002"],
    "to": ["2009", "200912", "2010-01-15", "201002"],
    "status": ["200", "304", "2*", "300-399", "-"],
    "mime": ["text/html", "image/*", "*/*", "warc/revisit", "-"],
    "lang": ["unknown", "en", "fr", "de"],
    "file": ["demo-00000.warc.gz", "*-00003*", "demo-*"],
    "batch": ["1", "2-9"],
    "sample": ["0%", "10%", "50%", "100%"],
    "links-to": PAGES,
    "linked-from": PAGES,
}
PICKS = ["", "latest", "first", "nearest@20100115", "nearest@2009"]

conditions = st.sampled_from(
    [Condition(name, value) for name, values in VALUES.items() for value in values]
)


def _groups(parts: st.SearchStrategy[Selection]) -> st.SearchStrategy[Selection]:
    several = st.lists(parts, min_size=1, max_size=3)
    return st.one_of(
        st.builds(all_of, several, st.sampled_from(PICKS)),
        st.builds(any_of, several),
        st.builds(outside, parts),
    )


def selections_of(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Selection]:
    """Return selections that are made of some conditions."""
    return st.recursive(parts, _groups, max_leaves=6)


selections = selections_of(conditions)
"""Selections of captures of the demo archive."""

_COLUMNS = (
    "number INT, surt TEXT, host TEXT, original TEXT, time TEXT, status TEXT, mime TEXT, file "
    "TEXT, lang TEXT[], half DOUBLE"
)


class CaptureTable:
    """The captures of a store in DuckDB, with the links that an export has.

    Args:
        store: The store.
        links: The Parquet file of its links.
    """

    def __init__(self, store: Scans, links: str) -> None:
        self.mementos = list(store.scan_mementos())
        self._database = duckdb.connect()
        self._database.execute(f"CREATE TABLE captures ({_COLUMNS})")
        self._database.executemany(
            "INSERT INTO captures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [self._row(number, memento) for number, memento in enumerate(self.mementos)],
        )
        self._database.execute(
            f"""CREATE TABLE links AS
                SELECT coalesce(source_written, source) AS source, source_surt, target_surt,
                    strftime(unnest(timestamps) AT TIME ZONE 'UTC', '%Y%m%d%H%M%S') AS time
                FROM '{links}'"""
        )

    def selected(self, selection: Selection) -> list[Memento]:
        """Return the captures that a selection selects, in store order."""
        sql = f"SELECT number FROM ({sql_of(selection)}) ORDER BY number"
        return [self.mementos[number] for (number,) in self.rows(sql)]

    def rows(self, sql: str) -> Sequence[tuple[Any, ...]]:
        return self._database.execute(sql).fetchall()

    def _row(self, number: int, memento: Memento) -> tuple[object, ...]:
        host = memento.original.partition("://")[2].partition("/")[0].partition(":")[0]
        return (
            number,
            memento.surt,
            host.removeprefix("www.").removeprefix("www2.").lower(),
            memento.original,
            memento.timestamp,
            memento.status,
            memento.mime,
            memento.file,
            [] if memento.languages == "-" else memento.languages.split(","),
            float(sample_number(memento.surt, "")),
        )


def sql_of(selection: Selection) -> str:
    """Return the query for the numbers of the captures that a selection selects."""
    match selection:
        case Condition():
            return f"SELECT number FROM captures WHERE {_where(selection)}"
        case AllOf(parts, pick):
            every = " INTERSECT ".join(f"({sql_of(part)})" for part in parts)
            return _picked(every, pick) if pick else every
        case AnyOf(parts):
            return " UNION ".join(f"({sql_of(part)})" for part in parts)
        case Except(part):
            return f"SELECT number FROM captures EXCEPT ({sql_of(part)})"


def _picked(every: str, pick: str) -> str:
    which, _, time = pick.partition("@")
    if which == "latest":
        order = "number DESC"
    elif which == "first":
        order = "number"
    else:
        form = "'%Y%m%d%H%M%S'"
        order = (
            f"abs(epoch(strptime(time, {form})) - "
            f"epoch(strptime('{first_of(time)}', {form}))), number"
        )
    return f"""SELECT number FROM (
        SELECT number, row_number() OVER (PARTITION BY surt ORDER BY {order}) AS place
        FROM captures WHERE number IN ({every})) WHERE place = 1"""


def _like(value: str) -> str:
    return value.replace("_", "!_").replace("*", "%")


def _where(condition: Condition) -> str:
    value = condition.value
    like = f"LIKE '{_like(value)}' ESCAPE '!'"
    match condition.field:
        case "uri":
            return _where_uri(value)
        case "host" | "file" | "mime":
            return f"{condition.field} {like}"
        case "domain":
            return f"host = '{value}' OR host LIKE '%.{value}'"
        case "prefix":
            if value == "example,blog":
                return "surt LIKE 'example,blog)%' OR surt LIKE 'example,blog,%'"
            return f"starts_with(surt, '{value}')"
        case "from":
            return f"time >= '{first_of(value)}'"
        case "to":
            return f"time <= '{last_of(value)}'"
        case "status":
            if value == "300-399":
                return "status BETWEEN '300' AND '399'"
            return f"status {like}"
        case "lang":
            return "lang = []" if value == "unknown" else f"list_contains(lang, '{value}')"
        case "batch":
            return "true" if value == "1" else "false"
        case "sample":
            return f"half < {float(sample_bound(value))}"
        case "links-to":
            surt = surt_of_query(value)
            return f"""(original, time) IN
                (SELECT (source, time) FROM links WHERE target_surt = '{surt}')"""
        case "linked-from":
            surt = surt_of_query(value)
            return f"surt IN (SELECT target_surt FROM links WHERE source_surt = '{surt}')"
    raise AssertionError(condition)


def _where_uri(value: str) -> str:
    match value:
        case "*":
            return "true"
        case "kalvik2010.example/*":
            return "starts_with(surt, 'example,kalvik2010)/')"
        case "kalvik2010.example/ceremony/*":
            return (
                "starts_with(surt, 'example,kalvik2010)/ceremony/') OR "
                "surt = 'example,kalvik2010)/ceremony' OR "
                "starts_with(surt, 'example,kalvik2010)/ceremony?')"
            )
        case "*.blog.example":
            return "host = 'blog.example' OR host LIKE '%.blog.example'"
        case "*/*.html" | "*/sport/*":
            return f"lower(original) LIKE '{_like(value)}' ESCAPE '!'"
    return f"surt = '{surt_of_query(value)}'"
