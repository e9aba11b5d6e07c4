"""DuckDB's errors as those of the system and of ArcLink."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as arrow

from arclink.errors import OperatorError, UsageError
from arclink.files.atomic import OUT_OF_SPACE

_OF_DISKS = (*OUT_OF_SPACE, errno.EIO, errno.EROFS)


class SqlError(UsageError):
    """A text is not a query that can be answered; the text of the error says where and why."""


@contextmanager
def translated(memory: int = 0) -> Iterator[None]:
    """Turn errors of DuckDB inside the block into others.

    Args:
        memory: Megabytes that a query of a user may use; 0 for a statement of ArcLink itself.

    Raises:
        OSError: The disk is full or broken.
        SqlError: The statement cannot be run, or exceeds the limits of a user's query.
        OperatorError: A file cannot be read or written otherwise, or there is too little memory.
    """
    try:
        yield
    except (duckdb.Error, arrow.ArrowException) as error:
        raise _translation(error, memory) from error


def _translation(error: Exception, memory: int) -> Exception:
    text = str(error)
    is_of_files = isinstance(error, duckdb.IOException)
    if isinstance(error, duckdb.OutOfMemoryException):
        if memory:
            return SqlError(
                f"the query needs more than {memory:,} MB of memory, or more room for temporary "
                "files than there is or ten times the memory: ask for less, or allow more"
            )
        if "max_temp_directory_size" not in text:
            return OperatorError(f"not enough memory: {text}")
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # for temporary files
    if is_of_files or not memory:  # the query of a user may have any words
        for number in _OF_DISKS:
            if os.strerror(number) in text:
                return OSError(number, os.strerror(number))
    if is_of_files:
        return OperatorError(f"a file cannot be read or written: {text}")
    return SqlError(text)
