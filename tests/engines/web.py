"""A generated graph in graph files that takes long enough to load that tests can disturb it."""

from pathlib import Path

from arclink.model import ContentId, Kind, Outlink, Payload, Scope, UriR
from tests.store.graphs import checksum_of, memento, write_batch

HUB = UriR("http://hub.example/")
FAMOUS = checksum_of("famous")
"""Payload that is captured at every page, too."""


def write_web(folder: Path, pages: int, links: int, parts: int, name: str = "a") -> None:
    """Write the graph files of a batch.

    Args:
        folder: Of the batch.
        pages: How many pages; each has a payload of its own, links to `HUB`, and to pages near it.
        links: Of each page.
        parts: Of each relation.
        name: Pages of batches with different names are different.
    """
    uris = [UriR(f"http://{name}{number % 20}.example/page/{number}") for number in range(pages)]
    mementos, payloads, contents = [], [], {}
    for number, uri in enumerate(uris):
        checksum = checksum_of(f"{name} {number}")
        of_page = [
            Outlink(
                uris[(number + step * step) % pages],
                Kind("a@href"),
                f"link {step} of {number % 7}",
                None,
            )
            for step in range(links - 1)
        ]
        of_page.append(Outlink(HUB, Kind("a@href"), f"hub {number % 3}", None))
        mementos += [
            memento(uri, "20100101000000", checksum),
            memento(uri, "20110101000000", checksum, "revisit", offset=number),
        ]
        mementos.append(memento(uri, "20120101000000", FAMOUS))
        payloads.append(
            Payload(
                checksum,
                Scope.NONE,
                "utf-8",
                "a.warc.gz",
                number,
                "PAYLOAD_READ",
                (("LINK_KEPT", links),),
            )
        )
        contents[ContentId(checksum)] = (uri, of_page)
    payloads.append(
        Payload(FAMOUS, Scope.NONE, "utf-8", "a.warc.gz", 1, "PAYLOAD_READ", (("LINK_KEPT", 1),))
    )
    contents[ContentId(FAMOUS)] = (uris[0], [Outlink(HUB, Kind("a@href"), "famous", None)])
    write_batch(folder, mementos, payloads, contents, parts)
