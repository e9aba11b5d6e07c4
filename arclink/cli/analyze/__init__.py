"""The ``arclink analyze`` commands: one module per analysis, imported when it is called."""

from arclink.cli.main import LazyCommands

command = LazyCommands(
    "analyze",
    package="arclink.cli.analyze",
    about="Analyse the whole graph: sizes, ranks, paths.",
    sections={
        "The whole graph": {
            "properties": "A report of sizes, degrees and components.",
            "pagerank": "Temporal PageRank: the top nodes of each window of time.",
        },
        "Links through time": {
            "path": "A path of links between two URIs that follows time.",
        },
    },
)
