"""Generated lines of CDX files."""

from hypothesis import strategies as st

from arclink.model import Checksum, Timestamp, UriR
from arclink.rows.cdx import Capture, format_row

SHA1 = "B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp"), min_codepoint=0x21),
    max_size=12,
).filter(lambda text: text != "-")


uris = texts.map(lambda text: "http://example.org/" + text)


captures = st.builds(
    Capture,
    key=st.text("abc,)/?=", max_size=8),
    timestamp=st.sampled_from(["20140103030321", "19990228235959"]).map(Timestamp),
    original=uris.map(UriR),
    mime=texts.map(lambda text: text or "-"),
    status=st.sampled_from(["200", "404", "-"]),
    checksum=st.sampled_from([SHA1, "-", "sha256:" + "ab" * 32]).map(Checksum),
    length=st.integers(-1, 10**18 - 1),
    offset=st.integers(0, 10**18 - 1),
    file=texts.map(lambda text: "f" + text),
    record_type=st.sampled_from(["response", "revisit", "resource"]),
    refers_to_uri=texts,
    refers_to_timestamp=st.text("0123456789", max_size=14),
    location=texts,
    profile=texts,
    method=st.sampled_from(["", "", "POST", "OPTIONS"]),
)


ODD = [
    ["org,example)/", "-", "!", "k{", "", "-k", "+k"],
    [
        *[
            "20140103030321",
            "20140231030321",
            "20140103240321",
            "20140103036021",
            "20140103030360",
            "20140003030321",
            "+0140103030321",
        ],
        *[
            "2014",
            "201401030303211",
            "-",
            "2014010303032x",
            "",
            "00000103030321",
            "2014 103030321",
            "2014_103030321",
        ],
    ],
    [
        *[
            "http://example.org/",
            "https://h/x.JPG",
            "HTTP://h/",
            "hq://h/",
            "ftp://h/",
            "dns:h",
            "http:x",
            "http://h/ü",
            "http://h/\x01",
            "http://h/{!",
        ],
        *['{"a":1}', "-", "", "METADATA:x"],
    ],
    [
        "text/html",
        "warc/revisit",
        "WARC/Revisit",
        "warc/request",
        "warc-info",
        "-",
        "unk",
        "Text/HTML;",
        "a{b",
        "",
    ],
    ["200", "404", "-", "2000", "20", "+20", "", "0"],
    [
        SHA1,
        SHA1.lower(),
        "-",
        "sha1:" + SHA1,
        "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
        "1" * 32,
        "A1" * 16,
        SHA1[1:],
        "sha1:",
        "",
    ],
    ["-", "x", ""],
    ["-", "A", ""],
    ["7", "-", "0", "07", "x", "9" * 17, "9" * 18, "9" * 19, "+7", "-1", ""],
    ["5", "-", "0", "05", "9" * 17, "9" * 18, "9" * 19, "5\x00", "-1", ""],
    ["f.warc.gz", "-", "a/b.arc", "f ", " f", "f\x7f", "ü", ""],
]
"""Values of each column that are not plain, and some that are."""


odd_rows = st.tuples(*map(st.sampled_from, ODD))


plain_rows = st.tuples(
    st.sampled_from(["org,example)/", "k"]),
    st.sampled_from(["20140103030321", "20140103030322", "20160229235959"]),
    st.sampled_from(["http://example.org/", "https://h/x.JPG"]),
    st.sampled_from(["text/html", "warc/revisit"]),
    st.sampled_from(["200", "404", "-"]),
    st.sampled_from([SHA1, "C2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"]),
    st.just("-"),
    st.just("-"),
    st.sampled_from(["7", "123"]),
    st.sampled_from(["5", "99"]),
    st.sampled_from(["f.warc.gz", "a/b.arc"]),
)


