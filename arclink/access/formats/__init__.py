"""The formats of link answers, by name: each is a function of a module of this package.

A writer takes a `LinkAnswer` and yields bytes. It reads ``outlinks`` once, then ``inlinks`` once,
and does not hold a *streamed* answer in memory. To add a format, write such a
function and add one line below. RDF formats have two profiles. A module is imported when an answer
is written in its format.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from importlib import import_module
from typing import Any, Protocol, Self

from arclink.access.answers import LinkAnswer
from arclink.access.declarations import AnyParameter, Given, Parameter, named
from arclink.access.queries import BadParameterError, ConflictError, LinkQuery

PARQUET = "application/vnd.apache.parquet"
"""The media type of Parquet."""

CSVW = "application/csvm+json"
"""The media type of the metadata of CSV."""


class Profile(Enum):
    """The ways to express links as statements."""

    LISTING = "listing"
    LINKS = "links"


Writer = Callable[[LinkAnswer], Iterator[bytes]]


class RdfWriter(Protocol):
    """A function that writes an answer as RDF, in either profile."""

    def __call__(self, answer: LinkAnswer, profile: Profile) -> Iterator[bytes]: ...


class FieldsWriter(Protocol):
    """A function that writes some fields of each link."""

    def __call__(self, answer: LinkAnswer, only: frozenset[str]) -> Iterator[bytes]: ...


@dataclass(frozen=True, slots=True)
class Format:
    """One format of an answer.

    Attributes:
        media_types: Its media types for ``Accept``, first the one of the response; empty for
            formats of the terminal only.
        streams: Whether it is written in constant memory, so that an answer may be unlimited.
        write_profile: Writes either profile; None for formats other than RDF.
        write_fields: Writes only some fields; None for formats without columns.
        details: The optional details of links that it can contain.
    """

    name: str
    media_types: tuple[str, ...]
    streams: bool
    write: Writer
    write_profile: RdfWriter | None = None
    write_fields: FieldsWriter | None = None
    details: tuple[str, ...] = ()

    def check(self, query: LinkQuery) -> None:
        """Refuse an unlimited query or details that this format cannot write.

        Raises:
            BadParameterError: The query has no limit and the format does not stream, or the query
                requests details that the format does not contain.
        """
        for name, is_asked in (
            ("evidence", query.with_evidence),
            ("validity", query.with_validity),
        ):
            if is_asked and name not in self.details:
                telling = ", ".join(
                    form for form, other in FORMATS.items() if name in other.details
                )
                raise ConflictError(
                    name,
                    "true",
                    f"cannot be used with format={self.name}: only {telling}, and RDF with "
                    "profile=links, show it",
                )
        if query.limit == 0 and not self.streams:
            streaming = ", ".join(  # the metadata of CSV has no links
                name for name, other in FORMATS.items() if other.streams and name != "csvw"
            )
            raise ConflictError(
                "limit",
                "0",
                f"cannot be 0 with format={self.name}, which is written when all its rows are "
                f"known: use one of {streaming}, or a number",
            )

    def in_profile(self, name: str) -> Self:
        """Return this format in the profile called ``name``; itself if the name is empty.

        Raises:
            BadParameterError: There is no such profile, or this is not an RDF format.
        """
        if not name:
            return self
        if name not in PROFILES:
            raise BadParameterError("profile", name, " or ".join(PROFILES))
        if self.write_profile is None:
            rdf = ", ".join(
                other.name for other in FORMATS.values() if other.write_profile is not None
            )
            raise ConflictError(
                "profile", name, f"cannot be used with format={self.name}: only {rdf} have profiles"
            )
        profile = Profile(name)
        return replace(
            self,
            write=partial(self.write_profile, profile=profile),
            details=_DETAILS if profile is Profile.LINKS else (),
        )

    def with_fields(self, names: Sequence[str]) -> Self:
        """Return this format with only these fields of each link; itself if ``names`` is empty.

        Raises:
            BadParameterError: This format has no columns.
        """
        if not names:
            return self
        if self.write_fields is None:
            having = ", ".join(
                other.name for other in FORMATS.values() if other.write_fields is not None
            )
            raise ConflictError(
                "fields",
                ",".join(names),
                f"cannot be used with format={self.name}: only {having} have columns to choose",
            )
        return replace(self, write=partial(self.write_fields, only=frozenset(names)))


def _in(module: str, function: str) -> Callable[..., Iterator[bytes]]:
    """Return a function of a module of this package that imports the module when it is called."""

    def write(answer: LinkAnswer, **chosen: Any) -> Iterator[bytes]:
        found: Callable[..., Iterator[bytes]] = getattr(
            import_module(f"{__name__}.{module}"), function
        )
        return found(answer, **chosen)

    return write


def _rdf(name: str, media_types: tuple[str, ...], write: RdfWriter) -> Format:
    return Format(name, media_types, True, partial(write, profile=Profile.LISTING), write)


_DETAILS = ("evidence", "validity")

_FIELD_NAMES = (
    "direction",
    "uri",
    "surt",
    "kind",
    "text",
    "rel",
    "timestamps",
    "sources",
    "targets",
    "uri_ms",
    "evidence",
    "validity",
)
"""Fields of a link that formats with columns can contain."""


PROFILES = tuple(profile.value for profile in Profile)
"""Names of the RDF profiles, the default first."""

FORMATS: Mapping[str, Format] = {
    form.name: form
    for form in (
        Format("table", (), False, _in("table", "write_table"), details=("validity",)),
        _rdf(
            "rdfxml",
            ("application/rdf+xml", "application/xml", "text/xml"),
            _in("rdf_xml", "write_rdf_xml"),
        ),
        _rdf("turtle", ("text/turtle",), _in("statements", "write_turtle")),
        _rdf("ntriples", ("application/n-triples",), _in("statements", "write_ntriples")),
        _rdf("nquads", ("application/n-quads",), _in("statements", "write_ntriples")),
        _rdf("jsonld", ("application/ld+json",), _in("statements", "write_jsonld")),
        Format(
            "json",
            ("application/json",),
            False,
            _in("fields", "write_json"),
            details=_DETAILS,
        ),
        Format(
            "jsonl",
            ("application/jsonl", "application/x-ndjson", "application/jsonlines"),
            True,
            _in("fields", "write_json_lines"),
            write_fields=_in("fields", "write_json_lines"),
            details=_DETAILS,
        ),
        *(
            Format(name, (media_type,), True, write, write_fields=write, details=_DETAILS)
            for name, media_type, write in (
                ("csv", "text/csv", _in("link_rows", "write_csv")),
                ("spreadsheet", "text/csv", _in("link_rows", "write_spreadsheet")),
                ("parquet", PARQUET, _in("link_rows", "write_parquet")),
                ("csvw", CSVW, _in("link_rows", "write_csvw")),
            )
        ),
    )
}
"""Formats by name; the first with a media type is the default of the service."""

FORMAT = Parameter("format", "Format of the answer.", named(FORMATS), default="table")
FIELDS = Parameter(
    "fields",
    "With jsonl, csv, spreadsheet, parquet and csvw: only these fields of each link.",
    named({name: name for name in _FIELD_NAMES}),
    is_list=True,
    has_commas=True,
    metavar="NAMES",
    otherwise="all",
)
PROFILE = Parameter(
    "profile",
    "With RDF: the paper's listing, or one node per link.",
    named({name: name for name in PROFILES}),
    otherwise="listing",
    see="reference/service.md#rdf",
)
FORM: tuple[AnyParameter, ...] = (FORMAT, PROFILE, FIELDS)
"""Parameters for the form of an answer, not for its content."""


def chosen_format(form: Format, given: Given) -> Format:
    """Return this format in the profile and with the fields that the caller chose.

    Raises:
        BadParameterError: The format has no profiles, or no fields to choose.
    """
    return form.in_profile(PROFILE.optional(given) or "").with_fields(FIELDS.many(given))
