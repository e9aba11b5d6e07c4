"""What is known about a capture is declared once, and reaches every form of captures."""

import pytest

from arclink.access import capture_fields
from arclink.access.capture_fields import (
    CDX,
    EXPLANATION,
    FIELDS,
    RELATION,
    STREAM,
    TABLE,
    TIMEMAP,
    CaptureForm,
)
from arclink.model import Checksum, Memento, Surt, Timestamp, UriR
from arclink.service.schemas import SCHEMAS

ODD = Memento(
    Surt("example,a)/\x1b POST"),
    Timestamp("20100212060005"),
    UriR("http://a.example/\x1b"),
    Checksum("redirect:http://b.example/"),
    "301",
    "text/\x1bhtml",
    "response",
    "crawl-\x1b.warc.gz",
    7,
    -1,
)
FORMS = (CDX, EXPLANATION, TIMEMAP, STREAM, TABLE, RELATION)


def test_every_fact_that_a_store_keeps_has_a_field() -> None:
    outcome = {"reason"}  # an explanation says more about it
    assert set(Memento._fields) - outcome <= {field.value or field.name for field in FIELDS}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_all_values_together_are_those_of_the_single_functions(form: CaptureForm) -> None:
    assert form.of(ODD) == {name: value(ODD) for name, value in form.getters.items()}
    other = ODD._replace(mime="-", status="200")
    columns = form.columns([ODD, other, ODD])
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert rows == [form.of(one) for one in (ODD, other, ODD)]
    uri = next(name for name, field in form.fields.items() if field.name == "uri")
    assert form.of(ODD)[uri] == "http://a.example/%1B"


def test_values_are_written_as_each_form_needs_them() -> None:
    assert CDX.of(ODD) | {"mime": ""} == {
        "urlkey": "example,a)/%1B POST",
        "timestamp": "20100212060005",
        "url": "http://a.example/%1B",
        "status": "301",
        "mime": "",
        "digest": "-",
        "filename": "crawl-\x1b.warc.gz",
        "offset": "7",
        "length": "-",
        "languages": "-",
        "method": "POST",
    }
    assert TIMEMAP.of(ODD) == {
        "timestamp": "20100212060005",
        "original": "http://a.example/%1B",
        "status": "301",
        "mime": "text/\ufffdhtml",
        "languages": "-",
        "checksum": "redirect:http://b.example/",
        "file": "crawl-\ufffd.warc.gz",
        "offset": 7,
    }
    assert [*EXPLANATION.of(ODD)][-3:] == ["file", "offset", "length"]


def test_a_new_field_is_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    size = FIELDS[0]._replace(name="size", names={"timemap": ""}, value=lambda memento: "9")
    monkeypatch.setattr(capture_fields, "FIELDS", (*FIELDS, size))
    for form in FORMS:
        again = CaptureForm(form.name, {}, " ".join(form.fields))
        assert [*again.fields] == [*form.fields, *([] if form is TIMEMAP else ["size"])]
        assert again.of(ODD).get("size") == (None if form is TIMEMAP else "9")


def test_schemas_have_the_fields_in_their_order() -> None:
    required: list[str] = SCHEMAS["Explanation"]["required"]  # type: ignore[assignment]
    assert required[: len(EXPLANATION.fields)] == [*EXPLANATION.fields]
