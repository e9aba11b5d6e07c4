"""Histories of real pages: captures of one site over two years.

Another program (jsoup) found their links.
"""

import gzip
from collections import defaultdict
from datetime import datetime
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

import arclink
from arclink.uris.hosts import host_of
from arclink.uris.surts import surt_of
from tests.demos import Demos

YEARS = ("2015", "2016")


@pytest.fixture(scope="module")
def store(shared_data: Path, demos: Demos) -> Path:
    folder = shared_data / "flink_web"
    return demos.real(*(folder / f"flink.apache.org-{year}.warc.gz" for year in YEARS))


@pytest.fixture(scope="module")
def captures(shared_data: Path) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """Page → its captures that tell something, oldest first: time, and the URIs on other hosts that
    it led to.
    """
    links: dict[tuple[str, str], set[str]] = defaultdict(set)
    for year in YEARS:
        with gzip.open(
            shared_data / "flink_web" / f"flink.apache.org-{year}.jsoup-links.tsv.gz",
            "rt",
            encoding="utf-8",
        ) as lines:
            for line in lines:
                time, page, target, _ = line.rstrip("\n").split("\t")
                if host_of(surt_of(target)) not in ("", host_of(surt_of(page))):
                    links[page, time].add(surt_of(target))
    found: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    first_with: dict[str, tuple[str, str]] = {}
    rows = [
        line.split(" ")
        for line in (shared_data / "flink_web" / "flink-2015-2018.cdx")
        .read_text("utf-8")
        .splitlines()[1:]
    ]
    for _, time, page, mime, status, checksum, *_ in sorted(rows, key=itemgetter(1)):
        if time[:4] not in YEARS:
            continue
        if mime == "text/html" and status == "200":
            first_with.setdefault(checksum, (page, time))
        if checksum in first_with or status == "404":
            found[page].append((time, frozenset(links[first_with.get(checksum, (page, time))])))
    return {page: sorted(of_page) for page, of_page in found.items()}


def test_churn_is_that_of_the_links_another_program_found(
    store: Path, captures: dict[str, list[tuple[str, frozenset[str]]]]
) -> None:
    expected: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for of_page in captures.values():
        for (_, before), (time, after) in pairwise(of_page):
            row = expected[f"{time[:4]}-{time[4:6]}", "flink.apache.org"]
            for index, count in enumerate(
                (1, len(before), len(after - before), len(before - after))
            ):
                row[index] += count
    asked: Any = {"kind": "a@href", "external": True, "by": "month"}
    found = arclink.open(store).ask("churn", **asked).table.to_pylist()
    assert sum(row[2] for row in expected.values()) > 50
    assert sum(row[3] for row in expected.values()) > 500
    assert {
        (one["period"], one["name"]): [
            one[column] for column in ("comparisons", "links_before", "added", "removed")
        ]
        for one in found
    } == expected


def test_survival_is_that_of_the_links_another_program_found(
    store: Path, captures: dict[str, list[tuple[str, frozenset[str]]]]
) -> None:
    ages: list[tuple[int, bool]] = []
    for of_page in captures.values():
        for target in frozenset().union(*(targets for _, targets in of_page)):
            having = [seconds_of(time) for time, targets in of_page if target in targets]
            after = [seconds_of(time) for time, _ in of_page if seconds_of(time) > having[-1]]
            end = (having[-1] + after[0]) // 2 if after else having[-1]
            ages.append(((end - having[0]) // 86_400, bool(after)))
    asked: Any = {"kind": "a@href", "external": True, "limit": 0}
    rows = arclink.open(store).ask("survival", **asked).table.to_pylist()
    assert len(rows) > 12
    assert rows[-1]["gone"] > 50
    assert [(row["at_risk"], row["gone"]) for row in rows] == [
        (
            sum(age >= day for age, _ in ages),
            sum(age <= day for age, is_gone in ages if is_gone),
        )
        for day in (int(row["months"] * 30.436875) for row in rows)
    ]


def seconds_of(timestamp: str) -> int:
    return int(datetime.strptime(f"{timestamp}+0000", "%Y%m%d%H%M%S%z").timestamp())
