"""CSV for spreadsheets, and Parquet: of rows, and of links."""

import csv
import io
import json
from datetime import UTC, datetime

import pyarrow as arrow
import pyarrow.parquet
import pytest

from arclink.access.formats import FORMATS
from arclink.access.formats.rows import ABOUT, ROW_FORMATS, RowAnswer
from tests.access.example_answers import NASTY, T1, T2, A, B, answer_of, member

ANSWER = RowAnswer(
    {"question": "words", "total": 2},
    [],
    ("text", "links", "share", "first", "hosts", "rel"),
    {
        "rows": [
            {"text": "=1+1", "links": 2, "share": 0.5, "first": T1, "hosts": ["a", "b c"]},
            {"text": "-", "links": -3, "share": None, "first": None, "hosts": [], "rel": None},
        ]
    },
)


def table_of(data: bytes) -> arrow.Table:
    return pyarrow.parquet.read_table(io.BytesIO(data))


def test_csv_for_spreadsheets_has_a_mark_and_no_formula() -> None:
    data = b"".join(ROW_FORMATS["spreadsheet"].write(ANSWER))
    assert data.startswith(b'\xef\xbb\xbf"text","links",')
    first, second = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    assert (first["text"], first["links"], first["hosts"]) == ("'=1+1", "2", "a b%20c")
    assert (second["text"], second["links"]) == ("'-", "-3")  # a number is no formula
    assert (first["first"], second["first"]) == (str(datetime.strptime(T1, "%Y%m%d%H%M%S")), "")
    plain = b"".join(ROW_FORMATS["csv"].write(ANSWER))
    assert plain.startswith(b"text,")
    assert T1.encode() in plain
    assert b"\r\n=1+1,2" in plain


@pytest.mark.parametrize("time", ["=1+1", "@2010", "-20100101000000"])
def test_what_is_no_time_is_no_formula_in_a_column_of_times(time: str) -> None:
    answer = RowAnswer({}, [], ("first",), {"rows": [{"first": time}]})
    data = b"".join(ROW_FORMATS["spreadsheet"].write(answer)).decode("utf-8-sig")
    assert data.splitlines()[1] == f'"\'{time}"'


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_no_beginning_of_a_formula_is_first_in_a_cell(begin: str) -> None:
    answer = RowAnswer({}, [], ("text",), {"rows": [{"text": f"{begin}cmd|' /C calc'!A0"}]})
    data = b"".join(ROW_FORMATS["spreadsheet"].write(answer)).decode("utf-8-sig")
    ((text,),) = [*csv.reader(io.StringIO(data, newline=""))][1:]
    assert text == f"'{begin}cmd|' /C calc'!A0"


_SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_BLANKS = ("", " ", "\u00a0", "\ufeff", "\ufeff ", '"', ' "')
_ENDS = ("", "foo;", "foo;;", 'foo";', "foo\t", "foo\n", "foo\r\n")


@pytest.mark.parametrize("sign", _SIGNS)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_separates_cells(sign: str, separator: str) -> None:
    texts = [f"{end}{blank}{sign}1+1;bar" for end in _ENDS for blank in _BLANKS]
    rows = [{"text": text, "links": 2, "other": text} for text in texts]
    answer = RowAnswer({}, [], ("text", "links", "other"), {"rows": rows})
    data = b"".join(ROW_FORMATS["spreadsheet"].write(answer)).decode("utf-8-sig")
    cells = [
        cell.strip(' \t\r\n\xa0\ufeff"')
        for row in csv.reader(io.StringIO(data, newline=""), delimiter=separator)
        for cell in row
    ]
    assert not [cell for cell in cells if cell.startswith(_SIGNS)]
    assert len([cell for cell in cells if "1+1" in cell]) >= len(texts)


