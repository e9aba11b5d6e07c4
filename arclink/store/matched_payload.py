"""One payload as the rows of the relation ``known`` describe it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from arclink.files.spill import Sorted
from arclink.model import Checksum, Payload, UriR
from arclink.rows.known import CONTENT, ORIGINAL, parse_known
from arclink.rows.link_sources import LinkSource, source_of
from arclink.store.blocks.byte_layouts import split_content
from arclink.store.empty import EmptyStore
from arclink.uris.resolution import content_id

ROW, OTHER = b"0", b"1"
"""First bytes of shuffle values: the rows of a payload come before all that is matched with it."""


class MatchedPayload(EmptyStore):
    """A `KnownPayloads` that knows one payload.

    Memory holds the cuts of its contents; its originals may go to disk.

    Attributes:
        payload: Its state in the row with the best source of links; None before the first row.
    """

    replaces_links = True

    def __init__(self, checksum: Checksum) -> None:
        self.payload: Payload | None = None
        self._checksum = checksum
        self._cuts: set[str] = set()
        self._originals = Sorted[str]()

    @property
    def needs_originals(self) -> bool:
        """Whether extract may read the payload again for the originals of earlier captures."""
        return self.payload is not None and source_of(self.payload) is not LinkSource.PAGE

    def add_rows(self, values: Iterator[bytes]) -> Iterator[bytes]:
        """Add the rows at the beginning of the sorted values of a checksum.

        Args:
            values: Each begins with `ROW` or `OTHER`.

        Returns:
            The other values, without their first byte.
        """
        for value in values:
            if value.startswith(OTHER):
                return (one[len(OTHER) :] for one in chain((value,), values))
            self.add(value[len(ROW) :])
        return iter(())

    def add(self, columns: bytes) -> None:
        """Add a row; rows come in the order of their bytes.

        Rows of several batches may differ. If a later batch had a better source of the links, the
        contents from the poorer source are gone.
        """
        payload, item = parse_known(self._checksum, columns)
        if self.payload is None or _rank(payload) < _rank(self.payload):
            self.payload = payload
            self._cuts.clear()
        if item.startswith(CONTENT):
            if _rank(payload) == _rank(self.payload):
                self._cuts.add(item.removeprefix(CONTENT))
        elif item.startswith(ORIGINAL):
            self._originals.add(item.removeprefix(ORIGINAL))

    def known_contents(
        self, wanted: Iterable[tuple[Checksum, Sequence[UriR]]]
    ) -> Iterator[tuple[Payload | None, Sequence[UriR]]]:
        for _, originals in wanted:
            yield self.payload, [one for one in originals if not self._has_content(one)]

    def originals_of(self, checksum: Checksum) -> Iterator[UriR]:
        return map(UriR, self._originals)

    def _has_content(self, original: UriR) -> bool:
        if self.payload is None or self.payload.scope is None:
            return False
        content = content_id(self._checksum, original, self.payload.scope)
        return split_content(content)[1].hex() in self._cuts


def _rank(payload: Payload) -> int:
    source = source_of(payload)
    return len(LinkSource) if source is None else source
