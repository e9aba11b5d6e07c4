"""The invented world of the demo archive, which ``world.toml`` describes: languages and sites."""

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from arclink.demo.pages import Charset


@dataclass(frozen=True, slots=True)
class Language:
    """Words of one language, for its pages.

    Attributes:
        charset: Encoding of its older pages.
        phrases: Link texts; ``{}`` is a topic.
        sentences: Sentences to fill a page.
        home: Text of the link to the first page of a site.
        topics: Names of the topics, in the same order as in the other languages, so that a page has
            a name for the topic of any other page.
    """

    charset: Charset
    phrases: tuple[str, ...]
    sentences: tuple[str, ...]
    home: str
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A host, with the language and encoding of its pages.

    Attributes:
        turns_https: Whether it moves to ``https`` in the middle of the games and redirects from
            ``http``.
    """

    host: str
    name: str
    language: str
    charset: Charset
    turns_https: bool


_WORLD = tomllib.loads(resources.files("arclink.demo").joinpath("world.toml").read_text("utf-8"))


def _language(written: dict[str, Any]) -> Language:  # Any: a table of TOML
    lists = {name: tuple(written[name]) for name in ("phrases", "sentences", "topics")}
    return Language(charset=Charset(*written["charset"]), home=written["home"], **lists)


LANGUAGES = {name: _language(written) for name, written in _WORLD["languages"].items()}

TOPICS: tuple[str, ...] = tuple(_WORLD["topics"])
"""The topics as file names."""

SECTIONS: tuple[str, ...] = tuple(_WORLD["sections"])


def _site(
    host: str,
    name: str,
    language: str,
    charset: tuple[str, str, str] | None = None,
    turns_https: bool = False,
) -> Site:
    own = Charset(*charset) if charset else LANGUAGES[language].charset
    return Site(host, name, language, own, turns_https)


def sites(count: int) -> list[Site]:
    """Return the first ``count`` sites: first those with their own names, then generated ones."""
    made = [_site(**written) for written in _WORLD["sites"][:count]]
    languages = list(LANGUAGES)
    firsts, seconds = _WORLD["first_words"], _WORLD["second_words"]
    for number in range(count - len(made)):
        first, second = firsts[number % 10], seconds[number // 10 % 10]
        turn = number // 100
        host = f"{first}-{second}{turn or ''}.example"
        name = f"{first} {second} {turn or ''}".title().strip()
        made.append(
            _site(host, name, languages[number % len(languages)], turns_https=number % 3 == 0)
        )
    return made
