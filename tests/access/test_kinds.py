"""Every kind of link is in exactly one group, and one option names the groups everywhere."""

from collections import Counter
from itertools import chain

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arclink.access.declarations import REDIRECTS
from arclink.access.kinds import (
    ALL_KINDS,
    NAVIGATION,
    TABLES,
    WORDS,
    KindGroup,
    Kinds,
    group_of,
    kinds_line,
    others_line,
    parse_kinds,
    union_of,
)
from arclink.access.queries import BadParameterError, LinkQuery
from arclink.analysis.matrices.slices import SliceOptions
from arclink.cli.main import group
from arclink.extract.feeds import FEED_KINDS
from arclink.extract.heritrix import RecordedLink
from arclink.extract.html import DEFAULT_KINDS, DERIVED_KINDS, HEADER_KINDS, OPTIONAL_KINDS
from arclink.model import Kind

EXTRACTED = DEFAULT_KINDS | OPTIONAL_KINDS | DERIVED_KINDS | HEADER_KINDS | FEED_KINDS | REDIRECTS
"""Every kind that reading pages, feeds and HTTP headers can give; crawlers and WAT files name
further ones.
"""
SAMPLE = sorted({*EXTRACTED, "guess@js", "crawler@embed", "style@href"})
WORD = st.sampled_from([*WORDS, *SAMPLE])


def test_every_kind_is_in_exactly_one_table() -> None:
    tables = Counter(chain.from_iterable(TABLES.values()))
    assert {kind: tables[kind] for kind in EXTRACTED} == dict.fromkeys(EXTRACTED, 1)
    assert set(tables.values()) == {1}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("a@href", "navigation"),
        ("area@href", "navigation"),
        ("frame@src", "navigation"),
        ("iframe@src", "navigation"),
        ("http@location", "navigation"),
        ("meta@refresh", "navigation"),
        ("meta@delayed-refresh", "navigation"),
        ("noscript@refresh", "other"),
        ("template@href", "other"),
        ("link@href", "resources"),
        ("script@src", "resources"),
        ("img@src", "resources"),
        ("form@action", "other"),
        ("blockquote@cite", "other"),
        (RecordedLink("http://h/", "X", "=JS_MISC").kind, "other"),
        ("anything@else", "other"),
    ],
)
def test_a_group_says_what_a_link_is_for(kind: str, name: str) -> None:
    assert group_of(Kind(kind)) is KindGroup(name)
    assert [word for word in WORDS if Kind(kind) in parse_kinds(word)] == [name, "all"]


@given(st.lists(WORD, max_size=4))
def test_several_words_name_the_union_of_their_kinds(words: list[str]) -> None:
    kinds = union_of(map(parse_kinds, words))
    for kind in map(Kind, SAMPLE):
        assert (kind in kinds) is any(kind in parse_kinds(word) for word in words)
    assert union_of(map(parse_kinds, kinds.words)) == kinds
    assert kinds.is_all is all(Kind(kind) in kinds for kind in [*SAMPLE, *EXTRACTED, "new@kind"])


def test_a_query_takes_groups_and_kinds_with_commas_or_repeated() -> None:
    def kinds(*words: tuple[str, str]) -> Kinds:
        return LinkQuery.from_parameters([("uri", "a.example"), *words]).kinds

    assert kinds() == kinds(("kinds", "all")) == ALL_KINDS
    assert kinds(("kinds", "navigation")) == kinds(("kind", "navigation")) == NAVIGATION
    assert kinds(("kinds", "navigation,img@src")) == NAVIGATION | Kinds.of("img@src")
    assert kinds(("kinds", "a@href"), ("kinds", "img@src")) == Kinds.of("a@href", "img@src")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([("kinds", "links")], "navigation, resources, other or all, or element and attribute"),
        ([("kinds", "a@href"), ("kind", "img@src")], "either kinds or kind, which mean the same"),
    ],
    ids=["no group", "both names"],
)
def test_a_word_that_names_no_kinds_is_refused(words: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(BadParameterError, match=message):
        LinkQuery.from_parameters([("uri", "a.example"), *words])


def test_cursors_and_slices_of_different_kinds_are_different() -> None:
    def fingerprint(word: str) -> str:
        return LinkQuery.from_parameters([("uri", "a.example"), ("kinds", word)]).fingerprint

    words = ["all", "navigation", "resources", "other", "a@href"]
    assert len({fingerprint(word) for word in words}) == len(words)
    assert len({SliceOptions(kinds=parse_kinds(word)).as_json() for word in words}) == len(words)
    assert SliceOptions().kinds == NAVIGATION


def _commands(command: click.Command, name: str = "") -> list[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        return [(name.strip(), command)]
    context = click.Context(command)
    found = ((one, command.get_command(context, one)) for one in command.list_commands(context))
    return [
        named for one, sub in found if sub is not None for named in _commands(sub, f"{name} {one}")
    ]


def test_every_command_that_counts_links_has_the_one_option() -> None:
    defaults = {
        name: tuple(option.default) if isinstance(option.default, list) else None
        for name, command in _commands(group)
        for option in command.params
        if "--kinds" in option.opts
    }
    follow = ("navigation",)
    analyses = ("pagerank", "path", "properties")
    assert defaults == {
        **dict.fromkeys(("aggregate", "links"), ("all",)),
        **dict.fromkeys(("anchors", "diff"), follow),
        **{f"analyze {name}": follow for name in analyses},
        "ask": follow,
        "export": None,  # each format has its own
    }


def test_summaries_name_the_kinds() -> None:
    assert kinds_line(ALL_KINDS) == "Links of all kinds count."
    assert kinds_line(Kinds.of("img@src")) == "Links of these kinds count: img@src."
    assert others_line(NAVIGATION, 1200).startswith(
        "No link has one of these kinds (navigation); 1,200"
    )
