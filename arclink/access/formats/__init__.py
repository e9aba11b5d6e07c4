"""The formats an answer is written in, one module each.

A writer takes a `LinkAnswer` and yields bytes; it reads ``outlinks`` once, then ``inlinks`` once, and never holds an answer
that *streams*. A new format (Turtle, N-Triples, JSON-LD) is one module with such a function and one line below.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from arclink.access.answers import LinkAnswer
from arclink.access.formats.csv_rows import write_csv
from arclink.access.formats.json_document import write_json
from arclink.access.formats.json_lines import write_json_lines
from arclink.access.formats.rdf_xml import write_rdf_xml
from arclink.access.formats.table import write_table
from arclink.access.queries import BadParameterError, LinkQuery

Writer = Callable[[LinkAnswer], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write an answer.

    Attributes:
        media_types: What ``Accept`` may call it, the answer's own first; none if it is for terminals only.
        streams: Written in constant memory, so that an answer may be unlimited.
    """

    name: str
    media_types: tuple[str, ...]
    streams: bool
    write: Writer

    def check(self, query: LinkQuery) -> None:
        """Refuse an unlimited query for a format that does not stream.

        Raises:
            BadParameterError: It is one.
        """
        if query.limit == 0 and not self.streams:
            streaming = ", ".join(name for name, other in FORMATS.items() if other.streams)
            raise BadParameterError("limit", "0", f"at least 1 with format={self.name}; only {streaming} can be unlimited")


FORMATS: Mapping[str, Format] = {
    form.name: form
    for form in (
        Format("table", (), False, write_table),
        Format("rdfxml", ("application/rdf+xml", "application/xml", "text/xml"), True, write_rdf_xml),
        Format("json", ("application/json",), False, write_json),
        Format("jsonl", ("application/jsonl", "application/x-ndjson", "application/jsonlines"), True, write_json_lines),
        Format("csv", ("text/csv",), True, write_csv),
    )
}
"""By the name that ``format`` says; the first with a media type is the service's default."""
