"""Looks up payloads and contents of several mementos at once, and keeps the answers.

A caller asks for the content of one memento after the other, and then for its links: a round trip
to the cluster each. So the first question about one of the mementos that were read together also
asks about those after it.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeVar

from arclink.checksums import is_reference
from arclink.model import Checksum, ContentId, Memento
from arclink.store.blocks.relations import scope_of_outcome
from arclink.store.blocks.rows import Content, shows_payload
from arclink.uris.resolution import content_id

CACHED = 4096
"""Number of payloads, and of contents, that are kept."""

BLOCKS_AHEAD = 8
"""Number of contents whose outlinks are read together."""

Key = TypeVar("Key")
Found = TypeVar("Found")


class LookUps:
    """Answers about single payloads and contents.

    Args:
        outcomes: Returns the packed outcome of each payload.
        numbers: Returns the number of each content; None if the store has no such content.

    Attributes:
        mementos: The mementos that a caller reads, in order.
    """

    def __init__(
        self,
        outcomes: Callable[[Sequence[Checksum]], list[bytes | None]],
        numbers: Callable[[Sequence[ContentId]], list[Content | None]],
    ) -> None:
        self._ask_outcomes, self._ask_numbers = outcomes, numbers
        self.mementos: Sequence[Memento] = ()
        self._contents: list[ContentId] = []  # of mementos, in order
        self._outcomes: OrderedDict[Checksum, bytes | None] = OrderedDict()
        self._numbers: OrderedDict[ContentId, Content | None] = OrderedDict()

    def clear(self) -> None:
        """Forget all answers."""
        self.mementos = ()
        self._contents.clear()
        self._outcomes.clear()
        self._numbers.clear()

    def outcome(self, checksum: Checksum, memento: Memento) -> bytes | None:
        """Return the packed outcome of the payload that a memento shows.

        Contents of the memento and of those after it are looked up, too.
        """
        if checksum not in self._outcomes:
            shown = {checksum: [memento.original]}
            for following in self._from(memento):
                if shows_payload(following.checksum, following.reason) and not is_reference(
                    following.checksum
                ):
                    shown.setdefault(following.checksum, []).append(following.original)
            _fill(self._outcomes, list(shown), self._ask_outcomes)
            scopes = {
                shown_checksum: scope_of_outcome(self._outcomes[shown_checksum])
                for shown_checksum in shown
            }
            contents = [
                content_id(shown_checksum, original, scope)
                for shown_checksum, originals in shown.items()
                for original in originals
                if (scope := scopes[shown_checksum]) is not None
            ]
            _fill(self._numbers, contents, self._ask_numbers)
            self._contents = contents
        return self._outcomes[checksum]

    def _from(self, memento: Memento) -> Sequence[Memento]:
        """Return the mementos that were read together, from one on."""
        for index, other in enumerate(self.mementos):
            if other is memento or other == memento:
                return self.mementos[index:]
        return ()

    def number(self, content: ContentId) -> Content | None:
        """Return the number of a content."""
        _fill(self._numbers, [content], self._ask_numbers)
        return self._numbers[content]

    def numbers_from(self, content: ContentId) -> list[Content]:
        """Return the number of a content, and of those that mementos after it show.

        Only contents that were looked up, at most `BLOCKS_AHEAD`; none if the store lacks it.
        """
        number = self.number(content)
        if number is None:
            return []
        index = self._contents.index(content) + 1 if content in self._contents else 0
        soon = self._contents[index : index + BLOCKS_AHEAD - 1] if index else []
        return [number, *filter(None, (self._numbers.get(following) for following in soon))]


def _fill(
    known: OrderedDict[Key, Found],
    keys: Sequence[Key],
    ask: Callable[[Sequence[Key]], list[Found]],
) -> None:
    """Look up those of some keys that are not known; the least recent answers are dropped."""
    missing = list(dict.fromkeys(key for key in keys if key not in known))
    for key in keys:
        if key in known:
            known.move_to_end(key)
    known.update(zip(missing, ask(missing), strict=True))
    while len(known) > CACHED:
        known.popitem(last=False)
