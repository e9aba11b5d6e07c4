"""JSON lines: one line per member, outlinks first; each line contains its direction."""

from collections.abc import Iterator
from functools import partial

import orjson

from arclink.access.answers import LinkAnswer
from arclink.access.formats.fields import MemberFields, member_fields
from arclink.access.queries import Direction


def write_json_lines(answer: LinkAnswer, only: frozenset[str] = frozenset()) -> Iterator[bytes]:
    """Yield one line per member; without members, yield nothing.

    If ``only`` is not empty, the lines have only its fields.
    """
    query = answer.query
    fields_of = partial(
        member_fields,
        replay=answer.replay,
        with_evidence=query.with_evidence,
        with_validity=query.with_validity,
    )
    for direction, members in ((Direction.OUT, answer.outlinks), (Direction.IN, answer.inlinks)):
        for member in members:
            fields = MemberFields(direction=direction.value, **fields_of(member, direction))
            if only:
                yield orjson.dumps(
                    {name: value for name, value in fields.items() if name in only},
                    option=orjson.OPT_APPEND_NEWLINE,
                )
                continue
            yield orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