@pytest.mark.parametrize("text", ["foo;bar", "foo\tbar", "foo,bar", "2;5"])
def test_a_text_with_another_separator_is_in_quotes_and_a_number_is_not(text: str) -> None:
    rows = [{"text": text, "links": -3, "share": -0.5}]
    answer = RowAnswer({}, [], ("text", "links", "share"), {"rows": rows})
    data = b"".join(ROW_FORMATS["spreadsheet"].write(answer)).decode("utf-8-sig")
    assert data.splitlines()[1] == f'"{text}",-3,-0.5'


@pytest.mark.parametrize(
    "text", ["a-b", "a; b", "x = y", "http://a.example/?a=1;b=2", "'=1", "1+1"]
)
def test_texts_that_are_no_formulas_stay(text: str) -> None:
    answer = RowAnswer({}, [], ("text",), {"rows": [{"text": text}]})
    data = b"".join(ROW_FORMATS["spreadsheet"].write(answer)).decode("utf-8-sig")
    assert [*csv.reader(io.StringIO(data, newline=""))][1] == [text]


def test_parquet_has_types_and_says_what_it_is_about() -> None:
    table = table_of(b"".join(ROW_FORMATS["parquet"].write(ANSWER)))
    assert [str(field.type) for field in table.schema] == [
        "string",
        "int64",
        "double",
        "timestamp[ms, tz=UTC]",
        "list<element: string>",
        "string",
    ]
    assert json.loads(table.schema.metadata[ABOUT]) == ANSWER.about
    first, second = table.to_pylist()
    assert first["first"] == datetime(2009, 11, 3, 1, 13, 7, tzinfo=UTC)
    assert (second["first"], second["links"], second["hosts"]) == (None, -3, [])


def test_an_empty_table_has_the_types_that_are_known() -> None:
    answer = RowAnswer(
        {}, [], ("name", "links", "last"), {"rows": []}, types={"links": arrow.int64()}
    )
    table = table_of(b"".join(ROW_FORMATS["parquet"].write(answer)))
    assert [str(one.type) for one in table.schema] == ["string", "int64", "timestamp[ms, tz=UTC]"]
    assert len(table) == 0


def test_a_large_table_has_several_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arclink.access.formats.rows._ROWS_OF_GROUP", 2)
    rows = [{"links": number} for number in range(5)]
    data = b"".join(ROW_FORMATS["parquet"].write(RowAnswer({}, [], ("links",), {"rows": rows})))
    assert pyarrow.parquet.ParquetFile(io.BytesIO(data)).num_row_groups == 3
    assert table_of(data).to_pylist() == rows


def test_links_in_parquet_are_those_of_csv() -> None:
    answer = answer_of([member(B, "=x", T1, T2)], [member(A, "", T2, rel="me")])
    table = table_of(b"".join(FORMATS["parquet"].write(answer)))
    text = b"".join(FORMATS["csv"].write(answer)).decode()
    rows = [*csv.DictReader(io.StringIO(text, newline=""))]
    assert table.column_names == [*rows[0]]
    for row, expected in zip(table.to_pylist(), rows, strict=True):
        row["timestamp"] = row["timestamp"].strftime("%Y%m%d%H%M%S")
        assert {name: value or "" for name, value in row.items()} == expected
    assert json.loads(table.schema.metadata[ABOUT]) == {"uri": A}
    only = FORMATS["parquet"].with_fields(["uri", "timestamps"]).write(answer)
    assert table_of(b"".join(only)).column_names == ["uri", "timestamp"]


@pytest.mark.parametrize("text", NASTY)
def test_parquet_and_spreadsheets_hold_any_text(text: str) -> None:
    answer = answer_of([member(f"http://x.example/{text}", text, T1)], uri=A + text)
    row = table_of(b"".join(FORMATS["parquet"].write(answer))).to_pylist()[0]
    data = b"".join(FORMATS["spreadsheet"].write(answer)).decode("utf-8-sig")
    (cells,) = csv.DictReader(io.StringIO(data, newline=""))
    assert cells["text"].removeprefix("'").replace(";'@", ";@") == (row["text"] or "")
    assert not cells["text"].startswith(("=", "@"))
