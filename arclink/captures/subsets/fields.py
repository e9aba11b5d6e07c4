"""The fields of a selection: which values each takes, and which captures it selects.

To add a field, add it to `FIELDS`, and its meaning to `test_of` if one capture alone decides, or to
`arclink.captures.subsets.evaluation` if the store must be asked.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import merge
from typing import Final

from arclink.access.queries import KINDS, URI, MatchType, as_written
from arclink.access.words import TERMS, parse_words
from arclink.errors import DataError
from arclink.languages import normal_languages
from arclink.model import NO_LANGUAGE, Forgotten, Memento, Surt, Timestamp
from arclink.timestamps import TimestampError, first_of, last_of
from arclink.uris.hosts import host_of, stem_of_host, stems_of_domain
from arclink.uris.surts import (
    OF_PAGE,
    keys_of_answers,
    method_of_key,
    normal_method,
    page_of,
    surt_of_page,
    surt_of_query,
)

# Ranges of SURTs: where in a store the captures of a selection can be.
#
# A range is given by its *stem*: the SURTs that start with it. A stem that ends in NUL means one
# SURT exactly, because every SURT is compared with a NUL after its end and no SURT contains one. So
# two ranges are either disjoint or one contains the other, and sets of ranges are united and
# intersected in one pass.

END = "\0"
"""Ends a stem that means one SURT."""


@dataclass(frozen=True, slots=True)
class SurtRanges:
    """A set of ranges of SURTs.

    Attributes:
        stems: Sorted; none of them starts with another.
    """

    stems: tuple[str, ...]

    @classmethod
    def of(cls, stems: Iterable[str]) -> "SurtRanges":
        """Return the ranges with these stems, which may be in any order and overlap.

        >>> SurtRanges.of(["gov,nasa)/", "gov,", "org)"])
        SurtRanges(stems=('gov,', 'org)'))
        """
        outer_stems: list[str] = []
        for stem in sorted(stems):
            if not outer_stems or not stem.startswith(outer_stems[-1]):
                outer_stems.append(stem)
        return cls(tuple(outer_stems))

    @classmethod
    def of_surts(cls, surts: Iterable[Surt]) -> "SurtRanges":
        """Return the ranges that hold exactly these SURTs."""
        return cls.of(surt + END for surt in surts)

    def __or__(self, other: "SurtRanges") -> "SurtRanges":
        return SurtRanges.of((*self.stems, *other.stems))

    def __and__(self, other: "SurtRanges") -> "SurtRanges":
        """Return the ranges in both.

        >>> SurtRanges.of(["gov,nasa)", "org,"]) & SurtRanges.of(["gov,", "org,a)/", "org,b)/"])
        SurtRanges(stems=('gov,nasa)', 'org,a)/', 'org,b)/'))
        """
        found: list[str] = []
        outer = ""
        is_inside = False
        for stem in merge(self.stems, other.stems):
            if is_inside and stem.startswith(outer):
                found.append(stem)
            else:
                outer, is_inside = stem, True
        return SurtRanges(tuple(found))

    def has(self, surt: str) -> bool:
        """Return whether a SURT is in one of the ranges."""
        key = surt + END
        index = bisect_right(self.stems, key)
        return index > 0 and key.startswith(self.stems[index - 1])

    def test(self) -> Callable[[str], bool]:
        """Return `has`, as fast as possible for few ranges."""
        if len(self.stems) > _FEW:
            return self.has
        exact = frozenset(stem[:-1] for stem in self.stems if stem.endswith(END))
        starts = tuple(stem for stem in self.stems if not stem.endswith(END))
        if not starts:
            return exact.__contains__
        if not exact:
            return lambda surt: surt.startswith(starts)
        return lambda surt: surt.startswith(starts) or surt in exact


EVERYWHERE = SurtRanges(("",))
"""The range of all SURTs."""

NOWHERE = SurtRanges(())
"""No range."""

_FEW = 16


_GET = "GET"
UNKNOWN = "unknown"
"""The value of ``lang`` for captures without a known language."""

NAME_PATTERN = "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
"""Matches the names of subsets."""


def is_name(text: str) -> bool:
    """Return whether a text is a name of a subset; a selection is not, since it has a colon."""
    return re.fullmatch(NAME_PATTERN, text) is not None


CaptureTest = Callable[[Memento], bool]
"""Returns whether a capture is selected."""


@dataclass(frozen=True, slots=True)
class Qualifier:
    """A further ``name:value`` after a field, such as ``seed:7`` after ``sample:1%``.

    Attributes:
        expected: The allowed values, as a phrase.
        normal: Returns a value in its normal form; raises ValueError if it is not allowed.
        is_required: Whether the field needs it.
    """

    expected: str
    normal: Callable[[str], str]
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the language.

    Attributes:
        about: What it selects, as a sentence for users.
        expected: The allowed values, as a phrase.
        normal: Returns a value in its normal form; raises ValueError if it is not allowed.
        qualifiers: What may follow it, by name.
        has_terms: Whether its values are terms (`arclink.access.words`).
        now: The words to write instead, if the field is an earlier word, which is read for one more
            version and shown nowhere.
    """

    about: str
    expected: str
    normal: Callable[[str], str]
    qualifiers: Mapping[str, Qualifier] = field(default_factory=dict)
    has_terms: bool = False
    now: str = ""


