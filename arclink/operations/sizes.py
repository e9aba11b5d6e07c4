"""Numbers of bytes as users write them: ``300M``, ``4G``."""

from arclink.access.declarations import Form
from arclink.errors import UsageError

_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def size(option: str) -> Form[int]:
    """Return the form of a size; errors name the ``option``."""
    return Form(
        "bytes, or a number with k, M, G or T, such as 300M",
        {"type": "string", "pattern": "^[0-9]+[kKmMgGtT]?$"},
        lambda text: _parse_size(text, f"--{option}"),
    )


def size_text(number: object) -> str:
    """Return the shortest text that `_parse_size` reads as this number.

    >>> size_text(4 << 30), size_text(1000)
    ('4G', '1000')
    """
    assert isinstance(number, int)
    for unit, factor in reversed(_UNITS.items()):
        if number % factor == 0:
            return f"{number // factor}{unit if unit == 'k' else unit.upper()}"
    return str(number)


def _parse_size(text: str, option: str) -> int:
    """Return the number of bytes that a text such as ``300M`` means.

    It is digits with an optional ``k``, ``M``, ``G`` or ``T``, for powers of 1,024.

    Args:
        text: The value of the option.
        option: Name of the option, for the error.

    Raises:
        UsageError: The text is not a size, or is zero.

    >>> _parse_size("300M", "--batch-size")
    314572800
    """
    number, unit = (text[:-1], text[-1].lower()) if text[-1:].lower() in _UNITS else (text, "")
    if not (number.isascii() and number.isdigit()) or int(number) == 0:
        raise UsageError(
            f"{option} {text!r}: not a size; write bytes, or a number with k, M, G or T, "
            "such as 300M"
        )
    return int(number) * _UNITS.get(unit, 1)


def stored_size(count: int) -> str:
    """Return the size of a store in words; a small store in Cassandra does not know its size.

    >>> stored_size(1234), stored_size(0)
    ('1,234 bytes', 'size not known yet')
    """
    return f"{count:,} bytes" if count else "size not known yet"
