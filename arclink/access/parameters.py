"""Parameters of the questions beside the link query: what they have in common."""

import re
from collections.abc import Iterable, Mapping, Sequence

from arclink.access.queries import DEFAULT_LIMIT, BadParameterError
from arclink.access.tallies import Period

PERIODS: Mapping[str, Period] = {period.name.lower(): period for period in reversed(Period)}
"""By the name that ``by`` says."""

_DIGITS = re.compile(r"[0-9]{1,6}")


def sorted_out(
    parameters: Iterable[tuple[str, str]], allowed: Sequence[str], own: Sequence[str]
) -> tuple[Mapping[str, str], list[tuple[str, str]]]:
    """Return the parameters called ``own`` by name, and the others, which are those of a link query.

    Raises:
        BadParameterError: One is not ``allowed``, or one of ``own`` is given twice.
    """
    single: dict[str, str] = {}
    others: list[tuple[str, str]] = []
    for name, value in parameters:
        if name not in allowed:
            hint = "; an '&' inside the URI asked for must be written %26" if others else ""
            raise BadParameterError(name, value, f"one of the parameters {', '.join(allowed)}, format{hint}")
        if name not in own:
            others.append((name, value))
        elif name in single:
            raise BadParameterError(name, value, "the parameter once")
        else:
            single[name] = value
    return single, others


def by_asked(text: str) -> tuple[Period | None, bool]:
    """Return the period that ``by`` names, and whether it names hosts: ``month``, ``host``, ``month,host`` or nothing.

    Raises:
        BadParameterError: It names something else, or two periods.
    """
    words = [word.strip() for word in text.split(",")] if text else []
    periods = [PERIODS[word] for word in words if word in PERIODS]
    if len(periods) > 1 or len(set(words)) < len(words) or set(words) - {*PERIODS, "host"}:
        raise BadParameterError("by", text, f"{', '.join(PERIODS)} or host, or one of the first and host: month,host")
    return (periods[0] if periods else None), "host" in words


def period_asked(text: str) -> Period:
    """Return the period that ``by`` names; a month without.

    Raises:
        BadParameterError: It names none.
    """
    if text and text not in PERIODS:
        raise BadParameterError("by", text, " or ".join(PERIODS))
    return PERIODS[text or "month"]


def limit_asked(text: str) -> int:
    """Return how many rows are asked for; 0 for all that were counted.

    Raises:
        BadParameterError: It is no number.
    """
    if text and _DIGITS.fullmatch(text) is None:
        raise BadParameterError("limit", text, "a number of rows, or 0 for all that were counted")
    return int(text) if text else DEFAULT_LIMIT
