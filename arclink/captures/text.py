"""Readable text of a page, with its links: for people without JavaScript, and for search.

The page is parsed like pages in extraction: same charset, same bounds. Text is folded as a browser
folds it, and divided where an element begins a new line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from enum import Enum
from itertools import accumulate, zip_longest
from typing import Final, NamedTuple

from arclink.archives.payloads import DEFAULT_LIMIT
from arclink.archives.records import charset_in
from arclink.captures.libraries import is_html
from arclink.captures.read import CapturedPage, one_capture
from arclink.errors import CaptureError
from arclink.extract.charsets import decode_html
from arclink.extract.page_text import HEADINGS, MOST_TEXT, first_language, read_page_text
from arclink.extract.xhtml import XML_MIMES, as_html
from arclink.model import UriR
from arclink.reasons import Reason

_TEXT: Final = re.compile(
    r"text/.*|application/(?:json|javascript|x-javascript|ecmascript|xml|.*\+xml|.*\+json)"
)


@dataclass(frozen=True, slots=True)
class TextRun:
    """A piece of text.

    Attributes:
        text: White space is folded, but may be at both ends.
        target: Where it links to, absolute, without fragment; None if it is not a link.
    """

    text: str
    target: UriR | None = None


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text between two line breaks.

    Attributes:
        kind: ``h1`` to ``h6``, ``item`` of a list, ``pre``, or ``text``.
        runs: Pieces in page order; at least one.
    """

    kind: str
    runs: tuple[TextRun, ...]

    @property
    def text(self) -> str:
        """The text of all pieces, without white space at its ends."""
        return "".join(run.text for run in self.runs).strip()


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page.

    Attributes:
        title: Empty if the page has none.
        blocks: In page order.
        charset: WHATWG name of the charset it was decoded with.
        is_cut: Whether the page is longer than what was read.
        language: As declared by the page, else the first one that the header declares, in lower
            case; None if none is declared.
    """

    title: str
    blocks: tuple[TextBlock, ...]
    charset: str
    is_cut: bool
    language: str | None

    @property
    def text(self) -> str:
        """The texts of all blocks, one a line, without the title."""
        return "\n".join([block.text for block in self.blocks])

    def lines(self) -> Iterator[str]:
        """Yield the title and the text of each block; an empty line before each heading."""
        if self.title:
            yield self.title
        for block in self.blocks:
            if block.kind in HEADINGS:
                yield ""
            yield f"- {block.text}" if block.kind == "item" else block.text


def read_text(
    page: CapturedPage, limit: int = DEFAULT_LIMIT, *, has_links: bool = True
) -> PageText:
    """Return the readable text of a page.

    Args:
        page: The capture; it must be open.
        limit: Maximum bytes of its body to read.
        has_links: Whether to say where its text links to. Without links, each block has one run;
            its text is the same, and is read faster.

    Raises:
        CaptureError: It has no text, because it is an image, for example (``MEMENTO_MIME``), or its
            body cannot be read.
    """
    with one_capture(page.memento):
        return _read_text(page, limit, has_links=has_links)


def _read_text(page: CapturedPage, limit: int, *, has_links: bool) -> PageText:
    mime = page.mime
    if mime and not is_html(mime) and _TEXT.fullmatch(mime) is None:
        memento = page.memento
        raise CaptureError(
            f"{memento.original} at {memento.timestamp} is {mime}, which has no text; use "
            "--format body",
            Reason.MEMENTO_MIME,
            memento.file,
        )
    body, is_cut = _beginning(page, limit)
    decoded = decode_html(body, charset_in(page.content_type))
    text = decoded.text
    declared = first_language(page.headers.first("content-language"))
    if is_html(mime, body):
        html = as_html(text) if mime in XML_MIMES else text
        if isinstance(html, str):
            html = html.encode("utf-8", "ignore")
        uri = page.memento.original if has_links else None
        read = read_page_text(html, uri, decoded.charset)
        blocks = tuple(
            [TextBlock(kind, tuple([TextRun(*run) for run in runs])) for kind, runs in read.blocks]
        )
        return PageText(
            read.title, blocks, decoded.charset, is_cut or read.is_cut, read.language or declared
        )
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    runs = (TextRun(text[:MOST_TEXT]),)
    blocks = (TextBlock("pre", runs),) if text.strip() else ()
    return PageText("", blocks, decoded.charset, is_cut or len(text) > MOST_TEXT, declared)


def _beginning(page: CapturedPage, limit: int) -> tuple[bytes, bool]:
    """Return the first ``limit`` bytes of a body, and whether there are more."""
    body = bytearray()
    try:
        for piece in page.decoded(limit):
            body += piece
    except CaptureError as error:
        if error.reason is not Reason.PAYLOAD_TOO_LONG:
            raise
        return bytes(body), True
    return bytes(body), False


# The texts of two captures next to each other, with what differs.
#
# Lines are compared first, then the words of lines that took each other's place. Both are bounded
# in length, and in the steps of `difflib`: these grow with the third power of the length if a text
# repeats itself. The result says when it is of the first parts of the texts only, or not exact.


MOST_LINES: Final = 2_000
"""Largest number of lines of each text that are compared, after those that are equal at the start.
"""
MOST_CHARACTERS: Final = 200_000
"""Largest number of characters of each text that are compared."""
_MOST_WORDS: Final = 200
"""Largest number of words of a line that are compared one by one."""
_ALL_WORDS: Final = 10_000
"""Largest number of words of all lines that are compared one by one."""
_MOST_STEPS: Final = 1_500_000
"""Largest number of steps for lines, and for words: each takes about 0.1 s of CPU time."""
_ALIKE: Final = 0.3
"""Smallest share of equal words of two lines that are shown as versions of one line."""

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


class LineChange(Enum):
    """What happened to a line between two texts."""

    EQUAL = "equal"
    CHANGED = "changed"
    REMOVED = "removed"
    ADDED = "added"


class ComparedPiece(NamedTuple):
    """A part of a line, and whether the other text lacks it there."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A line of one text or of both.

    Attributes:
        before: Its pieces in the first text; None if it is not there.
        after: Its pieces in the second text; None if it is not there.
    """

    change: LineChange
    before: Sequence[ComparedPiece] | None
    after: Sequence[ComparedPiece] | None


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """Two texts, line by line.

    Attributes:
        lines: In the order of both texts.
        is_cut: Whether only the first parts of the texts were compared.
        is_rough: Whether comparing took too many steps, so more is marked than differs.
    """

    lines: Sequence[ComparedLine]
    is_cut: bool
    is_rough: bool

    def runs(self) -> Iterator[tuple[LineChange, Sequence[ComparedLine]]]:
        """Yield neighbouring lines with the same change together."""
        run: list[ComparedLine] = []
        for line in self.lines:
            if run and run[0].change is not line.change:
                yield run[0].change, run
                run = []
            run.append(line)
        if run:
            yield run[0].change, run


def compare_texts(before: Iterable[str], after: Iterable[str]) -> ComparedTexts:
    """Return the lines of two texts with their differences.

    >>> compared = compare_texts(["News", "of today"], ["News", "of yesterday"])
    >>> [line.change.value for line in compared.lines]
    ['equal', 'changed']
    >>> compared.lines[1].after
    [ComparedPiece(text='of ', differs=False), ComparedPiece(text='yesterday', differs=True)]
    """
    first, is_first_cut = _first_lines(before)
    second, is_second_cut = _first_lines(after)
    equal = 0
    while equal < min(len(first), len(second)) and first[equal] == second[equal]:
        equal += 1
    rest, other_rest = first[equal:], second[equal:]
    is_cut = is_first_cut or is_second_cut or max(len(rest), len(other_rest)) > MOST_LINES
    lines = [_equal(line) for line in first[:equal]]
    steps, word_steps = _Steps(), _Steps()
    lines += _compared(rest[:MOST_LINES], other_rest[:MOST_LINES], steps, word_steps)
    return ComparedTexts(lines, is_cut, steps.is_over or word_steps.is_over)


def _first_lines(lines: Iterable[str]) -> tuple[list[str], bool]:
    """Return the first lines of a text, and whether there are more."""
    found: list[str] = []
    room = MOST_CHARACTERS
    for line in lines:
        if len(line) > room:
            return [*found, line[:room]] if room else found, True
        found.append(line)
        room -= len(line)
    return found, False


@dataclass(slots=True)
class _Steps:
    """How many steps comparisons may still take.

    Attributes:
        is_over: Whether a comparison would have taken more.
    """

    left: int = _MOST_STEPS
    is_over: bool = False

    def take(self, number: int) -> bool:
        """Take this number of steps; return False if fewer are left."""
        if number > self.left:
            self.is_over = True
            return False
        self.left -= number
        return True


class _Matcher(SequenceMatcher[str]):
    """A comparison that finds nothing equal in parts for which no steps are left.

    Attributes:
        b2j: The places of the elements of the second sequence; typeshed lacks this attribute.
    """

    b2j: Mapping[str, Sequence[int]]

    def __init__(self, before: Sequence[str], after: Sequence[str], steps: _Steps) -> None:
        super().__init__(None, before, after)
        self._left = steps
        # Each search in a part visits all places of each of its elements in the other sequence.
        places = (1 + len(self.b2j.get(element, ())) for element in before)
        self._steps = list(accumulate(places, initial=0))

    def find_longest_match(
        self,
        begin: int = 0,
        end: int | None = None,
        other_begin: int = 0,
        other_end: int | None = None,
    ) -> Match:
        """Return the longest equal part; an empty one if no steps are left."""
        end = len(self._steps) - 1 if end is None else end
        if self._left.take(self._steps[end] - self._steps[begin]):
            return super().find_longest_match(begin, end, other_begin, other_end)
        return Match(begin, other_begin, 0)


def _compared(
    before: Sequence[str], after: Sequence[str], steps: _Steps, word_steps: _Steps
) -> Iterator[ComparedLine]:
    words = _ALL_WORDS
    for tag, begin, end, other_begin, other_end in _Matcher(before, after, steps).get_opcodes():
        if tag == "equal":
            yield from map(_equal, before[begin:end])
            continue
        for old, new in zip_longest(before[begin:end], after[other_begin:other_end]):
            if old is None:
                yield ComparedLine(LineChange.ADDED, None, [ComparedPiece(new, True)])
            elif new is None:
                yield ComparedLine(LineChange.REMOVED, [ComparedPiece(old, True)], None)
            elif old == new:
                yield _equal(old)
            else:
                old_words, new_words = _WORDS.findall(old), _WORDS.findall(new)
                most = max(len(old_words), len(new_words))
                sides = None
                if most <= min(_MOST_WORDS, words):
                    words -= most
                    sides = _pieces(old_words, new_words, word_steps)
                if sides is None:
                    yield ComparedLine(LineChange.REMOVED, [ComparedPiece(old, True)], None)
                    yield ComparedLine(LineChange.ADDED, None, [ComparedPiece(new, True)])
                else:
                    yield ComparedLine(LineChange.CHANGED, *sides)


def _equal(line: str) -> ComparedLine:
    pieces = [ComparedPiece(line, False)]
    return ComparedLine(LineChange.EQUAL, pieces, pieces)


def _pieces(
    before: Sequence[str], after: Sequence[str], steps: _Steps
) -> tuple[Sequence[ComparedPiece], Sequence[ComparedPiece]] | None:
    """Return two lines in pieces; None if they have little in common that was found."""
    codes = _Matcher(before, after, steps).get_opcodes()
    equal = sum(_words_in(before[begin:end]) for tag, begin, end, *_ in codes if tag == "equal")
    if 2 * equal < _ALIKE * (_words_in(before) + _words_in(after)):
        return None
    sides: tuple[list[ComparedPiece], list[ComparedPiece]] = ([], [])
    for tag, begin, end, other_begin, other_end in codes:
        for side, words in zip(
            sides, (before[begin:end], after[other_begin:other_end]), strict=True
        ):
            if words:
                side.append(ComparedPiece("".join(words), tag != "equal"))
    return sides


def _words_in(pieces: Sequence[str]) -> int:
    """Return the number of words, without the blanks between them."""
    return sum(not piece.isspace() for piece in pieces)
