"""Exit statuses of programs in words."""

import os
import re
import signal

_STATUS = re.compile(r"(?:exit status|exit code|failed with code) (\d+)")

_OF_START = (2, 7, 12, 13)
"""Error numbers with which the start of a program fails: no such file, arguments too long, no
memory, no permission.
"""

_SIGNALLED = 128
"""A shell, and YARN, add the number of a signal to this."""

_SIGNALS: dict[int, str] = {
    signal.SIGKILL: "killed (SIGKILL), often for lack of memory",
    signal.SIGTERM: "asked to end (SIGTERM), as YARN asks a task that takes too much memory",
    signal.SIGSEGV: "crashed (SIGSEGV)",
}
"""What happened to a program that a signal ended; Hadoop's own exit codes are below these."""


def with_words(text: str) -> str:
    """Return a text with the meaning after each exit status.

    A status is the code of the program, or what ``wait`` returns, 256 times this code: mrjob says
    the latter for a program that it gave a terminal.

    >>> with_words("returned non-zero exit status 1792.")
    'returned non-zero exit status 1792 (7 x 256: Argument list too long).'
    >>> with_words("exit code 137"), with_words("exit status 3")
    ('exit code 137 (killed (SIGKILL), often for lack of memory)', 'exit status 3')
    """
    return _STATUS.sub(lambda match: match[0] + _words(int(match[1])), text)


def _words(status: int) -> str:
    code, times = (status >> 8, f"{status >> 8} x 256: ") if status > 255 else (status, "")
    ended_by = code - _SIGNALLED if code > _SIGNALLED else code
    meaning = _SIGNALS.get(ended_by)
    if times and code in _OF_START:
        meaning = os.strerror(code)
    return f" ({times}{meaning})" if meaning else ""
