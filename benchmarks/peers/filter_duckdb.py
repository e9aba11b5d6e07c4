"""Filter in SQL: DuckDB applies ArcLink's rules to CDX rows.

The program writes mementos and pointers as ArcLink's filter does, and prints counts.

    python -m benchmarks.peers.filter_duckdb CDX RULES FOLDER
"""

import json
import sys
from pathlib import Path

import duckdb

EXTENSION = r"^(?:[^:/?#]*:(?://[^/?#]*)?)?(?:[^?#]*/)?([^?#;]*)"
"""The last part of a URI's path, without parameters."""

COLUMNS = [
    "key",
    "timestamp",
    "original",
    "mime",
    "status",
    "checksum",
    "redirect",
    "meta",
    "length",
    "offset_",
    "file",
]

JUDGED = """
CREATE TEMP TABLE judged AS
WITH captures AS (
  SELECT *, mime = 'warc/revisit' AS is_revisit, regexp_extract(original, $name, 1) AS name
  FROM read_csv($cdx, delim = ' ', header = false, skip = 1, quote = '', escape = '', auto_detect = false, columns = $columns)
)
SELECT * EXCLUDE (name, redirect, meta), CASE
  WHEN status LIKE '3%' AND status <> '304' THEN 'redirect'
  WHEN NOT is_revisit AND NOT list_contains($statuses, status) THEN 'MEMENTO_STATUS'
  WHEN NOT is_revisit AND NOT list_contains($mimes, lower(split_part(mime, ';', 1))) THEN 'MEMENTO_MIME'
  WHEN list_contains($extensions, lower(regexp_extract(name, '.[.]([^.]*)$', 1))) THEN 'MEMENTO_EXTENSION'
  WHEN checksum IN ('-', $empty) THEN CASE WHEN is_revisit THEN 'not modified' ELSE 'undigested' END
  ELSE 'candidate' END AS fate
FROM captures
"""

POINTERS = """
CREATE TEMP TABLE pointers AS
SELECT 'payload' AS kind, checksum, count(*) AS captures, count(*) FILTER (NOT is_revisit) AS payloads,
  arg_min({'file': file, 'offset': offset_, 'length': length, 'timestamp': timestamp, 'original': original},
          (timestamp, original, file, offset_)) FILTER (NOT is_revisit) AS earliest,
  list(DISTINCT original) AS originals
FROM judged WHERE fate = 'candidate' GROUP BY checksum
UNION ALL
SELECT fate, checksum, 1, CASE fate WHEN 'not modified' THEN 0 ELSE 1 END,
  {'file': file, 'offset': offset_, 'length': length, 'timestamp': timestamp, 'original': original}, [original]
FROM judged WHERE fate IN ('redirect', 'undigested', 'not modified')
"""

MEMENTOS = """
SELECT key, timestamp, original, checksum, status, mime, CASE WHEN is_revisit THEN 'revisit' ELSE 'response' END,
  file, offset_, length, CASE fate WHEN 'candidate' THEN '-' ELSE fate END
FROM judged WHERE fate NOT IN ('redirect', 'undigested', 'not modified')
"""

COUNTS = """
SELECT fate, count(*) FROM judged WHERE fate LIKE 'MEMENTO%' GROUP BY fate
UNION ALL SELECT 'MEMENTO_WITH_PAYLOAD', count(*) FROM pointers WHERE payloads > 0
UNION ALL SELECT 'MEMENTO_DUPLICATE', sum(captures - CASE WHEN payloads > 0 THEN 1 ELSE 0 END) FROM pointers
"""


def run(cdx: str, rules: dict[str, list[str]], folder: Path) -> dict[str, int]:
    """Return the counts by reason."""
    types = {name: "BIGINT" if name in {"length", "offset_"} else "VARCHAR" for name in COLUMNS}
    with duckdb.connect() as connection:
        connection.execute(
            JUDGED,
            {
                "cdx": cdx,
                "name": EXTENSION,
                "columns": types,
                "statuses": rules["statuses"],
                "mimes": rules["mimes"],
                "extensions": rules["extensions_excluded"],
                "empty": rules["empty"][0],
            },
        )
        connection.execute(POINTERS)
        written = "(FORMAT csv, DELIMITER '\t', HEADER false)"
        connection.execute(f"COPY ({MEMENTOS}) TO '{folder / 'mementos.tsv'}' {written}")
        connection.execute(f"COPY pointers TO '{folder / 'pointers.tsv'}' {written}")
        return {reason: int(count) for reason, count in connection.execute(COUNTS).fetchall()}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3]))))
