"""Each answer says where it is from, the same at every door, whatever an archive is called."""

import csv
import io
import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet
import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

import arclink
from arclink.access import provenance as owner
from arclink.access.capabilities import capability, keyword
from arclink.access.formats.rows import ABOUT, ROW_FORMATS, Row, RowAnswer
from arclink.access.provenance import Provenance, provenance_of
from arclink.access.texts import printable
from arclink.cli.main import group
from arclink.known import NOT_COUNTED
from arclink.rooms import CAPABILITIES
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.version import VERSION
from tests.access.sqlite_pages import load_pages
from tests.demos import Demos
from tests.service.asked import ASKED
from tests.service.conftest import PAGES, A, B, client_of
from tests.service.shown import page
from tests.store.memory_store import MemoryStore, link

SVG = "{http://www.w3.org/2000/svg}"
DAY = re.compile(r"\d{4}-\d\d-\d\d")
ASK = ("ask", "linkers", "*.a.example")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arclink.service.tables._PATIENCE", 60.0)


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("provenance")
    load_pages(folder / "links.db", folder / "graph", [PAGES])
    return folder / "links.db"


@pytest.fixture
def client(where: Path) -> FlaskClient:
    return client_of(str(where), Settings(title="links.db"))


def said(where: Path, *words: str) -> bytes:
    done = CliRunner().invoke(group, words, env={"ARCLINK_STORE": str(where)})
    assert done.exit_code == 0, done.output
    return done.stdout_bytes


