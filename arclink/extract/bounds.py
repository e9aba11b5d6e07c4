"""Bounds on the cost of one page, applied before it is parsed (`bounded`).

The parser follows the HTML Standard, and some rules of the standard cost more than the size of the
page. `bounded` scans a page in linear time and shortens it if the parser would need too much:

- *Attributes.* The parser compares each attribute of an element with the others. After
  ``MOST_ATTRIBUTES``, the rest of the tag is left out. The attributes of repeated ``<html>`` and
  ``<body>`` tags become attributes of one element, and are counted together.
- *Tree.* Each element, attribute, text and comment takes memory. The page is cut where the tree
  would need more than ``MOST_BYTES``.
- *Nesting.* The parser may visit all open elements at each tag. The page is cut where the sum of
  the open elements over all tags exceeds ``MOST_STEPS``.
- *Formatting.* The parser opens unclosed formatting elements (``<b>``, ``<font>``) again in each
  block. If these copies could exceed ``MOST_COPIES``, the tags of formatting elements are left out.
  Links keep their order, target and text.

The scan does not distinguish tags from text in comments, scripts and values. It counts each ``<``
that could start a tag, so its counts may be too large, but never too small. Pages that have less
than ``SMALL`` bytes and few tags are not scanned, because they cannot cost much.

Source: HTML Standard, 13.2.5 (tokenization) and 13.2.6 (tree construction). The costs were measured
with lexbor.
"""

import re
from collections import Counter
from collections.abc import Iterator
from math import isqrt
from typing import Final

from arclink.native import native
from arclink.reasons import Reason

MOST_ATTRIBUTES: Final = 1_000
"""Maximum attributes of one element."""

MOST_BYTES: Final = 192 << 20
"""Maximum memory of one page's tree, in bytes (estimated)."""

MOST_STEPS: Final = 500_000_000
"""Maximum sum of the open elements over all tags: 2 to 4 CPU seconds of parsing."""

_MOST_COPIES: Final = 300_000
"""Maximum elements that the parser may add to a page for unclosed formatting elements."""

SMALL: Final = 64 << 10
"""Size in bytes up to which a page cannot have too many attributes."""

_FEW_TAGS: Final = isqrt(4 * _MOST_COPIES)
"""Number of tags that cannot need more copies, even if half of them are formatting elements."""

# Estimated bytes of memory.
_MARKUP_BYTES: Final = 100  # of any tag or comment, with the text after it
_ELEMENT_BYTES: Final = 200
_ATTRIBUTE_BYTES: Final = 300
_TEMPLATE_BYTES: Final = 700

_VOID: Final = frozenset(
    b"area base basefont bgsound br col embed frame hr img input keygen link meta param source "
    b"track wbr".split()
)
"""Elements without content (HTML Standard, 13.1.2; obsolete ones: 13.2.6.4.7)."""

_NEVER_IN_SVG: Final = frozenset([b"br", b"embed", b"hr", b"img", b"meta"])
"""Void elements that end SVG and MathML (HTML Standard, 13.2.6.5); others have content there."""

# Also "a", of which the parser keeps only one.
_FORMATTING: Final = frozenset(b"b big code em font i nobr s small strike strong tt u".split())

_SPACE: Final = rb"\t\n\f\r "
_START: Final = re.compile(rb"<(/?)([a-zA-Z][^" + _SPACE + rb"/>]*+)|<[!?/]")
_ATTRIBUTE: Final = re.compile(
    rb"[%b/]*+[^%b/>][^%b/>=]*+(?:[%b]*+=[%b]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^%b>\"'][^%b>]*+)?+)?+"
    % ((_SPACE,) * 7)
)