def _uri(text: str) -> str:
    if text.strip("*"):
        _uri_ranges(text)
    return text


def _exact_uri(text: str) -> str:
    URI.form.read(text)
    return text


def _host(text: str) -> str:
    text = text.lower().rstrip(".")
    if re.search(r"[\s/?#@]", text) or not text.strip(":*."):
        raise ValueError
    if "*" not in text:
        _stem(text)
    return text


def _domain(text: str) -> str:
    text = text.lower().strip(".")
    if "*" in text or not text or not stems_of_domain(_surt(f"http://{text}/")):
        raise ValueError
    return text


def _prefix(text: str) -> str:
    if not text or "://" in text:
        raise ValueError
    return text


def _first(text: str) -> str:
    return _shortest(first_of(text), first_of)


def _last(text: str) -> str:
    return _shortest(last_of(text), last_of)


def _shortest(timestamp: Timestamp, read: Callable[[str], Timestamp]) -> str:
    """Return the shortest text that is read as a timestamp."""
    for length in (4, 6, 8, 10, 12):
        try:
            if read(timestamp[:length]) == timestamp:
                return timestamp[:length]
        except TimestampError:
            continue
    return timestamp


def _status(text: str) -> str:
    if not re.fullmatch(r"-|[0-9]{3}|[0-9]{1,2}\*|[0-9]{3}-[0-9]{3}", text):
        raise ValueError
    return text


def _batch(text: str) -> str:
    bounds = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text)
    if bounds is None:
        raise ValueError
    low = int(bounds[1])
    return str(low) if bounds[2] is None else f"{low}-{int(bounds[2])}"


def _not_empty(text: str) -> str:
    if not text:
        raise ValueError
    return text


def _lower(text: str) -> str:
    return _not_empty(text.lower())


def _language(text: str) -> str:
    if text.lower() == UNKNOWN:
        return UNKNOWN
    language = normal_languages(text)
    if language == NO_LANGUAGE or "," in language:
        raise ValueError
    return language


def _method(text: str) -> str:
    method = text.upper()
    if method != _GET and not normal_method(method):
        raise ValueError
    return method


def _pick(text: str) -> str:
    which, at, time = text.partition("@")
    if which == "nearest" and at:
        return f"nearest@{_first(time)}"
    if which not in ("latest", "first") or at:
        raise ValueError
    return which


def _sample(text: str) -> str:
    if not re.fullmatch(r"(?:[0-9]{1,3}(?:\.[0-9]{1,6})?|\.[0-9]{1,6})%", text):
        raise ValueError
    percent = float(text[:-1])
    if percent > 100:
        raise ValueError
    return f"{percent:.6f}".rstrip("0").rstrip(".") + "%"


def _kinds(text: str) -> str:
    for word in text.split(","):
        KINDS.form.read(word)
    return text


def _steps(text: str) -> str:
    if text not in map(str, range(1, MOST_STEPS + 1)):
        raise ValueError
    return text


def _direction(text: str) -> str:
    if text not in ("in", "out", "both"):
        raise ValueError
    return text


def _terms(text: str) -> str:
    return " ".join(map(_term, parse_words(text)))