def in_json(data: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(data)["provenance"]
    return found


def in_csvw(data: bytes) -> dict[str, Any]:
    document = json.loads(data)
    (found,) = document["notes"]
    assert document["dc:bibliographicCitation"] == found["cite"]
    assert document["dc:source"] == found["archive"]
    return dict(found)


def in_parquet(data: bytes) -> dict[str, Any]:
    metadata = pyarrow.parquet.read_schema(io.BytesIO(data)).metadata
    return in_json(metadata[ABOUT])


def in_svg(data: bytes) -> dict[str, Any]:
    root = ElementTree.fromstring(data)
    found: dict[str, Any] = json.loads(root.findtext(f"{SVG}metadata") or "")
    assert (root.findtext(f"{SVG}desc") or "").splitlines() == [found["cite"], found["page"]]
    below = "".join(node.text or "" for node in root.iter(f"{SVG}text"))
    assert found["state"] in below
    return found


def of_python(where: Path, ask: Callable[[arclink.LinkGraph], Any]) -> dict[str, Any]:
    with arclink.open(where) as graph:
        found = ask(graph)
        assert DAY.sub("D", found.cite) == DAY.sub("D", found.provenance.cite("2026-11-29"))
        return dict(found.provenance.as_fields())


def exported(where: Path, folder: Path) -> dict[str, Any]:
    said(where, "export", "--format", "csv", "--into", str(folder / "links.csv"))
    return in_json((folder / "links.csv.json").read_bytes())


def taken_away(where: Path, folder: Path) -> dict[str, Any]:
    said(where, "export", "--format", "cdxj", "--into", str(folder / "captures.cdxj"))
    return in_json((folder / "captures.cdxj.json").read_bytes())


def beside(where: Path, folder: Path) -> dict[str, Any]:
    said(where, "sql", "FROM links", "--format", "csv", "--into", str(folder / "a b.csv"))
    document = json.loads((folder / "a b.csv-metadata.json").read_bytes())
    assert document["url"] == "a%20b.csv"
    return dict(document["notes"][0])


@pytest.mark.parametrize("form", ["parquet", "json", "table"])
def test_metadata_goes_with_the_csv_that_it_describes(
    where: Path, tmp_path: Path, form: str
) -> None:
    file, beside = tmp_path / "a b.csv", tmp_path / "a b.csv-metadata.json"
    said(where, "sql", "FROM links", "--format", "csv", "--into", str(file))
    said(where, "sql", "FROM captures", "--format", "csv", "--into", str(file))
    assert "FROM captures" in beside.read_text()
    said(where, "sql", "FROM links", "--format", form, "--into", str(file))
    assert not beside.exists()
    for of_others in (
        '{"url": "a%20b.csv", "notes": ["mine"]}',
        '{"url": "other.csv", "notes": [{"arclink": "0.2.0"}]}',
        "no JSON",
        "[]",
    ):
        beside.write_text(of_others)
        said(where, "sql", "FROM links", "--format", form, "--into", str(file))
        assert beside.read_text() == of_others
    beside.unlink()
    beside.mkdir()
    said(where, "sql", "FROM links", "--format", form, "--into", str(file))


def of_report(where: Path, folder: Path, name: str) -> dict[str, Any]:
    said(where, "analyze", "properties", "--into", str(folder / "report.html"))
    found = in_csvw((folder / f"{name}-metadata.json").read_bytes())
    assert found["cite"] in (folder / "report.html").read_text()
    return found


def merged(where: Path, _: Path) -> dict[str, Any]:
    client = client_of(str(where), Settings(title="links.db"))
    (archive,) = client.get("/aggregate/ask/linkers?uri=*.a.example&format=json").get_json()[
        "archives"
    ]
    return dict(archive["provenance"])


def got(address: str, read: Callable[[bytes], dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    def door(where: Path, _: Path) -> dict[str, Any]:
        return read(client_of(str(where), Settings(title="links.db")).get(address).data)

    return door


def told(*words: str, read: Callable[[bytes], dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    return lambda where, _: read(said(where, *words))


def python(ask: Callable[[arclink.LinkGraph], Any]) -> Callable[..., dict[str, Any]]:
    return lambda where, _: of_python(where, ask)


DOORS: Mapping[str, Callable[[Path, Path], dict[str, Any]]] = {
    "count as JSON": told("count", "--format", "json", read=in_json),
    "count as CSVW": told("count", "--format", "csvw", read=in_csvw),
    "count as Parquet": told("count", "--format", "parquet", read=in_parquet),
    "pagerank as JSON": told("analyze", "pagerank", "--format", "json", read=in_json),
    "properties as JSON": told("analyze", "properties", "--format", "json", read=in_json),
    "duplicates": told("stats", "--duplicates", "--json", read=in_json),
    "question as JSON": told(*ASK, "--format", "json", read=in_json),
    "question as CSVW": told(*ASK, "--format", "csvw", read=in_csvw),
    "question as Parquet": told(*ASK, "--format", "parquet", read=in_parquet),
    "SQL as Parquet": told("sql", "FROM links", "--format", "parquet", read=in_parquet),
    "SQL as CSVW": told("sql", "FROM links", "--format", "csvw", read=in_csvw),
    "CSV of SQL in a file": beside,
    "table of a report": lambda where, folder: of_report(where, folder, "report.csv"),
    "degrees of a report": lambda where, folder: of_report(where, folder, "report.degrees.csv"),
    "links as CSVW": told("links", A, "--format", "csvw", read=in_csvw),
    "GET links": got(f"/linkQuery?uri={A}&format=csvw&fields=uri,timestamps", in_csvw),
    "export": exported,
    "export of captures": taken_away,
    "GET count": got("/count", in_json),
    "GET anchors": got(f"/anchors?uri={A}&format=csvw", in_csvw),
    "GET question": got("/ask/linkers?uri=*.a.example", in_json),
    "GET merged question": merged,
    "saved picture": got(f"/?uri={A}&view=glance&picture=hosts-in", in_svg),
    "saved rows": got(f"/?uri={A}&view=glance&picture=hosts-in-json", in_json),
    "saved rows as Parquet": got(f"/?uri={A}&view=glance&picture=hosts-in-parquet", in_parquet),
    "graph.count": python(lambda graph: graph.count()),
    "graph.inlinks": python(lambda graph: graph.inlinks(A)),
    "graph.outlinks": python(lambda graph: graph.outlinks(A)),
    "graph.anchors": python(lambda graph: graph.anchors(A)),
    "graph.ask": python(lambda graph: graph.ask("linkers", "*.a.example")),
}


@pytest.mark.parametrize("name", DOORS)
def test_every_door_says_the_same(where: Path, tmp_path: Path, name: str) -> None:
    found = DOORS[name](where, tmp_path)
    with open_store(str(where)) as store:
        expected = provenance_of(store, "links.db")
        assert (expected.known.captures, expected.known.read) == (4, 4)
        assert (expected.first, expected.last) == ("2009-11-03", "2010-01-30")
    facts = dict(expected.as_fields())
    for one in ("archive", "captures", "read", "first", "last", "state", "arclink"):
        assert found[one] == facts[one], one
    parts = ["links.db, 4 captures (4 with known links), 2009-11-03 to 2010-01-30"]
    parts += [f"ArcLink {VERSION}", f"state {expected.state}"]
    parts += [f"read {found['date']}"] if "date" in found else []
    asked = f": {found['asked']}" if found["asked"] else ""
    assert found["cite"] == ", ".join(parts) + asked


Ask = Callable[[arclink.LinkGraph], Any]
SAME: Mapping[str, tuple[str, str, Ask]] = {
    "links": (
        f"links {A} --direction in --kinds a@href,img@src --filter '!text:it'\"'\"'s $HOME'",
        f"/linkQuery?uri={A}&direction=in&kind=a@href,img@src&filter=!text:it's $HOME&format=json",
        lambda graph: graph.inlinks(
            A, kinds=["a@href", "img@src"], filter="!text:it's $HOME", limit=1000
        ),
    ),
    "links of a site": (
        "links a.example --match-type host --direction out --at 2010",
        "/linkQuery?url=a.example&matchType=host&direction=out&at=2010&redirects=yes&format=json",
        lambda graph: graph.at("2010").outlinks("a.example", match_type="host", limit=1000),
    ),
    "a switch": (
        f"links {A} --direction out --validity --subset host:a.example",
        f"/linkQuery?uri={A}&direction=out&follow=false&validity=true&subset=host:A.example&format=json",
        lambda graph: graph.subset("host:a.example").outlinks(A, validity=True, limit=1000),
    ),
    "captures": (
        "count host:a.example --by month",
        "/count?subset=host:a.example&by=month",
        lambda graph: graph.subset("host:a.example").count(by="month"),
    ),
    "anchors": (
        f"anchors {A} --by year --limit 1",
        f"/anchors?uri={A}&by=year&limit=1",
        lambda graph: graph.anchors(A, by="year", limit=1),
    ),
    "anchors of a site": (
        "ask anchors '*.a.example' --limit 7",
        "/anchors?uri=*.a.example&limit=7",
        lambda graph: graph.anchors("*.a.example", limit=7),
    ),
    "a question": (
        "ask linkers 'http://a.example/*' --external --limit 7",
        "/ask/linkers?uri=http://a.example/*&external=true&new=false&limit=7",
        lambda graph: graph.ask("linkers", "http://a.example/*", external=True, limit=7),
    ),
    "about a dash": (
        "ask linkers --limit 7 -- -a.example",
        "/ask/linkers?uri=-a.example&limit=7",
        lambda graph: graph.ask("linkers", "-a.example", limit=7),
    ),
    "ranks": (
        "analyze pagerank --level domain --top 2",
        "/pagerank?level=domain&top=2",
        lambda graph: graph.pagerank(level="domain", top=2),
    ),
    "a path": (
        f"analyze path {A} {B} --most-hops 3",
        f"/path?begin={A}&end={B}&most-hops=3",
        lambda graph: graph.path(A, B, most_hops=3),
    ),
}
"""Words of the command line, an address and a call that ask the same."""


@pytest.mark.parametrize("name", SAME)
def test_a_question_has_the_same_words_at_every_door_which_ask_it_again(
    client: FlaskClient, where: Path, name: str
) -> None:
    words, address, ask = SAME[name]
    answer = json.loads(said(where, *in_json_of(words)))
    assert answer["provenance"]["asked"] == words
    assert in_json(client.get(address).data)["asked"] == words
    with arclink.open(where) as graph:
        found = ask(graph).provenance
    assert found.asked == words
    assert found.cite().endswith(f": {words}")
    assert json.loads(said(where, *in_json_of(found.asked))) == answer


def in_json_of(words: str) -> list[str]:
    command, *rest = shlex.split(words)
    where = rest.index("--") if "--" in rest else len(rest)
    return [command, *rest[:where], "--format", "json", *rest[where:]]


@pytest.mark.parametrize(
    "words",
    [
        "--format csv --level host --min-count 2",
        "--format gexf --from 2009 --kinds a@href,img@src --top 5 --subset 'uri:* or host:a.b'",
        "--format cdxj --from 2009 --to 2010-01 --subset 'uri:*'",
    ],
)
def test_the_manifest_of_an_export_has_the_words_that_make_it_again(
    where: Path, tmp_path: Path, words: str
) -> None:
    found = []
    for name in ("one", "two"):
        said(where, *shlex.split(f"export {words}"), "--into", str(tmp_path / name))
        found.append(in_json((tmp_path / f"{name}.json").read_bytes()))
        words = found[0]["asked"].removeprefix("export ")
    assert found[0] == found[1]
    assert found[0]["cite"].endswith(f": export {words}")
    given = dict(zip(*[iter(shlex.split(words))] * 2, strict=True))
    subset = given.pop("--subset", "")
    with arclink.open(where) as graph:
        keywords: Any = {keyword(name[2:]): value for name, value in given.items()}
        shown = graph.subset(subset) if subset else graph
        write: Any = shown.export_captures if given["--format"] == "cdxj" else shown.export
        write(tmp_path / "three", **keywords)
    assert in_json((tmp_path / "three.json").read_bytes()) == found[0]


@pytest.mark.parametrize(
    "query", ["FROM links", "SELECT 'it''s $HOME'\n-- end", "--one\nFROM captures"]
)
def test_sql_of_a_subset_names_it(where: Path, query: str) -> None:
    subset = "host:a.example and from:2010"
    command = ("sql", "--subset", subset, "--format", "csvw", "--", query)
    found = in_csvw(said(where, *command))
    with arclink.open(where) as graph:
        of_python = graph.subset(subset).sql(query).provenance
    assert found == of_python.as_fields()
    asked = shlex.split(of_python.asked)
    assert sorted({*asked} - {"--"}) == sorted(["sql", query, "--subset", subset])


def test_pages_of_an_answer_are_from_the_same(client: FlaskClient) -> None:
    first = client.get(f"/anchors?uri={A}&limit=1").get_json()
    second = client.get(f"/anchors?uri={A}&limit=1&cursor={first['next']}").get_json()
    assert second["anchors"] not in ([], first["anchors"])
    assert second["provenance"] == first["provenance"]


@pytest.mark.parametrize("name", CAPABILITIES)
@pytest.mark.parametrize("number", [0, 1])
def test_csv_leads_to_its_metadata_which_has_its_columns(
    demos: Demos, name: str, number: int
) -> None:
    client = client_of(str(demos.store()))
    answer = client.get(f"/{name}", query_string={**ASKED[name][number], "format": "csv"})
    assert answer.status_code == 200
    links = re.findall(
        r'<([^>]*)>; rel="describedby"; type="application/csvm\+json"', str(answer.headers["Link"])
    )
    metadata = client.get(f"/{name}{links[0]}")
    assert metadata.content_type == "application/csvm+json"
    document = metadata.get_json()
    columns = document["tableSchema"]["columns"]
    header, *rows = csv.reader(io.StringIO(answer.text, newline=""))
    assert [one["titles"] for one in columns] == header
    assert client.get(f"/{name}{document['url']}").data == answer.data
    declared = {"change", "captures", "read", "period", "window"}
    assert all("dc:description" in one or one["name"] in declared for one in columns)
    in_json = client.get(f"/{name}", query_string=ASKED[name][number]).get_json()
    for row, expected in zip(rows, rows_in_json(in_json, name, header), strict=True):
        # A list that a row does not have is an empty one to such a reader.
        assert [None if one == [] else one for one in row_read(columns, row)] == [
            None if one == [] else one for one in expected
        ]
    for number_of_column, column in enumerate(columns):
        form, values = (
            FORMS[json.dumps(column["datatype"])],
            [row[number_of_column] for row in rows],
        )
        assert all(re.fullmatch(form, value) for value in values if value), column["name"]


def row_read(columns: list[dict[str, Any]], cells: list[str]) -> list[object]:
    """Return a row as a reader of CSVW has it (Model for Tabular Data, section 6.4.2)."""
    return [cell_read(column, cell) for column, cell in zip(columns, cells, strict=True)]


def cell_read(column: dict[str, Any], cell: str) -> object:
    if "separator" in column:
        return cell.split(column["separator"]) if cell else []
    if cell in column.get("null", [""]):
        return None
    kind = column["datatype"]
    base = kind if isinstance(kind, str) else kind["base"]
    read: Mapping[str, Callable[[str], object]] = {
        "integer": int,
        "double": float,
        "boolean": "True".__eq__,
        "string": str,
    }
    return read[base](cell)


def rows_in_json(document: dict[str, Any], name: str, header: list[str]) -> list[list[object]]:
    """Return the rows of an answer in JSON in the order of the columns of CSV."""
    lists = {one: document[one] for one in capability(name).lists if one in document}
    labels = {header[0]} if len(lists) > 1 else set()
    return [
        [one if column in labels else row.get(column) for column in header]
        for one, rows in lists.items()
        for row in rows
    ]


def test_an_empty_text_is_read_as_one_and_not_as_missing() -> None:
    rows: list[Row] = [
        {"a": "", "b": None, "c": "x", "d": ["u v"]},
        {"a": "y", "b": "z", "c": "", "d": []},
    ]
    answer = RowAnswer({}, (), ("a", "b", "c", "d"), {"rows": rows})
    columns = json.loads(answer.as_csvw("x.csv"))["tableSchema"]["columns"]
    table = csv.reader(io.StringIO(b"".join(ROW_FORMATS["csv"].write(answer)).decode(), newline=""))
    assert [row_read(columns, row) for row in [*table][1:]] == [
        ["", None, "x", ["u%20v"]],
        ["y", "z", "", []],
    ]


@pytest.mark.parametrize(
    "asked", ["", "&evidence=true&validity=true", "&limit=0&fields=uri,timestamps", "&limit=1"]
)
def test_csv_of_links_leads_to_its_metadata_too(client: FlaskClient, asked: str) -> None:
    answer = client.get(f"/linkQuery?uri={A}&format=csv{asked}")
    (address,) = re.findall(r'<([^>]*)>; rel="describedby"', answer.headers["Link"])
    document = client.get(f"/linkQuery{address}").get_json()
    columns = document["tableSchema"]["columns"]
    header, *rows = csv.reader(io.StringIO(answer.text, newline=""))
    assert rows
    assert [one["titles"] for one in columns] == header
    assert all(one["dc:description"] for one in columns)
    assert client.get(f"/linkQuery{document['url']}").data == answer.data
    times = [row[header.index("timestamp")] for row in rows]
    assert all(re.fullmatch(r"\d{14}", time) for time in times)
    if "text" not in header:
        return
    in_json = client.get(f"/linkQuery?uri={A}{asked}&format=json").get_json()
    texts = [
        link["text"]
        for side in ("outlinks", "inlinks")
        for link in in_json[side]
        for _ in link["timestamps"]
    ]
    number = header.index("text")
    assert [cell_read(columns[number], row[number]) for row in rows] == texts
    assert "" in texts or "limit=1" in asked


FORMS = {
    '"string"': "(?s:.*)",
    '"integer"': r"-?\d+",
    '"double"': r"-?\d+(\.\d+)?(e-?\d+)?",
    '{"base": "boolean", "format": "True|False"}': "True|False",
    '{"base": "string", "format": "[0-9]{14}", "dc:description": "UTC: YYYYMMDDhhmmss"}': r"\d{14}",
}

TITLES = {
    "quotes": 'The "People\'s" Archive',
    "markup": "<script>alert(1)</script> & <b>",
    "end of CDATA": "]]><desc>x</desc>",
    "end of a comment": "--> x",
    "lines": "one\r\ntwo\u2028three\tfour",
    "controls": "a\x00b\x1b[31m\x7f",
    "right to left": "ارشیف \u202eabc",
    "lone surrogate": "a\ud800b",
    "long": "long " * 2_000,
    "template": "{{ 7 * 7 }} {% raw %}",
    "format": "%s {0} $x ${y}",
    "blanks": "   ",
    "links": 'x>; rel="next"',
    "Chinese": "网页存档" * 40,
}


@pytest.mark.parametrize("title", TITLES.values(), ids=[*TITLES])
def test_any_title_is_written_whole_and_harmless(where: Path, title: str) -> None:
    client = client_of(str(where), Settings(title=title))
    picture = in_svg(client.get(f"/?uri={A}&view=glance&picture=hosts-in").data)
    rows = in_csvw_or_none(client.get("/count?format=csvw").data)
    found = in_json(client.get("/count").data)
    parquet = in_parquet(client.get("/count?format=parquet").data)
    assert found == rows == parquet
    assert picture["archive"] == found["archive"] == (printable(title) or None)
    assert len(found["cite"]) < 400
    assert len(found["cite"].splitlines()) == 1
    shown = page(client, f"?uri={A}")
    assert not shown.css("#view .cite script, #view .cite b")
    assert "state" in shown.css("#view .cite")[0].text()
    assert len(shown.css(".cite")) == 1


def in_csvw_or_none(data: bytes) -> dict[str, Any]:
    return dict(json.loads(data)["notes"][0])


def test_a_state_is_that_of_the_content_not_of_its_history(where: Path, tmp_path: Path) -> None:
    def state(name: str, *batches: list[Any]) -> str:
        load_pages(tmp_path / name, tmp_path / f"graph of {name}", batches)
        with open_store(str(tmp_path / name)) as store:
            return provenance_of(store, name).state

    whole = state("one.db", PAGES)
    assert whole == state("two.db", PAGES[:2], PAGES[2:]) == state("other.db", PAGES[2:], PAGES[:2])
    assert provenance_of(MemoryStore(PAGES), "").state == whole
    fewer = state("fewer.db", PAGES[:3])
    other_links = [replace(PAGES[0], links=[link(A, "one")]), *PAGES[1:]]
    assert len({whole, fewer, state("links.db", other_links)}) == 3
    said(tmp_path / "one.db", "backup", "--into", str(tmp_path / "backup.db"))
    assert provenance_of(open_store(str(tmp_path / "backup.db")), "").state == whole
    said(tmp_path / "one.db", "forget", "example,c)/", "--reason", "test")
    assert in_json(said(tmp_path / "one.db", "count", "--format", "json"))["state"] != whole


def test_only_what_a_caller_may_see_counts(
    where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embargo = Embargo(0, (PAGES[3].memento.surt,))
    load_pages(tmp_path / "never.db", tmp_path / "graph", [PAGES[:3]])
    with open_store(str(tmp_path / "never.db")) as never, open_store(str(where)) as store:
        shown = EmbargoedStore(store, embargo)
        assert provenance_of(shown, "x") == provenance_of(never, "x")
        hidden = provenance_of(store, "x")
        assert hidden.known.captures == 4
        client = client_of(str(where), Settings(embargo=embargo))
        assert in_json(client.get("/count").data)["captures"] == 3
        of_subset = in_json(client.get("/count?subset=host:a.example").data)
        assert (of_subset["captures"], of_subset["asked"]) == (2, "count host:a.example")
        assert of_subset["state"] != provenance_of(shown, "x").state


HIDDEN = Embargo(0, (PAGES[3].memento.surt,))
MORE_HIDDEN = replace(PAGES[3], timestamp="20110101000000")


@pytest.mark.parametrize(
    ("most_counted", "most_scanned", "numbers"),
    [
        (3, 9, [3, 3, "2009-11-03", "2010-01-30"]),
        (2, 9, [3, None, "2009-11-03", "2010-01-30"]),
        (2, 3, [3, None, "2009-11-03", "2010-01-30"]),
        (2, 2, [None] * 4),
    ],
)
def test_no_hidden_capture_can_be_noticed_however_large_the_store(
    monkeypatch: pytest.MonkeyPatch,
    most_counted: int,
    most_scanned: int,
    numbers: list[object],
) -> None:
    monkeypatch.setattr(owner, "_MOST_COUNTED", most_counted)
    monkeypatch.setattr(owner, "_MOST_SCANNED", most_scanned)
    stores = [PAGES[:3], PAGES, [*PAGES, MORE_HIDDEN]]
    found = [provenance_of(EmbargoedStore(MemoryStore(one), HIDDEN), "x") for one in stores]
    assert found == found[:1] * 3
    told = Provenance.told(found[0].as_fields())
    assert told is not None
    assert told.as_fields() == found[0].as_fields()
    assert found[0].state or numbers == [None] * 4
    fields = dict(found[0].as_fields())
    assert [fields[one] for one in ("captures", "read", "first", "last")] == numbers
    assert "None" not in found[0].cite()
    other = [*PAGES, replace(PAGES[0], timestamp="20120101000000")]
    seen = provenance_of(EmbargoedStore(MemoryStore(other), HIDDEN), "x")
    assert (seen.state == found[0].state) is (numbers == [None] * 4)


@pytest.mark.parametrize("most_counted", [9, 0])
def test_a_state_changes_at_the_midnights_that_show_a_capture(
    monkeypatch: pytest.MonkeyPatch, most_counted: int
) -> None:
    monkeypatch.setattr(owner, "_MOST_COUNTED", most_counted)
    times = [datetime(2010, 1, 29, 12, tzinfo=UTC) + timedelta(days=day) for day in range(8)]
    now = iter(times)
    current = [next(now)]
    store = EmbargoedStore(MemoryStore(PAGES), Embargo(3), lambda: current[0])
    states = [provenance_of(store, "x").state]
    for current[0] in now:
        states.append(provenance_of(store, "x").state)
    shown = "20100130 is shown from 3 February on"
    assert len({*states[:5]}) == len({*states[5:]}) == 1, shown
    assert states[0] != states[-1], shown


def test_the_same_answer_has_the_same_bytes_and_validator(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for address in ("/count", "/ask/linkers?uri=*.a.example", "/count?format=csvw"):
        first = client.get(address)
        monkeypatch.setattr(owner, "today", lambda: "2099-01-01")
        second = client.get(address)
        assert (first.data, first.headers["ETag"]) == (second.data, second.headers["ETag"])
        headers = {"If-None-Match": first.headers["ETag"]}
        assert client.get(address, headers=headers).status_code == 304


def test_a_page_stays_the_same_at_midnight(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = []
    for day in ("2026-11-29", "2026-11-30"):
        for module in ("access.provenance", "service.pages.blocks"):
            monkeypatch.setattr(f"arclink.{module}.today", lambda day=day: day)
        pages.append(client.get(f"/?uri={A}"))
    first, second = pages
    assert "To cite" in first.text
    assert (first.data, first.headers["ETag"]) == (second.data, second.headers["ETag"])


def test_a_picture_of_python_has_the_day_as_one_that_is_saved(where: Path) -> None:
    with arclink.open(where) as graph:
        picture = graph.inlinks(A).picture()
    assert picture is not None
    root = ElementTree.fromstring(picture.file())
    found = json.loads(root.findtext(f"{SVG}metadata") or "")
    assert found["date"] == owner.today()
    assert found["cite"] in (root.findtext(f"{SVG}desc") or "").splitlines()
    assert f"read {found['date']}" in found["cite"]


def test_a_subset_of_a_subset_is_named_and_one_of_a_service_is_not(where: Path) -> None:
    one, other = "host:a.example or host:b.example", "from:2010"
    with arclink.open(where) as graph:
        found = graph.subset(one).subset(other).count().provenance
        assert found is not None
        flat = graph.subset(f"({one}) and ({other})").count().provenance
        assert flat is not None
        assert (found, shlex.split(found.asked)) == (
            replace(flat, asked=found.asked),
            ["count", f"({one}) and ({other})"],
        )
    client = client_of(str(where), Settings(subset=one, title="links.db"))
    of_service = in_json(client.get(f"/count?subset={other}").data)
    assert of_service["asked"] == f"count {other}"
    assert {**of_service, "asked": "", "cite": ""} == {**found.as_fields(), "asked": "", "cite": ""}
    assert in_json(client.get("/count").data)["asked"] == "count"


def test_a_store_is_read_once_for_its_state(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(str(where)) as store:
        before = provenance_of(store, "a", "count")
        monkeypatch.setattr(type(store), "days", lambda *_: pytest.fail("read again"))
        monkeypatch.setattr(type(store), "sums", lambda *_: pytest.fail("read again"))
        assert provenance_of(store, "b", "diff") == replace(before, archive="b", asked="diff")


def test_a_store_that_does_not_count_its_captures_says_so(where: Path) -> None:
    with open_store(str(where)) as store:
        counted = provenance_of(store, "")
    old = replace(counted, known=NOT_COUNTED, first="", last="")
    assert old.cite().startswith("a web archive, number of captures not known, ArcLink")


GOOD = {
    "archive": "IA",
    "captures": 3,
    "read": 2,
    "first": "2009-01-01",
    "last": "2010-01-01",
    "state": "0123456789abcdef",
    "arclink": "0.3.0",
    "asked": "ask linkers",
}


def test_what_another_archive_says_is_read_without_trust() -> None:
    told = Provenance.told(GOOD)
    assert told is not None
    assert {**GOOD, "cite": told.cite()} == told.as_fields()
    unknown = Provenance.told({**GOOD, "captures": None, "read": None, "first": None, "last": None})
    assert unknown is not None
    assert unknown.known == NOT_COUNTED
    wrongs: tuple[object, ...] = (
        None,
        [],
        "x",
        {},
        {**GOOD, "state": "x" * 16},
        {**GOOD, "state": ["0"]},
        {**GOOD, "arclink": "1\n2"},
        {**GOOD, "arclink": "x" * 50},
        {**GOOD, "first": "2009"},
        {**GOOD, "last": 20100101},
    )
    for wrong in wrongs:
        assert Provenance.told(wrong) is None, wrong
    for counts in ({"captures": 1}, {"captures": -1}, {"read": True}, {"captures": [3]}):
        strange = Provenance.told({**GOOD, **counts})
        assert strange is None or strange.known.captures is None, counts
    long = Provenance.told({**GOOD, "archive": "x" * 10**6, "cite": "mine", "other": 1})
    assert long is not None
    assert len(long.cite()) < 400
    assert "mine" not in long.cite()


def test_a_failing_query_leaves_file_and_metadata_as_they_were(where: Path, tmp_path: Path) -> None:
    for name in ("rows.csv", "rows.csv-metadata.json"):
        (tmp_path / name).write_text("before")
    words = ["sql", "SELECT error('no') FROM links", "--format", "csv", "--store", str(where)]
    done = CliRunner().invoke(group, [*words, "--into", str(tmp_path / "rows.csv")])
    assert done.exit_code
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == dict.fromkeys(
        ("rows.csv", "rows.csv-metadata.json"), "before"
    )
