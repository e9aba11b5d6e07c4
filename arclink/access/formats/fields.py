"""The columns of a member, in the words and order of every format that has columns, cleaned for writing."""

from typing import TypedDict

from arclink.access.answers import Member
from arclink.access.queries import Direction
from arclink.access.texts import printable, printable_uri


class MemberFields(TypedDict, total=False):
    """A member as JSON has it; ``sources`` for an outlink, ``targets`` for an inlink; the last two if archives were merged."""

    direction: str
    uri: str
    surt: str
    kind: str
    text: str
    rel: str | None
    timestamps: list[str]
    sources: list[str]
    targets: list[str]
    uris: list[str]
    archives: dict[str, list[str]]


def member_fields(member: Member, direction: Direction) -> MemberFields:
    """Return the fields of one member; ``direction`` is OUT or IN, and is none of the fields."""
    fields = MemberFields(
        uri=printable_uri(member.uri),
        surt=printable_uri(member.surt),
        kind=printable(member.kind),
        text=printable(member.text),
        rel=None if member.rel is None else printable(member.rel),
        timestamps=list(member.timestamps),
    )
    variants: list[str] = [printable_uri(uri) for uri in member.variants]
    if direction is Direction.OUT:
        fields["sources"] = variants
    else:
        fields["targets"] = variants
    if member.archives is not None:
        fields["uris"] = [printable_uri(uri) for uri in member.archives.uris]
        fields["archives"] = {printable(name): list(timestamps) for name, timestamps in member.archives.timestamps}
    return fields
