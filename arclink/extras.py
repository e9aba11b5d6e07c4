"""Import of the packages of the extra ``analysis``."""

from collections.abc import Iterator
from contextlib import contextmanager

from arclink.errors import UsageError


@contextmanager
def analysis_extra() -> Iterator[None]:
    """Return a context for imports of packages of the extra.

    Raises:
        UsageError: A package is not installed; the message says how to install it.
    """
    try:
        yield
    except ImportError as error:
        raise UsageError(
            f"{error.name or error} is not installed: pip install 'arclink[analysis]'"
        ) from error
