"""The other doors of each command: Python and HTTP, or the reason why it has none.

A command has a function or a method of its name, unless it is named here. Tests compare these
tables with `SECTIONS`, the package and the resources of the service; docs/reference/doors.md shows
them.
"""

from typing import Final

IN_PYTHON = {
    "links": ("LinkGraph.outlinks", "LinkGraph.inlinks"),
    "analyze": ("LinkGraph.pagerank", "LinkGraph.path", "LinkGraph.properties"),
}
"""Commands that are neither functions nor methods of their own name, and their names in Python."""

_A_STAGE = "a step of `arclink.build`; by hand it is for jobs on a cluster, which shells start"
_RUNS_ON = "it runs until it is stopped"

NOT_IN_PYTHON = {
    "demo-archive": "it is for trying ArcLink; a program has an archive of its own",
    "open": _RUNS_ON,
    "serve": _RUNS_ON,
    "mcp": _RUNS_ON,
    "schema": "an administrator of Cassandra runs it once",
    "plan": "it is read before there is a cluster",
    "pack": "it is for workers of a cluster, before they have ArcLink",
    "filter": _A_STAGE,
    "extract": _A_STAGE,
    "graph": _A_STAGE,
}
"""Commands that Python does not have, with the reason."""

OVER_HTTP: Final = {
    "links": "/linkQuery",
    "anchors": "/anchors",
    "diff": "/diff",
    "timemap": "/timemap/json/{uri}",
    "explain": "/explain",
    "get": "/web/{time}id_/{uri}",
    "stream": "/stream",
    "ask": "/ask/{question}",
    "aggregate": "/aggregate",
    "analyze pagerank": "/pagerank",
    "analyze path": "/path",
    "analyze properties": "/properties",
    "subsets": "/subsets",
    "count": "/count",
    "export": "/export",
}
"""The resource that answers as a command does."""

_CHANGES = "a service changes nothing in its store"
_WRITES = "it writes files"
_OF_BUILD = "it is a stage of a build"
_OF_OWNER = "it is for the owner of the store, on the machine where it is"

NOT_OVER_HTTP: Final = {
    "demo-archive": _WRITES,
    "open": "it starts a service on this machine",
    "build": _CHANGES,
    "fetch": _WRITES,
    "sql": "a query may cost anything; a service answers the questions that it knows",
    "select": _CHANGES,
    "serve": "it is the service",
    "mcp": "agents start it themselves; it asks the same resources",
    "stats": "it reads half of the store; the first page has the sums",
    "tables": _OF_OWNER,
    "verify": _OF_OWNER,
    "backup": _OF_OWNER,
    "upgrade": _CHANGES,
    "restore": _CHANGES,
    "forget": _CHANGES,
    "schema apply": _CHANGES,
    "plan": "it is read before there is a store",
    "pack": _WRITES,
    "index": _OF_BUILD,
    "filter": _OF_BUILD,
    "extract": _OF_BUILD,
    "graph": _OF_BUILD,
    "load": _OF_BUILD,
}
"""Commands that no resource answers, with the reason."""
