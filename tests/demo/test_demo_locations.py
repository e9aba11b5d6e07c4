"""References and notation of the demo archive lead to the targets that the URL Standard defines.

The resolver of this test is not used by the generator.
"""

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.demo.captures import Crawler, Dice
from arclink.demo.evolution import between
from arclink.demo.pages import Link, Location, read_notation, spelled
from arclink.demo.scenes import _Scene

names = st.text("abcxyz019-", min_size=1, max_size=4)
directories = st.lists(names, max_size=3).map(
    lambda parts: "/" + "".join(f"{part}/" for part in parts)
)
queries = st.just("") | names.map(lambda name: f"?{name}=1")
paths = st.builds("{}{}{}".format, directories, st.just("") | names, queries)
hosts = st.sampled_from(["a.example", "www.a.example", "b.example:8080"])
uris = st.builds("{}://{}{}".format, st.sampled_from(["http", "https"]), hosts, paths)
references = st.one_of(
    uris,
    st.builds("//{}{}".format, hosts, paths),
    paths,
    st.builds("{}{}{}".format, st.sampled_from(["", "../"]), names, queries),
    st.sampled_from(["", "./", "../", "mailto:a@b.example", "urn:isbn:9780000000002"]),
    names.map(lambda name: f"?{name}"),
)


@given(uris, references, st.sampled_from(["", "#part"]))
def test_a_reference_leads_where_it_says(page: str, reference: str, fragment: str) -> None:
    written, target = spelled(reference + fragment)
    assert Location(page).target(target) == ada_url.join_url(page, written).partition("#")[0], (
        written
    )


@given(paths, paths)
def test_the_shortest_reference_reaches_its_target(page: str, target: str) -> None:
    # A folder with a query, seen from itself, has no name to write.
    if target.partition("?")[0] != page.partition("?")[0].rpartition("/")[0] + "/":
        source = "http://a.example" + page
        assert ada_url.join_url(source, between(page, target)) == "http://a.example" + target


@pytest.mark.parametrize(
    ("notation", "html", "links"),
    [
        pytest.param("", "", [], id="nothing"),
        pytest.param("<hr>\n", "<hr>\n", [], id="markup"),
        pytest.param(
            "¶See [/|A & B|me nofollow], [x#top|x].",
            '<p>See <a href="/" rel="me nofollow">A &amp; B</a>, <a href="x#top">x</a>.</p>\n',
            [Link("a@href", "/", "A & B", "me nofollow"), Link("a@href", "x", "x")],
            id="anchors",
        ),
        pytest.param(
            '[!a.gif|"A"][!b.gif]',
            '<img src="a.gif" alt="&quot;A&quot;"><img src="b.gif">\n',
            [Link("img@src", "a.gif", '"A"'), Link("img@src", "b.gif")],
            id="images",
        ),
        pytest.param(
            r"[A\n/b'c => /b%27c|<b>x</b>\t => x]",
            '<a href="A\n/b&#x27;c"><b>x</b>\t</a>\n',
            [Link("a@href", "/b%27c", "x")],
            id="another spelling in the page",
        ),
        pytest.param(
            "= area@href x|X|nofollow\n<area href=x>\n[|top]",
            '<area href=x>\n<a href="">top</a>\n',
            [Link("area@href", "x", "X", "nofollow"), Link("a@href", "", "top")],
            id="listed links come before those in the next lines",
        ),
    ],
)
def test_notation_is_read_as_markup_and_links(notation: str, html: str, links: list[Link]) -> None:
    assert read_notation(notation) == (html, links)


@pytest.mark.parametrize(
    ("line", "each", "message"),
    [
        pytest.param("0 pge /x home", "", "'pge' is nothing", id="no such kind of capture"),
        pytest.param("0 page /x hme", "", "hme", id="no such page"),
        pytest.param("0 page /x home codng=gzip", "", "codng", id="no such option"),
        pytest.param("0 revisit /x home", "", "home", id="a page that is not captured yet"),
        pytest.param("0 page /x home", "a | b\n1", "shorter", id="a row without a column"),
        pytest.param("0 page /x home same=/y", "", "h.example/y", id="a time that is not known"),
    ],
)
def test_a_mistake_in_a_scene_is_an_error(line: str, each: str, message: str) -> None:
    scene = {"captures": line, "pages": {"home": "# Home"}, **({"each": each} if each else {})}
    with pytest.raises((KeyError, ValueError), match=message):
        list(_Scene(Crawler(Dice(1)), Location("http://h.example/")).captures(scene))
