"""Parameters that every query for links has: on the command line, over HTTP and in Python.

To add a parameter, declare it here, name it in `COMMON`, and add its field to `LinkQuery`. Every
command that queries links then has it as an option, every such resource as a parameter, every such
method of Python as a keyword, and the tables of the documentation describe it.
"""

from dataclasses import replace
from enum import Enum

from arclink.access.declarations import (
    PATH,
    TEXT,
    AnyParameter,
    Parameter,
    choice,
    matching,
    whole_number,
)
from arclink.access.kinds import ALL_KINDS, NAVIGATION, WORDS, parse_kinds, union_of
from arclink.model import Kind

REDIRECTS = frozenset({Kind("http@location"), Kind("http@refresh"), Kind("meta@refresh")})
"""Kinds of links that browsers follow without a click."""


class Redirects(Enum):
    """Whether redirects are included in the links."""

    YES = "yes"
    NO = "no"
    ONLY = "only"

    def allow(self, kind: Kind) -> bool:
        """Return whether links of this kind are included."""
        return self is Redirects.YES or (kind in REDIRECTS) is (self is Redirects.ONLY)


KINDS = Parameter(
    "kinds",
    "Only links of these kinds.",
    matching(
        rf"{'|'.join(WORDS)}|[a-z][a-z0-9:_-]*@[a-z][a-z0-9:_-]*",
        f"{', '.join(WORDS[:-1])} or {WORDS[-1]}, or element and attribute, such as a@href "
        "or img@src",
        parse_kinds,
    ),
    default=str(ALL_KINDS),
    is_list=True,
    has_commas=True,
    also=("kind",),
    metavar="KINDS",
    see="explanation/data-model.md#groups-of-kinds",
    unite=union_of,
)
"""The option, query parameter and Python keyword ``kinds``; the default is all kinds."""
KINDS_TO_FOLLOW = replace(KINDS, default=str(NAVIGATION))
"""The same parameter for analyses and graphs: the default is the links that a reader can follow."""
REDIRECT = Parameter(
    "redirects",
    "Whether redirects (http@location, http@refresh, meta@refresh) count as links.",
    choice(Redirects),
    default="yes",
)

STORE = Parameter(
    "store",
    "The link graph: a file such as links.db, or a URL such as sqlite:///links.db or "
    "cassandra://node1,node2/links.",
    PATH,
    is_required=True,
    metavar="PATH|URL",
    envvar="ARCLINK_STORE",
)
ARCHIVES = Parameter(
    "archives",
    "Where archive files are now, if they were moved: a folder, a URL that ends in /, or a file "
    "with a name and a path on each line, separated by a tab.",
    PATH,
    is_list=True,
    metavar="FOLDER|INDEX",
    keeps_empty=True,
)
SUBSET = Parameter(
    "subset",
    "Only captures of this subset: its name, or a selection such as 'domain:gov and from:2001'.",
    TEXT,
    metavar="NAME|SELECTION",
    otherwise="all captures",
    see="reference/subsets.md",
)
"""The parameter of every query to one store. It narrows the store before the query is answered."""
SUBSET_FIRST = replace(SUBSET, is_positional=True, metavar="[NAME|SELECTION]")
"""The same parameter as the first word of a command that is about captures, not links."""

SQL = Parameter(
    "query",
    "One query; without it, a shell that reads queries.",
    TEXT,
    is_positional=True,
    metavar="[SQL]",
)

LIMIT = Parameter(
    "limit",
    "Largest number of rows in each list of the answer, such as the links of one direction; "
    "0 for all.",
    whole_number(None),
    default="1000",
    metavar="N",
    see="reference/service.md#limit",
)
"""The parameter of every answer in rows; `limit_to` makes those of one kind of answer.

0 is all rows, as a stream where the answer is one, else an error that says why not and what to do.
"""


def limit_to(most: int, default: int) -> Parameter[int]:
    """Return `LIMIT` with another largest value and default."""
    form = whole_number(most, f"a number from 1 to {most}, or 0 for all")
    return replace(LIMIT, form=form, default=str(default))


COMMON: tuple[AnyParameter, ...] = (KINDS, REDIRECT)
"""The parameters of every query for links."""

COMMON_TO_FOLLOW: tuple[AnyParameter, ...] = tuple(
    KINDS_TO_FOLLOW if parameter is KINDS else parameter for parameter in COMMON
)
"""The same for analyses and graphs."""
