"""wabac.js, the program that rewrites archived pages in the browser: stored compressed, unchanged.

``static/wabac.json`` records its version, licence and checksums; CONTRIBUTING.md says how to renew
it.
"""

from functools import cache
from pathlib import Path
from typing import Final

import brotli  # type: ignore[import-untyped]  # has no types

STATIC: Final = Path(__file__).parent / "static"


@cache
def wabac_compressed() -> bytes:
    """Return wabac.js in Brotli."""
    return (STATIC / "wabac.js.br").read_bytes()


@cache
def wabac_plain() -> bytes:
    """Return wabac.js, for the few browsers that do not accept Brotli."""
    plain: bytes = brotli.decompress(wabac_compressed())
    return plain
