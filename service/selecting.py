"""Subsets: their list, and a form (``/select``) that builds a selection and counts its captures."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple, NotRequired, Self, TypedDict
from urllib.parse import urlencode

from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import NotFound

from arclink.access.declarations import SUBSET, BadParameterError
from arclink.access.texts import printable, printable_uri
from arclink.analysis.charts.pictures import Drawing, share, strips
from arclink.analysis.charts.svg import height_of
from arclink.captures.subsets.catalog import StoredSubset
from arclink.captures.subsets.evaluation import ReadLimit
from arclink.captures.subsets.fields import FIELDS, is_name
from arclink.captures.subsets.language import (
    ALL,
    PICK,
    AllOf,
    Condition,
    Selection,
    SelectionError,
    all_of,
    json_of,
    parse_selection,
    text_of,
)
from arclink.captures.subsets.view import CaptureCounts, count_captures, unknown_words
from arclink.errors import UsageError
from arclink.model import Memento
from arclink.service.pages.blocks import given, rendered, table_formats
from arclink.service.responses import lead_to
from arclink.service.stores import Stores, current_store, stores_of_app

# The form that builds a selection: its fields, its free text, and the selection that they form.
#
# In the page at ``?subset=SELECTION``, a condition that has a field in the form is shown in this
# field; all other conditions are in the free text. So the address is enough to show the form again,
# for any selection.

PLACES: Final = ("domain", "host", "uri", "prefix")
"""The fields of the language that share one field of the form; ``place`` says which it is."""

PLACE: Final = "place"
_WHERE: Final = "where"

_CONDITIONS: Final = ("from", "to", "mime", "status", "title", "text", "links-to", PICK)
"""The fields of the language that have a field of the form each."""

NAMES: Final = (PLACE, _WHERE, *_CONDITIONS, SUBSET.name)
"""The names of the form's parameters; `SUBSET` is the free text."""

_AROUND: Final = 60


