"""Invented texts of pages, for stores whose archive files do not exist."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from arclink.access.texts import printable
from arclink.analysis.relations.kept import relations_of
from arclink.analysis.relations.state import add_texts
from arclink.rows.texts import TextRow
from arclink.store.protocols import Additions
from arclink.uris.resolution import checksum_of

WORDS = {
    "find": "eXa*",
    "search": "eXa*",
    "frequency": 'eXa* "old news" straße never',
    "first-said": "news",
}
"""What questions are asked for in tests: a beginning, a phrase, and a word that no page has."""


def words_of(name: str) -> list[tuple[str, str]]:
    """Return the parameters of a question that say what it looks for; none if it takes no words."""
    return [("words", WORDS[name])] if name in WORDS else []


_LINES = (
    "Example of the old news",
    "  OLD news, new news: news! ",
    "Examples and exams",
    "Nach der Straße die STRASSE",
    "the old news again",
    "نص قديم 東京 Café",
    "page two",
)


def texts_of(store: Additions) -> list[TextRow]:
    """Return texts by payload: of some none was read, some have none, some are empty or cut."""
    contents = {one: store.content_of(one) for one in store.scan_mementos()}
    payloads = {one: checksum_of(content) for one, content in contents.items() if content}
    redirects = {payload for one, payload in payloads.items() if one.status.startswith("3")}
    texts = {*payloads.values()} - redirects
    return sorted(row for one in texts for row in _invented(one))


def _invented(payload: str) -> Iterator[TextRow]:
    draw = Random(payload)  # the same in each store that has it
    match draw.randrange(10):
        case 0:
            pass
        case 1:
            yield payload, None, None, None, None
        case 2:
            yield payload, "An example of news", None, "", False
        case number:
            lines = draw.sample(_LINES, draw.randint(1, 4))
            yield payload, "More", None, "\n".join(lines), number == 3


def by_content(store: Additions, rows: Sequence[TextRow]) -> Mapping[str, TextRow]:
    """Return the texts of contents that captures show; a title of the store is the better one."""
    texts = {row[0]: row for row in rows}
    found = {}
    for one in store.scan_mementos():
        content = store.content_of(one)
        if content is not None and (payload := checksum_of(content)) in texts:
            _, title, *others = texts[payload]
            ((_, own),) = store.shown([one])
            found[content] = (content, (own and printable(own)) or title, *others)
    return found  # type: ignore[return-value]


def add_page_texts(where: Path | str, store: Additions) -> None:
    """Add invented texts to the relations of a store, as a command adds those that it reads."""
    add_texts(str(where), store, texts_of(store))
    relations_of(str(where), store)
