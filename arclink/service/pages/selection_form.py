"""The form that builds a selection: its fields, its free text, and the selection that they form.

In the page at ``?subset=SELECTION``, a condition that has a field in the form is shown in this
field; all other conditions are in the free text. So the address is enough to show the form again,
for any selection.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple, Self

from arclink.access.common import SUBSET
from arclink.access.declarations import BadParameterError
from arclink.subsets.fields import FIELDS, is_name
from arclink.subsets.language import (
    ALL,
    PICK,
    AllOf,
    Condition,
    Selection,
    SelectionError,
    all_of,
    parse_selection,
    text_of,
)

PLACES: Final = ("domain", "host", "uri", "prefix")
"""The fields of the language that share one field of the form; ``place`` says which it is."""

PLACE: Final = "place"
_WHERE: Final = "where"

_CONDITIONS: Final = ("from", "to", "mime", "status", "links-to", PICK)
"""The fields of the language that have a field of the form each."""

NAMES: Final = (PLACE, _WHERE, *_CONDITIONS, SUBSET.name)
"""The names of the form's parameters; `SUBSET` is the free text."""

_AROUND: Final = 60


class Mistake(NamedTuple):
    """A value that is not allowed.

    Attributes:
        name: The field of the form.
        what: What is wrong, or what was expected.
        position: The number of the first wrong character, from 1; 0 if it is not known.
        before: The text before it.
        after: The text from it on.
    """

    name: str
    what: str
    position: int = 0
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class SelectionForm:
    """A filled form.

    Attributes:
        values: Values of the fields by their names; empty ones are missing.
    """

    values: Mapping[str, str]

    @classmethod
    def from_parameters(cls, parameters: Iterable[tuple[str, str]]) -> Self:
        """Return the form with these parameters.

        Raises:
            BadParameterError: A parameter is not one of the form's.
        """
        values: dict[str, str] = {}
        for name, value in parameters:
            if name not in NAMES:
                raise BadParameterError(name, value, f"one of the parameters {', '.join(NAMES)}")
            if value.strip():
                values.setdefault(name, value.strip())
        return cls(MappingProxyType(values))

    @classmethod
    def of(cls, selection: Selection) -> Self:
        """Return the form that builds a selection."""
        parts, pick = (
            (selection.parts, selection.pick)
            if isinstance(selection, AllOf)
            else ((selection,), "")
        )
        values: dict[str, str] = {PICK: pick} if pick else {}
        remaining: list[Selection] = []
        for part in parts:
            name = part.field if isinstance(part, Condition) and not part.qualifiers else ""
            field_name = _WHERE if name in PLACES else name
            if part == ALL:
                continue
            if field_name not in (_WHERE, *_CONDITIONS) or field_name in values:
                remaining.append(part)
                continue
            assert isinstance(part, Condition)
            values[field_name] = part.value
            if field_name == _WHERE:
                values[PLACE] = name
        if remaining:
            values[SUBSET.name] = text_of(all_of(remaining))
        return cls(MappingProxyType(values))

    @property
    def is_text(self) -> bool:
        """Whether only the free text is filled."""
        return set(self.values) <= {SUBSET.name}

    def selection(self) -> tuple[Selection, list[Mistake]]:
        """Return the selection that the form builds, and the mistakes in it.

        With mistakes, the selection has the other conditions only.
        """
        mistakes: list[Mistake] = []
        parts = [*self._conditions(mistakes)]
        pick = self._normal(PICK, PICK, mistakes) if PICK in self.values else ""
        further = self._rest(mistakes)
        if isinstance(further, AllOf):  # its parts and its pick are joined with those of the fields
            if pick and further.pick:
                mistakes.append(Mistake(SUBSET.name, "There are two picks: leave one of them out."))
            parts += (part for part in further.parts if part != ALL)
            pick = pick or further.pick
        elif further is not None:
            parts.append(further)
        return all_of(parts, pick), mistakes

    def _conditions(self, mistakes: list[Mistake]) -> Iterator[Selection]:
        for name in (_WHERE, *_CONDITIONS):
            field = self.values.get(PLACE, PLACES[0]) if name == _WHERE else name
            if name == PICK or name not in self.values:
                continue
            if name == _WHERE and field not in PLACES:
                raise BadParameterError(PLACE, field, f"one of {', '.join(PLACES)}")
            value = self._normal(name, field, mistakes)
            if value:
                yield Condition(field, value)

    def _normal(self, name: str, field: str, mistakes: list[Mistake]) -> str:
        try:
            return FIELDS[field].normal(self.values[name])
        except ValueError:
            mistakes.append(Mistake(name, f"Expected {FIELDS[field].expected}."))
            return ""

    def _rest(self, mistakes: list[Mistake]) -> Selection | None:
        text = self.values.get(SUBSET.name, "")
        if not text:
            return None
        if is_name(text):
            return Condition("subset", text)
        try:
            return parse_selection(text)
        except SelectionError as error:
            at = error.position
            mistakes.append(
                Mistake(
                    SUBSET.name,
                    f"Expected {error.expected}.",
                    at + 1,
                    text[max(0, at - _AROUND) : at],
                    text[at : at + _AROUND],
                )
            )
            return None