def _term(term: str) -> str:
    """Return a term in one form, in quotation marks if it has blanks or brackets."""
    inside = re.sub(r'(?<!\w)"|"(?!\w)', " ", term.removesuffix("*")).strip()
    star = "*" * term.endswith("*")
    return f'"{inside}"{star}' if re.search(r"[\s()]", inside) else f"{inside}{star}"


def _terms_or_all(text: str) -> str:
    return text if text == ANY_WORD else _terms(text)


def _name(text: str) -> str:
    if not is_name(text):
        raise ValueError
    return text


MOST_STEPS: Final = 20
"""Largest number of links from a page to the end of its neighbourhood."""

ANY_WORD: Final = "*"
"""The value of ``text`` and ``title`` for captures of which they are known."""

_TIME = "a time of 1 to 14 digits (YYYYMMDDhhmmss) or ISO 8601"
_PAGE = "a URI without *"
_KINDS_OF = Qualifier("kinds of links, such as a@href or navigation", _kinds)

_WORDS = f"{TERMS.allowed}; several are in brackets"

FIELDS: Mapping[str, Field] = {
    "uri": Field(
        "Captures of a URI in all its variants, and records about it such as `urn:text:URI`. `*` "
        "stands for any text.",
        "a URI such as example.org/news/*, *.example.org or http://example.org/a.html",
        _uri,
    ),
    "host": Field(
        "Captures of a host, at any port or at the given one. `*` stands for any text.",
        "a host such as www.nasa.gov or *.nasa.gov",
        _host,
    ),
    "domain": Field(
        "Captures of a host and of all hosts below it.", "a host such as gov or nasa.gov", _domain
    ),
    "prefix": Field(
        "Captures whose SURT starts with this text; inside a host name, whole labels only.",
        'a SURT prefix such as gov,nasa or "gov,nasa)/news"',
        _prefix,
        now="an address, such as *.nasa.gov for prefix:gov,nasa or http://nasa.gov/news* for "
        'prefix:"gov,nasa)/news"',
    ),
    "from": Field("Captures from this time on; its beginning counts.", _TIME, _first),
    "to": Field("Captures up to this time; its end counts.", _TIME, _last),
    "status": Field(
        "Captures with this HTTP status.",
        "a status such as 200, 2*, 300-399, or - for captures without one",
        _status,
    ),
    "mime": Field(
        "Captures with this mime type, in lower case as in the index. `*` stands for any text.",
        "a mime type such as text/html or text/*, or - for captures without one",
        _lower,
    ),
    "lang": Field(
        "Captures in this language, also if they are in others, too. Captures whose index row or "
        f"header names no language are `{UNKNOWN}`.",
        f"a language such as en, eng or en-US, or {UNKNOWN}",
        _language,
    ),
    "method": Field(
        "Captures that answer this HTTP method; `GET` also if the method is unknown.",
        "a method such as POST or HEAD",
        _method,
    ),
    "file": Field(
        "Captures in this archive file. `*` stands for any text.",
        "the name of an archive file, such as crawl-2010-*.warc.gz",
        _not_empty,
    ),
    "batch": Field(
        "Captures in the archive files of this batch of the store.",
        "the number of a batch such as 3, or a range such as 1-3",
        _batch,
    ),
    "pick": Field(
        "One capture of each URI, from those that the other conditions of its group select.",
        "latest, first or nearest@TIME",
        _pick,
    ),
    "sample": Field(
        "All captures of this share of the URIs: the same URIs on every machine.",
        "a percentage from 0% to 100%, such as 1%",
        _sample,
        {"seed": Qualifier("any text", _not_empty)},
    ),
    "text": Field(
        "Captures whose text or title has all these words. Captures whose text is not known, or "
        "only its beginning without the words, are neither in `text:` nor in `not text:`; `text:*` "
        "are those whose whole text is known.",
        f"{_WORDS}; or only *",
        _terms_or_all,
        has_terms=True,
    ),
    "title": Field(
        "Captures whose title has all these words. If it is not known, a capture is neither in "
        "`title:` nor in `not title:`; `title:*` are those whose title is known, even if empty.",
        f"{_WORDS}; or only *",
        _terms_or_all,
        has_terms=True,
    ),
    "anchor": Field(
        "Captures of the URIs to which a link leads whose text has all these words.",
        _WORDS,
        _terms,
        has_terms=True,
    ),
    "links-to": Field(
        "Captures that show a link to this URI.", _PAGE, _exact_uri, {"kinds": _KINDS_OF}
    ),
    "linked-from": Field(
        "Captures of the URIs that this URI links to.", _PAGE, _exact_uri, {"kinds": _KINDS_OF}
    ),
    "within": Field(
        "Captures of the URIs that this number of links or fewer lead to.",
        f"a number of links from 1 to {MOST_STEPS}",
        _steps,
        {
            "of": Qualifier(_PAGE, _exact_uri, is_required=True),
            "direction": Qualifier("in, out or both", _direction),
            "at": Qualifier(_TIME, _last),
            "kinds": _KINDS_OF,
        },
    ),
    "subset": Field("Captures of another subset.", "the name of a subset", _name),
}
"""The fields by name."""

