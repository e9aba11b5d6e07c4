"""The base of what operations return."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of an operation.

    Attributes:
        notes: What a user should know, such as input that was left out; sentences, in their order.
    """

    notes: tuple[str, ...] = ()
