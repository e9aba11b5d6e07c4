"""A small archive with the odd cases that questions meet."""

from tests.store.memory_store import Page, link

ORG, WWW, SECURE = "http://example.org/", "http://www.example.org/", "https://example.org/"
NEWS, PORT = "http://example.org/news/", "http://example.org:8080/news/a"
SUB, UK, OTHER = "http://sub.example.org/", "http://example.org.uk/", "http://examples.org/"
V4, V4_PORT, V6, V6_LONG = (
    "http://192.0.2.1/",
    "http://192.0.2.1:81/x",
    "http://[::1]/",
    "http://[::1:2]/",
)
ODD = "http://Example.org:80/Odd page%41?q=é"
GONE, NEVER, WRONG, MISSING = (
    "http://example.org/gone",
    "http://never.example/page",
    "http://sub.example.org/wrong",
    f"{NEWS}missing",
)
DIARY = "http://diary.example/"
MAIL, URN, UNICODE = "mailto:x@example.org", "urn:x:y", "http://münchen.example/straße"

HUB = (
    link(ORG, "Example"),
    link(WWW, "Example"),
    link(SECURE, ""),
    link(NEWS, "News"),
    link(PORT, "News", rel="nofollow"),
    link(SUB, "Sub"),
    link(UK, "UK"),
    link(OTHER, "Others"),
    link(NEVER, "\u202e اتصل 🛷"),
    link(WRONG, "News"),
    link(MAIL, "Mail"),
    link("MAILTO:y@example.org", "Mail"),
    link(URN, ""),
    link(V4, "Four"),
    link(V4_PORT, "Four"),
    link(V6, "Six"),
    link(V6_LONG, "Six"),
    link(UNICODE, "a\u00a0b"),
    link(f"{NEWS}logo.png", "Logo", kind="img@src"),
    link("http://pictures.example/1", "", kind="img@src"),
)
FEW = (link(ORG, "Example", rel="nofollow"), link(GONE, "Gone"), link(UK, "UK"), link(MISSING, ""))
OWN = (link(ORG, "Home"), link(NEWS, "News"), link(MAIL, "Mail"), link(ORG, "Home"))
REVISIT = {"record_type": "revisit", "status": "-", "mime": "warc/revisit"}

PAGES = [
    # A hub, with a revisit, another content in the same second, and a later one with fewer links.
    Page("http://hub.example/", "20090301000000", HUB, title="Hub"),
    Page("http://hub.example/", "20090315000000", HUB, **REVISIT),  # type: ignore[arg-type]
    Page("http://www.hub.example/", "20100101000000", HUB, title="Hub"),
    Page("http://hub.example/", "20100601000000", FEW, title="A hub"),
    Page("http://hub.example/", "20100601000000", (link(SUB, "Sub"), link(ORG, "Now"))),
    Page("http://hub.example/", "20101231235959", None, status="404", reason="MEMENTO_STATUS"),
    Page("http://hub.example/", "20110101000000", (link(ORG, "Example"),), title=""),
    # The same links at other hosts: one content, or one of each page.
    Page("http://a.hub.example/x", "20090301000000", HUB),
    Page("http://b.example.co.uk/", "20090302000000", FEW, is_shared=False),
    Page("http://b.example.co.uk/", "20100302000000", HUB, is_shared=False),
    Page("http://c.example.co.uk/", "20100302000000", ()),
    Page("http://c.example.co.uk/", "20110302000000", HUB[:4], is_shared=False),
    Page(V4_PORT, "20100401000000", FEW),
    Page(V6, "20100401000001", (link(ORG, "Six"), link(V6_LONG, "Six"))),
    # Other words in each of the last months and years, also of a span.
    Page(DIARY, "20101201000000", (link(NEWS, "Old"), link(ORG, "Old")), title="Diary"),
    Page(DIARY, "20110101000000", (link(NEWS, "New"), link(ORG, "Old")), title="My diary"),
    Page(DIARY, "20110404000001", (link(NEWS, "Newer"), link(ORG, "Newer")), title="My diary"),
    Page(DIARY, "20110505000001", (link(NEWS, "Newest"), link(ORG, "Newest")), title=""),
    Page("http://[::1]:82/", "20110401000001", (link(ORG, "Six"), link(V6, "Six"))),
    Page(UNICODE, "20100501000000", (link(ODD, "Odd"), link(UNICODE, ""), link(UNICODE, "me"))),
    # The site that is asked about.
    Page(ORG, "20090101000000", OWN, title="Example"),
    Page(SECURE, "20090101000000", OWN, title="Example"),
    Page(WWW, "20100101000000", (*OWN, link(UK, "UK"), link(NEVER, "No")), title="Example 2"),
    Page(NEWS, "20090201000000", (link(GONE, "Gone"), link(SUB, ""), link(URN, "")), title=""),
    Page(NEWS, "20100201000000", None, status="-", reason="MEMENTO_STATUS"),
    Page(NEWS, "20110201000000", (link(SUB, ""),), title="News"),
    Page(PORT, "20100202000000", (link(f"{PORT}#x", "Self"), link(ORG, "Home"))),
    Page(ODD, "20100203000000", (link(OTHER, "Others"),), mime="application/xhtml+xml"),
    Page(GONE, "20090303000000", ()),
    Page(GONE, "20100303000000", None, status="404", reason="MEMENTO_STATUS"),
    Page(GONE, "20110303000000", None, status="410", reason="MEMENTO_STATUS"),
    Page(f"{GONE}/back", "20090303000000", None, status="500", reason="MEMENTO_STATUS"),
    Page(f"{GONE}/back", "20100303000000", (link(ORG, "Home"),)),
    Page(f"{GONE}/moved", "20090303000000", (link(NEWS, "", kind="http@location"),), status="301"),
    Page(f"{GONE}/moved", "20090304000000", None, status="304", reason="MEMENTO_STATUS"),
    Page(SUB, "20090404000000", (link(ORG, "Parent"), link(WRONG, "Wrong"))),
    Page(SUB, "20110404000000", (link(ORG, "Parent"), link(NEWS, "News"), link(UK, ""))),
    Page(WRONG, "20100404000000", None, status="404", reason="MEMENTO_STATUS"),
    Page(WRONG, "20100404000000", None, status="503", reason="PAYLOAD_DAMAGED"),
    Page(UK, "20090505000000", (link(ORG, "Example"), link(UK, "Self"))),
    Page(UK, "20100505000000", None, reason="PAYLOAD_DAMAGED"),
    Page(OTHER, "20110505000000", (link(ORG, "Example"), link(f"{OTHER}x", ""), link(SUB, ""))),
    Page(f"{OTHER}image", "20110505000000", None, mime="image/png", reason="MEMENTO_MIME"),
]
"""Captures, oldest first within each group."""

ONE = {
    "page": ORG,
    "prefix": NEWS,
    "host": ORG,
    "domain": ORG,
    "archive": "",
}
"""What each scope is asked about."""