URI_AND_TIME = frozenset(
    {"uri", "host", "domain", "prefix", "from", "to", "sample", "anchor", "linked-from", "within"}
)
"""Fields that depend on the URI and the time of a capture only."""


def glob(text: str) -> Callable[[str], bool]:
    """Return a test for values that are ``text``, in which ``*`` is any number of characters.

    Each piece between two ``*`` is looked for once, after the piece before it; so the time does not
    grow with the number of ``*``, as that of a regular expression would.
    """
    if "*" not in text:
        return text.__eq__
    start, *pieces, end = text.split("*")
    parts = [(piece, len(piece)) for piece in pieces if piece]
    least = len(start) + len(end)
    if not parts:
        return lambda value: value.startswith(start) and value.endswith(end) and len(value) >= least

    def matches(value: str) -> bool:
        if not (value.startswith(start) and value.endswith(end)):
            return False
        position, last = len(start), len(value) - len(end)
        for piece, length in parts:
            position = value.find(piece, position, last)
            if position < 0:
                return False
            position += length
        return True

    return matches


def _uri_ranges(text: str) -> SurtRanges | None:
    r"""Return the SURTs of the URIs that a value of ``uri`` selects, for all methods.

    None if ``*`` is in the middle of the value, where SURTs do not decide.

    Raises:
        ValueError: The text without ``*`` is not a URI.

    >>> [stem[17:] for stem in _uri_ranges("example.org/news/*").stems]
    ['\x00', ' ', '#', '/', '?']
    >>> _uri_ranges("*.example.org").stems
    ('org,example)', 'org,example,', 'org,example:')
    """
    if not text.strip("*"):
        return EVERYWHERE
    host, match_type = as_written(text)
    # In a selection, an asterisk directly after the host stands for any text.
    is_whole = "*" not in host and text.endswith((host, "/", "/*"))
    if match_type is MatchType.DOMAIN and is_whole:
        return SurtRanges.of(stems_of_domain(_surt(host)))
    if "*" not in text:
        surt = _surt(text)
        return SurtRanges.of([surt + END, keys_of_answers(surt), f"{surt}{OF_PAGE}"])
    start = text.removesuffix("*")
    if "*" in start or not re.search(r"[^/:]/", start):
        return None
    surt = _surt(start)
    if start.endswith("/") and not surt.endswith("/"):  # a SURT has no slash at its end
        stems = [surt + END, keys_of_answers(surt), f"{surt}/", f"{surt}?", f"{surt}{OF_PAGE}"]
        return SurtRanges.of(stems)
    return SurtRanges.of([surt])


def _ranges_of_condition(name: str, value: str) -> SurtRanges | None:
    """Return the SURTs that a condition on a URI selects; None if SURTs do not decide."""
    match name:
        case "uri":
            return _uri_ranges(value)
        case "host":
            if "*" in value:
                return None
            stem = _stem(value)
            has_port = ":" in value
            return SurtRanges.of([stem] if has_port else [stem, f"{stem[:-1]}:"])
        case "domain":
            return SurtRanges.of(stems_of_domain(_surt(f"http://{value}/")))
        case "prefix":
            is_whole_labels = Forgotten(Surt(value)).is_whole_labels
            return SurtRanges.of([value + sign for sign in "),:"] if is_whole_labels else [value])
    return None


def wide_ranges(name: str, value: str) -> SurtRanges:
    """Return ranges that hold all captures that a condition selects, and maybe others."""
    ranges = _ranges_of_condition(name, value)
    if ranges is not None:
        return ranges
    labels = value.removeprefix("*.")
    if name == "host" and labels != value and "*" not in labels:
        return SurtRanges.of(stems_of_domain(_surt(f"http://{labels}/")))
    return EVERYWHERE


