"""The outcomes of everything that ArcLink reads, by name: nothing disappears without a reason.

Each reason belongs to a *group*. Each item that a group counts ends in exactly one reason of
that group:

========= ==========================================================
rows      one line of a CDX or CDXJ file
records   one record of an archive file, when ArcLink indexes it
mementos  one capture that the graph keeps
rules     one capture and a rule that it fails, independent of the other rules
payloads  one payload that the extract stage should read
links     one link found in a page that was read
files     one archive file, each time a stage opens it
entries   one entry of the list that is fetched from a Wayback Machine
fetches   one capture that the index of a Wayback Machine names
notes     remarks that end nothing (a timestamp padded, a text cut)
========= ==========================================================

The same names are the counters of the jobs, the totals of the manifest, and the words of ``arclink
explain``.
"""

from enum import Enum


class Reason(Enum):
    """The outcome of one row, record, memento, payload or link. Value: ``(group, text)``."""

    # files: one archive file, each time a stage opens it
    FILE_INDEXED = ("files", "indexed")
    FILE_OPENED = ("files", "opened to extract links")

    # rows: one line of a CDX file
    ROW_KEPT = ("rows", "kept")
    ROW_MALFORMED = ("rows", "malformed CDX row")
    ROW_TOO_LONG = ("rows", "row or its URI is too long")
    ROW_HEADER = ("rows", "header line")
    ROW_NOT_A_CAPTURE = ("rows", "not a capture")
    ROW_OUTSIDE_SELECTION = ("rows", "outside selection")
    ROW_FORGOTTEN = ("rows", "forgotten on request")
    ROW_IN_STORE = ("rows", "of a file already in the store")
    ROW_FILE_NOT_GIVEN = ("rows", "of an archive file that was not given")
    ROW_REPEATED = ("rows", "a capture that is listed already")
    ROW_OTHER_ARCHIVE = ("rows", "a memento of another archive")

    # records: one record of an archive file that ArcLink indexes
    RECORD_INDEXED = ("records", "indexed")
    RECORD_NOT_A_CAPTURE = ("records", "not a capture")
    RECORD_DAMAGED = ("records", "record is damaged")
    RECORD_NO_URI = ("records", "record has no target URI")
    RECORD_TOO_LONG = ("records", "target URI is too long")
    RECORD_NO_DATE = ("records", "record has no usable date")

    # entries: one entry of the list that is fetched from a Wayback Machine;
    # the next run tries the last two again
    ENTRY_LISTED = ("entries", "captures listed")
    ENTRY_EMPTY = ("entries", "no capture in the archive")
    ENTRY_MALFORMED = ("entries", "not a URI")
    ENTRY_NO_INDEX = ("entries", "no index answers for it")
    ENTRY_WAITING = ("entries", "not listed to its end yet")

    # fetches: one capture that the index of a Wayback Machine names
    FETCH_STORED = ("fetches", "fetched")
    FETCH_SAME_PAYLOAD = ("fetches", "fetched, same payload as another one")
    FETCH_DUPLICATE = ("fetches", "same payload as a fetched one, not requested")
    FETCH_NOT_MODIFIED = ("fetches", "not modified since an earlier capture, not requested")
    FETCH_LEFT_OUT = ("fetches", "left out by the rules, not requested")
    FETCH_NOT_FOUND = ("fetches", "archive does not have it")
    FETCH_REFUSED = ("fetches", "archive refuses it")
    FETCH_OTHER_MEMENTO = ("fetches", "another memento came")
    FETCH_OTHER_HOST = ("fetches", "replay leads to another host")
    FETCH_TOO_MANY_HOPS = ("fetches", "replay redirects too often")
    FETCH_NO_MEMENTO = ("fetches", "answer is not a memento")
    # the next run tries these again
    FETCH_NOT_REACHED = ("fetches", "archive was not reached")
    FETCH_TIMED_OUT = ("fetches", "answer took too long")
    FETCH_BUSY = ("fetches", "archive asked to wait")
    FETCH_SERVER_ERROR = ("fetches", "archive had an error")
    FETCH_BROKE_OFF = ("fetches", "answer broke off")
    FETCH_WAITING = ("fetches", "not requested yet")

    # mementos: one capture that the graph keeps; the first rule that fails is the reason
    MEMENTO_WITH_PAYLOAD = ("mementos", "payload to be read")
    MEMENTO_DUPLICATE = ("mementos", "same payload as another capture")
    MEMENTO_STATUS = ("mementos", "status is not 200")
    MEMENTO_MIME = ("mementos", "mime type carries no links")
    MEMENTO_EXTENSION = ("mementos", "extension carries no links")

    # rules: captures that each rule of filter alone would exclude; a capture counts once per rule
    # (paper, Table 2)
    RULE_STATUS = ("rules", "fails the status rule")
    RULE_MIME = ("rules", "fails the mime rule")
    RULE_EXTENSION = ("rules", "fails the extension rule")
    RULE_CHECKSUM = ("rules", "fails the checksum rule")

    # payloads: one payload that the extract stage should read
    PAYLOAD_READ = ("payloads", "read")
    PAYLOAD_RECORDED = ("payloads", "not at hand, its links recorded by the crawler")
    PAYLOAD_KNOWN = ("payloads", "already in the store")
    PAYLOAD_NOT_MODIFIED = ("payloads", "not modified since an earlier capture")
    PAYLOAD_NOT_AT_HAND = ("payloads", "payload not available")
    PAYLOAD_LEFT_OUT = ("payloads", "payload is one that the rules leave out")
    PAYLOAD_FILE_MISSING = ("payloads", "archive file is missing")
    PAYLOAD_PAST_END = ("payloads", "offset is past the end of the file")
    PAYLOAD_DAMAGED = ("payloads", "record is damaged")
    PAYLOAD_OTHER_RECORD = ("payloads", "another record is at this offset")
    PAYLOAD_CODING = ("payloads", "content coding cannot be undone")
    PAYLOAD_EMPTY = ("payloads", "payload is empty")
    PAYLOAD_NOT_IN_WAT = ("payloads", "WAT has no entry for its links")
    PAYLOAD_NO_DIGEST = ("payloads", "WAT has no digest of the payload")
    PAYLOAD_CRASHED = ("payloads", "parser crashed")
    PAYLOAD_MEMORY = ("payloads", "too little memory for the page")

    # links: one link found in a page that was read
    LINK_KEPT = ("links", "kept")
    LINK_SAME_PAGE = ("links", "same page")
    LINK_JAVASCRIPT = ("links", "javascript: is not an address")
    LINK_DATA = ("links", "data: is not an address")
    LINK_ABOUT = ("links", "about: is not an address")
    LINK_EMPTY = ("links", "empty source")
    LINK_INVALID = ("links", "not a valid URI")
    LINK_TOO_LONG = ("links", "URI is too long")
    LINK_TOO_MANY = ("links", "page has too many links")
    LINK_IN_PAGE = ("links", "recorded by the crawler, and in the page itself")
    LINK_OTHER_KIND = ("links", "kind of link that is not extracted")
    LINK_OTHER_CONTEXT = ("links", "of a header, from another page")
    LINK_FORGOTTEN = ("links", "to a page that was forgotten on request")

    # notes: remarks about data that was kept
    NOTE_TIMESTAMP_PADDED = ("notes", "timestamp had less than 14 digits")
    NOTE_TIMESTAMP_CUT = ("notes", "timestamp had more than 14 digits")
    NOTE_TIMESTAMP_MOVED = ("notes", "timestamp was not a date, moved to the nearest date")
    NOTE_TIMESTAMP_TRANSLATED = ("notes", "timestamp was written in another way, translated")
    NOTE_DATE_OF_WARCINFO = ("notes", "record has no date, takes that of its warcinfo")
    NOTE_DATE_OF_NEIGHBOUR = ("notes", "record has no date, takes that of the nearest record")
    NOTE_UNWRAPPED = ("notes", "page of a Wayback Machine, treated as the original")
    NOTE_WAYBACK_URI = ("notes", "URI looks like that of a Wayback Machine")
    NOTE_SURT_REFUSED = ("notes", "surt refused the URI, which is its own key")
    NOTE_SURT_OTHER = ("notes", "CDX key differs from the surt of its URI")
    NOTE_PAYLOAD_TRUNCATED = ("notes", "payload is truncated")
    NOTE_PAYLOAD_CUT = ("notes", "payload is larger than the limit and was cut")
    NOTE_TEXT_CUT = ("notes", "text is longer than the limit and was cut")
    NOTE_NESTING_CUT = ("notes", "page nests too deep and was cut")
    NOTE_TREE_CUT = ("notes", "page has too many elements and was cut")
    NOTE_ATTRIBUTES_CUT = ("notes", "element has too many attributes, the rest left out")
    NOTE_FORMATTING_LEFT_OUT = (
        "notes",
        "too many formatting elements left open, their tags left out",
    )
    NOTE_CHARSET_WRONG = ("notes", "declared charset does not fit the bytes")
    NOTE_CHARSET_DETECTED = ("notes", "no charset declared, detected")
    NOTE_FALL_BACK = ("notes", "payload read from another capture of it")
    NOTE_WAT_KEPT = ("notes", "links kept from a WAT, though the page itself is here")
    NOTE_FEED_BROKEN = ("notes", "feed is not well-formed XML")
    NOTE_BASE_INVALID = ("notes", "base element is not usable")
    NOTE_ANSWER_CUT = ("notes", "answer is larger than the limit and was cut")
    NOTE_ANSWER_SHORT = ("notes", "answer is shorter than declared, every time")
    NOTE_DIGEST_OTHER = ("notes", "fetched bytes do not have the digest of the index")
    NOTE_OTHER_TIME = ("notes", "replay led to another time of the same payload")
    NOTE_REWRITING_UNDONE = ("notes", "page was rewritten by replay, which was undone")

    __hash__ = (
        object.__hash__
    )  # faster than Enum's hash in Python, which runs per row and link; members are singletons

    @property
    def group(self) -> str:
        """The group of the reason: what it counts."""
        return self.value[0]

    @property
    def text(self) -> str:
        """The words shown to users, and the name of the counter."""
        return self.value[1]
