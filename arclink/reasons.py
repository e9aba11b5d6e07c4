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


class Absence(Enum):
    """A way in which something of the archive files can be missing, the most serious first.

    Attributes:
        heading: What is missing.
        noun: What is counted, in the singular.
    """

    NOT_IN_GRAPH = ("Not in the graph", "capture")
    LINKS_UNKNOWN = ("Captured, but the links are unknown", "page")
    NOT_SEARCHED = ("Captured, and not searched for links", "capture")
    IN_PART = ("Only in part in the graph", "page")
    LINKS_LEFT_OUT = ("Links that are not in the graph", "link")

    def __init__(self, heading: str, noun: str) -> None:
        self.heading = heading
        self.noun = noun


class Reason(Enum):
    """The outcome of one row, record, memento, payload or link.

    Attributes:
        group: What it counts.
        text: The words shown to users, and the name of the counter.
        meaning: A sentence or two for users, in Markdown (``docs/reference/reasons.md``).
        absence: What is missing of the archive files; None if nothing is.
    """

    # files: one archive file, each time a stage opens it
    FILE_INDEXED = (
        "files",
        "indexed",
        "The whole file was read to write its CDX rows, because no CDX was given; several tasks "
        "read a large file.",
    )
    FILE_OPENED = (
        "files",
        "opened to extract links",
        "The extract stage opened the file. Several tasks open a file that is much larger than "
        "the others, or any file if there are fewer files than tasks.",
    )

    # rows: one line of a CDX file
    ROW_KEPT = ("rows", "kept", "The row is a capture and became a memento.")
    ROW_MALFORMED = (
        "rows",
        "malformed CDX row",
        "The line has another number of columns, or an invalid value; it is skipped and the "
        "rest of the file is read.",
        Absence.NOT_IN_GRAPH,
    )
    ROW_TOO_LONG = (
        "rows",
        "row or its URI is too long",
        "The line is longer than 1 MiB, or the URI in it longer than 65,536 characters; the "
        "line is skipped without being kept in memory.",
        Absence.NOT_IN_GRAPH,
    )
    ROW_HEADER = (
        "rows",
        "header line",
        "The line names the columns (`CDX N b a …`) or is empty, and is not a capture.",
    )
    ROW_NOT_A_CAPTURE = (
        "rows",
        "not a capture",
        "The row is about a request, metadata, warcinfo, DNS answer or other record that is "
        "not a capture of a resource.",
    )
    ROW_OUTSIDE_SELECTION = (
        "rows",
        "outside selection",
        "The capture is not under the SURT prefixes or not in the time range of the "
        "selection, so it is not stored.",
        Absence.NOT_IN_GRAPH,
    )
    ROW_FORGOTTEN = (
        "rows",
        "forgotten on request",
        "The capture is of a site and time that was forgotten in this store (`arclink "
        "forget`), so it is not stored.",
        Absence.NOT_IN_GRAPH,
    )
    ROW_IN_STORE = (
        "rows",
        "of a file already in the store",
        "The row points to an archive file that an earlier build read; it is skipped.",
    )
    ROW_FILE_NOT_GIVEN = (
        "rows",
        "of an archive file that was not given",
        "The row points to an archive file that is not among the inputs; it waits until that "
        "file is built.",
        Absence.NOT_IN_GRAPH,
    )
    ROW_REPEATED = (
        "rows",
        "a capture that is listed already",
        "Another entry of the list, or another page of the index, names the same capture.",
    )
    ROW_OTHER_ARCHIVE = (
        "rows",
        "a memento of another archive",
        "A TimeMap names a memento that is not below the address of the archive.",
        Absence.NOT_IN_GRAPH,
    )

    # records: one record of an archive file that ArcLink indexes
    RECORD_INDEXED = ("records", "indexed", "The record is a capture and got a row.")
    RECORD_NOT_A_CAPTURE = (
        "records",
        "not a capture",
        "The record is a request, metadata, warcinfo or the like.",
    )
    RECORD_CONTINUATION = (
        "records",
        "segment of a record",
        "The record continues another one. It is read together with the first segment if both are "
        "in one file; else the payload of the first one is cut short (NOTE_PAYLOAD_TRUNCATED).",
    )
    RECORD_DAMAGED = (
        "records",
        "record is damaged",
        "The record cannot be read (broken compression, a length that does not fit, the JSON "
        "of a WAT record with more than 2 million values); reading continues at the next "
        "readable record.",
        Absence.NOT_IN_GRAPH,
    )
    RECORD_NO_URI = (
        "records",
        "record has no target URI",
        "The record is a capture but has no URI.",
        Absence.NOT_IN_GRAPH,
    )
    RECORD_TOO_LONG = (
        "records",
        "target URI is too long",
        "The record is a capture of a URI of more than 65,536 characters.",
        Absence.NOT_IN_GRAPH,
    )
    RECORD_NO_DATE = (
        "records",
        "record has no usable date",
        "The record is a capture without a usable date, and no record of its file has one.",
        Absence.NOT_IN_GRAPH,
    )

    # entries: one entry of the list that is fetched from a Wayback Machine;
    # the next run tries the last two again
    ENTRY_LISTED = (
        "entries",
        "captures listed",
        "The index of the archive was read completely, and lists captures.",
    )
    ENTRY_EMPTY = (
        "entries",
        "no capture in the archive",
        "The index was read completely, and lists no capture.",
    )
    ENTRY_MALFORMED = (
        "entries",
        "not a URI",
        "The line of the list is neither a URI nor a prefix nor a domain.",
    )
    ENTRY_NO_INDEX = (
        "entries",
        "no index answers for it",
        "Neither the CDX server nor a TimeMap gave a readable answer, or the entry needs a "
        "CDX server and the archive has no CDX server.",
    )
    ENTRY_WAITING = (
        "entries",
        "not listed to its end yet",
        "The run ended before, or the archive had a temporary error.",
    )

    # fetches: one capture that the index of a Wayback Machine names
    FETCH_STORED = ("fetches", "fetched", "Its payload was received, and is in a WARC file.")
    FETCH_SAME_PAYLOAD = (
        "fetches",
        "fetched, same payload as another one",
        "The index has no digest of it; the received payload was fetched before.",
    )
    FETCH_DUPLICATE = (
        "fetches",
        "same payload as a fetched one, not requested",
        "The index has the same digest for another capture; this one becomes a revisit.",
    )
    FETCH_NOT_MODIFIED = (
        "fetches",
        "not modified since an earlier capture, not requested",
        "A revisit without digest: the server said that nothing had changed. A build gives it "
        "the links of the capture before it.",
    )
    FETCH_LEFT_OUT = (
        "fetches",
        "left out by the rules, not requested",
        "By status, mime type or extension it has no links; it is only a row of the index.",
    )
    FETCH_NOT_FOUND = (
        "fetches",
        "archive does not have it",
        "The index names it, but replay answers 404 or 410.",
    )
    FETCH_REFUSED = (
        "fetches",
        "archive refuses it",
        "Replay answers 401, 403 or 451: an access rule of the archive.",
    )
    FETCH_OTHER_MEMENTO = (
        "fetches",
        "another memento came",
        "Time, status, digest or original of the answer belong to another capture.",
    )
    FETCH_OTHER_HOST = (
        "fetches",
        "replay leads to another host",
        "The request was redirected to a host that was not named; ArcLink does not follow this.",
    )
    FETCH_TOO_MANY_HOPS = (
        "fetches",
        "replay redirects too often",
        "More than five redirects from one time to another.",
    )
    FETCH_NO_MEMENTO = (
        "fetches",
        "answer is not a memento",
        "The answer has another status than the capture and no sign that it is a memento, or "
        "it is not HTTP.",
    )
    # the next run tries these again
    FETCH_NOT_REACHED = (
        "fetches",
        "archive was not reached",
        "No connection, or it was closed without an answer.",
    )
    FETCH_TIMED_OUT = (
        "fetches",
        "answer took too long",
        "No byte was received for longer than the timeout, or the whole answer took ten times "
        "as long.",
    )
    FETCH_BUSY = ("fetches", "archive asked to wait", "Status 429 or 503, each time.")
    FETCH_SERVER_ERROR = (
        "fetches",
        "archive had an error",
        "Another server error, such as 500 or 502, every time.",
    )
    FETCH_BROKE_OFF = (
        "fetches",
        "answer broke off",
        "Fewer bytes were received than declared, and not the same ones every time.",
    )
    FETCH_WAITING = ("fetches", "not requested yet", "The run ended before it was requested.")

    # mementos: one capture that the graph keeps; the first rule that fails is the reason
    MEMENTO_WITH_PAYLOAD = (
        "mementos",
        "payload to be read",
        "Among all captures of its payload, this one is to be read.",
    )
    MEMENTO_DUPLICATE = (
        "mementos",
        "same payload as another capture",
        "A revisit or a full copy: it shares the links of the capture that is read.",
    )
    MEMENTO_METHOD = (
        "mementos",
        "answers another method than GET",
        "The answer to a POST, HEAD, OPTIONS or the like is not a capture of its URI: it is kept "
        "under a key of its own, such as `org,example)/form POST`, and not read "
        "([methods](reference/filter.md#methods)).",
        Absence.NOT_SEARCHED,
    )
    MEMENTO_STATUS = (
        "mementos",
        "status is not 200",
        "An error or a redirect: its payload is not read for links (a redirect's `Location` "
        "is, unless this is switched off).",
        Absence.NOT_SEARCHED,
    )
    MEMENTO_MIME = (
        "mementos",
        "mime type carries no links",
        "An image, a style sheet or another type that the rules leave out.",
        Absence.NOT_SEARCHED,
    )
    MEMENTO_ATTACHMENT = (
        "mementos",
        "attached to a page",
        "A file that the crawler made of a page and stored in a WACZ at a `file:` URI, such as the "
        "rendered page of Scoop: it has the links of the page.",
        Absence.NOT_SEARCHED,
    )
    MEMENTO_EXTENSION = (
        "mementos",
        "extension carries no links",
        "The path ends in an extension (`.jpg`, `.css` …) that the rules leave out, and the "
        "mime type does not name a page ([filter rules](reference/filter.md#rules)).",
        Absence.NOT_SEARCHED,
    )

    # rules: captures that each rule of filter alone would exclude; a capture counts once per rule
    # (paper, Table 2)
    RULE_METHOD = (
        "rules",
        "fails the method rule",
        "The method of the request is not among those whose answers are captures of the URI.",
    )
    RULE_STATUS = ("rules", "fails the status rule", "The status is not among those that are read.")
    RULE_MIME = ("rules", "fails the mime rule", "The mime type is not among those that are read.")
    RULE_EXTENSION = (
        "rules",
        "fails the extension rule",
        "The extension is among those that are not read.",
    )
    RULE_CHECKSUM = ("rules", "fails the checksum rule", "An earlier capture has the same payload.")

    # payloads: one payload that the extract stage should read
    PAYLOAD_READ = ("payloads", "read", "The page was read and its links were extracted.")
    PAYLOAD_RECORDED = (
        "payloads",
        "not at hand, its links recorded by the crawler",
        "With `--heritrix-outlinks`: only revisits of this payload were found, and the "
        "crawler recorded its links next to one. Counted once per URI.",
    )
    PAYLOAD_KNOWN = (
        "payloads",
        "already in the store",
        "An earlier batch read the same payload, and its links resolve in the same way here.",
    )
    PAYLOAD_NOT_MODIFIED = (
        "payloads",
        "not modified since an earlier capture",
        "The server said that nothing had changed, or a revisit without digest names a capture of "
        "its URI: the record has no page, and the memento has the links of that capture.",
    )
    PAYLOAD_NOT_AT_HAND = (
        "payloads",
        "payload not available",
        "Only revisits of this payload were found; neither a capture with its digest nor one that "
        "they name is in any file so far.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_LEFT_OUT = (
        "payloads",
        "payload is one that the rules leave out",
        "Only revisits of this payload pass the rules; the capture with it, such as an image, "
        "does not.",
        Absence.NOT_SEARCHED,
    )
    PAYLOAD_FILE_MISSING = (
        "payloads",
        "archive file is missing",
        "The CDX names a file that is not among the input, or a file that an earlier batch "
        "read was moved, or is no longer readable.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_PAST_END = (
        "payloads",
        "offset is past the end of the file",
        "The CDX points after the end: the file was truncated or replaced.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_DAMAGED = (
        "payloads",
        "record is damaged",
        "A record is there but cannot be read.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_OTHER_RECORD = (
        "payloads",
        "another record is at this offset",
        "The record at the offset is about another URI or time: the CDX belongs to another "
        "version of the file.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_NOT_A_CAPTURE = (
        "payloads",
        "record is not a capture",
        "The index lists requests or metadata, too: the record at the offset is one, so it is not "
        "a memento.",
        Absence.NOT_SEARCHED,
    )
    PAYLOAD_CODING = (
        "payloads",
        "content coding cannot be undone",
        "The payload is declared as gzip, br, zstd or similar, but is neither that nor "
        "readable without decoding; or more than five codings are declared.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_EMPTY = (
        "payloads",
        "payload is empty",
        "The record has no payload.",
        Absence.NOT_SEARCHED,
    )
    PAYLOAD_NOT_IN_WAT = (
        "payloads",
        "WAT has no entry for its links",
        "The capture was read from a WAT, whose writer did not recognise the payload as HTML, "
        "or failed.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_NO_DIGEST = (
        "payloads",
        "WAT has no digest of the payload",
        "The capture was read from a WAT without digest, and has no payload to compute it "
        "from: its links cannot belong to a content.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_CRASHED = (
        "payloads",
        "parser crashed",
        "The parser crashed on this page; it ran in a separate process, and the build continued.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_MEMORY = (
        "payloads",
        "too little memory for the page",
        "The task got no memory for this page (`ulimit -v`, the limit of a container); the "
        "build went on. With more memory, a build of the same file into a new store reads it.",
        Absence.LINKS_UNKNOWN,
    )

    PAYLOAD_TOO_LONG = (
        "payloads",
        "longer than the limit, its end left out",
        "The service sends at most 16 MiB of a capture, or twice the bytes that its archive file "
        "stores for it, whichever is more, because a few bytes may decode to gigabytes; the "
        "command line has no such limit. A text is that of the first 16 MiB of its page, over HTTP "
        "4 MiB, and has 4 million characters at most.",
        Absence.LINKS_UNKNOWN,
    )
    PAYLOAD_FAILED = (
        "payloads",
        "reading it failed",
        "An error of ArcLink itself, which `arclink get` shows for the same URI and time; please "
        "report it.",
        Absence.LINKS_UNKNOWN,
    )

    # links: one link found in a page that was read
    LINK_KEPT = ("links", "kept", "The link is in the graph.")
    LINK_SAME_PAGE = (
        "links",
        "same page",
        "The reference is empty or only a fragment (`#top`), so it leads to the page itself.",
    )
    LINK_JAVASCRIPT = (
        "links",
        "javascript: is not an address",
        "The reference is a script.",
        Absence.LINKS_LEFT_OUT,
    )
    LINK_DATA = (
        "links",
        "data: is not an address",
        "The reference contains the resource itself.",
        Absence.LINKS_LEFT_OUT,
    )
    LINK_ABOUT = (
        "links",
        "about: is not an address",
        "The reference names a page inside the browser.",
        Absence.LINKS_LEFT_OUT,
    )
    LINK_EMPTY = (
        "links",
        "empty source",
        "An image, script or frame without an address.",
        Absence.LINKS_LEFT_OUT,
    )
    LINK_INVALID = (
        "links",
        "not a valid URI",
        "The reference cannot be resolved by the rules that browsers follow.",
        Absence.LINKS_LEFT_OUT,
    )
    LINK_TOO_LONG = (
        "links",
        "URI is too long",
        "The URI is longer than 64 KiB.",
        Absence.LINKS_LEFT_OUT,
    )
    LINK_TOO_MANY = (
        "links",
        "page has too many links",
        "The page has more links than the limit (200,000), and this is one of the further "
        "links. Or the page's address and base are so long that its links, resolved, could "
        "exceed 128 MiB, or those of a feed (`xml:base`) 16 MiB.",
        Absence.LINKS_LEFT_OUT,
    )
    LINK_IN_PAGE = (
        "links",
        "recorded by the crawler, and in the page itself",
        "With `--heritrix-outlinks`: the page has the same link, so it is not added again.",
    )
    LINK_OTHER_KIND = (
        "links",
        "kind of link that is not extracted",
        "A WAT lists it, but pages that are read are not searched for this kind either "
        "(`style@/#text`, `object@codebase`, `img@longdesc`); or a prerequisite of a crawler, "
        "such as robots.txt.",
        Absence.LINKS_LEFT_OUT,
    )
    LINK_OTHER_CONTEXT = (
        "links",
        "of a header, from another page",
        "A link of a `Link` header has an `anchor` that is more than a fragment: it is a link "
        "from another page.",
        Absence.LINKS_LEFT_OUT,
    )
    LINK_FORGOTTEN = (
        "links",
        "to a page that was forgotten on request",
        "The link was kept, and later removed by `arclink forget --targets`.",
        Absence.LINKS_LEFT_OUT,
    )

    # notes: remarks about data that was kept
    NOTE_TIMESTAMP_PADDED = (
        "notes",
        "timestamp had less than 14 digits",
        "It was completed to the earliest possible time.",
    )
    NOTE_TIMESTAMP_CUT = (
        "notes",
        "timestamp had more than 14 digits",
        "Parts of a second were cut off.",
    )
    NOTE_TIMESTAMP_MOVED = (
        "notes",
        "timestamp was not a date, moved to the nearest date",
        "It named a day, hour, second or time zone that does not exist, such as 31 February "
        "or a leap second.",
    )
    NOTE_TIMESTAMP_TRANSLATED = (
        "notes",
        "timestamp was written in another way, translated",
        "The day was the day of the year (`2009-066`, or `2009-03-67` as in ClueWeb09), or "
        "the time was 24:00:00; the timestamp is exact.",
    )
    NOTE_DATE_OF_WARCINFO = (
        "notes",
        "record has no date, takes that of its warcinfo",
        "The capture has no usable date; it gets the date of the last `warcinfo` record "
        "before it in its file (ARC: the `filedesc:` line).",
    )
    NOTE_DATE_OF_NEIGHBOUR = (
        "notes",
        "record has no date, takes that of the nearest record",
        "Neither capture nor `warcinfo` has a usable date; the capture gets the date of the "
        "last dated record before it in its file, else of the first one after it.",
    )
    NOTE_RANGES_REREAD = (
        "notes",
        "large archive file, of which ranges were read again",
        "Several tasks indexed ranges of the file. A range did not begin where the one before it "
        "ended, because an archive file is stored in a record, or a record has no date or no "
        "address of its own. That range, or the whole file, was read again; nothing is missing "
        "and nothing is counted twice.",
    )
    NOTE_UNWRAPPED = (
        "notes",
        "page of a Wayback Machine, treated as the original",
        "With `--unwrap-wayback`: the URI and the time inside the capture's URI replace its "
        "own ([Wayback](reference/fetching.md#unwrapped-captures)).",
    )
    NOTE_WAYBACK_URI = (
        "notes",
        "URI looks like that of a Wayback Machine",
        "The capture's URI has 14 digits and another URI, and was used literally; if there "
        "are many, `--unwrap-wayback` builds the graph of the original pages.",
    )
    NOTE_SURT_REFUSED = (
        "notes",
        "surt refused the URI, which is its own key",
        "The SURT rules cannot handle the URI; only its exact form finds it.",
    )
    NOTE_SURT_OTHER = (
        "notes",
        "CDX key differs from the surt of its URI",
        "The CDX was written by other rules; ArcLink uses its own key throughout.",
    )
    NOTE_PAYLOAD_TRUNCATED = (
        "notes",
        "payload is truncated",
        "The crawler stopped before the end, or a compressed sitemap is truncated; the links "
        "before the end are kept.",
        Absence.IN_PART,
    )
    NOTE_PAYLOAD_CUT = (
        "notes",
        "payload is larger than the limit and was cut",
        "Links after the first 16 MiB of HTML were not extracted.",
        Absence.IN_PART,
    )
    NOTE_TEXT_CUT = (
        "notes",
        "text is longer than the limit and was cut",
        "The words of a link or the title of a page were longer than 1,000 characters, or links "
        "that share one text (candidates of a `srcset`, links of one feed entry) repeat more than "
        "16 million characters.",
        Absence.IN_PART,
    )
    NOTE_NESTING_CUT = (
        "notes",
        "page nests too deep and was cut",
        "The open elements, summed over all tags, exceed 500 million, as 30,000 nested "
        "elements do; links after that were not extracted.",
        Absence.IN_PART,
    )
    NOTE_TREE_CUT = (
        "notes",
        "page has too many elements and was cut",
        "The elements, attributes and texts of the page would take more than 192 MiB (about "
        "280,000 links); links after that were not extracted.",
        Absence.IN_PART,
    )
    NOTE_ATTRIBUTES_CUT = (
        "notes",
        "element has too many attributes, the rest left out",
        "An element has more than 1,000 attributes; only the rest of its tag was left out.",
        Absence.IN_PART,
    )
    NOTE_FORMATTING_LEFT_OUT = (
        "notes",
        "too many formatting elements left open, their tags left out",
        "Elements such as `<font>` are never closed, and a parser opens them again in every "
        "block; the page was read without them. Links and texts are kept.",
    )
    NOTE_CHARSET_WRONG = (
        "notes",
        "declared charset does not fit the bytes",
        "The page declares one charset and is written in another; the bytes decided.",
    )
    NOTE_CHARSET_DETECTED = (
        "notes",
        "no charset declared, detected",
        "The charset was guessed from the bytes.",
    )
    NOTE_FALL_BACK = (
        "notes",
        "payload read from another capture of it",
        "The capture chosen could not be read, but another one with the same checksum could.",
    )
    NOTE_WAT_KEPT = (
        "notes",
        "links kept from a WAT, though the page itself is here",
        "The store is in Cassandra, where the links loaded first stay "
        "([WAT](reference/wat.md#together-with-warc)).",
    )
    NOTE_FEED_BROKEN = (
        "notes",
        "feed is not well-formed XML",
        "A feed or sitemap is not well-formed XML, or nests beyond a limit; the links before the "
        "error were kept.",
        Absence.IN_PART,
    )
    NOTE_ENTITY_LEFT_OUT = (
        "notes",
        "reference to an entity left out",
        "A feed, sitemap or page served as XML refers to an entity that it declares itself, and "
        "the entity is external, which is never fetched, or would expand beyond a limit. Links "
        "whose addresses contain such a reference were left out.",
        Absence.IN_PART,
    )
    NOTE_BASE_INVALID = (
        "notes",
        "base element is not usable",
        "The page's `<base href>` is not an address, so links resolve against the page itself.",
    )
    NOTE_ANSWER_CUT = (
        "notes",
        "answer is larger than the limit and was cut",
        "A fetched payload is larger than `--payload-limit`; its record is marked as truncated.",
        Absence.IN_PART,
    )
    NOTE_ANSWER_SHORT = (
        "notes",
        "answer is shorter than declared, every time",
        "The archive declares a wrong length; the received bytes were kept, marked as truncated.",
        Absence.IN_PART,
    )
    NOTE_DIGEST_OTHER = (
        "notes",
        "fetched bytes do not have the digest of the index",
        "Often the digest was computed with chunked coding, which replay removes; the digest "
        "of the index was kept.",
    )
    NOTE_OTHER_TIME = (
        "notes",
        "replay led to another time of the same payload",
        "The digest shows that the payload is the requested one.",
    )
    NOTE_REWRITING_UNDONE = (
        "notes",
        "page was rewritten by replay, which was undone",
        "The archive does not serve original bytes "
        "([Wayback](reference/fetching.md#original-or-rewritten-pages)).",
    )

    # Faster than Enum's hash in Python, which runs per row and link; members are singletons.
    __hash__ = object.__hash__

    def __init__(self, group: str, text: str, meaning: str, absence: Absence | None = None) -> None:
        self.group = group
        self.text = text
        self.meaning = meaning
        self.absence = absence
