"""JSON lines: one member a line, outlinks first; each line says its direction."""

from collections.abc import Iterator
from functools import partial

import orjson

from arclink.access.answers import LinkAnswer
from arclink.access.formats.fields import MemberFields, member_fields
from arclink.access.queries import Direction


def write_json_lines(answer: LinkAnswer) -> Iterator[bytes]:
    """Yield one line per member; nothing at all if there is none."""
    query = answer.query
    fields_of = partial(member_fields, replay=answer.replay, with_evidence=query.with_evidence, with_validity=query.with_validity)
    for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks)):
        for member in members:
            fields = MemberFields(direction=direction.value, **fields_of(member, direction))
            yield orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
