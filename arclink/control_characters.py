"""Control characters in text from archives, which no row of a text file may contain."""

import re

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""C0 and C1 controls, and the two line separators of Unicode."""


def encode_controls(text: str) -> str:
    r"""Return a text with each control character percent-encoded as UTF-8.

    >>> encode_controls("a\tb")
    'a%09b'
    """
    return CONTROL.sub(
        lambda control: "".join(f"%{byte:02X}" for byte in control[0].encode()), text
    )
