"""The ``arclink analyze`` commands: one module per analysis, imported when it is called."""

from arclink.cli.lazy_group import LazyCommands

command = LazyCommands(
    "analyze",
    about="Analyse the whole graph: ranks, words, histories, paths.",
    sections={
        "The whole graph": {
            "properties": "arclink.cli.analyze.properties",
            "pagerank": "arclink.cli.analyze.pagerank",
        },
        "Words and links through time": {
            "anchors": "arclink.cli.analyze.anchors",
            "decay": "arclink.cli.analyze.decay",
            "churn": "arclink.cli.analyze.churn",
            "spread": "arclink.cli.analyze.spread",
            "path": "arclink.cli.analyze.path",
        },
    },
)
