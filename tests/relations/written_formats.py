"""Exports of the demo store that are SQL scripts, and DuckDB as their reader."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from arclink.analysis.export.exports import Exported, export
from arclink.analysis.export.queries import ExportQuery
from arclink.captures.subsets.catalog import narrowed
from arclink.store.location import open_store


class Imported:
    """The database that DuckDB makes of a folder."""

    def __init__(self, folder: Path) -> None:
        self.connection = duckdb.connect()
        self.connection.execute(f"IMPORT DATABASE '{folder}'")

    def __call__(self, query: str) -> Sequence[tuple[str | None, ...]]:
        rows = self.connection.execute(query).fetchall()
        return [tuple(None if value is None else str(value) for value in row) for row in rows]


def written(store: Path, path: Path, form: str, subset: str = "") -> Exported:
    query = ExportQuery.from_parameters([("format", form)])
    with open_store(str(store)) as opened:
        return export(narrowed(opened, str(store), subset), query, path, str(store))


QUERIES = (
    """SELECT COUNT(*) AS count, fetch_status FROM "ccindex"."ccindex"
       WHERE crawl = 'demo' AND subset = 'crawldiagnostics'
       GROUP BY fetch_status ORDER BY count DESC, fetch_status""",
    """SELECT url, warc_filename, warc_record_offset, warc_record_length FROM "ccindex"."ccindex"
       WHERE crawl = 'demo' AND subset = 'warc'
       AND url_host_registered_domain = 'kalvik2010.example'
       AND regexp_like(url_path, '^/?(?:index\\.(?:html?|php))?$') AND url_query IS NULL""",
    """SELECT COUNT(*) AS n_pages, url_host_tld AS tld, COUNT(DISTINCT url_host_name) AS n_hosts,
       cardinality(split(url_host_name, '.')) AS parts FROM ccindex
       GROUP BY url_host_tld, cardinality(split(url_host_name, '.')) ORDER BY n_pages DESC""",
)
"""Queries in the form of those that Common Crawl has published."""
