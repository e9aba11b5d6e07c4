"""What is found by name: in the tables of the core, and in the rooms after it.

The core takes nothing else from these rooms.

Each row is ``module:name``. A module is imported when its row is first used, so the core needs none
of their packages. The doors (`arclink.operations`,
`arclink.linkgraph`, `arclink.service`, `arclink.cli`) come after all rooms, and import them.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

CAPABILITIES: Final[Mapping[str, str]] = {
    "anchors": "arclink.access.formats.link_rows:ANCHORS",
    "diff": "arclink.access.formats.link_rows:DIFF",
    "count": "arclink.captures.subsets.view:COUNT",
    "path": "arclink.analysis.matrices.paths:PATH",
    "pagerank": "arclink.analysis.matrices.graph_queries:PAGERANK",
    "properties": "arclink.analysis.matrices.graph_queries:PROPERTIES",
}
"""What can be asked and is answered in rows (`arclink.access.capabilities`), by its name."""

STORES: Final[Mapping[str, str]] = {
    "cassandra": "arclink.engines.cassandra.location:CassandraLocation"
}
"""Stores on servers by the scheme of their URLs (`arclink.store.location.RemoteLocation`)."""

FILES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("hdfs", "webhdfs", "swebhdfs"), "arclink.engines.hdfs:files_in_hdfs"),
    **dict.fromkeys(("s3", "s3a"), "arclink.engines.object_store:ObjectStore"),
}
"""File systems of engines by the scheme of addresses: functions that return `EngineFiles`."""

READERS: Final[Mapping[str, str]] = dict.fromkeys(
    ("hdfs", "webhdfs", "swebhdfs"), "arclink.engines.hdfs:HdfsReader"
)
"""What reads archive files in place of fsspec (`arclink.network.engine_files.Reader`)."""

RUNNERS: Final[Mapping[str, str]] = {
    "hadoop": "arclink.engines.hadoop:QuickHadoopRunner",
    "emr": "arclink.engines.emr:LoggedEmrRunner",
    "spark": "arclink.engines.spark:run_alone",
}
"""What runs a job that is started by hand on an engine: runners of mrjob, a function for Spark."""

DERIVED: Final = "arclink.analysis.matrices.slice_cache:remove_derived"
DERIVED_AT_ADDRESSES: Final = "arclink.analysis.relations.forgetting:remove_at_addresses"
"""What a rebuild removes: all that was made of a store, next to it and at its addresses."""

WORDS: Final = "arclink.analysis.relations.selecting:facts_of_words"
TEXTS: Final = "arclink.analysis.relations.folder:shown_texts"
"""What finds the captures whose texts, titles or links have words, for selections; and which texts
it finds them in."""

JOBS: Final[Mapping[str, str]] = {
    "look": "arclink.jobs.look_at_files:LookAtFiles",
    "share": "arclink.jobs.share_rows:ShareRows",
    "index": "arclink.jobs.index_archives:IndexArchives",
    "filter": "arclink.jobs.filter_captures:FilterCaptures",
    "extract": "arclink.jobs.extract_links:ExtractLinks",
    "find": "arclink.jobs.find_captures:FindCaptures",
    "awaited": "arclink.jobs.find_awaited:FindAwaited",
    "join": "arclink.jobs.join_contents:JoinContents",
    "invert": "arclink.jobs.invert_links:InvertLinks",
    "load": "arclink.jobs.load_graph:LoadGraph",
    "tables": "arclink.jobs.write_tables:WriteTables",
}
"""The classes of the jobs that a command runs, by name (`arclink.mapreduce.runs.JOBS`)."""


def taken(row: str) -> Any:  # Any: each table says what its rows are
    """Return the object that a row of a table names.

    >>> taken("arclink.errors:InputError").__name__
    'InputError'
    """
    module, _, name = row.partition(":")
    return getattr(import_module(module), name)
