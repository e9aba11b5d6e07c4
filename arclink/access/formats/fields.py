"""The columns of a member, in the words and order of every format that has columns, cleaned for writing."""

from typing import TypedDict

from arclink.access.answers import Member
from arclink.access.queries import Direction
from arclink.access.texts import printable, printable_uri
from arclink.model import Kind, Surt


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
    uri, surt, kind, text, rel, timestamps, variants = member[:7]
    if not "".join((uri, surt, kind, text, rel or "", *variants)).isprintable():  # nearly all are: looked at together
        uri, surt, kind, text = printable_uri(uri), Surt(printable_uri(surt)), Kind(printable(kind)), printable(text)
        rel = None if rel is None else printable(rel)
        variants = tuple(map(printable_uri, variants))
    fields: MemberFields = {"uri": uri, "surt": surt, "kind": kind, "text": text, "rel": rel, "timestamps": list(timestamps)}
    if direction is Direction.OUT:
        fields["sources"] = list(variants)
    else:
        fields["targets"] = list(variants)
    if member.archives is not None:
        fields["uris"] = [printable_uri(uri) for uri in member.archives.uris]
        fields["archives"] = {printable(name): list(timestamps) for name, timestamps in member.archives.timestamps}
    return fields
