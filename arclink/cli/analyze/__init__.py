"""The ``arclink analyze`` commands: one module per analysis, imported when it is called."""

from arclink.cli.lazily import LazyCommands

command = LazyCommands(
    "analyze",
    about="Tell what the whole graph shows: properties, ranks, words, histories and more, by windows of time.",
    modules={
        "properties": "arclink.cli.analyze.properties",
        "pagerank": "arclink.cli.analyze.pagerank",
        "anchors": "arclink.cli.analyze.anchors",
        "decay": "arclink.cli.analyze.decay",
        "churn": "arclink.cli.analyze.churn",
        "spread": "arclink.cli.analyze.spread",
        "path": "arclink.cli.analyze.path",
    },
)