def test_of(name: str, value: str, qualifiers: Mapping[str, str]) -> CaptureTest | None:
    """Return the test of a condition that one capture alone decides; None for others.

    Args:
        name: The field.
        value: Its value, in normal form.
        qualifiers: Values by name, in normal form.
    """
    ranges = _ranges_of_condition(name, value)
    if ranges is not None:
        if ranges == EVERYWHERE:
            return lambda memento: True
        is_here = ranges.test()
        return lambda memento: is_here(memento.surt)
    match name:
        case "uri":
            return _uri_test(value)
        case "host":
            is_host = glob(value)
            return lambda memento: is_host(host_of(memento.surt))
        case "from":
            first = first_of(value)
            return lambda memento: memento.timestamp >= first
        case "to":
            last = last_of(value)
            return lambda memento: memento.timestamp <= last
        case "status":
            return _status_test(value)
        case "mime":
            return _mime_test(value)
        case "lang":
            return _language_test(value)
        case "method":
            method = normal_method(value)
            return lambda memento: method_of_key(memento.surt) == method
        case "file":
            is_file = glob(value)
            return lambda memento: is_file(memento.file)
        case "sample":
            return _sample_test(value, qualifiers.get("seed", ""))
    return None


def numbers_of(value: str) -> range:
    """Return the numbers of batches in a value of ``batch``."""
    low, _, high = value.partition("-")
    return range(int(low), int(high or low) + 1)


def kinds_of(text: str) -> list[str]:
    """Return the words of a value of ``kinds``."""
    return text.split(",")


def _uri_test(value: str) -> CaptureTest:
    has_scheme = "://" in value
    matches = glob(value.lower() if has_scheme else re.sub(r"^www\d*\.", "", value.lower()))
    start = re.compile(r"^[a-z][a-z0-9+.-]*://(?:www\d*\.)?")

    def test(memento: Memento) -> bool:
        original = page_of(memento.original).lower()
        return matches(original if has_scheme else start.sub("", original))

    return test


def _status_test(value: str) -> CaptureTest:
    low, dash, high = value.partition("-")
    if low and dash:
        return lambda memento: len(memento.status) == 3 and low <= memento.status <= high
    if "*" in value:
        start = value.removesuffix("*")
        return lambda memento: memento.status.startswith(start) and len(memento.status) == 3
    return lambda memento: memento.status == value


def _mime_test(value: str) -> CaptureTest:
    if "*" not in value:
        return lambda memento: memento.mime == value or memento.mime.lower() == value
    is_mime = glob(value)
    known: dict[str, bool] = {}

    def test(memento: Memento) -> bool:
        mime = memento.mime
        is_selected = known.get(mime)
        if is_selected is None:
            if len(known) > 10_000:
                known.clear()
            is_selected = known[mime] = is_mime(mime.lower())
        return is_selected

    return test


def _language_test(value: str) -> CaptureTest:
    if value == UNKNOWN:
        return lambda memento: memento.languages == NO_LANGUAGE
    return lambda memento: (
        memento.languages == value
        or ("," in memento.languages and value in memento.languages.split(","))
    )


def _sample_test(value: str, seed: str) -> CaptureTest:
    bound = sample_bound(value)
    last: tuple[str, bool] = "", False

    def test(memento: Memento) -> bool:
        nonlocal last
        if memento.surt != last[0]:
            last = memento.surt, sample_number(surt_of_page(memento.surt), seed) < bound
        return last[1]

    return test


def sample_bound(value: str) -> int:
    """Return the number below which the `sample_number` of a selected URI is.

    >>> sample_bound("100%") == 1 << 64
    True
    """
    return round(float(value.removesuffix("%")) * 1_000_000) * (1 << 64) // 100_000_000


def sample_number(surt: str, seed: str) -> int:
    """Return a number below 2**64 for a SURT: the same on every machine."""
    data = f"{seed}\n{surt}".encode()
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def _surt(text: str) -> Surt:
    try:
        return surt_of_query(text)
    except DataError as error:
        raise ValueError(error.detail) from error


def _stem(host: str) -> str:
    stem = stem_of_host(_surt(f"http://{host}/"))
    if stem is None:
        raise ValueError
    return stem