class Mistake(NamedTuple):
    """A value that is not allowed.

    Attributes:
        name: The field of the form.
        what: What is wrong, or what was expected.
        position: The number of the first wrong character, from 1; 0 if it is not known.
        before: The text before it.
        after: The text from it on.
    """

    name: str
    what: str
    position: int = 0
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class SelectionForm:
    """A filled form.

    Attributes:
        values: Values of the fields by their names; empty ones are missing.
    """

    values: Mapping[str, str]

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]]) -> Self:
        """Return the form with these parameters.

        Raises:
            BadParameterError: A parameter is not one of the form's.
        """
        values: dict[str, str] = {}
        for name, value in parameters:
            if name not in NAMES:
                raise BadParameterError(name, value, f"one of the parameters {', '.join(NAMES)}")
            if value.strip():
                values.setdefault(name, value.strip())
        return cls(MappingProxyType(values))

    @classmethod
    def of(cls, selection: Selection) -> Self:
        """Return the form that builds a selection."""
        parts, pick = (
            (selection.parts, selection.pick)
            if isinstance(selection, AllOf)
            else ((selection,), "")
        )
        values: dict[str, str] = {PICK: pick} if pick else {}
        remaining: list[Selection] = []
        for part in parts:
            name = part.field if isinstance(part, Condition) and not part.qualifiers else ""
            field_name = _WHERE if name in PLACES else name
            if part == ALL:
                continue
            if field_name not in (_WHERE, *_CONDITIONS) or field_name in values:
                remaining.append(part)
                continue
            assert isinstance(part, Condition)
            values[field_name] = part.value
            if field_name == _WHERE:
                values[PLACE] = name
        if remaining:
            rest = all_of(remaining)
            if pick and isinstance(rest, AllOf) and rest.pick:  # a form has one pick
                values, rest = {}, selection
            values[SUBSET.name] = text_of(rest)
        return cls(MappingProxyType(values))

    @property
    def is_text(self) -> bool:
        """Whether only the free text is filled."""
        return set(self.values) <= {SUBSET.name}

    def selection(self) -> tuple[Selection, list[Mistake]]:
        """Return the selection that the form builds, and the mistakes in it.

        With mistakes, the selection has the other conditions only.
        """
        mistakes: list[Mistake] = []
        parts = [*self._conditions(mistakes)]
        pick = self._normal(PICK, PICK, mistakes) if PICK in self.values else ""
        further = self._rest(mistakes)
        if isinstance(further, AllOf):  # its parts and its pick are joined with those of the fields
            if pick and further.pick:
                mistakes.append(Mistake(SUBSET.name, "There are two picks: leave one of them out."))
            parts += (part for part in further.parts if part != ALL)
            pick = pick or further.pick
        elif further is not None:
            parts.append(further)
        return all_of(parts, pick), mistakes

    def _conditions(self, mistakes: list[Mistake]) -> Iterator[Selection]:
        for name in (_WHERE, *_CONDITIONS):
            field = self.values.get(PLACE, PLACES[0]) if name == _WHERE else name
            if name == PICK or name not in self.values:
                continue
            if name == _WHERE and field not in PLACES:
                raise BadParameterError(PLACE, field, f"one of {', '.join(PLACES)}")
            value = self._normal(name, field, mistakes)
            if value:
                yield Condition(field, value)

    def _normal(self, name: str, field: str, mistakes: list[Mistake]) -> str:
        try:
            return FIELDS[field].normal(self.values[name])
        except ValueError:
            mistakes.append(Mistake(name, f"Expected {FIELDS[field].expected}."))
            return ""

    def _rest(self, mistakes: list[Mistake]) -> Selection | None:
        text = self.values.get(SUBSET.name, "")
        if not text:
            return None
        if is_name(text):
            return Condition("subset", text)
        try:
            return parse_selection(text)
        except SelectionError as error:
            at = error.position
            mistakes.append(
                Mistake(
                    SUBSET.name,
                    f"Expected {error.expected}.",
                    at + 1,
                    text[max(0, at - _AROUND) : at],
                    text[at : at + _AROUND],
                )
            )
            return None


subsets = Blueprint("subsets", __name__)


class SubsetFields(TypedDict):
    """A named subset."""

    name: str
    kind: Annotated[str, ("view", "list")]
    captures: Annotated[int | None, "Captures in a list when it was stored; null for a view."]
    made: Annotated[str, "When it was stored: UTC, ISO 8601."]
    selection: str
    json: NotRequired[Annotated[object, "The selection as JSON."]]


class SubsetsFields(TypedDict):
    """The named subsets of the store."""

    subsets: list[SubsetFields]


@subsets.get("/subsets")
def list_subsets() -> Response:
    """Answer with the named subsets of the store."""
    current_store()  # without a store there are no subsets of it
    stores = stores_of_app()
    return jsonify(subsets=[_fields(stores.named_subset(name)) for name in stores.catalog.names()])


@subsets.get("/subsets/<name>")
def show_subset(name: str) -> Response:
    """Answer with one named subset.

    Raises:
        NotFound: No subset has this name.
    """
    current_store()
    try:
        stored = stores_of_app().named_subset(name)
    except UsageError as error:
        raise NotFound(str(error)) from error
    selection = json_of(parse_selection(stored.text))
    return jsonify({**_fields(stored), "json": selection})


def _fields(stored: StoredSubset) -> SubsetFields:
    return {
        "name": stored.name,
        "kind": "list" if stored.is_kept else "view",
        "captures": stored.captures,
        "made": stored.made,
        "selection": stored.text,
    }


selecting = Blueprint("selecting", __name__)

_EXAMPLES = 8
"""Number of selected pages that the page names."""

_DOWNLOADS = ("wacz", "warc", "cdxj", "captures-csv")


