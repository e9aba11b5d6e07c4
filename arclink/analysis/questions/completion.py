"""Addresses that begin like the one that a reader types."""

import re
from collections.abc import Sequence

from arclink.access.texts import printable_uri
from arclink.analysis.relations.database import RelationsDatabase, prepared
from arclink.analysis.relations.parts import LAST
from arclink.analysis.relations.sql_texts import text_of
from arclink.model import UriR
from arclink.uris.surts import surt_of

_TYPED = re.compile(
    r"(?P<before>(?:https?://|\*\.)?(?:www\.)?)(?P<host>[^/?#\s]+)(?P<path>/\S*)?", re.I
)
_AUTHORITY = re.compile(r"[^/?#]*//[^/?#]*")


def addresses_like(database: RelationsDatabase, typed: str) -> Sequence[str]:
    """Return at most ten known addresses that begin as a reader has begun one.

    They begin with what was typed: with ``http`` or ``https``, with or without ``www``. Before the
    first slash of a path they are hosts, those with most captures first; then pages, by SURT.

    Raises:
        LimitError: It takes longer than the database allows.
        OperatorError: The files of the relations cannot be read.
    """
    parts = _TYPED.fullmatch(typed)
    if parts is None:
        return []
    before, host, path = parts["before"], parts["host"], parts["path"]
    begins = printable_uri(surt_of(UriR(f"http://{host}{path}"))) if path else host.lower()
    values = {"begins": begins, "last": begins + LAST, "is_page": path is not None}
    rows = database.answer(
        prepared(database, text_of("arclink.analysis.questions.sql", "beginning"), values)
    )
    found: Sequence[str] = rows.column("address").to_pylist()
    if path:
        found = [host + _AUTHORITY.sub("", uri, count=1) for uri in found]
    return [before + address for address in found]
