"""Blocks of text of a page that the parser has written again: the innermost loop of texts.

Cython compiles this file unchanged (`arclink.native`): annotations with ``cython`` give a local
variable a C type, and Python never evaluates them.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from arclink.native import native

if TYPE_CHECKING:
    import cython

    from arclink.model import UriR

Run = tuple[str, "UriR | None"]
"""A piece of text, and where it links to."""
Block = tuple[str, list[Run]]
"""Kind of a block, and its runs."""

# What a tag means. All from `EMPTY` on end a block.
IMAGE, LINK, LINK_END, EMPTY, END, START = range(6)

_BLANKS: Final = " \t\n\f\r"
_ATTRIBUTE = '[^ ]*+(?: (?!{0}=)=?[^ =]*+="[^"]*+")*+ {0}="([^"]*)"'
_HREF: Final = re.compile(_ATTRIBUTE.format("href"))
_ALT: Final = re.compile(_ATTRIBUTE.format("alt"))


def _unescaped(text: str) -> str:
    """Return text or a value with the characters that the parser has written as references."""
    if "&" not in text:
        return text
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\xa0")
    return text.replace("&quot;", '"').replace("&amp;", "&")


def folded(text: str) -> str:
    """Return text in which each run of white space of HTML is one space."""
    if not text.isprintable():
        text = text.replace("\n", " ").replace("\t", " ").replace("\r", " ").replace("\f", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


@native("text_blocks")
def read_blocks(
    html: str,
    meanings: dict[str, int],
    kinds: dict[str, str],
    resolve: "Callable[[str], UriR | None]",
    most: int,
) -> tuple[list[Block], bool]:
    """Return the blocks of text of a page, and whether it has more text than the limit.

    Args:
        html: The content of ``body`` as the parser writes it: nested, with an end tag for each
            element that has one; ``<`` and ``>`` are written as references in texts and values, so
            that both are in tags and comments only. A name may contain ``<``, but no ``>``.
        meanings: By name of an element, with a slash for end tags; other tags have no effect.
        kinds: Kinds of blocks, by name of the element that begins one.
        resolve: Returns the target of a ``href``.
        most: Maximum number of characters.
    """
    blocks: list[Block] = []
    runs: list[Run] = []
    pieces: list[str] = []
    outer_kinds: list[str] = []
    outer_targets: list[UriR | None] = []
    kind: str = "text"
    target: UriR | None = None
    room: cython.Py_ssize_t = most
    meaning: cython.int
    begin: cython.Py_ssize_t
    end: cython.Py_ssize_t
    space: cython.Py_ssize_t
    text: str
    tag: str
    name: str
    before: str
    html += "<br>"  # ends the last block
    size: cython.Py_ssize_t = len(html)
    end = -1
    while (begin := end + 1) < size:
        end = html.find("<", begin)
        if begin < end:
            text = html[begin:end]
            # White space at the start of a block is not shown.
            if pieces or runs or kind == "pre" or text.strip(_BLANKS):
                pieces.append(text)
        begin = end + 1
        end = html.find(">", begin)
        name = tag = html[begin:end]
        space = tag.find(" ")
        if space > 0:
            name = tag[:space]
        meaning = meanings.get(name, -1)
        if meaning < 0:
            if name.startswith("!--"):
                end = html.find("-->", begin + 3) + 2
            continue
        if meaning == IMAGE:
            if (found := _ALT.match(tag)) is not None:
                pieces.append(found[1])
            continue
        if pieces:
            text = _unescaped("".join(pieces))
            pieces = []
            if kind != "pre":
                text = folded(text)
                if text[:1] == " " and (not runs or runs[-1][0][-1:] == " "):
                    text = text[1:]
            if len(text) > room:
                text = text[:room]
                size = 0  # ends the loop, after this block
                meaning = EMPTY
            room -= len(text)
            if text:
                if runs and runs[-1][1] == target:
                    before, _ = runs.pop()
                    text = before + text
                runs.append((text, target))
        if meaning >= EMPTY:
            for before, _ in runs:
                if before.strip():
                    blocks.append((kind, runs))
                    break
            if runs:
                runs = []
            if meaning == START:
                outer_kinds.append(kind)
                kind = kinds.get(name, kind)
            elif meaning == END:
                kind = outer_kinds.pop()
        elif meaning == LINK:
            outer_targets.append(target)
            if (found := _HREF.match(tag)) is not None:
                target = resolve(_unescaped(found[1]))
        else:
            target = outer_targets.pop()
    return blocks, size == 0
