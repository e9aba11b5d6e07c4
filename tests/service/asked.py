"""Questions to each capability, for tests of all doors."""

from collections.abc import Mapping

PAGE, OTHER = "http://snowblind.blog.example/", "http://lyzhnya.example/"

ASKED: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "anchors": ({"uri": PAGE}, {"uri": PAGE, "by": "month,host", "limit": "3", "kinds": "a@href"}),
    "diff": (
        {"uri": PAGE, "from": "2009", "to": "201003"},
        {"uri": PAGE, "from": "2009", "to": "2010", "direction": "in", "limit": "2"},
    ),
    "count": ({}, {"by": "year"}, {"by": "host"}),
    "path": (
        {"begin": PAGE, "end": OTHER},
        {"begin": PAGE, "end": OTHER, "find": "shortest", "most-hops": "2", "kinds": "all"},
        {"begin": PAGE, "end": "http://never.example/"},
    ),
    "pagerank": (
        {},
        {"by": "year", "level": "host", "top": "3", "weight": "links", "in-force": "true"},
        {"by": "month", "level": "host", "compare": "true", "captured": "true"},
        {"uri": PAGE, "level": "domain", "kinds": "all"},
    ),
    "properties": ({}, {"by": "year", "level": "host"}),
}
"""Questions to each capability; a new one needs some."""
