"""Texts and words next to a store: hostile pages, batches in any order, takedowns, lost files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, Tag
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from arclink.access.words import parse_words
from arclink.analysis.relations import kept, writing
from arclink.analysis.relations.by_tasks import UnusedTablesWarning
from arclink.analysis.relations.columns import LONGEST_WORD, MOST_PLACES, WORDS
from arclink.analysis.relations.database import RelationsDatabase, ShownRelations
from arclink.analysis.relations.folder import have_texts, tables_folder
from arclink.analysis.relations.found import found_terms
from arclink.analysis.relations.kept import relations_of
from arclink.analysis.relations.sql_texts import COMMON, text_of
from arclink.analysis.relations.state import add_texts
from arclink.analysis.relations.writing import PartWriter
from arclink.captures.texts import TextsRead, read_texts
from arclink.cli.main import group
from arclink.extract.html import BREAKS, NOT_SHOWN
from arclink.rows.texts import TextRow
from arclink.store.archive_paths import ArchivePaths
from arclink.store.location import open_store
from benchmarks.built_stores import build_store
from tests.captures.archives import Record, write_warc
from tests.pipeline.batch_orders import ALONE, page, revisit
from tests.relations.plain_words import plain_words
from tests.relations.secrets import SECRET, files_with_secrets, load
from tests.store.graphs import checksum_of

Rows = Counter[tuple[Any, ...]]


# Words of texts


def words_in(folder: Path, texts: Sequence[str | None], titles: Sequence[str] = ()) -> Path:
    """Return the file with the words of some texts."""
    rows = (
        (f"c{number:04}", titles[number] if titles else "", None, text, False)
        for number, text in enumerate(texts)
    )
    with closing(PartWriter(folder)) as writer:
        writer.write_texts("texts.parquet", rows, "words.parquet")
    return folder / "words.parquet"


def counted(path: Path) -> Rows:
    columns = parquet.read_table(path).columns
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return Counter((word, content, times, tuple(places)) for word, content, times, places in rows)


def expected(texts: Sequence[str | None]) -> Rows:
    """Return the rows of words of texts without titles, by plain Python."""
    rows: Rows = Counter()
    for number, text in enumerate(texts):
        places: dict[str, list[int]] = {}
        for place, word in enumerate(plain_words(text or ""), 2):
            places.setdefault(word, []).append(place)
        for word, each in places.items():
            for first in range(0, len(each), MOST_PLACES):
                some = tuple(each[first : first + MOST_PLACES])
                rows[word, number, None if first else len(each), some] += 1
    return rows


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few rows fill batches, runs, slices and row groups."""
    for name, value in {
        "_BYTES_OF_TEXTS": 30,
        "_BATCHES_OF_RUN": 2,
        "_ROWS_OF_SLICE": 7,
        "_SAMPLED": 5,
        "_MOST_WORDS": 9,
    }.items():
        monkeypatch.setattr(writing, name, value)


def sorted_words(path: Path) -> Rows:
    """Return the rows of a file of words, which are sorted."""
    columns = parquet.read_table(path)
    assert columns.column_names == [column.name for column in WORDS]
    keys = [*zip(*(columns[name].to_pylist() for name in ("word", "content")), strict=True)]
    assert keys == sorted(keys)
    return counted(path)


SOME_TEXT = st.none() | st.text(st.sampled_from("abé \n東.\0"), max_size=40)
FEW = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FEW
@given(st.lists(SOME_TEXT, max_size=12))
@pytest.mark.usefixtures("small")
def test_words_are_sorted_in_slices_of_any_size(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str | None]
) -> None:
    assert sorted_words(words_in(tmp_path_factory.mktemp("words"), texts)) == expected(texts)


@FEW
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), SOME_TEXT), max_size=24))
@pytest.mark.usefixtures("small")
def test_parts_become_one_whose_words_have_its_numbers(
    tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[int, bool, str | None]]
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    rows = [(f"c{number:04}", None, None, text, False) for number, (*_, text) in enumerate(asked)]
    parts = [folder / str(part) for part in range(4)]
    for part in parts:
        part.mkdir()
    for number in range(3):  # the last content of all is in each of them
        with closing(PartWriter(parts[number])) as writer:
            some = [row for row, (of, *_) in zip(rows, asked, strict=True) if of == number]
            last = rows[-1:] if some[-1:] != rows[-1:] else []
            writer.write_texts("texts.parquet", [*some, *last], "words.parquet")
    gone = {row[0] for row, (_, is_gone, _) in zip(rows, asked, strict=True) if is_gone}
    with closing(PartWriter(parts[3])) as writer:
        writer.merge_texts(parts[:3], "texts.parquet", "words.parquet", gone)
    kept = [row for row in rows if row[0] not in gone]
    table = parquet.read_table(parts[3] / "texts.parquet")
    assert table["content"].to_pylist() == [row[0] for row in kept]
    assert sorted_words(parts[3] / "words.parquet") == expected([row[3] for row in kept])


