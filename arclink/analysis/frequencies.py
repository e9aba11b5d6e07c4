"""In how many documents of the collection a term stands: what tf-idf measures a term of one document by.

A document is all texts that lead to one target at any time: to a URI, a host or a domain. A term is a whole text as it stands,
or a word of it (`arclink.analysis.words`). All links are read for that, once: what was found is kept in a file beside
the store until the store changes.

::

    first line      what it is of: version, store, level, terms
    8 bytes each    terms, sorted: the 64-bit BLAKE2b hash of their UTF-8, little-endian
    8 bytes each    documents that have the term

Terms and targets are counted as hashes: all equally large, and the file tells nobody what pages said. That two of ten million
share one has a chance of three in a million.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import log10
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from arclink.analysis.opening import state_of
from arclink.analysis.slices import Level
from arclink.analysis.sorting import ROWS, Sorter
from arclink.analysis.words import words_of
from arclink.model import UriR
from arclink.store import GraphStore
from arclink.uris.surts import surt_of

FORMAT = "arclink document frequencies 1"

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


@lru_cache(maxsize=1 << 16)
def hash_of(term: str) -> int:
    """Return 64 bits of the hash of a term."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@lru_cache(maxsize=1 << 14)  # the same few texts lead to many targets
def hashes_of(text: str, term: Term) -> frozenset[int]:
    """Return the hashes of the terms of a text."""
    return frozenset(hash_of(one) for one in term.of(text))


def count_frequencies(store: GraphStore, level: Level, term: Term, folder: Path | None = None, rows: int = ROWS) -> Frequencies:
    """Return in how many documents of ``store`` each term stands. Reads all links, and sorts what they tell on disk.

    Args:
        store: The collection.
        level: What documents are of; a target without host (``mailto:``) is none.
        term: What they are made of.
        folder: Where files may be put meanwhile; among other temporary files if there is none.
        rows: Of terms in documents, held in memory.

    Raises:
        StoreError: The store is away.
    """
    with TemporaryDirectory(prefix="arclink-", dir=folder) as scratch:
        by_term = Sorter(Path(scratch) / "terms", keys=2, rows=rows)
        documents = Sorter(Path(scratch) / "documents", keys=1, rows=rows)
        for block in store.scan_contents():
            used = np.unique(np.concatenate(block.lists)).tolist()
            told = {(link.target, link.text) for link in (block.links[place] for place in used)}
            pairs = [(one, document) for uri, text in told if (document := _document(uri, level)) for one in hashes_of(text, term)]
            if pairs:
                terms_of_block, of_documents = np.array(pairs, dtype=np.uint64).T
                by_term.add(terms_of_block, of_documents)
                documents.add(of_documents)
        terms, counts = _run_lengths(block[0] for block in by_term.merged())
        return Frequencies(sum(len(block[0]) for block in documents.merged()), terms, counts)


def _document(uri: UriR, level: Level) -> int:
    """Return the hash of the name of what a link leads to; 0 for what is no document."""
    name = level.name_of(surt_of(uri))
    return hash_of(name) if name else 0


def _run_lengths(blocks: Iterable[Hashes]) -> tuple[Hashes, Counts]:
    """Return the distinct values of sorted blocks, and how often each is there."""
    found = [np.unique(block, return_counts=True) for block in blocks]
    values = np.concatenate([np.empty(0, np.uint64), *(values for values, _ in found)])
    counts = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in found)])
    starts = np.flatnonzero(np.diff(values, prepend=~values[:1]))  # a value may go on in the next block
    return values[starts], np.add.reduceat(counts, starts) if len(starts) else counts


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
            with suppress(OSError):
                self.path.parent.mkdir(exist_ok=True)
            folder = self.path.parent if os.access(self.path.parent, os.W_OK | os.X_OK) else None
            found = count_frequencies(self._store, self._level, self._term, folder)
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
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}.partial")
        try:
            with partial.open("wb") as file:
                file.write(self._head(state, frequencies.documents, len(frequencies.hashes)))
                frequencies.hashes.astype("<u8").tofile(file)
                frequencies.counts.astype("<i8").tofile(file)
            partial.replace(self.path)
        finally:
            partial.unlink(missing_ok=True)
