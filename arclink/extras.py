"""Import of the packages of extras: a message names the extra that is missing."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from arclink.errors import UsageError


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Return a context for imports of packages of an extra.

    Raises:
        UsageError: A package is not installed; the message says how to install it.
    """
    try:
        yield
    except ImportError as error:
        raise UsageError(
            f"{error.name or error} is not installed: pip install 'arclink[{name}]'"
        ) from error


def analysis_extra() -> AbstractContextManager[None]:
    """Return a context for imports of packages of the extra ``analysis``; see `extra`."""
    return extra("analysis")
