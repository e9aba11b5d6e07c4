"""DuckDB's errors as those of the system and of ArcLink."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as arrow

from arclink.errors import Limit, LimitError, OperatorError, UsageError
from arclink.files.atomic import OUT_OF_SPACE

_OF_DISKS = (*OUT_OF_SPACE, errno.EIO, errno.EROFS)


class SqlError(UsageError):
    """A text is not a query that can be answered; the text of the error says where and why."""


class TablesError(OperatorError):
    """The relations cannot be read: a file of them is damaged, or they do not fit a statement."""


@contextmanager
def translated(memory: int = 0, *, is_of_user: bool = False) -> Iterator[None]:
    """Turn errors of DuckDB inside the block into others.

    Args:
        memory: Megabytes that an answer may use; 0 for a statement that is no question.
        is_of_user: Whether a user wrote the statement.

    Raises:
        OSError: The disk is full or broken.
        SqlError: A user's statement cannot be run.
        TablesError: A statement of ArcLink itself cannot be run.
        LimitError: An answer needs more memory, or a user's query more room for temporary files.
        OperatorError: A file cannot be read or written otherwise, or there is too little memory.
    """
    try:
        yield
    except (duckdb.Error, arrow.ArrowException) as error:
        raise _translation(error, memory, is_of_user=is_of_user) from error


def _translation(error: Exception, memory: int, *, is_of_user: bool) -> Exception:
    text = str(error)
    is_of_files = isinstance(error, duckdb.IOException)
    if isinstance(error, duckdb.OutOfMemoryException):
        if is_of_user:
            return LimitError(
                Limit.MEMORY,
                f"the query needs more than {memory:,} MB of memory, or more room for temporary "
                "files than there is or ten times the memory: ask for less, or allow more",
            )
        if "max_temp_directory_size" not in text:
            if memory:
                words = f"the answer needs more than {memory:,} MB of memory: ask for less"
                return LimitError(Limit.MEMORY, words)
            return OperatorError(f"not enough memory: {text}")
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # for temporary files
    if is_of_files or not is_of_user:  # the query of a user may have any words
        for number in _OF_DISKS:
            if os.strerror(number) in text:
                return OSError(number, os.strerror(number))
    if is_of_files:
        return OperatorError(f"a file cannot be read or written: {text}")
    return SqlError(text) if is_of_user else TablesError(f"the tables cannot be read: {text}")