def test_no_page_stops_the_others(tmp_path: Path) -> None:
    """DuckDB could not sort lists of a million places, nor compose a million accents."""
    texts = [
        "a " * 400_000,
        "e" + "\u0301\u200d\u0302\u0316" * 100_000,
        "b" * (LONGEST_WORD + 1) + " " + "c" * LONGEST_WORD,
        "\0 \u200f\u05e9\u05dc\u05d5\u05dd\u200e '; DROP TABLE word_rows; -- % \\ \U0001f600",
        " ".join(f"w{number}" for number in range(200_000)),
        "東" * 100_000,
        None,
    ]
    rows = counted(words_in(tmp_path, texts))
    by_content = Counter(content for _, content, *_ in rows.elements())
    many = {number: -(-size // MOST_PLACES) for number, size in ((0, 400_000), (5, 10**5))}
    assert by_content == {**many, 1: 1, 2: 1, 3: 5, 4: 200_000}
    said = {word: times for word, content, times, _ in rows if content == 0 and times}
    assert said == {"a": 400_000}
    assert ("c" * LONGEST_WORD, 2, 1, (3,)) in rows
    assert ("drop", 3, 1, (3,)) in rows


PHRASES = ["the state of the state", "state of", "a state", "the the the", "東京都 state", "", "of"]
MANY = "東" * 400


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("state", {0: 2, 1: 1, 2: 1, 4: 1}),
        ("st*", {0: 2, 1: 1, 2: 1, 4: 1}),
        ('"the state"', {0: 2}),
        ('"the st"*', {0: 2}),
        ('"the the"', {3: 2}),
        ('"state of the state"', {0: 1}),
        ('"of the st"*', {0: 1}),
        ("東京", {4: 1}),
        ("京都*", {4: 1}),
        ("東*", {4: 1, 7: 400}),
        ('"title of"', {}),
        ('"in title"', dict.fromkeys(range(8), 1)),
        (MANY, {7: 1}),
        (MANY[:399], {7: 2}),
        (f"{MANY}東", {}),
        ("\u0640", {}),
        ("'; DROP TABLE words; --", None),
    ],
)
def test_terms_are_found_where_their_words_follow_each_other(
    tmp_path: Path, asked: str, found: dict[int, int] | None
) -> None:
    texts = [*PHRASES, MANY]
    path = words_in(tmp_path, texts, ["in title"] * len(texts))
    with RelationsDatabase() as database:
        database.run(text_of(COMMON, "words"))
        numbered = "SELECT 0 AS text_part, * RENAME (content AS text_row)"
        database.run(f"CREATE VIEW numbered_words AS {numbered} FROM '{path}'")
        terms = parse_words(asked)
        rows = database.found(found_terms(database, terms))
    if found is None:
        assert rows == []
    else:
        assert {content: times for _, _, content, times in rows} == found


# Texts of archive files, by another parser

_LEFT_OUT = {*NOT_SHOWN, "template", "select", "title", "textarea", "object", "svg", "math", "head"}


def _shown(element: PageElement) -> Iterator[str]:
    """Yield the shown text of an element, with blanks where a line ends."""
    if type(element) is NavigableString:
        yield str(element)
    if not isinstance(element, Tag) or element.name in _LEFT_OUT or "hidden" in element.attrs:
        return
    is_break = element.name in BREAKS
    yield "\n" if is_break else ""
    if element.name == "img":
        yield str(element.get("alt") or "")
    for child in element.children:
        yield from _shown(child)
    yield "\n" if is_break else ""


def plain_text(html: str) -> str:
    """Return the text of a page by Python's own parser, with the written rule of shown elements."""
    soup = BeautifulSoup(html, "html.parser")
    return "".join(_shown(soup.body or soup))


