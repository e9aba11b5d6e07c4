"""Parameters that several operations share."""

from arclink.access.declarations import PATH, AnyParameter, Parameter, switch, whole_number

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
