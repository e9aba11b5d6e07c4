"""List files: text with one value per line."""

from pathlib import Path

from arclink.errors import InputError


def lines_of_list(path: Path) -> list[str]:
    """Return the lines of a list file without blank lines and comments (``#``).

    Raises:
        InputError: The file cannot be read as text.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # editors begin it with a mark
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a list: byte {error.start} is not UTF-8") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
