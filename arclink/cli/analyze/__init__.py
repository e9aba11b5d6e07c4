"""The ``arclink analyze`` commands: one module per analysis, imported when it is called."""

from arclink.cli.lazy_group import LazyCommands

command = LazyCommands(
    "analyze",
    package="arclink.cli.analyze",
    about="Analyse the whole graph: ranks, words, histories, paths.",
    sections={
        "The whole graph": {
            "properties": "A report of sizes, degrees and components.",
            "pagerank": "Temporal PageRank: the top nodes of each window of time.",
        },
        "Words and links through time": {
            "anchors": "The words of links to a URI, host or domain, weighted by tf-idf.",
            "decay": "The share of links that remain after n months.",
            "churn": "The number of links that pages gain and lose, per host and month.",
            "spread": "The first links to a URI, host or domain, and their spread.",
            "path": "A path of links between two URIs that follows time.",
        },
    },
)
