"""In how many documents of the collection a term stands: what tf-idf measures a term of one document by.

A document is all texts that lead to one target at any time: to a URI, a host or a domain. A term is a whole text as it stands,
or a word of it (`arclink.analysis.words`). All inlinks are read for that, once: what was found is kept in a file beside
the store until the store changes.

::

    first line      what it is of: version, store, level, terms
    8 bytes each    terms, sorted: the first half of their BLAKE2b hash, little-endian
    8 bytes each    documents that have the term

Hashes make all terms equally large, and the file tells nobody what pages said. That two of ten million terms share one has a
chance of three in a million.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import log10
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arclink.analysis.opening import state_of
from arclink.analysis.slices import Level
from arclink.analysis.targets import beginning_of
from arclink.analysis.words import words_of
from arclink.model import Surt
from arclink.store import GraphStore

FORMAT = "arclink document frequencies 1"
BUFFERED = 1 << 21
"""Terms of documents that wait to be counted."""

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]


class Term(Enum):
    """What is counted: whole texts, or their words."""

    TEXT = "text"
    WORD = "word"

    def of(self, text: str) -> Iterable[str]:
        """Return the terms of ``text``, as often as they stand in it; a text without anything to read has none."""
        if self is Term.WORD:
            return words_of(text)
        return (text,) if text else ()


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Documents by term.

    Attributes:
        documents: How many there are: targets that any text leads to.
        hashes: Of the terms, sorted, distinct.
        counts: Documents of each, at least 1.
    """

    documents: int
    hashes: Hashes
    counts: Counts

    def of(self, term: str) -> int:
        """Return how many documents have ``term``."""
        place = int(np.searchsorted(self.hashes, np.uint64(hash_of(term))))
        if place == len(self.hashes) or int(self.hashes[place]) != hash_of(term):
            return 0
        return int(self.counts[place])

    def tf_idf(self, count: int, term: str) -> float:
        """Return the weight of a term that stands ``count`` times in a document of the collection: count · log10(N / df).

        Source: Manning, Raghavan, Schütze: Introduction to Information Retrieval (2008), equations 6.7 and 6.8.
        """
        return count * log10(self.documents / max(self.of(term), 1))


class Counting:
    """Counts documents by term, in memory for the distinct terms only."""

    def __init__(self) -> None:
        self._documents = 0
        self._waiting: list[int] = []
        self._counted: list[tuple[Hashes, Counts]] = []

    def add(self, terms: set[int]) -> None:
        """Count one document with these terms, by hash; a document without terms is none."""
        if terms:
            self._documents += 1
            self._waiting += terms
            if len(self._waiting) >= BUFFERED:
                self._count()

    def frequencies(self) -> Frequencies:
        """Return what was counted."""
        self._count()
        return Frequencies(self._documents, *_merged(self._counted))

    def _count(self) -> None:
        hashes, counts = np.unique(np.array(self._waiting, dtype=np.uint64), return_counts=True)
        self._counted.append((hashes, counts.astype(np.int64)))
        self._waiting.clear()
        while len(self._counted) > 1 and len(self._counted[-2][0]) <= 2 * len(self._counted[-1][0]):
            self._counted[-2:] = [_merged(self._counted[-2:])]  # so few parts wait, and no term is merged often


