"""References of the demo archive lead to the targets that the WHATWG URL standard defines.

The resolver of this test is not used by the generator.
"""

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.demo.locations import (
    Location,
    Reference,
    absolute,
    between,
    directory_relative,
    encoded_path,
    encoded_query,
    origin_relative,
    path_relative,
    same_document,
    scheme_relative,
)

names = st.text("abcxyz019-", min_size=1, max_size=4)
directories = st.lists(names, max_size=3).map(
    lambda parts: "/" + "".join(f"{part}/" for part in parts)
)
queries = st.just("") | names.map(lambda name: f"?{name}=1")
locations = st.builds(
    Location,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.example", "www.a.example", "b.example:8080"]),
    directories,
    st.just("") | names,
    queries,
)
fragments = st.sampled_from(["", "#part"])
references = st.one_of(
    st.builds(absolute, locations, fragments),
    st.builds(scheme_relative, locations, fragments),
    st.builds(
        lambda location, fragment: origin_relative(location.path, fragment), locations, fragments
    ),
    st.builds(directory_relative, st.just("") | names, st.integers(0, 4), fragments),
    st.builds(path_relative, names.map(lambda name: f"?{name}")),
    st.builds(same_document, fragments),
)


@given(locations, references)
def test_a_reference_leads_where_it_says(location: Location, reference: Reference) -> None:
    assert (
        reference.target(location)
        == ada_url.join_url(location.uri, reference.written).partition("#")[0]
    )


@given(directories, directories, st.just("") | names, queries)
def test_the_shortest_reference_reaches_its_target(
    directory: str, other: str, name: str, query: str
) -> None:
    source = Location("http", "a.example", directory, "page")
    target = Location("http", "a.example", other, name, query)
    assert between(directory, target).target(source) == target.uri
    # A query alone would stay on the page: then nothing is left to write but the query of another
    # name.
    if name or not query or other != directory:
        assert ada_url.join_url(source.uri, between(directory, target).written) == target.uri


@pytest.mark.parametrize(
    ("written", "encoded"),
    [
        pytest.param("/blå løype/", "/bl%C3%A5%20l%C3%B8ype/", id="letters and blank"),
        pytest.param('/{a}`"<>', "/%7Ba%7D%60%22%3C%3E", id="brackets"),
        pytest.param("/%zz'|~!", "/%zz'|~!", id="kept as written"),
    ],
)
def test_paths_are_encoded_as_browsers_do(written: str, encoded: str) -> None:
    assert (
        encoded_path(written)
        == encoded
        == ada_url.join_url("http://a.example/", written).removeprefix("http://a.example")
    )


@given(
    st.text(
        st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="#\\"), max_size=8
    ).filter(lambda text: text == text.strip())
)
def test_queries_of_utf_8_pages_are_encoded_as_browsers_do(text: str) -> None:
    assert "http://a.example/?" + encoded_query(text, "utf-8") == ada_url.join_url(
        "http://a.example/", "?" + text
    )
