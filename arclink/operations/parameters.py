"""Parameters that several operations share."""

from arclink.access.declarations import PATH, AnyParameter, Parameter, switch, whole_number

STORE = Parameter(
    "store",
    "The link graph: a file such as links.db, or a URL such as sqlite:///links.db or "
    "cassandra://node1,node2/links.",
    PATH,
    is_required=True,
    metavar="PATH|URL",
    envvar="ARCLINK_STORE",
)
CORES = Parameter(
    "cores",
    "Number of parallel tasks; on an engine, the number of its cores.",
    whole_number(100_000, least=1),
    metavar="N",
    otherwise="the number of processors; on Hadoop, one for each 250 MB of a batch",
    see="reference/engines.md#options",
)
QUIET = switch("quiet", "Show only the summary, no progress.")
INPUTS = Parameter(
    "inputs",
    "Archive files, folders, globs, list files, or addresses of these.",
    PATH,
    is_required=True,
    is_list=True,
    is_positional=True,
    metavar="INPUT...",
    see="reference/inputs.md",
    keeps_empty=True,
)

ARCHIVES = Parameter(
    "archives",
    "Where archive files are now, if they were moved: a folder, a URL that ends in /, or a file "
    "with a name and a path on each line, separated by a tab.",
    PATH,
    is_list=True,
    metavar="FOLDER|INDEX",
    keeps_empty=True,
)

LAZY = switch(
    "lazy",
    "Also extract the data- attributes of lazy loading, such as data-src.",
    "explanation/data-model.md#kinds-of-links",
)
HERITRIX_OUTLINKS = switch(
    "heritrix-outlinks", "Add the links that Heritrix recorded for a page.", "reference/heritrix.md"
)
SOURCES: tuple[AnyParameter, ...] = (LAZY, HERITRIX_OUTLINKS)
"""The parameters that say where links are looked for."""