@native("bounds")
def tally(
    html: bytes, most_attributes: int, most_bytes: int
) -> tuple[int, int, int, int, list[tuple[int, int]]]:
    """Count the parts of a page that make it expensive to parse.

    Args:
        html: UTF-8.
        most_attributes: Maximum attributes of one element; all ``html`` tags count as one element,
            and so do all ``body`` tags.
        most_bytes: Maximum memory of the tree, in bytes (estimated).

    Returns:
        The number of tags and comments; the number of start tags whose element may stay open beyond
        the next tag; the number of formatting elements among these; the position from which on the
        tree would need too much memory (the page's length if it never does); the ranges of
        attributes to leave out, in page order.
    """
    size = len(html)
    work = 8 * size  # tags in the values of other tags are read again, a limited number of times
    tags = opening = formatting = memory = of_root = position = 0
    dropped: list[tuple[int, int]] = []
    has_svg = False
    pair = -1  # position of the end tag directly after the last start tag, if it closes that
    while (found := _START.search(html, position)) is not None:
        start, position = found.span()
        tags += 1
        memory += _MARKUP_BYTES
        name = found[2]
        if name is None:
            continue
        lowered = name.lower()
        attributes, end_of_attribute, rest = 0, position, 0
        is_root = lowered in (b"html", b"body")
        before = of_root if is_root else 0
        while (attribute := _ATTRIBUTE.match(html, end_of_attribute)) is not None:
            end_of_attribute = attribute.end()
            attributes += 1
            if before + attributes == most_attributes:
                rest = end_of_attribute
        work -= end_of_attribute - start
        if is_root:
            of_root += attributes
            if before >= most_attributes:
                rest = position
        end = html.find(b">", end_of_attribute)  # only spaces and slashes before it
        end = size if end < 0 else end
        if rest and rest < end_of_attribute:
            dropped.append((rest, end))
            position = end
            attributes = max(most_attributes - before, 0)
        memory += _ATTRIBUTE_BYTES * attributes
        # </p> and </br> may make elements of their own.
        if not found[1] or (start != pair and lowered in (b"p", b"br")):
            memory += _ELEMENT_BYTES
        if lowered == b"template":
            memory += _TEMPLATE_BYTES
        if memory > most_bytes or work < 0:
            return tags, opening, formatting, start, dropped
        if found[1]:
            continue
        has_svg = has_svg or lowered in (b"svg", b"math")
        if lowered in _VOID and not (has_svg and lowered not in _NEVER_IN_SVG):
            continue
        next_tag = html.find(b"<", end)
        if next_tag >= 0 and html.startswith(b"</" + name, next_tag):
            after = html[next_tag + 2 + len(name) : next_tag + 3 + len(name)]
            if after and after in b"\t\n\f\r />":
                pair = next_tag
                continue
        opening += 1
        formatting += lowered in _FORMATTING
    return tags, opening, formatting, size, dropped


_REACH: Final = 16
"""Number of innermost open elements among which an end tag finds its element.

Deeper elements count as open until the end, so the estimate is never too small.
"""

_BLOCKS: Final = frozenset(
    b"address article aside blockquote center details dialog dir div dl dd dt fieldset "
    b"figcaption figure footer form header "
    b"hgroup h1 h2 h3 h4 h5 h6 li listing main menu nav ol p pre search section summary ul".split()
)
"""Elements inside which an end tag of a block may close the block (HTML Standard, 13.2.6.4.7)."""

_CLOSE_PARAGRAPH: Final = _BLOCKS - {b"p"} | {b"table"}
_HEADINGS: Final = frozenset(b"h1 h2 h3 h4 h5 h6".split())
_CELLS: Final = frozenset([b"td", b"th"])
_ROWS: Final = {
    **dict.fromkeys(_CELLS, _CELLS),
    b"tr": _CELLS | {b"tr"},
    **dict.fromkeys(
        (b"tbody", b"thead", b"tfoot", b"caption"),
        frozenset(b"td th tr tbody thead tfoot caption".split()),
    ),
}
"""Parts of a table, and the open parts of the same table that each closes."""

_OF_TABLES: Final = frozenset([*_ROWS, b"table"])
_ABOVE: Final = {
    **dict.fromkeys(_CELLS, frozenset(b"tr tbody thead tfoot table".split())),
    b"tr": frozenset(b"tbody thead tfoot table".split()),
}
"""Possible parents of a part of a table; parts that are not here are in the table itself."""

_BARRIERS: Final = _OF_TABLES | frozenset(b"applet button marquee object select template".split())
"""Elements inside which no end tag of an outer element has an effect."""

_KEEP_CLOSED: Final = (
    _BLOCKS
    | _OF_TABLES
    | frozenset(
        (
            b"base body col colgroup frameset head hr html link meta noframes script style "
            b"template title"
        ).split()
    )
)
"""Start tags before which formatting elements are not opened again."""

_MARKERS: Final = frozenset(b"applet caption marquee object td template th".split())
"""Elements after which formatting elements that were open before are not opened again."""

