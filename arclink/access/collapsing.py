"""Rows of captures that are left out because they repeat a field of the row before.

Source: the Internet Archive's Wayback CDX Server, *Collapsing* (``collapse=field:N``); pywb,
``cdx_collapse_time_status`` (``collapseTime``).
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from arclink.model import Memento

Field = Callable[[Memento], str]


class Collapse(NamedTuple):
    """A field whose repetitions are left out.

    Attributes:
        name: Name of the field.
        length: Number of its first characters that are compared; 0 for all.
    """

    name: str
    length: int


def parse_collapse(text: str) -> Collapse:
    """Return the field and the length in ``FIELD`` or ``FIELD:N``.

    Raises:
        ValueError: The text has another form.

    >>> parse_collapse("timestamp:4")
    Collapse(name='timestamp', length=4)
    """
    written = re.fullmatch(r"([a-z]+)(?::([0-9]{1,4}))?", text)
    if written is None or written[2] == "0":
        raise ValueError
    return Collapse(written[1], int(written[2] or 0))


class Collapser:
    """Decides which rows are left out; ask about each row once, in order.

    Args:
        fields: For each collapse, the fields that are compared together, with their lengths.
        last: The values of the row before the first one, from `state`; None without one.
    """

    def __init__(
        self,
        fields: Sequence[Sequence[tuple[Field, int]]],
        last: Sequence[str | None] | None = None,
    ) -> None:
        self._fields = fields
        self._last: list[str | None] = list(last) if last is not None else [None] * len(fields)

    def passes(self, memento: Memento) -> bool:
        """Return whether a row differs from the row before, in each collapse."""
        for index, fields in enumerate(self._fields):
            values = [field(memento)[: length or None] for field, length in fields]
            value = " ".join(values)
            if value == self._last[index]:
                return False
            self._last[index] = value
        return True

    @property
    def state(self) -> list[str | None]:
        """The values of the last row, with which a later answer continues."""
        return self._last