@lru_cache(maxsize=1 << 16)
def hash_of(term: str) -> int:
    """Return 64 bits of the hash of a term."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@lru_cache(maxsize=1 << 14)  # the same few texts lead to many targets
def hashes_of(text: str, term: Term) -> frozenset[int]:
    """Return the hashes of the terms of a text."""
    return frozenset(hash_of(one) for one in term.of(text))


def count_frequencies(store: GraphStore, level: Level, term: Term) -> Frequencies:
    """Return in how many documents of ``store`` each term stands. Reads all inlinks.

    Raises:
        StoreError: The store is away.
    """
    counting = Counting()
    for texts in documents_of(((surt, {one.text for one in store.inlinks(surt)}) for surt in store.surts(Surt(""))), level, term):
        counting.add(texts)
    return counting.frequencies()


def documents_of(texts_by_surt: Iterable[tuple[Surt, set[str]]], level: Level, term: Term) -> Iterator[set[int]]:
    """Yield the hashes of the terms of each document, in no order; a target without host (``mailto:``) is none.

    Args:
        texts_by_surt: The texts that lead to each SURT; sorted by SURT, each once.
        level: What documents are of.
        term: What they are made of.

    The SURTs of a host do not all stand together (``org,example)``, ``org,example,www)``, ``org,example:8080)``), but all that
    begin as it does stand in one stretch: when that ends, the host is complete. So few hosts are open at a time.
    """
    opened: dict[str, tuple[str, set[int]]] = {}
    for surt, texts in texts_by_surt:
        name = level.name_of(surt)
        hashes = {one for text in texts for one in hashes_of(text, term)}
        if not name or not hashes:
            continue
        if level is Level.URI:
            yield hashes
            continue
        if name not in opened:
            ended = [other for other, (beginning, _) in opened.items() if not surt.startswith(beginning)]
            yield from (opened.pop(other)[1] for other in ended)
            opened[name] = beginning_of(name), set()
        opened[name][1].update(hashes)
    yield from (hashes for _, hashes in opened.values())


class FrequencyFile:
    """The file that keeps the frequencies of a store.

    Args:
        folder: Beside the store; made when it is needed.
    """

    def __init__(self, folder: Path, store: GraphStore, level: Level, term: Term) -> None:
        self.path = folder / f"document-frequencies-{level.value}-{term.value}"
        self._store = store
        self._level = level
        self._term = term

    def read_or_count(self, warn: Callable[[str], None]) -> Frequencies:
        """Return the frequencies, from the file if it is of the store as it is now.

        Args:
            warn: Told if they cannot be kept.

        Raises:
            StoreError: The store is away.
        """
        state = state_of(self._store)
        found = self._read(state)
        if found is None:
            found = count_frequencies(self._store, self._level, self._term)
            try:
                self._write(found, state)
            except OSError as error:
                warn(f"{self.path} cannot be written ({error.strerror}): the terms of the collection are counted again next time")
        return found

    def _head(self, state: str, documents: int, terms: int) -> bytes:
        about = {"format": FORMAT, "store": state, "level": self._level.value, "term": self._term.value}
        return json.dumps({**about, "documents": documents, "terms": terms}).encode() + b"\n"

    def _read(self, state: str) -> Frequencies | None:
        with suppress(OSError, ValueError, TypeError, KeyError), self.path.open("rb") as file:
            line = file.readline(1000)
            told = json.loads(line)
            documents, terms = int(told["documents"]), int(told["terms"])
            if line == self._head(state, documents, terms) and self.path.stat().st_size == len(line) + 16 * terms:
                return Frequencies(documents, np.fromfile(file, dtype="<u8", count=terms), np.fromfile(file, dtype="<i8", count=terms))
        return None

    def _write(self, frequencies: Frequencies, state: str) -> None:
        self.path.parent.mkdir(exist_ok=True)
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}.partial")
        try:
            with partial.open("wb") as file:
                file.write(self._head(state, frequencies.documents, len(frequencies.hashes)))
                frequencies.hashes.astype("<u8").tofile(file)
                frequencies.counts.astype("<i8").tofile(file)
            partial.replace(self.path)
        finally:
            partial.unlink(missing_ok=True)


def _merged(parts: list[tuple[Hashes, Counts]]) -> tuple[Hashes, Counts]:
    hashes = np.concatenate([part[0] for part in parts])
    counts = np.concatenate([part[1] for part in parts])
    order = np.argsort(hashes, kind="stable")
    hashes, counts = hashes[order], counts[order]
    starts = np.flatnonzero(np.diff(hashes, prepend=~hashes[:1]))
    return hashes[starts], np.add.reduceat(counts, starts) if len(starts) else counts
