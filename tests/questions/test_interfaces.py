"""Every question in every scope through every interface, and nothing of what a store hides."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from pyarrow.parquet import read_table

import arclink
from arclink.access.declarations import BadParameterError
from arclink.access.formats.rows import ROW_FORMATS
from arclink.access.kinds import ALL_KINDS
from arclink.analysis.questions.asking import ask, key_of
from arclink.analysis.questions.queries import AskQuery
from arclink.analysis.questions.table import QUESTIONS, QuestionScope
from arclink.analysis.relations.database import ShownRelations
from arclink.analysis.relations.folder import tables_folder
from arclink.captures.subsets.catalog import narrowed
from arclink.cli.main import group
from arclink.errors import OperatorError, UsageError
from arclink.linkgraph import LinkGraph
from arclink.model import Forgotten, Surt
from arclink.service.settings import Settings
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import Scans, Takedown
from tests.access.sqlite_pages import load_pages
from tests.questions.archive import NEWS, ORG, PAGES
from tests.questions.page_texts import WORDS, add_page_texts, words_of
from tests.questions.plain import Archive, Plain, Row, makes_sense
from tests.service.conftest import client_of
from tests.store.memory_store import MemoryStore

WRITTEN = {
    "page": ORG,
    "prefix": f"{ORG}*",
    "host": ORG,
    "domain": "*.example.org",
    "archive": "",
}
"""An address of each scope, as people write it; only that of a host needs its scope named."""

SITE = WRITTEN["domain"]

SCOPES = [scope.value for scope in QuestionScope]


def given_of(scope: str) -> list[tuple[str, str]]:
    uri = [("uri", WRITTEN[scope])] if WRITTEN[scope] else []
    return [*uri, *([("scope", "host")] if scope == "host" else [])]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("questions")
    load_pages(folder / "links.db", folder / "graph", [PAGES[::2], PAGES[1::2]])
    with open_store(str(folder / "links.db")) as store:
        add_page_texts(folder / "links.db", store)
    return folder / "links.db"


@pytest.fixture(scope="module")
def graph(path: Path) -> LinkGraph:
    return arclink.open(path)


@pytest.fixture(scope="module")
def archive() -> Archive:
    return Archive(MemoryStore(PAGES))


def plain(archive: Archive, name: str, scope: str) -> list[Row]:
    return _asked(archive, name, scope).rows()


def _asked(archive: Archive, name: str, scope: str) -> Plain:
    uris = [ORG] if WRITTEN[scope] else []
    words = WORDS.get(name, "") if QUESTIONS[name].words else ""
    return Plain(archive, name, scope, uris, words=words)


def needed_words(name: str) -> list[tuple[str, str]]:
    return words_of(name) if QUESTIONS[name].words else []


@pytest.fixture(scope="module")
def client(path: Path, graph: LinkGraph) -> FlaskClient:
    graph.sql("FROM captures LIMIT 1")  # a service does not make the tables during a request
    return client_of(str(path), Settings(title=path.name))


def command_bytes(path: Path, *arguments: str) -> bytes:
    done = CliRunner().invoke(group, [*arguments, "--store", str(path)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout_bytes


def command(path: Path, *arguments: str) -> str:
    return command_bytes(path, *arguments).decode()


def _digits(value: object) -> object:
    return value.strftime("%Y%m%d%H%M%S") if isinstance(value, datetime) else value


_IS_TIME = re.compile(r"\d{14}").fullmatch


def _texts(row: Row, *, is_iso: bool) -> Row:
    """Return a row of CSV; spreadsheets read times as ISO 8601."""
    texts = ["" if value is None else str(value) for value in row]
    return tuple(
        str(datetime.strptime(text, "%Y%m%d%H%M%S")) if is_iso and _IS_TIME(text) else text
        for text in texts
    )


@pytest.mark.parametrize(
    ("name", "scope"), [asked for asked in product(QUESTIONS, SCOPES) if makes_sense(*asked)]
)
def test_an_answer_is_the_same_in_python_on_the_command_line_and_over_http(
    path: Path, graph: LinkGraph, client: FlaskClient, archive: Archive, name: str, scope: str
) -> None:
    expected = plain(archive, name, scope)
    given = [*given_of(scope), *needed_words(name)]
    query = [*given, ("limit", "0")]
    uris = [value for key, value in given if key == "uri"]
    parameters: Any = {key: value for key, value in given if key != "uri"}
    options = [text for key, value in parameters.items() for text in (f"--{key}", value)]
    of_python = graph.ask(name, *uris, **parameters).table.to_pylist()
    of_command = json.loads(
        command(path, "ask", name, *uris, *options, "--limit", "0", "--format", "json")
    )
    of_service = client.get(f"/ask/{name}", query_string=[*query, ("format", "json")]).get_json()
    assert [tuple(row.values()) for row in of_python] == expected
    assert of_command["rows"] == of_python
    assert of_service == of_command
    assert (of_service["scope"], of_service["total"]) == (scope, len(expected))


@pytest.mark.parametrize("name", ["near", "linked-with"])
def test_a_question_that_needs_an_address_says_so(
    path: Path, graph: LinkGraph, client: FlaskClient, name: str
) -> None:
    why = f"an address: {name} is not about the whole archive"
    with pytest.raises(UsageError, match=why):
        graph.ask(name)
    called = CliRunner().invoke(group, ["ask", name, "--store", str(path)])
    assert isinstance(called.exception, UsageError)
    assert why in str(called.exception)
    answer = client.get(f"/ask/{name}")
    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert why in answer.get_json()["detail"]
    page = client.get("/", query_string={"ask": name}, headers={"Accept": "text/html"})
    assert page.status_code == HTTPStatus.BAD_REQUEST
    assert why in page.text
    assert f"ask={name}" not in client.get("/?ask=anchors", headers={"Accept": "text/html"}).text


@pytest.mark.parametrize("name", QUESTIONS)
def test_all_formats_have_the_same_rows(
    path: Path, client: FlaskClient, archive: Archive, name: str
) -> None:
    expected = plain(archive, name, "domain")
    query = [*given_of("domain"), *needed_words(name), ("limit", "0")]
    read: dict[str, Callable[[bytes], Sequence[Row]]] = {
        "json": lambda data: [tuple(row.values()) for row in json.loads(data)["rows"]],
        "jsonl": lambda data: [tuple(json.loads(line).values()) for line in data.splitlines()],
        "csv": lambda data: [*map(tuple, csv.reader(io.StringIO(data.decode())))][1:],
        "spreadsheet": lambda data: [
            *map(tuple, csv.reader(io.StringIO(data.decode("utf-8-sig"))))
        ][1:],
        "parquet": lambda data: [
            tuple(map(_digits, row.values())) for row in read_table(io.BytesIO(data)).to_pylist()
        ],
    }
    for form in ROW_FORMATS:
        words = [text for key, value in needed_words(name) for text in (f"--{key}", value)]
        arguments = ("ask", name, "*.example.org", *words, "--limit", "0", "--format", form)
        written = command_bytes(path, *arguments)
        if form == "table":
            head, *rows = written.decode().rpartition("\n\n")[2].splitlines()
            if expected:  # without rows, there is no table
                assert QUESTIONS[name].columns[0].replace("_", " ") in head.lower()
                assert len(rows) == len(expected)
            else:
                assert "None" in written.decode() or "Unknown" in written.decode()
            continue
        answer = client.get(f"/ask/{name}", query_string=[*query, ("format", form)])
        if form == "csvw":
            of_command, of_service = json.loads(written), answer.get_json()
            assert of_command.pop("url") == "answer.csv"
            assert "format=csv" in of_service.pop("url")
            assert of_service == of_command
            titles = [one["titles"] for one in of_command["tableSchema"]["columns"]]
            assert {*QUESTIONS[name].columns} <= {*titles}
            continue
        for data in (written, answer.get_data()):
            rows_found = read[form](data)
            if form in ("csv", "spreadsheet"):
                is_iso = form == "spreadsheet"
                assert rows_found == [_texts(row, is_iso=is_iso) for row in expected]
            else:
                assert rows_found == expected


# What a store does not show

HIDDEN = Surt("example,hub)/")
SHOWN = [page for page in PAGES if not page.memento.surt.startswith(HIDDEN)]


def _embargoed(path: Path) -> Scans:
    return EmbargoedStore(open_store(str(path)), Embargo(0, (HIDDEN,)))


def _subset(path: Path) -> Scans:
    return narrowed(open_store(str(path)), str(path), "not host:hub.example")


def _forgotten(path: Path) -> Scans:
    """Return the store after a takedown; its relations were there before."""
    with open_store(str(path)) as store, ShownRelations(str(path), store):
        pass
    with open_store(str(path), create=True) as store:
        store.forget(Takedown(Forgotten(HIDDEN), "letter", "2026-11-21T00:00:00Z"))
    return open_store(str(path))


@pytest.mark.parametrize("hide", [_embargoed, _subset, _forgotten])
def test_what_is_hidden_is_in_no_answer(
    path: Path, tmp_path: Path, hide: Callable[[Path], Scans]
) -> None:
    """The answers are those of a store that never had it."""
    where = Path(shutil.copy(path, tmp_path / "links.db"))
    shutil.copytree(tables_folder(str(path)), tables_folder(str(where)))
    never = Archive(MemoryStore(SHOWN))
    assert len(SHOWN) < len(PAGES)
    with hide(where) as store, ShownRelations(str(where), store, with_texts=True) as shown:
        for name in QUESTIONS:
            for scope in SCOPES:
                if not makes_sense(name, scope):
                    continue
                with shown.apart() as database:
                    given = [*given_of(scope), *needed_words(name), ("limit", "0")]
                    answer = ask(database, AskQuery.from_parameters(given, name=name))
                rows = [tuple(row.values()) for row in answer.table.to_pylist()]
                assert rows == plain(never, name, scope), (name, scope)
                known = answer.known.captures, answer.known.known
                assert known == _asked(never, name, scope).known()


@pytest.mark.parametrize("given", [(), given_of("domain")], ids=["archive", "domain"])
def test_a_question_has_the_same_key_in_each_process(given: Sequence[tuple[str, str]]) -> None:
    """Sets have another order in another process; another question has another key."""
    code = (
        "from arclink.analysis.questions.asking import key_of\n"
        "from arclink.analysis.questions.queries import AskQuery\n"
        f"print(key_of(AskQuery.from_parameters({[*given]!r}, name='anchors')))"
    )
    keys = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    query = AskQuery.from_parameters(given, name="anchors")
    others = [replace(query, name="tlds"), replace(query, limit=1), replace(query, kinds=ALL_KINDS)]
    assert keys == {key_of(query)}
    assert len({key_of(one) for one in (query, *others)}) == 4


def test_a_prefix_is_a_part_of_its_host(graph: LinkGraph) -> None:
    assert 0 < graph.ask("pages", f"{NEWS}*").total < graph.ask("pages", ORG, scope="host").total


def test_an_asterisk_is_everything_a_site_or_a_character_of_a_page(graph: LinkGraph) -> None:
    assert graph.ask("pages", "*").total == graph.ask("pages").total
    assert graph.ask("pages", "*", scope="page").total == 0
    assert graph.ask("pages", "http://*.example.org/").total == graph.ask("pages", SITE).total
    assert 0 == graph.ask("pages", f"{NEWS}*", scope="page").total < graph.ask("pages", NEWS).total


def test_words_leave_out_no_row_of_other_questions_without_a_word(graph: LinkGraph) -> None:
    assert graph.ask("find", words="news").total
    with pytest.raises(BadParameterError, match="only for find, search, frequency, first-said"):
        graph.ask("anchors", words="news")


def test_addresses_of_several_scopes_are_named(graph: LinkGraph) -> None:
    with pytest.raises(BadParameterError) as error:
        graph.ask("pages", ORG, NEWS, SITE)
    assert f"'{ORG}' is a page and '{SITE}' a domain" in str(error.value)


@pytest.mark.parametrize(
    ("addresses", "text", "says"),
    [
        ([], b"", "has no address"),
        ([], b"# none\n \n", "has no address"),
        ([""], None, "leave it out to ask about the whole archive"),
        ([" ", ORG], None, "leave it out to ask about the whole archive"),
    ],
)
def test_no_address_by_mistake_is_not_the_whole_archive(
    path: Path, tmp_path: Path, addresses: list[str], text: bytes | None, says: str
) -> None:
    file = tmp_path / "addresses.txt"
    listed = []
    if text is not None:
        file.write_bytes(text)
        listed = ["--uris", str(file)]
    asked = ["ask", "pages", *addresses, *listed, "--store", str(path)]
    result = CliRunner().invoke(group, asked)
    assert isinstance(result.exception, OperatorError | BadParameterError)
    assert says in str(result.exception)


def test_a_list_may_begin_with_a_byte_order_mark(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "addresses.txt"
    file.write_bytes(f"\ufeff{ORG}\r\n{NEWS}\r\n".encode())
    asked = ["ask", "pages", "--uris", str(file), "--format", "jsonl", "--store", str(path)]
    rows = CliRunner().invoke(group, asked).stdout.splitlines()
    assert [json.loads(row)["asked"] for row in rows] == [ORG, NEWS]
