"""Document frequencies for tf-idf: the number of documents of the store with each term.

A document is all texts of links to one target at any time; a target is a URI, a host or a domain. A
term is a whole text or a word of it (`arclink.analysis.words`). To count them, ArcLink reads all
links once. The result is stored in a file next to the store and is valid until the store changes.

The file is sealed (`arclink.files.sealed`)::

    row             JSON: format, store, level, term, numbers of documents and terms
    data            8 bytes per term, sorted: the 64-bit BLAKE2b hash of its UTF-8, little-endian
                    8 bytes per term: the number of documents that have it

Terms and targets are counted as hashes: these have equal sizes, and the file does not reveal texts
of pages. The probability that any two of ten million terms share a hash is three in a million.
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

import numpy as np
from numpy.typing import NDArray

from arclink.analysis.slice_cache import state_of
from arclink.analysis.slices import Level
from arclink.analysis.words import words_of
from arclink.errors import OperatorError, SealError
from arclink.files.array_sort import Sorter
from arclink.files.sealed import read_sealed, write_sealed
from arclink.model import UriR
from arclink.store.protocols import Scans
from arclink.uris.surts import surt_of

FORMAT = "arclink document frequencies 2"
_KIND = "document-frequencies"

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]


class Term(Enum):
    """The unit of counting: whole texts, or their words."""

    TEXT = "text"
    WORD = "word"

    def of(self, text: str) -> Iterable[str]:
        """Return the terms of ``text`` with repetitions; a text without words has no terms."""
        if self is Term.WORD:
            return words_of(text)
        return (text,) if text else ()


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Numbers of documents by term.

    Attributes:
        documents: Number of all documents: targets of links with any text.
        hashes: Hashes of the terms, sorted, distinct.
        counts: Number of documents with each term, at least 1.
    """

    documents: int
    hashes: Hashes
    counts: Counts

    def of(self, term: str) -> int:
        """Return the number of documents with ``term``."""
        index = int(np.searchsorted(self.hashes, np.uint64(hash_of(term))))
        if index == len(self.hashes) or int(self.hashes[index]) != hash_of(term):
            return 0
        return int(self.counts[index])

    def tf_idf(self, count: int, term: str) -> float:
        """Return the weight of a term that is ``count`` times in a document: count · log10(N / df).

        Source: Manning, Raghavan, Schütze: Introduction to Information Retrieval (2008), equations
            6.7 and 6.8.
        """
        return count * log10(self.documents / max(self.of(term), 1))


@lru_cache(maxsize=1 << 16)
def hash_of(term: str) -> int:
    """Return the 64-bit hash of a term."""
    return int.from_bytes(
        hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


@lru_cache(maxsize=1 << 14)  # a few texts lead to many targets
def hashes_of(text: str, term: Term) -> frozenset[int]:
    """Return the hashes of the terms of a text."""
    return frozenset(hash_of(one) for one in term.of(text))


def count_frequencies(
    store: Scans, level: Level, term: Term, folder: Path | None = None
) -> Frequencies:
    """Return the number of documents of ``store`` with each term.

    It reads all links, and sorts pairs of term and document on disk.

    Args:
        store: The collection.
        level: The level of targets; a target without host (``mailto:``) is not a document.
        term: The unit of terms.
        folder: Folder for temporary files; the system's if None.

    Raises:
        StoreError: The store cannot be reached.
    """
    by_term, documents = Sorter(folder, keys=2), Sorter(folder, keys=1)
    for block in store.scan_contents():
        used = np.unique(np.concatenate(block.lists)).tolist()
        targets_and_texts = {
            (link.target, link.text) for link in (block.links[index] for index in used)
        }
        pairs = [
            (one, document)
            for uri, text in targets_and_texts
            if (document := _document(uri, level))
            for one in hashes_of(text, term)
        ]
        if pairs:
            terms_of_block, of_documents = np.array(pairs, dtype=np.uint64).T
            by_term.add(terms_of_block, of_documents)
            documents.add(of_documents)
    terms, counts = _run_lengths(block[0] for block in by_term.merged())
    return Frequencies(sum(len(block[0]) for block in documents.merged()), terms, counts)


def _document(uri: UriR, level: Level) -> int:
    """Return the hash of the name of a link's target; 0 if the target is not a document."""
    name = level.name_of(surt_of(uri))
    return hash_of(name) if name else 0


def _run_lengths(blocks: Iterable[Hashes]) -> tuple[Hashes, Counts]:
    """Return the distinct values of sorted blocks, and the number of occurrences of each."""
    found = [np.unique(block, return_counts=True) for block in blocks]
    values = np.concatenate([np.empty(0, np.uint64), *(values for values, _ in found)])
    counts = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in found)])
    # A value may continue in the next block.
    starts = np.flatnonzero(np.diff(values, prepend=~values[:1]))
    return values[starts], np.add.reduceat(counts, starts) if len(starts) else counts


class FrequencyFile:
    """The file with the document frequencies of a store.

    Args:
        folder: Folder next to the store; created when needed.
    """

    def __init__(self, folder: Path, store: Scans, level: Level, term: Term) -> None:
        of_subset = f"-{store.identity}" if store.identity else ""
        self.path = folder / f"document-frequencies-{level.value}-{term.value}{of_subset}"
        self._store = store
        self._level = level
        self._term = term

    def read_or_count(self, warn: Callable[[str], None]) -> Frequencies:
        """Return the frequencies, from the file if it belongs to the current state of the store.

        Args:
            warn: Function to call with a message if they cannot be stored.

        Raises:
            StoreError: The store cannot be reached.
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
            except (OSError, OperatorError) as error:
                warn(
                    f"{self.path} cannot be written ({error}): the next query will count the "
                    "terms of the collection again"
                )
        return found

    def _head(self, state: str, documents: int, terms: int) -> bytes:
        about = {
            "format": FORMAT,
            "store": state,
            "level": self._level.value,
            "term": self._term.value,
        }
        return json.dumps({**about, "documents": documents, "terms": terms}).encode()

    def _read(self, state: str) -> Frequencies | None:
        with suppress(SealError):
            [head], data = read_sealed(self.path, _KIND)
            about = json.loads(head)
            documents, terms = int(about["documents"]), int(about["terms"])
            if head == self._head(state, documents, terms):
                return Frequencies(
                    documents,
                    np.frombuffer(data, "<u8", terms),
                    np.frombuffer(data, "<i8", terms, 8 * terms),
                )
        return None

    def _write(self, frequencies: Frequencies, state: str) -> None:
        head = self._head(state, frequencies.documents, len(frequencies.hashes))
        hashes, counts = frequencies.hashes.astype("<u8"), frequencies.counts.astype("<i8")
        write_sealed(self.path, _KIND, [head], hashes.tobytes() + counts.tobytes())
