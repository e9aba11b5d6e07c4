"""Hosts and domains that links come from and lead to, in total and through time."""

from functools import partial

from arclink.access.chronicles import Chronicle
from arclink.access.known_hosts import KnownHosts
from arclink.access.levels import GroupLevel, LevelQuery, answer_level
from arclink.access.queries import Direction
from arclink.access.reader import Reading
from arclink.access.texts import printable_uri
from arclink.charts.time_axis import Axis, most_of
from arclink.service.pages.glance import host_lane, lanes_picture, linking_gaps, own_gaps
from arclink.service.pages.requests import Asked
from arclink.service.pages.saving import all_formats, side_files, side_formats
from arclink.service.settings import Settings
from arclink.store.protocols import Answers

LIMIT = 200
"""Default number of hosts per direction."""


def show_places(
    asked: Asked, store: Answers, settings: Settings, chronicle: Chronicle, axis: Axis
) -> dict[str, object]:
    """Return the template's data for hosts or domains.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store cannot be read.
    """
    query = LevelQuery.from_parameters(
        asked.given, level=GroupLevel.HOST, period=chronicle.unit, limit=LIMIT
    )
    level = query.level.value
    answer = answer_level(store, query, settings.budget, chronicle.seen)
    # Both lists have one scale, so that a reader can compare linking hosts with linked hosts.
    full = most_of(row.links.over_time for rows in answer.counted.values() for row in rows)
    known = KnownHosts(
        Reading(store, query.links),
        axis.unit,
        with_subdomains=query.level is GroupLevel.DOMAIN,
    )
    gaps = {
        Direction.IN: linking_gaps(axis, known),
        Direction.OUT: own_gaps(axis, chronicle),
    }
    sides = {
        direction.value: [
            (host_lane(row.links, axis, full, gaps[direction]), row.counts)
            for row in answer.counted[direction]
        ]
        for direction in (Direction.IN, Direction.OUT)
        if direction in answer.counted
    }

    files = {side: (links, answer.extents[side]) for side, links in answer.links.items()}
    tables = {side: formats for side, formats in side_formats().items() if side in sides}
    return {
        "level": level,
        "levels": [(name, asked.changed({"level": name})) for name in ("host", "domain")],
        "sides": sides,
        "full": full,
        "totals": {direction.value: len(links) for direction, links in answer.links.items()},
        "is_complete": all(extent.is_complete for extent in answer.extents.values()),
        "everything": asked.changed({"limit": "0"})
        if any(len(answer.links[side]) > len(rows) for side, rows in answer.counted.items())
        else None,
        "tables": tables,
        "downloads": all_formats(tables),
        "pictures": {
            **side_files(query.links.uri, files.__getitem__, files),
            **{
                f"hosts-{side}": partial(
                    lanes_picture,
                    f"{title} {printable_uri(query.links.uri)}",
                    [one for one, _ in sides[side]],
                    axis,
                    side,
                    full,
                )
                for side, title in (("in", "Links to"), ("out", "Links of"))
                if side in sides
            },
        },
    }
