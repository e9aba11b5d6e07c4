"""Generated references."""

from hypothesis import strategies as st

SIGNS = [
    *"abzAZ09/\\.:?#%@&='\"<>[]{}|^`~!$()*+,;-_ \t\n\r\x00\x1f\x7fä\u2028\ud800",
    "//",
    "/.",
    "..",
    "%2e",
    "%2E",
    "%41",
]


SCHEMES = [
    "http:",
    "https:",
    "HTTP:",
    "http://",
    "https://",
    "ftp://",
    "ws://",
    "file:",
    "C:",
    "C|",
    "foo:",
    "foo://",
    "mailto:",
]


HOSTS = [
    "www.",
    "example",
    ".org",
    "h.org",
    "xn--",
    "xn--a",
    ":80",
    ":443",
    ":8080",
    "user@",
    "1.2.3.4",
    "0x7f",
    ".1",
    "[::1]",
]


references = st.lists(st.sampled_from([*SIGNS, *SCHEMES, *HOSTS]), max_size=8).map("".join)


from_above = st.tuples(st.integers(1, 5).map("../".__mul__), references).map("".join)