_ITEMS: Final = {
    b"li": frozenset([b"li"]),
    b"dd": frozenset([b"dd", b"dt"]),
    b"dt": frozenset([b"dd", b"dt"]),
}
_SPECIAL: Final = (
    _BLOCKS
    | _BARRIERS
    | frozenset(b"iframe noembed noframes noscript optgroup option plaintext wbr xmp".split())
)
_NOT_OPENED: Final = _VOID | frozenset(
    (
        b"html head body colgroup image isindex iframe noembed noframes script style textarea "
        b"title xmp"
    ).split()
)
_TEXT_ONLY: Final = frozenset(b"iframe noembed noframes script style textarea title xmp".split())
_OTHER_RULES: Final = frozenset(b"frameset math plaintext svg template".split())
"""Elements with other rules: some tags are ignored, or markup is text, or text is markup."""

_OF_SELECT: Final = frozenset(b"optgroup option script select".split())
"""Elements that all versions of the HTML Standard allow in a select."""

_SVG: Final = 1
_MATHML: Final = 2
_HTML_INSIDE: Final = {
    _SVG: frozenset(b"foreignobject desc title".split()),
    _MATHML: frozenset(b"mi mo mn ms mtext".split()),
}
"""Elements of SVG and MathML with HTML inside.

``annotation-xml`` has HTML inside only with some attributes, so it is not one of them.
"""

_INTEGRATION: Final = _HTML_INSIDE[_SVG] | _HTML_INSIDE[_MATHML] | {b"annotation-xml"}
_BREAKOUT: Final = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head "
    b"hr i img li listing menu meta "
    b"nobr ol p pre ruby s small span strong strike sub sup table tt u ul var".split()
)
"""Elements that end SVG and MathML; ``font`` only with one of the attributes below."""

_OF_FONT: Final = re.compile(
    rb"[%b/\"'](?:color|face|size)[%b/=]|[%b/\"'](?:color|face|size)\Z" % ((_SPACE,) * 3),
    re.IGNORECASE,
)

_TOKEN: Final = re.compile(
    rb"<!--(?:-?>|.*?(?:--!?>|\Z))|<(/?)([a-zA-Z][^%b/>]*+)((?:%b)*+)([%b/]*+)(?:>|\Z)|<[!?/][^>]*+(?:>|\Z)"
    % (_SPACE, _ATTRIBUTE.pattern, _SPACE),
    re.DOTALL,
)
_UNKNOWN: Final = b""
"""An open element that no end tag is known to close."""

_MAY_HOLD_ROWS: Final = frozenset([b"table", b"template", _UNKNOWN])
"""Without one of these open, parts of tables are ignored (HTML Standard, 13.2.6.4.7)."""


