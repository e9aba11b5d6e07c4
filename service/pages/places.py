"""Hosts and domains that links come from and lead to, in all and through time."""

from arclink.access.chronicles import Chronicle
from arclink.access.levels import LevelQuery, answer_level
from arclink.access.queries import Direction
from arclink.store import GraphStore
from service.pages.asking import Asked, download
from service.pages.drawing import Axis
from service.pages.glance import host_lane
from service.settings import Settings

LIMIT = "200"
"""Hosts per direction, if nothing else is asked for."""


def show_places(asked: Asked, store: GraphStore, settings: Settings, chronicle: Chronicle, axis: Axis) -> dict[str, object]:
    """Return what the template shows of hosts or domains.

    Raises:
        BadParameterError: A parameter is wrong.
        StoreError: The store is away.
    """
    level = asked.get("level", "host")
    defaults = {"level": level, "by": chronicle.unit.name.lower(), "limit": LIMIT}
    missing = [(name, value) for name, value in defaults.items() if not asked.get(name)]
    query = LevelQuery.from_parameters([*asked.given, *missing])
    answer = answer_level(store, query, settings.budget)
    sides = {
        direction.value: [(host_lane(one, axis), one.counts) for one in answer.counted[direction]]
        for direction in (Direction.IN, Direction.OUT)
        if direction in answer.counted
    }
    given = [*(pair for pair in asked.given if pair[0] not in ("limit", "level")), ("level", level)]
    return {
        "level": level,
        "levels": [(name, asked.changed({"level": name})) for name in ("host", "domain")],
        "sides": sides,
        "totals": {direction.value: total for direction, total in answer.totals.items()},
        "is_complete": all(extent.is_complete for extent in answer.extents.values()),
        "everything": asked.changed({"limit": "0"})
        if any(answer.totals[side] > len(answer.counted[side]) for side in answer.counted)
        else None,
        "downloads": [(form, download("linkQuery", [*given, ("format", form)])) for form in ("json", "jsonl", "csv")],
    }
