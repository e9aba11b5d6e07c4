"""The ``arclink analyze`` commands: one module per analysis, imported when it is called."""

from arclink.cli.lazily import LazyCommands

command = LazyCommands(
    "analyze",
    about="Tell what the whole graph shows: ranks and more, by windows of time.",
    modules={"pagerank": "arclink.cli.analyze.pagerank"},
)
