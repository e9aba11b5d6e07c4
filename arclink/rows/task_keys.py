"""Keys of the shuffle that number a task, so that no reduce task gets two of them.

An engine sends a key to the reduce task that a hash of the key names. Numbers written as text would
meet in some tasks and leave others idle. Here, consecutive numbers go to consecutive tasks.
Hadoop's hash of bytes multiplies by 31 for each byte, so the hash of a number's digits to base 31
is the number, plus a constant. On Spark, `arclink.engines.spark` reads the number.

Source: ``org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner``.
"""

_FIRST = b"\x02"
"""First byte of these keys; no other key has a control character there."""

_BASE = 31
_DIGITS = 4  # enough for 923,521 tasks
_ZERO = 65


def task_key(number: int) -> bytes:
    r"""Return the key of a task. Keys sort by number.

    >>> task_key(0), task_key(32)
    (b'\x02AAAA', b'\x02AABB')
    """
    digits = [number // _BASE**exponent % _BASE for exponent in reversed(range(_DIGITS))]
    return _FIRST + bytes(_ZERO + digit for digit in digits)


def task_of(key: bytes) -> int | None:
    """Return the number of a task from its key; None for any other key.

    >>> task_of(task_key(923_520)), task_of(b"org,example)/")
    (923520, None)
    """
    if key[:1] != _FIRST:
        return None
    number = 0
    for digit in key[1:]:
        number = number * _BASE + digit - _ZERO
    return number