# The columns of CDXJ: (name, usual values, odd ones). Values are the JSON text of the row.
JSON = [
    (
        "url",
        ['"http://example.org/"', '"https://h/x.JPG"'],
        [
            '"http://example.org/?__wb_method=POST&a=1"',
            '"http://h/\\u00fc"',
            '"http://h/ü"',
            '"http://h/a b"',
            '"dns:h"',
            '"-"',
            '""',
            "7",
            "null",
        ],
    ),
    (
        "mime",
        ['"text/html"', '"warc/revisit"'],
        ['"text/html; charset=x"', '" text/html"', '"-"', '""', '"Text/HTML"', "null", "[]"],
    ),
    ("status", ['"200"', '"404"', '"-"'], ['"0"', '"-1"', '"2000"', '""', "200", "true", "null"]),
    (
        "digest",
        [f'"{SHA1}"', f'"sha1:{SHA1}"'],
        [
            f'"{SHA1.lower()}"',
            f'"SHA1:{SHA1}"',
            f'"sha1:sha1:{SHA1}"',
            '"-"',
            '""',
            '"sha1:"',
            "null",
        ],
    ),
    ("length", ['"7"', '"123"'], ["7", '"-1"', '"-"', '"07"', '"0"', '""', "7.0", "true", "null"]),
    ("offset", ['"5"', '"99"'], ["5", "0", '"-1"', '"-"', '"05"', '"0"', '""', "null", "{}"]),
    (
        "filename",
        ['"f.warc.gz"', '"a/b.arc"'],
        ['"a b.warc"', '" f"', '"a\\tb"', '"-"', '""', "null"],
    ),
    (
        "type",
        ['"response"', '"revisit"', '"resource"'],
        ['"request"', '"Response"', '"-"', '""', "null", "1"],
    ),
    ("source", ['"s"', '"t"'], ["1", '{"a": ["b"]}', '"ü"', '"\\""']),
    ("timestamp", [], ['"20150101000000"', '"2015"', "20150101000000"]),
    ("urlkey", [], ['"org,other)/"', '""']),
    *(
        (name, [], ['"x"', '""', "7"])
        for name in ("original", "uri", "statuscode", "checksum", "compressedoffset", "file")
    ),
    ("method", [], ['"GET"', '"POST"', '"get"', '"-"', '""', "null", "7", "[]"]),
    *(
        (name, [], ['"x"', '"2014"', '"a b"', '"-"', '""'])
        for name in ("refers_to_uri", "refers_to_timestamp", "location", "profile")
    ),
]


KEYS = [
    "org,example)/",
    "org,example)/?__wb_method=post&a=1",
    "org,example)/?a=1&__wb_method=GET",
    "k",
    "-",
    "CDX",
    "!k",
    "{}",
    '{"a":1}',
    "",
    "ü",
]


FRAMES = [
    "{} {} {}",
    "{}  {} {}",
    "{} {}  {}",
    "{} {}\t{}",
    "{} {} [{}]",
    "{} {} {}x",
    "{} {} {} {{}}",
]
"""Layouts of key, timestamp and JSON in a line; the first is the usual one."""


@st.composite
def cdxj_rows(draw: st.DrawFn) -> str:
    """Rows of CDXJ in which up to two columns are odd, or missing."""
    odd = draw(st.sets(st.integers(0, len(JSON) - 1), max_size=2))
    values = {
        name: draw(st.sampled_from([None, *unusual] if index in odd else usual))
        for index, (name, usual, unusual) in enumerate(JSON)
        if usual or index in odd
    }
    json = ", ".join(f'"{name}": {value}' for name, value in values.items() if value is not None)
    timestamp = draw(
        st.sampled_from(["20140103030321", "20140103030322", "2014", "20140231030321", "x"])
    )
    frame = draw(st.one_of(st.just(FRAMES[0]), st.sampled_from(FRAMES)))
    return frame.format(draw(st.sampled_from(KEYS)), timestamp, f"{{{json}}}")


lines_of_any_kind = st.one_of(
    plain_rows.map(" ".join),
    cdxj_rows(),
    odd_rows.map(" ".join),
    odd_rows.map(lambda columns: "  ".join(columns[:10])),
    plain_rows.map(lambda columns: " ".join(("CDX", *columns[1:]))),
    # one odd column in a row that is plain otherwise: the shape that a fast path would take for
    # plain
    st.tuples(plain_rows, odd_rows, st.integers(0, 10)).map(
        lambda both: " ".join(
            both[0][: both[2]] + both[1][both[2] : both[2] + 1] + both[0][both[2] + 1 :]
        )
    ),
    captures.map(lambda capture: format_row(capture).decode()),
    st.sampled_from(
        [" CDX N b a m s k r M S V g", "CDX N b a m s k r M V g", "!x", "", " ", " CDX a b"]
    ),
)