class _Nesting:
    """An upper estimate of the elements that a parser has open; each step takes constant time."""

    def __init__(self) -> None:
        self.open: list[bytes] = []
        self._tags: list[bytes] = []  # whole tags of formatting elements; empty for others
        self._lost: list[bytes] = []  # tags of formatting elements to open again
        self._foreign: list[int] = []  # 0, _SVG or _MATHML
        # False after <frameset>: if the parser accepts it, other rules apply to the rest.
        self._is_sure = True
        self._has_form = False
        self._has_template = False  # true for good after a template: forms in templates may nest
        self._tables = 0  # open elements that may hold parts of tables

    def is_foreign(self) -> bool:
        """Return whether the next element belongs to SVG or MathML."""
        if not self._foreign or not self._foreign[-1]:
            return False
        return self.open[-1] not in _HTML_INSIDE[self._foreign[-1]]

    def is_text(self, name: bytes) -> bool:
        """Return whether the next element has only text inside, even if that looks like tags."""
        return name in _TEXT_ONLY and self._is_sure and not self.is_foreign()

    def _push(self, name: bytes, tag: bytes = b"", foreign: int = 0) -> None:
        self._tables += name in _MAY_HOLD_ROWS
        self.open.append(name)
        self._tags.append(tag)
        self._foreign.append(foreign)

    def _cut(self, begin: int, end: int | None = None) -> None:
        """Remove open elements from an index on, or up to another one."""
        self._tables -= sum(name in _MAY_HOLD_ROWS for name in self.open[begin:end])
        del self.open[begin:end]
        del self._tags[begin:end]
        del self._foreign[begin:end]

    def _close(self, index: int) -> None:
        """Close an element and the elements in it.

        Formatting elements among them are opened again later.
        """
        if index < 0:
            return
        for name, tag in zip(self.open[index:], self._tags[index:], strict=True):
            if name in _MARKERS:
                break
            if tag:
                if self._lost.count(tag) == 3:  # the parser keeps three equal elements
                    self._lost.remove(tag)
                self._lost.append(tag)
        self._cut(index)

    def reopen(self) -> None:
        """Open the formatting elements again that were closed together with an outer element."""
        for tag in self._lost:
            self._push(tag.partition(b" ")[0], tag)
        self._lost.clear()

    def _find_item(self) -> int:
        """Return the index of the ``li`` that an end tag closes; -1 if it is not within reach."""
        index = self._find(frozenset([b"li", b"ol", b"ul"]))
        return index if index >= 0 and self.open[index] == b"li" else -1

    def _find(self, names: frozenset[bytes], passed: frozenset[bytes] | None = None) -> int:
        """Return the index of the last element with one of these names; -1 if not within reach.

        Args:
            names: Names of the elements to find.
            passed: Special elements that do not stop the search; None: only barriers stop it.
        """
        for index in range(len(self.open) - 1, max(len(self.open) - _REACH, 0) - 1, -1):
            name = self.open[index]
            if name == _UNKNOWN:
                return -1
            if name in names and not self._foreign[index]:
                return index
            if name in _INTEGRATION:  # the parser compares only their names
                return -1
            if name in _BARRIERS if passed is None else name in _SPECIAL and name not in passed:
                return -1
        return -1

    def start(self, name: bytes, attributes: bytes, *, is_closed: bool) -> None:
        """Update the open elements at a start tag.

        Args:
            name: In lower case.
            attributes: Text of the tag after its name.
            is_closed: Whether the tag ends in a slash.
        """
        if not self._is_sure:  # the parser may ignore this tag, so it must not close anything
            self.reopen()
            if name not in _NOT_OPENED:
                self._push(_UNKNOWN)
            return
        if self.is_foreign():
            if name not in _BREAKOUT or (name == b"font" and not _OF_FONT.search(attributes)):
                if not is_closed:
                    self._push(name, foreign=self._foreign[-1])
                return
            while self.is_foreign():
                self._cut(len(self.open) - 1)
        if name in _NOT_OPENED and name not in _KEEP_CLOSED:
            self.reopen()
        if name in (b"svg", b"math"):
            self.reopen()
            if not is_closed:
                self._push(name, foreign=_SVG if name == b"svg" else _MATHML)
        elif name not in _NOT_OPENED:
            self._start_html(name, attributes)

    def _start_html(self, name: bytes, attributes: bytes) -> None:
        self._is_sure = self._is_sure and name != b"frameset"
        self._has_template = self._has_template or name == b"template"
        if name in _CLOSE_PARAGRAPH or name == b"p":
            self._close(self._find(frozenset([b"p"]), frozenset([b"address", b"div"])))
        if name in _ROWS:
            self._start_in_table(name)
            return
        if name in _ITEMS:
            self._close(self._find(_ITEMS[name], frozenset([b"address", b"div", b"p"])))
        elif name == b"form" and not self._has_template:
            if self._has_form:
                return
            self._has_form = True
            if self.open and self.open[-1] in _OF_TABLES - {b"td", b"th", b"caption"}:
                return
        elif name == b"table" and self.open and self.open[-1] in _OF_TABLES:
            if self.open[-1] not in (b"td", b"th", b"caption"):
                self._close(self._find_in_table(frozenset([b"table"])))
        elif name == b"a":
            index = self._find(frozenset([b"a"]))
            if index >= 0:
                self._cut(index, index + 1)
        elif name == b"button":
            self._close(self._find(frozenset([name])))
        elif self.open and (
            (name == self.open[-1] == b"option")
            or (name in _HEADINGS and self.open[-1] in _HEADINGS)
        ):
            self._close(len(self.open) - 1)
        if name not in _KEEP_CLOSED:
            self.reopen()
        is_in_select = b"select" in self.open[-_REACH:]
        if is_in_select and name not in (b"option", b"optgroup"):
            name = _UNKNOWN
        is_formatting = name in _FORMATTING or name == b"a"
        self._push(name, name + b" " + attributes if is_formatting else b"")

    def _find_in_table(self, names: frozenset[bytes]) -> int:
        """Return the index of the last open part of the table with one of these names.

        -1 if it is not within reach.
        """
        for index in range(len(self.open) - 1, max(len(self.open) - _REACH, 0) - 1, -1):
            name = self.open[index]
            if name in names:
                return index
            if name in (_UNKNOWN, b"table", b"template", b"select") or self._foreign[index]:
                return -1
        return -1

    def _start_in_table(self, name: bytes) -> None:
        if not self._tables and not self._has_template:
            return
        while (index := self._find_in_table(_ROWS[name])) >= 0:
            self._close(index)
        above = _ABOVE.get(name, frozenset([b"table"]))
        self._push(name if self.open and self.open[-1] in above else _UNKNOWN)

    def end(self, name: bytes) -> None:
        """Update the open elements at an end tag."""
        if not (self.open and self._is_sure):
            return
        if name in (b"p", b"br"):  # ends SVG and MathML
            while self.is_foreign():
                self._cut(len(self.open) - 1)
        if self.open and self.open[-1] == name:
            self._has_form = self._has_form and name != b"form"
            self._cut(len(self.open) - 1)
        elif not (self._foreign and self._foreign[-1] and self._end_foreign(name)):
            self._end_html(name)

    def _end_html(self, name: bytes) -> None:
        if name == b"form":
            index = self._find(frozenset([name])) if self._has_form else -1
            self._has_form = False
            if index >= 0:
                self._cut(index, index + 1)
        elif name in _OF_TABLES:
            self._close(self._find_in_table(frozenset([name])))
        elif name in _HEADINGS:
            self._close(self._find(_HEADINGS))
        elif name == b"li":
            self._close(self._find_item())
        elif name == b"p":
            self._close(self._find(frozenset([name]), frozenset()))
        elif name in _BLOCKS or name in _BARRIERS:
            self._close(self._find(frozenset([name])))
        elif name in _FORMATTING or name == b"a":
            self._end_formatting(name)
        else:
            self._close(self._find(frozenset([name]), frozenset()))

    def _end_formatting(self, name: bytes) -> None:
        index = self._find(frozenset([name]), frozenset())
        lost = [number for number, tag in enumerate(self._lost) if tag.partition(b" ")[0] == name]
        if lost:
            del self._lost[lost[-1]]
        elif index >= 0:
            self._tags[index] = b""
            self._close(index)

    def _end_foreign(self, name: bytes) -> bool:
        """Close an element of SVG or MathML.

        Returns:
            Whether such an element was open; if not, the rules of HTML apply.
        """
        for index in range(len(self.open) - 1, max(len(self.open) - _REACH, 0) - 1, -1):
            if not self._foreign[index]:
                return False
            if self.open[index] == name:
                self._cut(index)
                return True
        return False


