"""Records whose heads or blocks are odd in one way each, by name, for archive files in tests."""

import gzip
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.archives.made_archives import arc, gzipped, http

HTML = "Content-Type: text/html"
DATE = b"WARC-Date: 2020-01-02T03:04:05Z"
TYPE = b"WARC-Type: response"


def _page(number: int) -> bytes:
    return b"<title>%d</title><a href=/one-%d>x</a> <a href=http://b.example/two>y</a>" % (
        number,
        number,
    )


def _odd_heads(uri: bytes, length: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and heads of WARC records with a block of ``length`` bytes."""
    target, size = b"WARC-Target-URI: " + uri, b"Content-Length: %d" % length
    usual = [b"WARC/1.0", TYPE, target, DATE, size]

    def of(*lines: bytes, between: bytes = b"\r\n", end: bytes = b"\r\n\r\n") -> bytes:
        return between.join(lines) + end

    yield "usual", of(*usual)
    for name, end in {
        "LF LF": b"\n\n",
        "CR LF LF": b"\r\n\n",
        "LF CR LF": b"\n\r\n",
        "CR LF CR CR LF": b"\r\n\r\r\n",
        "CR CR LF CR CR LF": b"\r\r\n\r\r\n",
        "LF CR CR CR LF": b"\n\r\r\r\n",
    }.items():
        yield f"end {name}", of(*usual, end=end)
    yield "LF alone", of(*usual, between=b"\n", end=b"\n\n")
    yield "CR CR LF", of(*usual, between=b"\r\r\n", end=b"\r\r\n\r\n")
    yield "length first", of(usual[0], size, *usual[1:4])
    yield "names in lower case", of(usual[0], *[line.lower() for line in usual[1:]])
    yield "version in lower case", of(b"warc/1.0", *usual[1:])
    yield "old version", of(b"WARC/0.18", *usual[1:])
    yield "version of the future", of(b"WARC/9.9", *usual[1:])
    yield "blanks after version", of(b"WARC/1.1 \t", *usual[1:])
    yield "blank before colon", of(*usual[:4], b"Content-Length : %d" % length)
    yield "no blank after colon", of(*usual[:4], b"Content-Length:%d" % length)
    yield "folded length", of(*usual[:4], b"Content-Length:\r\n %d" % length)
    yield "folded URI", of(*usual[:2], b"WARC-Target-URI:\r\n\t" + uri, *usual[3:])
    yield "folded last line", of(*usual, b"X: a\r\n b\r\n\tc")
    yield "length twice", of(*usual, b"Content-Length: 3")
    yield "bad length first", of(*usual[:4], b"Content-Length: x", size)
    yield "length with a sign", of(*usual[:4], b"Content-Length: +%d" % length)
    yield "no length", of(*usual[:4])
    yield "too long", of(*usual[:4], b"Content-Length: %d" % (length + 7_000))
    yield "too short", of(*usual[:4], b"Content-Length: %d" % (length - 9))
    yield "no date", of(*usual[:3], size)
    yield "bad date", of(*usual[:3], b"WARC-Date: soon", size)
    yield "short date", of(*usual[:3], b"WARC-Date: 2020-01", size)
    yield "exact date", of(*usual[:3], b"WARC-Date: 2020-01-02T03:04:05.678Z", size)
    yield "line without colon", of(*usual, b"no field")
    yield "blank first field", of(usual[0], b" X: y", *usual[1:])
    yield "bytes that are no text", of(*usual, b"X: \xff\xe9\x00\x1b")
    yield "angle brackets", of(*usual[:2], b"WARC-Target-URI: <%b>" % uri, *usual[3:])
    yield "digest", of(*usual, b"WARC-Payload-Digest: md5:9f86d081884c7d659a2feaa0c55ad015")
    yield "bad digest", of(*usual, b"WARC-Payload-Digest: sha1:not one")
    yield "long head", of(*usual, *[b"X-%d: %b" % (n, b"y" * 70) for n in range(900)])


def _odd_blocks(number: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and blocks of responses."""
    body = _page(number)
    chunked = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    packed = gzip.compress(body, mtime=0)
    twice = gzip.compress(packed, mtime=0)
    yield "LF in HTTP", http(body, HTML).replace(b"\r\n", b"\n")
    yield "CR CR LF in HTTP", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\r\n" + body
    yield "no HTTP field", http(body)
    yield "no HTTP", body
    yield "no end of HTTP", b"HTTP/1.1 200 OK\r\nContent-Type: text/html"
    yield "interim response", b"HTTP/1.1 100 Continue\r\n\r\n" + http(body, HTML)
    yield "blank lines around", http(b"\r\n\r\n" + body + b"\r\n\r\n\r\n", HTML)
    yield "another head inside", http(body + b"\r\n\r\nWARC/1.0\r\nX: y\r\n", HTML)
    yield "chunks", http(chunked, HTML, "Transfer-Encoding: chunked")
    yield "gzip", http(packed, HTML, "Content-Encoding: gzip")
    yield "gzip as transfer coding", http(packed, HTML, "Transfer-Encoding: gzip")
    yield "gzip twice", http(twice, HTML, "Content-Encoding: gzip, gzip")
    yield "many codings", http(packed, HTML, f"Content-Encoding: {', '.join(['gzip'] * 2_000)}")
    yield "gzip that is not one", http(b"\x00\x01\xff" * 9, HTML, "Content-Encoding: gzip")
    yield "empty body", http(b"", HTML)
    yield "redirect", http(b"", "Location: /there", status="302 Found")
    yield "two megabytes", http(body + b" " * (2 << 20), HTML)
    yield "odd values", http(body, HTML, "X: \ud800\x00\u2028".encode("utf-8", "replace").decode())


def odd_records(host: str) -> Mapping[str, bytes]:
    """Return WARC records by name; each has a URI of its own at a host."""
    found: dict[str, bytes] = {}
    block = http(_page(0), HTML)
    for number, (name, _) in enumerate(_odd_heads(b"", 0)):
        block = http(_page(number), HTML)
        uri = f"http://{host}/head/{number}".encode()
        found[name] = dict(_odd_heads(uri, len(block)))[name] + block + b"\r\n\r\n"
    for number, (name, block) in enumerate(_odd_blocks(100)):
        uri = f"http://{host}/block/{number}".encode()
        head = dict(_odd_heads(uri, len(block)))["usual"]
        found[name] = head + block + b"\r\n\r\n"
    return found


def odd_arc_records(host: str) -> Mapping[str, bytes]:
    """Return ARC records by name; each has a URI of its own at a host."""
    found = {
        name: arc(f"http://{host}/block/{number}", block)
        for number, (name, block) in enumerate(_odd_blocks(200))
    }
    block = http(_page(1), HTML)
    size = str(len(block)).encode()
    lines = {
        "no address": b"http://%b/line/0 - 20200102030405 text/html %b\n",
        "address of zeros": b"http://%b/line/1 0.0.0.0 20200102030405 text/html %b\n",
        "blank in the URI": b"http://%b/line/a 2 192.0.2.1 20200102030405 text/html %b\n",
        "blanks in the type": b"http://%b/line/3 192.0.2.1 20200102030405 text/html; a=b %b\n",
        "short date": b"http://%b/line/4 192.0.2.1 2020010203 text/html %b\n",
        "long date": b"http://%b/line/5 192.0.2.1 20200102030405678 text/html %b\n",
        "bad date": b"http://%b/line/6 192.0.2.1 now text/html %b\n",
        "ten columns": b"http://%b/line/7 192.0.2.1 20200102030405 text/html 200 - - 9 x.arc %b\n",
        "CR LF": b"http://%b/line/8 192.0.2.1 20200102030405 text/html %b\r\n",
        "no length": b"http://%b/line/9 192.0.2.1 20200102030405 text/html -\n",
    }
    for name, line in lines.items():
        found[name] = line % ((host.encode(), size)[: line.count(b"%b")]) + block + b"\n"
    found["resource"] = arc(f"ftp://{host}/file", _page(2))
    return found


def write_odd_files(folder: Path) -> list[Path]:
    """Write archive files of every kind with odd records; return them.

    Each record is in a plain file and in a gzip member of its own; those that leave other records
    alone share a member, too.
    """
    folder.mkdir()
    files: dict[str, bytes] = {}
    for number, record in enumerate(odd_records("plain.example").values()):
        files[f"plain-{number}.warc"] = record + next(iter(odd_records("next.example").values()))
    for number, record in enumerate(odd_records("gzip.example").values()):
        files[f"gzip-{number}.warc.gz"] = gzip.compress(record, mtime=0)
    alone = ("too long", "too short", "no length", "length with a sign", "bad length first")
    shared = [one for name, one in odd_records("shared.example").items() if name not in alone]
    files["shared.warc.gz"] = gzip.compress(b"".join(shared), mtime=0)
    for number, record in enumerate(odd_arc_records("arc.example").values()):
        files[f"plain-{number}.arc"] = record
    files["gzip.arc.gz"] = gzipped(list(odd_arc_records("arc-gzip.example").values()))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


ODD_VALUES = (
    *(b"", b"-", b" ", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\xef\xbf\xbf"),
    *(b"\xf0\x9f\x98\x80", b"\x1b[2J", b"a" * 5_000, b"x" * 70_000, b"%s%n", b"=?utf-8?B?//8=?="),
    *(b"gzip, br", b",,,", b"chunked", b"identity", b"bytes 0-1/2", b"0", b"-1", b"9" * 30),
    *(b"text/html;charset=\xff", b"text/html; charset=idna", b"text/html; charset=rot13"),
    *(b"text/plain;charset=utf-16", b"image/png", b"application/xhtml+xml", b"text/html, x/y"),
    *(b"http://[::1", b"http://\xff/", b"//", b"http://a\xcc\x88.example/", b"http://xn--a/"),
    *(b"http://" + b"a." * 300 + b"com/", b"http://h/" + b"%" * 50, b"http://h:99999/"),
    *(b"sha1:", b"redirect:x", b"not-modified:", b"a:b:c", b"javascript:x", b"<>", b"<http://x/>"),
    *(b"2020-99-99", b"20200101", b"0000-00-00T00:00:00Z", b"9999-12-31T23:59:59Z", b"en,\xff"),
)
_HTTP_FIELDS = (
    *(b"Content-Type", b"Content-Encoding", b"Transfer-Encoding", b"Location", b"Refresh"),
    *(b"Link", b"Content-Language", b"Content-Location", b"Content-Range", b"Content-Length"),
)
_WARC_FIELDS = (
    *(b"WARC-Date", b"WARC-Payload-Digest", b"WARC-Block-Digest", b"WARC-Type", b"WARC-Profile"),
    *(b"WARC-Refers-To-Target-URI", b"WARC-Refers-To-Date", b"WARC-Truncated", b"Content-Type"),
    *(b"WARC-Identified-Content-Language", b"WARC-Identified-Payload-Type", b"WARC-Record-ID"),
)


def write_odd_values(folder: Path, seed: int) -> list[Path]:
    """Write archive files of records with odd values in their fields; return them."""
    folder.mkdir()
    choice = random.Random(seed)
    records = [_with_odd_values(choice, number) for number in range(300)]
    lines = [_arc_with_odd_values(choice, number) for number in range(60)]
    files = {
        "plain.warc": b"".join(records[:150]),
        "gzip.warc.gz": gzipped(records[150:]),
        "plain.arc": b"".join(lines),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


def _with_odd_values(choice: random.Random, number: int) -> bytes:
    status = choice.choice([b"200", b"200", b"301", b"304", b"404", b"999"])
    http_fields = [b"HTTP/1.1 %b OK" % status, b"Content-Type: text/html"]
    fields = {
        b"WARC-Type": choice.choice([b"response", b"response", b"revisit", b"resource"]),
        b"WARC-Target-URI": b"http://odd.example/%d/" % number,
        b"WARC-Date": b"2020-01-02T03:04:%02dZ" % (number % 60),
    }
    for _ in range(choice.randrange(3)):
        http_fields.append(choice.choice(_HTTP_FIELDS) + b": " + choice.choice(ODD_VALUES))
        fields[choice.choice(_WARC_FIELDS)] = choice.choice(ODD_VALUES)
    if number % 7 == 0:
        fields[b"WARC-Target-URI"] += choice.choice(ODD_VALUES)
    block = b"\r\n".join([*http_fields, b"", choice.choice([_page(number), b"", bytes(9)])])
    fields[b"Content-Length"] = b"%d" % len(block)
    head = b"".join(b"%b: %b\r\n" % field for field in fields.items())
    return b"WARC/1.0\r\n" + head + b"\r\n" + block + b"\r\n\r\n"


def _arc_with_odd_values(choice: random.Random, number: int) -> bytes:
    block = b"HTTP/1.0 200 OK\r\nContent-Type: %b\r\n\r\n" % choice.choice(ODD_VALUES)
    block += _page(number)
    uri = b"http://arc.example/%d/%b" % (number, choice.choice(ODD_VALUES)[:4_000])
    mime = choice.choice(ODD_VALUES)[:900]
    return b"%b 192.0.2.1 20200102030405 %b %d\n%b\n" % (uri, mime, len(block), block)