@selecting.get("/select")
def select() -> Response:
    """Show the form with the count of its selection, or with the mistakes in it.

    A form whose fields are filled leads to the address of its selection: ``?subset=SELECTION``.
    A mistake is an answer with status 200: while a user types, most texts are unfinished.
    """
    current_store()  # without a store nothing can be counted
    form = SelectionForm.from_parameters(given())
    selection, mistakes = form.selection()
    if mistakes:
        return _shown(form, mistakes=mistakes)
    if form.is_text:
        return _counted(SelectionForm.of(selection), selection, form)
    return lead_to(f"{request.script_root}/select{_address(selection)}")


def _counted(form: SelectionForm, selection: Selection, written: SelectionForm) -> Response:
    if selection == ALL:
        return _shown(form)
    stores = stores_of_app()
    text = text_of(selection)
    examples: list[str] = []
    try:
        counts, is_complete, unknown = _count(stores, text, examples)
    except BadParameterError as error:
        return _shown(written, mistakes=[Mistake(SUBSET.name, f"Expected {error.allowed}.")])
    except UsageError as error:
        return _shown(written, mistakes=[Mistake(SUBSET.name, str(error))])
    years = counts.groups or {}
    most = max(years.values(), default=1)
    return _shown(
        form,
        counts=counts,
        is_complete=is_complete,
        unknown=unknown_words(unknown) if unknown else "",
        most_read=stores.settings.budget.rows,
        years=[(year, count, height_of(count, most)) for year, count in years.items()],
        pictures={"by-year": lambda: _by_year(text, years)},
        tables=table_formats(f"{request.script_root}/count", [(SUBSET.name, text), ("by", "year")]),
        examples=examples,
        text=printable(text),
        quoted=shlex.quote(printable(text)),
        address=_address(selection),
        downloads=_downloads(text) if stores.settings.has_pages else {},
    )


def _by_year(text: str, years: Mapping[str, int]) -> Drawing:
    most = max(years.values(), default=1)
    rows = [share(year, count, most) for year, count in years.items()]
    return strips(f"Captures by year: {printable(text)}", rows)


def _count(
    stores: Stores, text: str, examples: list[str]
) -> tuple[CaptureCounts, bool, int | None]:
    """Return the counts of a selection by year, whether they are complete, and what is unknown.

    Raises:
        UsageError: A named subset does not exist, or the selection takes too many look-ups.
    """
    limit = ReadLimit(stores.settings.budget.rows)
    subset = stores.subset(text)
    with subset.snapshot():
        mementos = subset.evaluation.scan(limit=limit)
        counts = count_captures(_noted(mementos, examples), "year")
        unknown = subset.evaluation.unknown_words
    return counts, not limit.is_reached, unknown


def _noted(mementos: Iterable[Memento], examples: list[str]) -> Iterator[Memento]:
    """Yield captures, and note the URIs of the first pages among them."""
    last = ""
    for memento in mementos:
        if memento.surt != last and len(examples) < _EXAMPLES:
            last = memento.surt
            examples.append(printable_uri(memento.original))
        yield memento


def _downloads(text: str) -> Mapping[str, str]:
    return {form: f"export?{urlencode({'format': form, SUBSET.name: text})}" for form in _DOWNLOADS}


def _address(selection: Selection) -> str:
    return "" if selection == ALL else f"?{urlencode({SUBSET.name: text_of(selection)})}"


def _shown(form: SelectionForm, **words: object) -> Response:
    stores = stores_of_app()
    given = {name: printable(form.values.get(name, "")) for name in NAMES}
    facts: dict[str, Any] = {"mistakes": [], "counts": None, "unknown": "", **words}
    return rendered(
        "select",
        given=given,
        places=PLACES,
        fields={name: field for name, field in FIELDS.items() if not field.now},
        stored=[stores.named_subset(name) for name in stores.catalog.names()],
        collection=stores.settings.collection,
        root=f"{request.script_root}/",
        asked={},
        typed="",
        **facts,
    )