_TEXT_ENDS: Final = {
    name: re.compile(rb"</%b[%b/>]" % (name, _SPACE), re.IGNORECASE) for name in _TEXT_ONLY
}


def _end_of_text(html: bytes, name: bytes, position: int) -> int:
    """Return the end of the content of an element with only text inside."""
    found = _TEXT_ENDS[name].search(html, position)
    return len(html) if found is None else found.start()


def _open_elements(html: bytes) -> Iterator[tuple[int, int]]:
    """Yield the position of each tag, and the estimated number of open elements before it."""
    nesting = _Nesting()
    position = 0
    while (token := _TOKEN.search(html, position)) is not None:
        if token.start() > position:
            nesting.reopen()
        position = token.end()
        yield token.start(), len(nesting.open)
        name = token[2]
        if name is None:
            if nesting.is_foreign() and html.startswith(b"<![CDATA[", token.start()):
                position = html.find(b"]]>", token.start()) + 3
                if position < 3:
                    return
            continue
        name = name.lower()
        if token[1]:
            nesting.end(name)
            continue
        is_text = nesting.is_text(name)
        nesting.start(name, token[3], is_closed=token[4].endswith(b"/"))
        if is_text:
            position = _end_of_text(html, name, position)
        elif name == b"plaintext":
            return


