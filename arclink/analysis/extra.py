"""What analysis needs beside the rest: the extra ``analysis``."""

from collections.abc import Iterator
from contextlib import contextmanager

from arclink.errors import UsageError


@contextmanager
def analysis_extra() -> Iterator[None]:
    """Import packages of the extra inside of this.

    Raises:
        UsageError: One is not installed; the text says how to install it.
    """
    try:
        yield
    except ImportError as error:
        raise UsageError(f"{error.name or error} is not installed: pip install 'arclink[analysis]'") from error
