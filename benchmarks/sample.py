"""Prints a sample of the captured URIs of a store whose links are known.

The same store always gives the same sample.

    python -m benchmarks.sample STORE HOW-MANY
"""

import random
import sys

from arclink.model import Surt
from arclink.store.location import open_store


def sample(where: str, most: int) -> list[str]:
    """Return originals of different SURTs."""
    found: list[str] = []
    with open_store(where) as store:
        surts = list(store.surts(Surt("")))
        random.Random(1).shuffle(surts)
        for surt in surts:
            if len(found) == most:
                break
            page = next(
                (
                    memento.original
                    for memento in store.mementos(surt)
                    if store.content_of(memento) is not None
                ),
                None,
            )
            found += [page] if page is not None else []
    return found


if __name__ == "__main__":
    print(*sample(sys.argv[1], int(sys.argv[2])), sep="\n")