@native("bounds")
def nesting(html: bytes) -> tuple[int, int] | None:
    """Estimate nesting by one rule: an end tag closes the last open element if that has its name.

    No other tag closes an element here, so the estimates are never too small. They are close to the
    truth for pages that close their elements in order, as nearly all large pages do.

    Args:
        html: UTF-8.

    Returns:
        The sum of the open elements over all tags, and the sum of the open formatting elements over
        all tags, because at each tag the parser may open all of them again. None if the page has
        elements with other rules (``_OTHER_RULES``, or unusual tags in a select).
    """
    names: list[bytes] = []
    steps = copies = formatting = position = 0
    in_select = -1  # the index of the select that is open
    while (token := _TOKEN.search(html, position)) is not None:
        position = token.end()
        steps += len(names)
        copies += formatting
        if token[2] is None:
            continue
        name = token[2].lower()
        if in_select >= 0 and name not in _OF_SELECT:
            return None
        if token[1]:
            if name == b"select" and in_select >= 0:
                del names[in_select:]
                in_select = -1
            elif names and names[-1] == name:
                names.pop()
                formatting -= name in _FORMATTING
            continue
        if name in _OTHER_RULES or (name == b"select" and in_select >= 0):
            return None
        if name == b"select":
            in_select = len(names)
        if name in _TEXT_ONLY:
            position = _end_of_text(html, name, position)
        elif name not in _VOID:
            formatting += name in _FORMATTING
            names.append(name)
    return steps, copies


def _end_of_nesting(html: bytes, most_steps: int) -> int:
    """Return the position where the sum of the open elements over all tags exceeds ``most_steps``.

    It is the page's length if the sum stays below.
    """
    steps = 0
    for start, is_open in _open_elements(html):
        steps += is_open
        if steps > most_steps:
            return start
    return len(html)


_FORMATTING_TAG: Final = re.compile(
    rb"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[%b/>])[^>]*+>" % _SPACE,
    re.IGNORECASE,
)


def _without_formatting(html: bytes) -> bytes:
    """Return a page without the tags of formatting elements."""
    pieces: list[bytes] = []
    copied_to = position = 0
    while (token := _TOKEN.search(html, position)) is not None:
        start, position = token.span()
        name = token[2]
        if name is None:
            continue
        name = name.lower()
        if name in _FORMATTING:
            pieces.append(html[copied_to:start])
            copied_to = position
        elif name in _TEXT_ONLY and not token[1]:
            position = _end_of_text(html, name, position)
    pieces.append(html[copied_to:])
    return b"".join(pieces)


def bounded(html: bytes) -> tuple[bytes, Counter[Reason]]:
    """Return a page without the parts that are too expensive to parse, and notes about these.

    Nearly all pages are returned unchanged.

    Args:
        html: UTF-8.
    """
    notes: Counter[Reason] = Counter()
    if len(html) <= SMALL and html.count(b"<") <= _FEW_TAGS:
        return html, notes
    tags, opening, formatting, end, dropped = tally(html, MOST_ATTRIBUTES, MOST_BYTES)
    if end < len(html) or dropped:
        notes[Reason.NOTE_ATTRIBUTES_CUT] += len(dropped)
        notes[Reason.NOTE_TREE_CUT] += end < len(html)
        pieces, copied_to = [], 0
        for start, stop in dropped:
            pieces.append(html[copied_to:start])
            copied_to = stop
        html = b"".join([*pieces, html[copied_to:end]])
    if formatting * tags > _MOST_COPIES or opening * tags > MOST_STEPS:
        html, left_out = _with_less_nesting(html, tags)
        notes.update(left_out)
    return html, +notes


def _with_less_nesting(html: bytes, tags: int) -> tuple[bytes, Counter[Reason]]:
    """Return a page whose nesting is within the bounds, and notes about the parts left out."""
    notes: Counter[Reason] = Counter()
    steps, copies = nesting(html) or (MOST_STEPS + 1, _MOST_COPIES + 1)
    if copies > _MOST_COPIES:
        distinct = len(set(_FORMATTING_TAG.findall(html)))
        if 3 * distinct * tags > _MOST_COPIES:  # the parser keeps three equal elements
            html = _without_formatting(html)
            notes[Reason.NOTE_FORMATTING_LEFT_OUT] += 1
            # Not known: without these tags, other elements contain each other.
            steps = MOST_STEPS + 1
    if steps > MOST_STEPS:
        end = _end_of_nesting(html, MOST_STEPS)
        notes[Reason.NOTE_NESTING_CUT] += end < len(html)
        html = html[:end]
    return html, notes
