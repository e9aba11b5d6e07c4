"""Words in selections: text, title and anchor select what plain Python selects."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

import arclink
from arclink.analysis.relations.folder import tables_folder
from arclink.analysis.relations.state import add_texts, read_state
from arclink.captures.subsets.catalog import SubsetCatalog, narrowed
from arclink.captures.subsets.evaluation import Evaluation, SubsetCostError
from arclink.captures.subsets.language import (
    Condition,
    Selection,
    SelectionError,
    parse_selection,
    text_of,
)
from arclink.cli.main import group
from arclink.errors import UsageError
from arclink.model import Forgotten, Surt
from arclink.service.application import create_app
from arclink.service.selecting import SelectionForm
from arclink.store.embargo import Embargo, EmbargoedStore
from arclink.store.location import open_store
from arclink.store.protocols import Scans, Takedown
from tests.subsets.selections import CaptureTable, conditions, selections_of
from tests.subsets.worded import TERMS, WordsOfCaptures, payload_of, texts_of

WORDS = [
    *(
        parse_selection(f"{name}:({term})")
        for name in ("text", "title", "anchor")
        for term in TERMS
    ),
    *map(parse_selection, ("text:*", "title:*")),
]
EMBARGO = Embargo(prefixes=(Surt("example,kalvik2010"), Surt("example,blog")))


class Worded(NamedTuple):
    """A store with texts, and parts of it with what their captures have."""

    where: str
    parts: dict[str, tuple[Scans, WordsOfCaptures]]

    def check(self, part: str, selection: Selection, table: CaptureTable) -> None:
        store, words = self.parts[part]
        expected = words.selected(selection, table)
        evaluation = Evaluation(store, selection, where=self.where)
        assert list(evaluation.scan()) == expected
        surts = dict.fromkeys(memento.surt for memento in words.mementos)
        for surt in list(surts)[::9]:
            of_surt = [memento for memento in expected if memento.surt == surt]
            assert list(evaluation.mementos(surt)) == of_surt


@pytest.fixture(scope="session")
def worded(demo_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worded]:
    where = str(tmp_path_factory.mktemp("worded") / "links.db")
    shutil.copy(demo_path, where)
    with ExitStack() as opened:
        whole = opened.enter_context(open_store(where))
        mementos = whole.scan_mementos()
        payloads = {payload_of(content) for content, _ in whole.shown(mementos) if content}
        payloads = {one for one in payloads if not one.startswith("redirect:")}  # as `read_texts`
        texts = texts_of([*payloads])
        add_texts(where, whole, texts)
        hidden = opened.enter_context(
            EmbargoedStore(opened.enter_context(open_store(where)), EMBARGO)
        )
        part = opened.enter_context(
            narrowed(
                open_store(where), where, "mime:text/html and to:20100110 and not host:a.example"
            )
        )
        parts: dict[str, Scans] = {"whole": whole, "embargo": hidden, "subset": part}
        yield Worded(
            where,
            {name: (one, WordsOfCaptures(whole, one, texts)) for name, one in parts.items()},
        )


@pytest.mark.parametrize("part", ["whole", "embargo", "subset"])
@pytest.mark.parametrize("condition", WORDS, ids=text_of)
def test_each_condition_selects_what_plain_python_selects(
    worded: Worded, capture_table: CaptureTable, part: str, condition: Condition
) -> None:
    worded.check(part, condition, capture_table)


@pytest.mark.parametrize("part", ["whole", "embargo", "subset"])
@settings(max_examples=12, deadline=None)
@given(
    selection=selections_of(st.one_of(st.sampled_from(WORDS), st.sampled_from(WORDS), conditions))
)
@example(selection=parse_selection("not (text:relay and pick:latest)"))
@example(selection=parse_selection("not (not text:relay or title:tickets) and pick:first"))
def test_words_are_joined_with_all_other_conditions(
    worded: Worded, capture_table: CaptureTable, part: str, selection: Selection
) -> None:
    worded.check(part, selection, capture_table)


def test_a_text_that_is_not_known_is_neither_in_a_condition_nor_outside_it(worded: Worded) -> None:
    store = worded.parts["whole"][0]

    def number(text: str) -> int:
        return len(list(Evaluation(store, parse_selection(text), where=worded.where).scan()))

    inside, outside, known, every = map(number, ("text:relay", "not text:relay", "text:*", "uri:*"))
    assert 0 < outside < known < every
    assert number("text:relay or not text:relay") == inside + outside < every
    assert number("not text:*") == every - known
    assert number("text:relay and not text:*") == inside + outside - known > 0  # cut, but found
    evaluation = Evaluation(store, parse_selection("text:relay"), where=worded.where)
    assert evaluation.unknown_words == every - known


WEBBASE = "title:kalvik and links-to:http://www.kalvik2010.example/"


def test_pages_with_a_word_in_the_title_that_point_to_a_uri_are_one_selection_at_all_doors(
    worded: Worded, capture_table: CaptureTable, tmp_path: Path
) -> None:
    """The example of WebBase."""
    store, words = worded.parts["whole"]
    worded.check("whole", parse_selection(WEBBASE), capture_table)
    selected = words.selected(parse_selection(WEBBASE), capture_table)
    keys = sorted((memento.original, memento.timestamp) for memento in selected)
    assert 0 < len(keys) < len(words.selected(parse_selection("title:kalvik"), capture_table))

    def run(*arguments: str) -> str:
        given = [*arguments, "--store", worded.where]
        return CliRunner().invoke(group, given, catch_exceptions=False).stdout

    unknown = Evaluation(store, parse_selection(WEBBASE), where=worded.where).unknown_words
    counted = json.loads(run("count", WEBBASE, "--format", "json"))
    assert (counted["captures"], counted["unknown"]) == (len(keys), unknown)
    assert f"The words of {unknown} captures of the store are not known" in run("count", WEBBASE)
    rows = [json.loads(line) for line in run("stream", WEBBASE).splitlines()]
    assert sorted((row["uri"], row["timestamp"]) for row in rows if "uri" in row) == keys
    run("export", "--format", "cdxj", "--into", str(tmp_path / "c.cdxj"), "--subset", WEBBASE)
    assert len((tmp_path / "c.cdxj").read_text().splitlines()) == len(keys)
    with arclink.open(worded.where) as graph:
        assert graph.subset(WEBBASE).count().about["captures"] == len(keys)
    client = create_app(worded.where).test_client()
    address = {"subset": WEBBASE}
    assert client.get("/count", query_string=address).get_json()["captures"] == len(keys)
    page = client.get("/select", query_string=address).get_data(as_text=True)
    assert f"<strong>{len(keys)}</strong> captures" in page
    assert 'name="title" value="kalvik"' in page
    assert f"The words of {unknown} captures" in page


def test_a_form_takes_words_as_people_write_them() -> None:
    form = SelectionForm({"title": 'kalvik "opens its"', "text": "relay"})
    selection, mistakes = form.selection()
    assert not mistakes
    assert text_of(selection) == 'title:(kalvik "opens its") and text:relay'
    assert SelectionForm.of(selection) == form


def test_an_embargo_says_nothing_of_hidden_captures(worded: Worded) -> None:
    store = worded.parts["embargo"][0]
    evaluation = Evaluation(store, parse_selection("text:relay"), where=worded.where)
    assert evaluation.unknown_words is None


def test_a_store_without_texts_names_the_command(demo_path: Path, tmp_path: Path) -> None:
    where = str(shutil.copy(demo_path, tmp_path / "links.db"))
    with open_store(where) as store:
        with pytest.raises(UsageError, match="arclink tables --text"):
            Evaluation(store, parse_selection("text:relay"), where=where)
        found = Evaluation(store, parse_selection("title:* and anchor:home"), where=where)
        assert list(found.scan())
        assert tables_folder(where).exists()  # made on first use


def test_too_many_conditions_are_refused(worded: Worded) -> None:
    store = worded.parts["whole"][0]
    many = " or ".join(f"text:ab{number}*" for number in range(1_000))
    with pytest.raises(SubsetCostError, match="at most 20 conditions on words"):
        Evaluation(store, parse_selection(many), where=worded.where)
    same = " or ".join(["text:zz*"] * 1_000)
    assert not list(Evaluation(store, parse_selection(same), where=worded.where).scan())


@pytest.mark.parametrize(
    "text",
    [
        "text:a*",
        f"text:{'a' * 10_000}",
        "title:()",
        "anchor:*",
        'text:("a" b',
        'text:"a b',
        "text:-",
    ],
)
def test_what_has_no_words_or_too_many_is_no_selection(text: str) -> None:
    with pytest.raises(SelectionError):
        parse_selection(text)


@given(st.lists(st.text('ab c"()\\*é東', min_size=1, max_size=12), min_size=1, max_size=3))
def test_what_can_be_read_is_written_and_read_again(terms: list[str]) -> None:
    quoted = (one.replace("\\", "\\\\").replace('"', '\\"') for one in terms)
    text = f"text:({' '.join(f'{chr(34)}{one}{chr(34)}' for one in quoted)})"
    try:
        selection = parse_selection(text)
    except SelectionError:
        return
    assert parse_selection(text_of(selection)) == selection


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('text:"checkpoint  barriers"', 'text:"checkpoint  barriers"'),
        ('anchor:(a "b cc"* "d")', 'anchor:(a "b cc"* d)'),
        ("title:(one)", "title:one"),
        ("text:node.js", "text:node.js"),
        ('text:"f(x)" and from:2016', 'text:"f(x)" and from:2016'),
    ],
)
def test_words_have_one_canonical_text(text: str, written: str) -> None:
    assert text_of(parse_selection(text)) == written


def test_a_stored_list_keeps_the_captures_with_words(worded: Worded) -> None:
    catalog = SubsetCatalog(worded.where)
    with open_store(worded.where) as store:
        stored = catalog.put(
            store, "relay", parse_selection("text:relay and pick:first"), keep=True
        )
        with narrowed(open_store(worded.where), worded.where, "relay") as subset:
            found = list(subset.scan_mementos())
        text = "text:relay and pick:first"
        expected = list(Evaluation(store, parse_selection(text), where=worded.where).scan())
    assert found == expected
    assert stored.captures == len(expected) > 0


def test_inside_a_snapshot_the_relations_stay_those_of_the_present_state(
    demo_path: Path, tmp_path: Path
) -> None:
    where = str(shutil.copy(demo_path, tmp_path / "links.db"))
    gone = Surt("example,kalvik2010)")
    with open_store(where) as store, open_store(where, create=True) as writer, store.snapshot():
        before = [one for one in store.scan_mementos() if one.surt.startswith(gone)]
        assert before
        writer.forget(Takedown(Forgotten(gone), "", "2026-11-21T00:00:00Z"))
        version = writer.state().version
        found = list(Evaluation(store, parse_selection("title:*"), where=where).scan())
        assert found
        assert not {*found} & {*before}  # what is forgotten is not known
        state = read_state(tables_folder(where))
        assert state is not None
        assert state.version == version
