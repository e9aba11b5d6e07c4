"""The block of outlinks drawn in docs/explanation/store-schema.md is what ArcLink writes."""

import re
from pathlib import Path

from arclink.store.blocks.outlinks import pack_outlinks

PAGE = Path(__file__).resolve().parents[3] / "docs/explanation/store-schema.md"
TARGETS = ("http://example.org/news", "http://example.net/", "http://example.org/")


def drawn() -> dict[int, bytes]:
    """Return the drawn bytes by their offset in the block."""
    example = PAGE.read_text("utf-8").partition("## An example in bytes")[2].partition("\n## ")[0]
    lines = re.findall(r"^ ([0-9a-f]{4})  (.+?)(?:   .*)?$", example, re.MULTILINE)
    return {
        int(offset, 16): bytes.fromhex(text)
        if re.fullmatch(r"(?:[0-9a-f]{2} *)+", text)
        else text.replace("⏎", "\n").encode()
        for offset, text in lines
    }


def test_the_drawn_block_is_the_one_that_is_written() -> None:
    links = (TARGETS, ("a@href",) * 3, ("News", "Net", "Home"), (None,) * 3)
    block = pack_outlinks(links, [0, 1, 2, 1], [2, 2])
    assert len(block) == 122
    assert b"".join(data for _, data in sorted(drawn().items())) == block
    assert all(block[offset : offset + len(data)] == data for offset, data in drawn().items())
