"""Graphs in which all pages link to one page."""

from pathlib import Path

from arclink.model import ContentId, Kind, Memento, Outlink, Payload, Scope, UriR
from tests.store.graphs import checksum_of, memento, write_batch

HUB = UriR("http://hub.example/")


def write_pages(folder: Path, first: int, last: int, text: str = "Hub") -> Path:
    """Write a batch of pages that link to the hub and to one page more each."""
    mementos: list[Memento] = []
    payloads, contents = [], {}
    for number in range(first, last):
        original = UriR(f"http://pages.example/{number:06d}")
        checksum = checksum_of(f"p{number}")
        links = [
            Outlink(HUB, Kind("a@href"), text, None),
            Outlink(UriR(f"{original}/next"), Kind("a@href"), "next", "next"),
        ]
        mementos.append(memento(original, "20100101000000", checksum))
        payloads.append(
            Payload(
                checksum,
                Scope.NONE,
                "utf-8",
                "a.warc.gz",
                number,
                "PAYLOAD_READ",
                (("LINK_KEPT", 2),),
            )
        )
        contents[ContentId(checksum)] = (original, links)
    write_batch(folder, mementos, payloads, contents)
    return folder
