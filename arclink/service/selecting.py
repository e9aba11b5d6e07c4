"""``/select``: a form that builds a selection of captures and counts it, for people."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from arclink.access.common import SUBSET
from arclink.access.declarations import BadParameterError
from arclink.access.texts import printable, printable_uri
from arclink.charts.pictures import Drawing, share, strips
from arclink.charts.svg import height_of
from arclink.errors import UsageError
from arclink.model import Memento
from arclink.service.pages.html_output import rendered
from arclink.service.pages.saving import given, table_formats
from arclink.service.pages.selection_form import NAMES, PLACES, Mistake, SelectionForm
from arclink.service.responses import lead_to
from arclink.service.stores import Stores, current_store, stores_of_app
from arclink.subsets.capture_counts import CaptureCounts, count_captures
from arclink.subsets.evaluation import ReadLimit
from arclink.subsets.fields import FIELDS
from arclink.subsets.language import ALL, Selection, text_of

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
        counts, is_complete = _count(stores, text, examples)
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
        most_read=stores.settings.budget.rows,
        years=[
            (year, count, round(height_of(count, most, 0.5), 2)) for year, count in years.items()
        ],
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


def _count(stores: Stores, text: str, examples: list[str]) -> tuple[CaptureCounts, bool]:
    """Return the counts of a selection by year, and whether they are complete.

    Raises:
        UsageError: A named subset does not exist, or the selection takes too many look-ups.
    """
    limit = ReadLimit(stores.settings.budget.rows)
    subset = stores.subset(text)
    with subset.snapshot():
        mementos = subset.evaluation.scan(limit=limit)
        counts = count_captures(_noted(mementos, examples), "year")
    return counts, not limit.is_reached


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
    facts: dict[str, object] = {"mistakes": [], "counts": None, **words}
    return rendered(
        "select.html",
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