PAGES = {
    "inline": "<title>In <b>line</b></title><p>in<b>line</b> ele<span>ments</span><p>next",
    "hidden": "<p hidden>unseen</p><p>seen<script>var scripted</script><style>styled{}</style>",
    "image": "<body>before<img alt='alternative words'>after<img>",
    "forms": "<body><select><option>chosen</select><textarea>typed</textarea><button>push</button>",
    "table": "<table><tr><td>one<td>two<tr><td>three</table>li<ul><li>four<li>five</ul>",
    "entities": "<meta charset=utf-8><p>caf&eacute; R&amp;D &#x6771;&#x4eac; so&shy;ft &lt;tag&gt;",
    "comments": "<p>a<!-- comment -->b<p>c<wbr>d<br>e<hr>f",
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two files: pages, a copy of one, a revisit, a PDF."""
    folder = tmp_path_factory.mktemp("archive")
    pages = [
        page(f"http://a.example/{name}", number, body=html.encode())
        for number, (name, html) in enumerate(PAGES.items())
    ]
    others = [
        page("http://a.example/pdf", 21, body=b"%PDF-1.4 hushed", mime="application/pdf"),
        page("http://b.example/copy", 23, body=PAGES["hidden"].encode()),
        page("http://b.example/only", 24, body=b"<p>markup"),
        revisit("http://a.example/inline", 25),
    ]
    (folder / "a.warc").write_bytes(b"".join(pages))
    (folder / "b.warc").write_bytes(b"".join([pages[1], *others]))
    return folder


def texts_read(where: Path) -> TextsRead:
    with open_store(str(where)) as store:
        return read_texts(str(where), store, ArchivePaths())


def rows_of_texts(where: Path) -> tuple[Rows, Rows]:
    """Return the rows of texts and words of a store."""
    with open_store(str(where)) as store:
        made = relations_of(str(where), store)
    texts = [parquet.read_table(path) for path in made["texts"]]
    found: Rows = Counter()
    for table, path in zip(texts, made["words"], strict=True):
        contents = table["content"].to_pylist()
        for (word, number, *parts), times in counted(path).items():
            found[word, contents[number], *parts] += times
    of_texts = (
        row for one in texts for row in zip(*(c.to_pylist() for c in one.columns), strict=True)
    )
    return Counter(of_texts), found


@pytest.fixture(scope="module")
def built(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("built") / "links.db"
    build_store(archive, where, ALONE)
    assert texts_read(where).lost == {}
    return where


def test_texts_have_the_words_that_another_parser_finds(built: Path) -> None:
    with (
        open_store(str(built)) as store,
        ShownRelations(str(built), store, with_texts=True) as relations,
    ):
        found = relations.run(
            "SELECT DISTINCT regexp_extract(uri, '[^/]*$'), text FROM captures JOIN texts "
            "USING (content) WHERE host = 'a.example' AND shown_mime = 'text/html'"
        )
    words = {name: plain_words(text) for name, text in found}
    assert words == {name: plain_words(plain_text(html)) for name, html in PAGES.items()}


ODD_TYPES = {
    "TEXT/HTML; charset=x": True,
    "text/html, text/html": True,
    "application/xhtml+xml;": True,
    "Text/Plain;x": True,
    "": True,  # its beginning is that of HTML
    "-": True,
    "text/css": False,
    "x": False,
}


def test_a_build_and_a_later_command_read_texts_of_the_same_media_types(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"mimes": ["*"]}')
    pages = (
        page(f"http://a.example/{number}", number, body=b"<html><p>%d" % number, mime=mime)
        for number, mime in enumerate(ODD_TYPES)
    )
    (tmp_path / "a.warc").write_bytes(b"".join(pages))
    with_text, later = tmp_path / "with.db", tmp_path / "later.db"
    archive, settings = str(tmp_path / "a.warc"), ["--rules", str(rules)]
    for command in (
        ["build", archive, *settings, "--text", "--store", str(with_text)],
        ["build", archive, *settings, "--store", str(later)],
        ["tables", "--text", "--store", str(later)],
        ["tables", "--text", "--store", str(with_text)],  # a build reads no type from a beginning
    ):
        done = CliRunner().invoke(group, command)
        assert done.exit_code == 0, done.output
    texts, words = rows_of_texts(with_text)
    assert (texts, words) == rows_of_texts(later)
    assert sum(row[3] is not None for row in texts) == sum(ODD_TYPES.values())
    assert sum(texts.values()) == len(ODD_TYPES)


def test_any_order_of_batches_gives_the_same_texts(
    archive: Path, built: Path, tmp_path: Path
) -> None:
    for order, is_read in (("ab", "ab"), ("ba", "ab"), ("ba", "b"), ("ab", "a")):
        where = tmp_path / f"{order}-{is_read}.db"
        for name in order:
            build_store(archive, where, ALONE, [str(archive / f"{name}.warc")])
            if name in is_read:
                texts_read(where)
        texts_read(where)
        assert rows_of_texts(where) == rows_of_texts(built)


def test_a_file_that_is_missing_leaves_its_texts_unread(archive: Path, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for name in ("a.warc", "b.warc"):
        (files / name).write_bytes((archive / name).read_bytes())
    where = tmp_path / "links.db"
    build_store(files, where, ALONE)
    (files / "b.warc").rename(tmp_path / "away")
    first = texts_read(where)
    assert (first.read, first.others, first.cut) == (len(PAGES), 0, 0)
    lost = sum(first.lost.values())
    assert lost == 1
    asked = ["ask", "search", "--words", "markup", "--store", str(where)]
    done = CliRunner().invoke(group, asked)
    assert "whose text was not read" in done.output
    (tmp_path / "away").rename(files / "b.warc")
    again = texts_read(where)
    assert again.read + again.others == lost
    assert not again.lost
    assert "was not read" not in CliRunner().invoke(group, asked).output


def test_a_damaged_record_is_counted(archive: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes((archive / "a.warc").read_bytes())
    where = tmp_path / "links.db"
    build_store(file, where, ALONE)
    file.write_bytes(file.read_bytes().replace(b"HTTP/1.1", b"\0\0\0\0\0\0\0\0", 2)[:-40])
    done = texts_read(where)
    assert done.read < len(PAGES)
    assert done.read + done.others + sum(done.lost.values()) == len(PAGES)


# Takedowns


def texts_of(batch: int, pages: int) -> list[TextRow]:
    """Return the texts of the pages that `load` has loaded in a batch."""
    names = [f"{'plain' if number % 4 else SECRET}{batch}x{number}" for number in range(pages)]
    return sorted(
        (checksum_of(f"p{name}"), f"{name} title", None, f"said {name} word{name}", False)
        for name in names
    )


FORGET = ["forget", "example,gone", "--targets", "--reason", "letter"]


@pytest.fixture(params=["asked", "only read", "a batch later", "by two"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a store with texts that were asked about, or only read, or a batch before the last."""
    where = tmp_path / "links.db"
    with open_store(str(where), create=True) as store:
        load(store, tmp_path / "graph0", 0, 40)
        add_texts(str(where), store, texts_of(0, 40))
        if request.param != "only read":
            relations_of(str(where), store)
        if request.param in {"a batch later", "by two"}:
            load(store, tmp_path / "graph1", 1, 8)
        if request.param == "by two":
            add_texts(str(where), store, texts_of(1, 4))
            add_texts(str(where), store, texts_of(1, 8))
    assert any("tables" in name for name in files_with_secrets(where))
    return where


def test_no_file_has_a_word_of_a_forgotten_page(where: Path) -> None:
    done = CliRunner().invoke(group, [*FORGET, "--store", str(where)])
    assert done.exit_code == 0, done.output
    assert files_with_secrets(where) == []
    texts, words = rows_of_texts(where)
    assert len(texts) in {30, 36}
    assert {row[0] for row in texts} == {row[1] for row in words}
    assert files_with_secrets(where) == []
    with open_store(str(where)) as store:
        add_texts(str(where), store, texts_of(0, 40))  # by a process that had read them before
    assert files_with_secrets(where) == []
    assert rows_of_texts(where) == (texts, words)


@pytest.mark.parametrize("where", ["only read", "a batch later", "by two"], indirect=True)
def test_a_full_disk_does_not_prevent_a_takedown(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept, "make_part", fails)
    with pytest.warns(UnusedTablesWarning, match="Read them again: arclink tables --text"):
        done = CliRunner().invoke(group, [*FORGET, "--store", str(where)])
    assert done.exit_code == 0, done.output
    assert files_with_secrets(where) == []
    assert not have_texts(str(where))


def test_a_content_of_two_pages_stays_until_both_are_gone(archive: Path, tmp_path: Path) -> None:
    where = tmp_path / "links.db"
    build_store(archive, where, ALONE)
    texts_read(where)

    def has(word: str) -> bool:
        return any(row[0] == word for row in rows_of_texts(where)[1])

    for prefix, is_said in (("example,a)/hidden", True), ("example,b)/copy", False)):
        assert has("seen")
        done = CliRunner().invoke(group, ["forget", prefix, "--reason", "x", "--store", str(where)])
        assert done.exit_code == 0, done.output
        assert has("seen") is is_said
    assert has("markup")


def test_portions_that_were_read_become_one(tmp_path: Path) -> None:
    where = tmp_path / "links.db"
    with open_store(str(where), create=True) as store:
        load(store, tmp_path / "graph0", 0, 40)
        for row in texts_of(0, 40):
            add_texts(str(where), store, [row])
        parts = len([*tables_folder(str(where)).glob("*/read.zst")])
        assert parts < 6
    assert len(rows_of_texts(where)[0]) == 40


def test_a_store_without_any_text_says_so_after_texts_were_read(tmp_path: Path) -> None:
    file = write_warc(tmp_path / "a.warc", [Record("http://a.example/", record_type="metadata")])
    where = tmp_path / "links.db"
    build_store(file, where, ALONE)
    asked = ["ask", "search", "--words", "markup", "--store", str(where)]
    assert "was not read" in str(CliRunner().invoke(group, asked).exception)
    assert texts_read(where).read == 0
    done = CliRunner().invoke(group, asked)
    assert done.exit_code == 0, done.output
    assert "was not read" not in done.output
