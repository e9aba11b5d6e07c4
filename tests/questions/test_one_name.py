"""A question has one name: a page is answered by look-ups, a part of the archive by SQL."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

import arclink
from arclink.access.capabilities import capability, keyword
from arclink.access.declarations import KINDS, AnyParameter, BadParameterError
from arclink.analysis.questions.queries import ASK_PARAMETERS
from arclink.analysis.questions.table import _WAS, QUESTIONS
from arclink.cli.main import group
from arclink.rooms import CAPABILITIES
from arclink.service.application import create_app
from arclink.service.settings import Settings
from tests.demos import Demos

BOTH = [name for name in CAPABILITIES if name in QUESTIONS]
PARTS = ["*.kalvik2010.example", "http://www.kalvik2010.example/*", "*"]
GIVEN = {"anchors": {"by": "year"}, "diff": {"from": "2009", "to": "201003"}}


@pytest.fixture(scope="module")
def store(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = demos.copy(tmp_path_factory.mktemp("one-name"))
    arclink.tables(store)
    return store


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[FlaskClient]:
    with create_app(str(store), Settings(title=store.name)).test_client() as client:
        yield client


def answer(store: Path, *words: str) -> Any:
    done = CliRunner().invoke(group, [*words, "--store", str(store), "--format", "json"])
    assert done.exit_code == 0, done.output
    return orjson.loads(done.stdout)


def named(parameters: dict[str, str]) -> list[str]:
    return [word for name, value in parameters.items() for word in (f"--{name}", value)]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", BOTH)
def test_a_part_of_the_archive_is_answered_as_the_question(
    store: Path, client: FlaskClient, name: str, part: str
) -> None:
    asked = named({**GIVEN[name], "limit": "7"})
    expected = answer(store, "ask", name, part, *asked)
    assert expected["rows"]
    assert answer(store, name, part, *asked) == expected
    of_page = answer(store, "ask", name, part, *named({**GIVEN[name], "limit": "1000"}))
    by_default = answer(store, name, part, *named(GIVEN[name]))
    assert by_default["rows"] == of_page["rows"]
    query = {"uri": part, **GIVEN[name], "limit": "7", "format": "json"}
    assert client.get(f"/{name}", query_string=query).get_json() == expected
    keywords = {keyword(one): value for one, value in GIVEN[name].items()}
    with arclink.open(store) as graph:
        found = getattr(graph, name)(part, **keywords, limit=7)
        assert [*found] == expected["rows"]
        assert found.about["captures"] == expected["captures"]


@pytest.mark.parametrize("name", BOTH)
def test_a_part_needs_only_its_address_and_a_page_what_it_always_needed(
    store: Path, client: FlaskClient, name: str
) -> None:
    part, page = PARTS[0], "http://www.kalvik2010.example/"
    expected = answer(store, "ask", name, part, "--limit", "0")
    found = answer(store, name, part, "--limit", "0")
    assert found == expected
    assert client.get(f"/{name}?uri={part}&limit=0&format=json").get_json() == expected
    with arclink.open(store) as graph:
        assert [*getattr(graph, name)(part)] == expected["rows"]
        for one in (each for each in capability(name).query.DECLARED[1:] if each.is_required):
            others = {key: value for key, value in GIVEN[name].items() if key != one.name}
            words = [name, page, *named(others), "--store", str(store)]
            done = CliRunner().invoke(group, words, standalone_mode=False)
            assert f"{one.name}: it is missing" in str(done.exception)
            response = client.get(f"/{name}", query_string={"uri": page, **others})
            assert (response.status_code, one.name in response.get_data(as_text=True)) == (
                400,
                True,
            )
            keywords: Any = {keyword(key): value for key, value in others.items()}
            with pytest.raises(BadParameterError, match=f"{keyword(one.name)}: it is missing"):
                getattr(graph, name)(page, **keywords)


@pytest.mark.parametrize("name", BOTH)
def test_what_only_a_page_has_is_refused_for_a_part(
    store: Path, client: FlaskClient, name: str
) -> None:
    of_questions = {one.name for one in ASK_PARAMETERS}
    only = [one for one in capability(name).query.DECLARED if one.name not in of_questions]
    assert only
    for one in only:
        words = [name, PARTS[0], *named(GIVEN[name]), f"--{one.name}", "x"]
        refused = CliRunner().invoke(group, [*words, "--store", str(store)])
        assert refused.exit_code, words
        query = {"uri": PARTS[0], **GIVEN[name], one.name: "x"}
        response = client.get(f"/{name}", query_string=query)
        assert response.status_code == 400
        assert response.get_json()["parameter"] == one.name
        assert "only for one page" in response.get_json()["detail"]


@pytest.mark.parametrize("name", BOTH)
def test_both_have_the_same_defaults(name: str) -> None:
    def defaults(parameters: tuple[AnyParameter, ...]) -> dict[str, str | None]:
        return {one.name: one.default for one in parameters}

    looked_up, asked = defaults(capability(name).query.DECLARED), defaults(ASK_PARAMETERS)
    shared = looked_up.keys() & asked.keys() - {"limit"}
    assert KINDS.name in shared
    assert {one: looked_up[one] for one in shared} == {one: asked[one] for one in shared}


@pytest.mark.parametrize(("earlier", "name"), _WAS.items())
def test_an_earlier_name_answers_with_a_note(
    store: Path, client: FlaskClient, earlier: str, name: str
) -> None:
    assert earlier not in QUESTIONS
    expected = answer(store, "ask", name, PARTS[0])
    with pytest.warns(FutureWarning, match=f"'{earlier}' is now '{name}'"):
        assert answer(store, "ask", earlier, PARTS[0]) == expected
    with pytest.warns(FutureWarning, match=f"'{earlier}' is now '{name}'"):
        response = client.get(f"/ask/{earlier}", query_string={"uri": PARTS[0]})
    assert response.get_json()["rows"] == expected["rows"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert client.get(f"/ask/{name}", query_string={"uri": PARTS[0]}).status_code == 200
