"""JSON lines: one member a line, outlinks first; each line says its direction."""

from collections.abc import Iterator

import orjson

from arclink.access.answers import LinkAnswer
from arclink.access.formats.fields import MemberFields, member_fields
from arclink.access.queries import Direction


def write_json_lines(answer: LinkAnswer) -> Iterator[bytes]:
    """Yield one line per member; nothing at all if there is none."""
    for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks)):
        for member in members:
            fields = member_fields(member, direction, answer.replay, with_evidence=answer.query.with_evidence)
            yield orjson.dumps(MemberFields(direction=direction.value, **fields), option=orjson.OPT_APPEND_NEWLINE)
