"""Clean text for answers: no raw control character, no lone surrogate, nothing that XML forbids.

Page texts and captured URIs come from unknown authors. Stores hold them unchanged; every writer
cleans the text that it writes.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from arclink.model import UriR
from arclink.progress import shown_width

_WHITE_SPACE = str.maketrans("\t\n\r", "   ")
_NOT_PRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_REPLACEMENT = "\ufffd"


def printable(text: str) -> str:
    r"""Return ``text`` without characters that may not be written.

    Tabs and line ends become spaces, every other such character U+FFFD. The result is legal XML 1.0
    text and has a UTF-8 form; right-to-left and combining characters are unchanged.

    Source: XML 1.0, section 2.2 (Char); C1 control characters are legal there, but steer terminals.

    >>> printable("a\x1b[2Jb")
    'a\ufffd[2Jb'
    """
    # isprintable() is faster, and stricter.
    if text.isprintable() or _NOT_PRINTABLE.search(text) is None:
        return text
    return _NOT_PRINTABLE.sub(_REPLACEMENT, text.translate(_WHITE_SPACE))


def percent_encoded(characters: str) -> str:
    """Return the UTF-8 bytes of ``characters`` as ``%XX``; a lone surrogate is encoded as U+FFFD.

    >>> percent_encoded("é")
    '%C3%A9'
    """
    whole = "".join(
        _REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in characters
    )
    return "".join(f"%{byte:02X}" for byte in whole.encode())


def printable_uri(uri: str) -> UriR:
    r"""Return ``uri`` with the characters that `printable` would replace percent-encoded.

    >>> printable_uri("http://example.org/a\x00b")
    'http://example.org/a%00b'
    """
    if uri.isprintable():
        return UriR(uri)
    return UriR(_NOT_PRINTABLE.sub(lambda match: percent_encoded(match[0]), uri))


def counted(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "link"), counted(2000, "link"), counted(2, "entry", "entries")
    ('1 link', '2,000 links', '2 entries')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


# Text in cells of a terminal: aligned columns, and texts that are cut to a width.
#
# Widths are counted in terminal cells, so that columns stay aligned with Chinese and combining
# characters. A text with right-to-left letters is enclosed in Unicode isolates: it reads right to
# left, and the texts next to it keep their places. Characters that control the terminal or change
# the writing direction of the line are removed or replaced. In a file or a pipe, texts are
# complete. On a terminal, lines have its width: times become days, and long texts are cut, URIs in
# the middle.

_MOST_PADDED = 80
"""Cells of the widest column in a file or a pipe: longer texts move what is to their right."""
_LEAST_CELLS = 11
"""Cells that a column keeps on a narrow terminal: a date, or the beginning of a text."""
_LEAST_CELLS_OF_URI = 30
_ISOLATE, _POP = "\u2068", "\u2069"
_DIRECTION_MARKS = re.compile("[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def cell_len(text: str) -> int:
    """Return the width of a text in terminal cells; most texts take one cell a character."""
    if _has_single_cells(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _cut(text: str, width: int) -> str:
    """Return the first ``width`` cells of a wider text."""
    if _has_single_cells(text):
        return text[:width]
    from rich.cells import set_cell_size

    return set_cell_size(text, width)


def _has_single_cells(text: str) -> bool:
    """Return whether each character of a text certainly has one cell: before combining marks."""
    return text.isascii() or max(text) < "\u0300"


def cell(text: str, width: int, *, is_cut: bool = True) -> str:
    """Return a text in ``width`` terminal cells: padded, or truncated if ``is_cut``."""
    text = _without_marks(text)
    if is_cut and "://" in text:
        text = cut_in_the_middle(text, width)
    elif is_cut and cell_len(text) > width:
        text = _cut(text, width - 1).rstrip() + "…"
    return _isolated(text) + " " * (width - cell_len(text))


def safe_text(text: str) -> str:
    """Return a text that changes neither a terminal nor the writing direction of its line."""
    return _isolated(_without_marks(text))


def _without_marks(text: str) -> str:
    return _DIRECTION_MARKS.sub("", printable(text))


def _isolated(text: str) -> str:
    return f"{_ISOLATE}{text}{_POP}" if _has_right_to_left(text) else text


def columns(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield ``rows`` under ``head`` as aligned lines; only a terminal cuts texts, to its width."""
    with_head = [head, *rows]
    widths = _widths(with_head)
    width = shown_width.get()
    if width is None:
        widths = [min(cells, _MOST_PADDED) for cells in widths]
    else:
        room = width - 2 * (len(head) - 1)
        if sum(widths) > room:
            with_head = [[_day(text) for text in row] for row in with_head]
            widths = _widths(with_head)
        _make_room(widths, room)
    for row in with_head:
        cells = [
            cell(text, cells, is_cut=width is not None)
            for text, cells in zip(row[:-1], widths, strict=False)
        ]
        last = _without_marks(row[-1])
        last = last if width is None else cut_in_the_middle(last, widths[-1])
        yield "  ".join((*cells, _isolated(last))).rstrip()


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(cell_len, map(printable, column))) for column in zip(*rows, strict=True)]


def _day(text: str) -> str:
    """Return the day of a time, and another text as it is."""
    return text.partition(" ")[0] if _TIME.fullmatch(text) else text


def _make_room(widths: list[int], width: int) -> None:
    """Take cells from the widest columns until a line has ``width``, without those between columns.

    The last column, with a URI, keeps some more than the others.
    """
    least = [_LEAST_CELLS] * (len(widths) - 1) + [_LEAST_CELLS_OF_URI]
    while sum(widths) > width:
        extra = [cells if cells > few else 0 for cells, few in zip(widths, least, strict=True)]
        if not any(extra):
            widths[-1] = max(width - sum(widths[:-1]), _LEAST_CELLS)
            return
        widths[extra.index(max(extra))] -= 1


def cut_in_the_middle(text: str, width: int) -> str:
    """Return a text with at most ``width`` cells: a URI shows its host and its end.

    >>> cut_in_the_middle("http://example.org/a/long/path/page.html", 23)
    'http://exam…h/page.html'
    """
    if cell_len(text) <= width:
        return text
    start = _cut(text, (width - 1) // 2).rstrip()
    rest = width - 1 - cell_len(start)
    end = text[-rest:]
    while cell_len(end) > rest:
        end = end[1:]
    return f"{start}…{end}"


def _has_right_to_left(text: str) -> bool:
    return not text.isascii() and any(
        unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text
    )
